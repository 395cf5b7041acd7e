# SPDX-License-Identifier: MIT
"""What the gate says of runs: `bench compare` of one run with one, and README's recipe."""
import json
import random
import shutil
import subprocess
from collections import Counter

from cells import Run

from programs import give_up

BASELINE, CONFIRM = 3, 2


def grown(report):
    """The cells that make `bench` red: (test, syscall, errno). For a test that is red without one: its verdict."""
    cells = []
    for row in report["tests"]:
        if row["gate"] == "red":
            found = [(row["test"], one["syscall"], one["errno"] or "") for one in row["deltas"]
                     if one["gated"] and one["change"] == "grew"]
            cells += found or [(row["test"], row["verdict"], row["reason"])]
    return cells


class Judge:
    """Runs `bench` in a scratch folder."""

    def __init__(self, bench, scratch, for_baseline=()):
        self.bench, self.scratch, self.for_baseline = bench, scratch, for_baseline
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(parents=True)

    def report(self, *arguments):
        done = subprocess.run([self.bench, *map(str, arguments)], capture_output=True, text=True, check=False)
        if done.returncode == 2 and arguments[0] == "check":  # a confirming run lacked a suspected test
            return True, [("the check", "exit code 2", "")]
        if done.returncode not in (0, 1, 3):
            give_up(f"bench {' '.join(map(str, arguments))}: {done.stderr}")
        return done.returncode == 1, grown(json.loads(done.stdout))

    def compare(self, old, new):
        """(is it red, the cells): one run against one, as `bench compare` does it by default."""
        return self.report("compare", old, new, "--format", "json")

    def baseline(self, olds):
        file = self.scratch / "syscost.baseline"
        done = subprocess.run([self.bench, "baseline", "update", *olds, "-o", file, *self.for_baseline], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            give_up(f"bench baseline update {olds}: {done.stdout}{done.stderr}")
        return file

    def recipe(self, olds, new, further):
        """The same by README's recipe: a baseline of `olds`, `new` checked against it, `further` runs to confirm."""
        queue = self.scratch / "queue"
        shutil.rmtree(queue, ignore_errors=True)
        queue.mkdir()
        for i, one in enumerate(further):
            (queue / f"{i}.csv").symlink_to(one)
        again = f'set -- "{queue}"/*.csv; cp "$1" "$SYSCOST_CSV"; rm "$1"'
        return self.report("check", new, "--baseline", self.baseline(olds), "--budgets", "/dev/null", "--format", "json",
                           "--confirm", len(further), "--", "sh", "-c", again)


def false_alarms(judge, runs, trials, seed):
    """How often unchanged runs are red, and by which cells."""
    pairs = [judge.compare(old, new) for old, new in zip(runs, runs[1:] + runs[:1])] if len(runs) > 2 else []
    chance = random.Random(seed)
    recipes = []
    needed = BASELINE + 1 + CONFIRM
    for _ in range(trials if len(runs) >= needed else 0):
        # In the order in which they ran, so that counts which grow from run to run show.
        chosen = [runs[i] for i in sorted(chance.sample(range(len(runs)), needed))]
        recipes.append(judge.recipe(chosen[:BASELINE], chosen[BASELINE], chosen[BASELINE + 1:]))
    return summed(pairs), summed(recipes)


def summed(verdicts):
    cells = Counter()
    for is_red, found in verdicts:
        cells.update(set(found) if is_red else ())
    return {"of": len(verdicts), "red": sum(is_red for is_red, _ in verdicts),
            "cells": [[*cell, times] for cell, times in cells.most_common()]}


def varying(runs):
    """({cell: counts in the runs} of the cells that vary, the cells that never do, all tests). Volatile cells are left out."""
    counted, volatile, tests = [], set(), None
    for run in runs:
        counts, these = run.counts()
        counted.append(counts)
        volatile |= these
        tests = run.tests() if tests is None else tests & run.tests()
    cells = {cell for counts in counted for cell in counts if cell[:2] in tests} - volatile
    by_cell = {cell: [counts.get(cell, 0) for counts in counted] for cell in cells}
    varies = {cell: counts for cell, counts in by_cell.items() if len(set(counts)) > 1}
    return varies, sorted(cells - varies.keys()), sorted(tests)


class Mutations:
    """Calls added to cells of runs, and what the gate says."""

    def __init__(self, judge, paths, chance):
        self.judge, self.paths, self.chance = judge, paths, chance

    def write(self, number, cell, more):
        """Run `number`'s rows of the cell's program, with `more` calls in it."""
        program, test, syscall = cell
        run = Run(self.paths[number], program)
        if more:
            run.add(program, test, syscall, more)
        path = self.judge.scratch / f"{number}-{more}.csv"
        run.write(path)
        return path

    def is_found(self, verdict, cell):
        is_red, cells = verdict
        return is_red and any(one[0].startswith(cell[1]) and one[1] == cell[2] for one in cells)

    def by_compare(self, cell, more_of):
        old, new = self.chance.sample(range(len(self.paths)), 2)
        return self.is_found(self.judge.compare(self.write(old, cell, 0), self.write(new, cell, more_of(new))), cell)

    def by_recipe(self, cell, more_of):
        chosen = sorted(self.chance.sample(range(len(self.paths)), BASELINE + 1 + CONFIRM))
        files = [self.write(number, cell, more_of(number) if i >= BASELINE else 0) for i, number in enumerate(chosen)]
        return self.is_found(self.judge.recipe(files[:BASELINE], files[BASELINE], files[BASELINE + 1:]), cell)
