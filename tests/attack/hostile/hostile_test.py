#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hostile tests: a test does something awkward around a known number of calls; what becomes of the run?

Each case (hostile.h) runs bare and under each backend, between two ordinary tests. Its letter says what came of it:

    =  the verdicts and the exit code of the bare run, and each number exact
    R  refused: what could not be counted has no number (or says how many were lost), a message says why, and the run
       ends non-zero; the verdicts are those of the bare run, or no test ran
    W  a wrong number, or a missing one in a run that ends with 0 or says nothing
    C  a crash or a hang that the bare run has not
    V  a changed verdict or exit code

expectations.py says what each case must come to where that is not `=`, with the reason. `-`: it cannot run here.

    hostile_test.py BIN                  every case on every backend that works here
    hostile_test.py BIN --only REGEX     some cases, with what the programs said
    hostile_test.py BIN --table          docs/hostile.md, from the cases and the expectations
    hostile_test.py BIN --check-page     1 when the page is another
"""
import argparse
import collections
import concurrent.futures
import ctypes
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

import expectations
from backends import BACKENDS, COUNT_CHILDREN
from odd_starts import ODD_STARTS
from rights import MAY_HAVE_NETWORKS, UNDER_A_FILTER
from rows import children_of, exact_or_missing, loops_of, number_of, read_rows

BEFORE, AFTER = ("Ordinary.Before", 40), ("Then.After", 14)
DEADLINE_S = 15  # of one run; most take some hundredths of a second
SKIPPED = 77
PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "docs", "hostile.md")
TAKE_THE_CSV = ("removes_the_csv", "csv_becomes_a_pipe", "csv_becomes_a_link")
LIBC = ctypes.CDLL(None, use_errno=True)

# The cases that run once more with --syscost_children, and how often their children call getppid.
OF_CHILDREN = {"raw_fork_calls": 1000, "forks_and_goes_on": 600, "process_shares_memory": 100, "process_clears_signal_handlers": 100,
               "vfork_calls": 100, "vfork_fails_to_execute": 20, "children_end_in_every_way": 50, "forks_from_threads": 480,
               "child_of_the_parents_parent": 100, "takes_our_names": 0}

Case = collections.namedtuple("Case", "name test made summary start of_children", defaults=(None,))
Run = collections.namedtuple("Run", "code timed_out output verdicts has_loop")
Result = collections.namedtuple("Result", "letter why output")


def cases_of(program):
    """The program's cases, and an ordinary test in each odd surrounding."""
    listed = subprocess.run([program, "--cases"], capture_output=True, text=True, check=True).stdout
    cases = []
    for line in listed.splitlines():
        name, made, summary = line.split("\t")
        cases.append(Case(name, name, int(made), summary, None))
    ordinary = next(case for case in cases if case.name == "nothing_odd")
    cases += [ordinary._replace(name=f"start_{odd.name}", summary=odd.summary, start=odd) for odd in ODD_STARTS]
    cases += [case._replace(name=f"children_{case.name}", of_children=OF_CHILDREN[case.name],
                            summary=f"the same, with --syscost_children: {case.summary}")
              for case in cases if case.name in OF_CHILDREN]
    return cases


def environment(folder, case, **more):
    kept = {k: v for k, v in os.environ.items()
            if not k.startswith(("SYSCOST_", "GTEST_", "ATTACK_")) and k not in ("CI", "NO_COLOR")}
    if case.name == "thread_of_a_static_initialiser":
        kept["ATTACK_EARLY"] = "1"
    return {**kept, "ATTACK_CSV": os.path.join(folder, "out.csv"), **more}


def flags_for(backend):
    return ["--syscost_csv=out.csv", f"--syscost_backend={backend}", "--syscost_cycles=10", "--syscost_repeats=2",
            "--syscost_warmup=0"]


def kill_group(leader):
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Machine:
    """Runs cases here."""

    def __init__(self, folder_of_programs):
        self.bin = folder_of_programs
        self.measured = os.path.join(self.bin, "attack_hostile")
        self.bare = os.path.join(self.bin, "attack_hostile_bare")
        self.start_odd = os.path.join(self.bin, "attack_start")

    def run(self, program, case, folder, *flags, before=()):
        before = [*before]
        if case.start is not None:
            before += [*case.start.before, *([self.start_odd, case.start.how] if case.start.how else [])]
        names = ":".join((BEFORE[0], f"Hostile.{case.test}", AFTER[0]))
        # Survivors of the program (a daemon) are waited for as well: they hold the output open.
        with subprocess.Popen([*before, program, f"--gtest_filter={names}", *flags], cwd=folder, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
                              env=environment(folder, case)) as process:
            try:
                output = process.communicate(timeout=DEADLINE_S)[0]
                timed_out = False
            except subprocess.TimeoutExpired:
                kill_group(process.pid)
                output = process.communicate()[0]
                timed_out = True
            kill_group(process.pid)
        output = output.decode("utf-8", "replace")
        verdicts = re.findall(r"(?m)^\[ +(OK|FAILED|SKIPPED) +\] (\w+\.\w+)(?: \(|$)", output)
        return Run(process.returncode, timed_out, output, list(dict.fromkeys(verdicts)), "attack: a loop" in output)

    def run_in_own_folder(self, program, case, *flags, before=()):
        folder = tempfile.mkdtemp(prefix="syscost-attack-")
        os.chmod(folder, 0o777)
        try:
            return self.run(program, case, folder, *flags, before=before), read_rows(os.path.join(folder, "out.csv"))
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def result(self, case, backend, bare):
        """What the case comes to; `bare` is its bare run."""
        if bare.timed_out or any(verdict == "FAILED" for verdict, _ in bare.verdicts):
            return Result("?", "the bare run fails: the case is wrong here", bare.output)
        if bare.code == SKIPPED or ("SKIPPED", f"Hostile.{case.test}") in bare.verdicts:
            return Result("-", "cannot run here", bare.output)
        flags = [] if backend == "linked" else flags_for(backend)
        if case.of_children is not None:
            if backend not in COUNT_CHILDREN:
                return Result("-", "sees no children", "")
            flags.append("--syscost_children")
        # With a helper of its own, because its programs are detached while the loop is timed.
        alone = ["unshare", "--net"] if bare.has_loop and backend == "ebpf" and MAY_HAVE_NETWORKS else []
        run, rows = self.run_in_own_folder(self.measured, case, *flags, before=alone)
        letter, why = judge(case, backend, bare, run, rows)
        return Result(letter, why, run.output)


def judge_counts(case, bare, rows):
    """(letter, why): '=' all exact, 'W' one wrong, 'R' one without a number."""
    # A case that removes the file removes the rows in it, too.
    windows = [*([] if case.name in TAKE_THE_CSV else [BEFORE]), (f"Hostile.{case.test}", case.made), AFTER]
    judged = []
    for name, made in windows:
        number, lost = number_of(rows, name)
        if ("OK", name) in bare.verdicts or number is not None:  # else it ended the process
            judged.append((*exact_or_missing(number, lost, made), name))
    passes = loops_of(rows) or ([(None, 0, 0)] if bare.has_loop else [])
    judged += [(*exact_or_missing(number, lost, right), "loop") for number, right, lost in passes]
    if case.of_children is not None:
        judged.append((*exact_or_missing(*children_of(rows, f"Hostile.{case.test}"), case.of_children), "children"))
    worst = max((letter for letter, _, _ in judged), key="=RW".index, default="=")
    return worst, "; ".join(f"{name}: {why}" for letter, why, name in judged if letter == worst != "=")


def judge(case, backend, bare, run, rows):
    said = [line for line in run.output.splitlines() if "syscost" in line.lower() and "backend" not in line[:18]]
    if run.timed_out:
        return "C", f"no end after {DEADLINE_S} s"
    if run.code < 0 and run.code != bare.code:
        return "C", signal.Signals(-run.code).name
    if run.code == 2 and bare.code != 2 and not run.verdicts and said:
        return "R", said[0]
    if run.verdicts != bare.verdicts:
        return "V", f"{run.verdicts} in place of {bare.verdicts}"
    if backend == "linked":
        return ("=", "") if run.code == bare.code else ("V", f"ends with {run.code} in place of {bare.code}")
    letter, why = judge_counts(case, bare, rows)
    if letter == "W":
        return letter, why
    if letter == "=":
        if run.code == bare.code:
            return "=", ""
        return ("R", said[0]) if said else ("V", f"ends with {run.code} in place of {bare.code}, without a word")
    if run.code == 0 or not said:
        return "W", f"{why}; ends with {run.code}, {'with' if said else 'without'} a message"
    return "R", f"{why}; {said[0]}"


def usable_backends(machine):
    """Those that work here."""
    ordinary = Case("nothing_odd", "nothing_odd", 20, "", None)
    usable = ["linked"]
    for backend in BACKENDS:
        run, _ = machine.run_in_own_folder(machine.measured, ordinary, *flags_for(backend))
        if run.code == 0:
            usable.append(backend)
        else:
            print(f"{backend}: skipped, it does not work here:\n{run.output}")
    return usable


def run_all(machine, cases, backends, verbose):
    """{(case, backend): Result}"""
    results = {}
    with concurrent.futures.ThreadPoolExecutor(max_workers=2 * os.cpu_count()) as pool:
        bare_runs = {case.name: pool.submit(lambda c: machine.run_in_own_folder(machine.bare, c)[0], case) for case in cases}
        waiting = {(case.name, backend): pool.submit(lambda c, b: machine.result(c, b, bare_runs[c.name].result()), case, backend)
                   for case in cases for backend in backends}
        for key, future in waiting.items():
            results[key] = future.result()
    for case in cases:
        letters = " ".join(f"{results[case.name, backend].letter:^13}" for backend in backends)
        print(f"{case.name:36} {letters}")
        if verbose:
            for backend in backends:
                result = results[case.name, backend]
                print(f"--- {backend}: {result.letter} {result.why}\n{result.output}")
    return results


def failures(cases, backends, results):
    wrong = []
    for case in cases:
        for backend in backends:
            result = results[case.name, backend]
            expected, reason = expectations.expected(case.name, backend, expectations.KNOWN_UNDER_A_FILTER if UNDER_A_FILTER else ())
            if expectations.RANK[result.letter] < expectations.RANK[expected]:
                print(f"better: {case.name} on {backend}: {result.letter}, and documented as {expected}")
            if expectations.RANK[result.letter] <= expectations.RANK[expected]:
                if result.letter in "WCV":
                    print(f"known: {case.name} on {backend}: {result.letter}, {result.why} ({reason})")
                continue
            wrong.append(f"{case.name} on {backend}: {result.letter} in place of {expected}: {result.why}")
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bin")
    parser.add_argument("--only", default="", help="a regular expression; shows what the programs said")
    parser.add_argument("--backend", action="append", help="only these")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--check-page", action="store_true")
    arguments = parser.parse_args()
    machine = Machine(os.path.abspath(arguments.bin))
    cases = [case for case in cases_of(machine.measured) if re.search(arguments.only, case.name)]
    if arguments.table:
        sys.stdout.write(expectations.page(cases))
        return 0
    if arguments.check_page:
        with open(PAGE, encoding="utf-8") as page:
            if page.read() == expectations.page(cases):
                return 0
        print("write the page anew: ./dev update pages")
        return 1
    if MAY_HAVE_NETWORKS:
        LIBC.unshare(0x40000000)  # CLONE_NEWNET: a helper of our own
    backends = arguments.backend or usable_backends(machine)
    print(f"{'':36} " + " ".join(f"{backend:^13}" for backend in backends))
    # While it lives its helper does, and the others need not start one.
    with subprocess.Popen([machine.measured, "--gtest_filter=Holder.Stays", "--syscost_csv=/dev/null"], stdin=subprocess.PIPE,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as holder:
        results = run_all(machine, cases, backends, verbose=bool(arguments.only))
        holder.stdin.close()
    wrong = failures(cases, backends, results)
    for line in wrong:
        print(f"FAILED: {line}")
    print(f"{len(cases)} cases, {len(backends)} backends, {len(wrong)} not as documented")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
