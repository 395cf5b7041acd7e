# SPDX-License-Identifier: MIT
"""oracle_test.py PROGRAM: what trace.strace says of PROGRAM's calls is what strace says of them.

PROGRAM runs twice, once with --syscost_trace and once under strace, and makes the same calls each time. Compared are the
names, each argument, flags by name, results and errors. docs/trace.md lists where the two differ: strace shows structures and
buffers, the trace their addresses. Values that belong to a run (addresses, ids of processes) must be the same thing in
both: equal values of one side are equal on the other.
"""
import re
import shutil
import subprocess
import sys
import tempfile

from strace_lines import between_markers
from traced_program import run_traced, skip

TEST = "Calls.AreMade"
ADDRESS = re.compile(r"0x[0-9a-f]+$")
NUMBER = re.compile(r"-?\d+$")
# Memory as strace shows it: a structure, an array, a buffer, a string, a set of signals, the time or the word in it.
CONTENT = re.compile(r'[\[{"~]|\.\.\.')
# Calls of which a result is an id of this run, and arguments that are.
IDS = {"getpid", "gettid", "getpgid", "kill", "tgkill"}
# Calls that return an amount of memory or a time.
RESULT_OF_RUN = {"brk", "mmap", "mremap", "alarm"}


def same_number(ours, theirs):
    def value(text):
        try:
            return int(text, 8) if re.fullmatch(r"0[0-7]+", text) else int(text, 0)
        except ValueError:
            return None
    return value(ours) is not None and value(ours) == value(theirs)


class Pairs:
    """Values of one run, and those that stand for them in the other."""

    def __init__(self):
        self.theirs_of = {}
        self.ours_of = {}

    def are_same(self, ours, theirs):
        return self.theirs_of.setdefault(ours, theirs) == theirs and self.ours_of.setdefault(theirs, ours) == ours


def is_same_argument(name, ours, theirs, ids):
    theirs = re.sub(r" /\*.*?\*/$", "", theirs)  # strace adds what it knows: `0x7ffd39f944a0 /* 5 entries */`
    # Flags have no order.
    if ours == theirs or same_number(ours, theirs) or sorted(ours.split("|")) == sorted(theirs.split("|")):
        return True
    if ADDRESS.match(ours):  # on both sides an address, or what is there
        return ADDRESS.match(theirs) is not None or CONTENT.match(theirs) is not None
    return name in IDS and NUMBER.match(ours) and NUMBER.match(theirs) and ids.are_same(ours, theirs)


def is_same_result(name, ours, theirs, ids):
    # strace explains some results: `= 1 ([{fd=3, revents=POLLIN}])`, `= 0 (Timeout)`, `= 0x8000 (flags O_RDONLY)`.
    for text in (theirs, re.sub(r" \(.*\)$", "", theirs)):
        if ours == text or same_number(ours, text):
            return True
    if name in RESULT_OF_RUN and ADDRESS.match(ours) and ADDRESS.match(theirs):
        return True
    return name in IDS and NUMBER.match(ours) and NUMBER.match(theirs) and ids.are_same(ours, theirs)


def differences(ours, theirs, ids):
    if ours.name != theirs.name:
        return [f"name {ours.name}, strace {theirs.name}"]
    if len(ours.arguments) != len(theirs.arguments):
        return [f"{len(ours.arguments)} arguments, strace {len(theirs.arguments)}"]
    found = [f"argument {i}: {a}, strace {b}" for i, (a, b) in enumerate(zip(ours.arguments, theirs.arguments))
             if not is_same_argument(ours.name, a, b, ids)]
    if not is_same_result(ours.name, ours.result, theirs.result, ids):
        found.append(f"result {ours.result}, strace {theirs.result}")
    return found


def main():
    program = sys.argv[1]
    strace = shutil.which("strace")
    if strace is None:
        skip("strace is missing (Debian: apt-get install strace)")
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        trace = (run_traced(program, one, TEST) / "trace.strace").read_text(encoding="utf-8")
        log = other + "/log"
        done = subprocess.run([strace, "-f", "-ttt", "-T", "-s", "300", "-o", log, program, "--gtest_brief=1", f"--gtest_filter={TEST}"], cwd=other,
                              text=True, capture_output=True, check=False)
        if done.returncode != 0:
            skip("strace does not work here: " + done.stderr.strip()[:200])
        ours = between_markers(trace.splitlines())
        with open(log, encoding="utf-8", errors="replace") as file:
            theirs = between_markers(file.read().splitlines())
    ids = Pairs()
    faults = []
    for mine, its in zip(ours, theirs):
        found = differences(mine, its, ids)
        if found:
            faults.append("\n  ".join([mine.line, its.line] + found))
        if found and found[0].startswith("name"):
            break
    if len(ours) != len(theirs):
        faults.append(f"{len(ours)} calls, strace {len(theirs)}")
    print("\n".join(faults))
    print(f"{len(ours)} calls of {len({call.name for call in ours})} syscalls, {len(faults)} differ")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
