# SPDX-License-Identifier: MIT
"""What the gate says of runs: `bench compare` of one run with one, and the recipe `compare --old --new`: both sides run again."""
import json
import random
import re
import shutil
import subprocess
from collections import Counter, namedtuple

from cells import Run

from programs import give_up

LEAST_RUNS = 3  # two to begin with, and one to run again

# `cells`: those that make it red, (test, syscall, errno). `doubts`: tests in doubt. `further`: runs that the recipe took.
Verdict = namedtuple("Verdict", "is_red cells doubts further")


def grown(report):
    """The cells that make `bench` red. For a test that is red without one: its verdict."""
    cells = []
    for row in report["tests"]:
        if row["gate"] == "red":
            found = [(row["test"], one["syscall"], one["errno"] or "") for one in row["deltas"]
                     if one["gated"] and one["change"] == "grew"]
            cells += found or [(row["test"], row["verdict"], row["reason"])]
    return cells


class Judge:
    """Runs `bench` in a scratch folder."""

    def __init__(self, bench, scratch):
        self.bench, self.scratch = bench, scratch
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(parents=True)

    def compare(self, old, new, *arguments):
        """One run against one, as `bench compare` does it by default."""
        done = subprocess.run([self.bench, "compare", old, new, "--format", "json", *arguments], capture_output=True, text=True,
                              check=False)
        if done.returncode not in (0, 1, 3):
            give_up(f"bench compare {old} {new} {' '.join(map(str, arguments))}: {done.stderr}")
        report = json.loads(done.stdout)
        further = re.match(r"\d+", report["further_runs"] or "0")
        doubts = [row["test"] for row in report["tests"] if row["verdict"] == "in doubt"]
        return Verdict(done.returncode == 1, grown(report), doubts, int(further.group()))

    def recipe(self, old, new, olds, news):
        """The same by the recipe. A further run is one of `olds` or `news`, by chance: they were made before."""
        commands = []
        for side, runs in (("old", olds), ("new", news)):
            folder = self.scratch / side
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            for i, run in enumerate(runs):
                (folder / f"{i}.csv").symlink_to(run)
            commands += [f"--{side}", f'cp "$(ls -d "{folder}"/*.csv | shuf -n 1)" "$SYSCOST_CSV"']
        return self.compare(old, new, *commands)


def false_alarms(judge, runs, trials, seed):
    """How often unchanged runs are red, and by which cells."""
    pairs = [judge.compare(old, new) for old, new in zip(runs, runs[1:] + runs[:1])] if len(runs) > 2 else []
    chance = random.Random(seed)
    recipes = []
    for _ in range(trials if len(runs) >= LEAST_RUNS else 0):
        old, new = chance.sample(runs, 2)
        others = [run for run in runs if run not in (old, new)]
        recipes.append(judge.recipe(old, new, others, others))
    return summed(pairs), summed(recipes)


def summed(verdicts):
    cells = Counter()
    for one in verdicts:
        cells.update(set(one.cells) if one.is_red else ())
    return {"of": len(verdicts), "red": sum(one.is_red for one in verdicts), "doubts": sum(len(one.doubts) for one in verdicts),
            "further": sorted(one.further for one in verdicts), "cells": [[*cell, times] for cell, times in cells.most_common()]}


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

    def answer(self, verdict, cell):
        """`red` in this cell, `in doubt` in its test, or ""."""
        if verdict.is_red and any(one[0].startswith(cell[1]) and one[1] == cell[2] for one in verdict.cells):
            return "red"
        return "in doubt" if any(test.startswith(cell[1]) for test in verdict.doubts) else ""

    def by_compare(self, cell, more_of):
        old, new = self.chance.sample(range(len(self.paths)), 2)
        return self.answer(self.judge.compare(self.write(old, cell, 0), self.write(new, cell, more_of(new))), cell)

    def by_recipe(self, cell, more_of):
        numbers = list(range(len(self.paths)))
        self.chance.shuffle(numbers)
        olds = [self.write(number, cell, 0) for number in numbers]
        news = [self.write(number, cell, more_of(number)) for number in numbers]
        return self.answer(self.judge.recipe(olds[0], news[1], olds[2:], news[2:]), cell)
