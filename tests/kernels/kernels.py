#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Is everything that was built here right under other kernels too?

    ./dev kernels [OPTION]... [SUITE]...

Runs the BPF programs of two compilers, --syscost_doctor, a demo, a critical path, bpftrace and perf, and the conformance
suite under this machine's kernel, then under Debian's of each SUITE in a virtual machine (machine.py says how), and prints
one table. Without a SUITE: bookworm (6.1), trixie (6.12) and sid (the newest).

  --kernel FILE.deb   under the kernel of that package, too; as often as you like
  --only CHECK        programs, doctor, smoke, scheduler, profiles or conformance; as often as you like
  --without-host      not under this machine's kernel; nothing then says what the demo should count
  --under-strace      the conformance cases under strace, too, in an emulated machine; elsewhere they always are
  --minutes N         for one kernel at most; default 120
  --keep DIR          where kernels and what was found lie; default build/kernels, and rm -rf it when you like

Needs root, for the kernels of suites a Debian mirror among apt's sources, and patience: without /dev/kvm a machine is 10 to
30 times slower, and conformance cases run without strace. Exit codes: 0 all is as documented, 1 something is not, 2 it cannot be done here.
"""

import argparse
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import time

import machine
from checks import CHECKS

ROOT = os.path.dirname(os.path.dirname(machine.HERE))
SUITES = ("bookworm", "trixie", "sid")
CHECKER = os.path.join(machine.HERE, "checks.py")


def arguments():
    # Not argparse's own help: what stands above has the layout of ./dev's.
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("-h", "--help", action="store_true")
    parser.add_argument("suites", nargs="*", default=None)
    parser.add_argument("--bin", default=os.path.join(ROOT, "build/release/bin"))
    parser.add_argument("--kernel", action="append", default=[])
    parser.add_argument("--only", action="append", choices=list(CHECKS))
    parser.add_argument("--without-host", action="store_true")
    parser.add_argument("--under-strace", action="store_true")
    parser.add_argument("--minutes", type=int, default=120)
    parser.add_argument("--keep", default=os.path.join(ROOT, "build/kernels"))
    found = parser.parse_args()
    if found.help:
        sys.exit(print(__doc__))
    return found


def newest_clang():
    """Another compiler than the committed object's, clang 14; None where there is none."""
    folders = os.environ.get("PATH", "").split(":")
    names = {os.path.basename(path) for folder in folders for path in glob.glob(os.path.join(folder, "clang-*"))}
    versions = sorted(int(name[6:]) for name in names if re.fullmatch(r"clang-\d+", name))
    return f"clang-{versions[-1]}" if versions and versions[-1] != 14 else None


def make_objects(folder):
    clang = newest_clang()
    if not clang:
        print("kernels: no clang newer than 14 is installed, so only the committed object is loaded", flush=True)
        return []
    path = os.path.join(folder, f"syscost.{clang}.o")
    machine.output(os.path.join(ROOT, "tools/make_skeleton"), os.path.join(ROOT, "plugin/src/backends/ebpf/bpf/syscost.bpf.c"),
                   path, env={**os.environ, "CLANG": clang})
    return [path]


def read_answer(path):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return None


def checker(chosen, answer, cases, names, objects):
    return [sys.executable, "-B", CHECKER, chosen.bin, answer, cases, *names, "--", *objects]


def ask_here(chosen, folder, objects):
    answer = os.path.join(folder, "answer.json")
    subprocess.run(checker(chosen, answer, "*", chosen.only or CHECKS, objects), check=False)
    return read_answer(answer)


def ask_under(name, package, chosen, folder, objects):
    kernel = machine.prepare_kernel(name, package, os.path.join(chosen.keep, "images"))
    out = os.path.join(folder, "out")
    os.makedirs(out)
    for path in objects:
        shutil.copy(path, out)
    there = [os.path.join(machine.OUT, os.path.basename(path)) for path in objects]
    # strace says whether the table is right, which does not depend on the kernel; emulated it takes an hour to.
    cases = "*" if chosen.under_strace or machine.has_kvm() else "*_bare"
    deadline = time.monotonic() + chosen.minutes * 60

    def ask(names):
        if os.path.exists(os.path.join(out, "answer.json")):
            os.remove(os.path.join(out, "answer.json"))
        command = checker(chosen, f"{machine.OUT}/answer.json", cases, names, there)
        code = machine.run(kernel, command, out, deadline - time.monotonic())
        answer = read_answer(os.path.join(out, "answer.json")) or {"kernel": name, "rows": [], "counts": {}, "done": []}
        return code, answer, machine.last_words(out)

    answer = ask_till_done(ask, list(chosen.only or CHECKS), lambda: time.monotonic() < deadline)
    print(f"kernels: {name} took {chosen.minutes - (deadline - time.monotonic()) / 60:.1f} minutes", flush=True)
    return answer


def ask_till_done(ask, names, has_time):
    """The answers to all checks of `names`. A machine that dies takes one check with it, and what an emulator gets wrong happens
    once: the check runs again in a new machine, then those behind it. One in which two machines died is left out, and told.
    """
    found = None
    died_in = None
    while names:
        code, answer, words = ask(names)
        if found:
            again = {row["of"] for row in answer["rows"]}
            found["rows"] = [row for row in found["rows"] if row["of"] not in again] + answer["rows"]
            found["counts"].update(answer["counts"])
        else:
            found = answer
        names = [name for name in names if name not in answer["done"]]
        if code == 0 or not names:
            break
        if not has_time():
            found["rows"].append({"of": "the machine", "is": "out of time", "good": False, "why": words})
            break
        end = "the machine died" if code is None else f"the checker ended with {code}"
        print(f"kernels: {found['kernel']}: {end} in {names[0]}: " + next(iter(words), "without a word"), flush=True)
        if died_in == names[0]:
            found["rows"].append({"of": f"the machine, in {names[0]}", "is": "ended twice", "good": False, "why": words})
            del names[0]
        else:
            died_in = names[0]
    return found


def compare_counts(answers):
    """The demo calls the same under each kernel: the first answer says what."""
    reference = answers[0]
    for answer in answers[1:]:
        for backend, counts in answer["counts"].items():
            wanted = reference["counts"].get(backend)
            if wanted is None or wanted == counts:
                continue
            [row] = [row for row in answer["rows"] if row["of"] == f"demo: {backend}"]
            row["good"] = False
            row["is"] += ", DIFFERENT"
            row["why"] += [f"{what}: {counts.get(what, 0)}, under {reference['kernel']} {wanted.get(what, 0)}"
                           for what in sorted({*wanted, *counts}) if wanted.get(what) != counts.get(what)]


def table(answers):
    names = []
    for answer in answers:
        names += [row["of"] for row in answer["rows"] if row["of"] not in names]
    lines = ["| | " + " | ".join(answer["kernel"] for answer in answers) + " |", "|---" * (len(answers) + 1) + "|"]
    for name in names:
        cells = [next((row["is"] + ("" if row["good"] else " (!)") for row in answer["rows"] if row["of"] == name), "-")
                 for answer in answers]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main():
    chosen = arguments()
    if os.geteuid() != 0:
        sys.exit(print("kernels: needs root: sudo ./dev kernels", file=sys.stderr) or 2)
    targets = [(suite, None) for suite in chosen.suites or (() if chosen.kernel else SUITES)]
    targets += [(os.path.basename(path).removesuffix(".deb"), os.path.abspath(path)) for path in chosen.kernel]
    found = os.path.join(chosen.keep, "found")
    shutil.rmtree(found, ignore_errors=True)
    os.makedirs(found)
    answers = []
    try:
        objects = make_objects(found) if "programs" in (chosen.only or CHECKS) else []
        if not chosen.without_host:
            answers.append(ask_here(chosen, found, objects))
        for name, package in targets:
            folder = os.path.join(found, name)
            os.makedirs(folder)
            answers.append(ask_under(name, package, chosen, folder, objects))
    except machine.Unavailable as error:
        sys.exit(print(f"kernels: {error}", file=sys.stderr) or 2)
    answers = [answer for answer in answers if answer]
    compare_counts(answers)
    print("\n" + table(answers))
    bad = [(answer["kernel"], row) for answer in answers for row in answer["rows"] if not row["good"]]
    for kernel, row in bad:
        print(f"\n{kernel}: {row['of']}: {row['is']}")
        print("\n".join("  " + line for line in row["why"]))
    print(f"\nkernels: {len(answers)} kernels, " + (f"{len(bad)} answers are not as documented" if bad else "all as documented"))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
