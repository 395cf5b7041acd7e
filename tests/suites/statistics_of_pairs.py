#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How much `bench groups` and `bench summary --stats-extended` differ between two runs of an unchanged suite:
statistics_of_pairs.py BENCH FIRST.csv SECOND.csv [FIRST SECOND]...

Prints a line for each pair of runs: of the tests in both, pairs of tests that are together in one run and apart in the
other; tests that are named as far above the others, or above those of their group, in one run alone and in both;
correlations of syscalls, in the same way. The last line is the sum. Judges nothing.
"""
import itertools
import json
import os
import subprocess
import sys


def answer(bench, *arguments):
    done = subprocess.run([bench, *arguments, "--format", "json"], capture_output=True, text=True, check=False)
    if not done.stdout:
        sys.exit(f"{arguments}: {done.stderr.strip()}")
    return json.loads(done.stdout)["runs"][0]


def places(run):
    """The group of each test: its place in the list, `quiet`, or the test itself if it is like no other."""
    found = {test: number for number, group in enumerate(run["groups"]) for test in group["tests"]}
    found.update({test: "quiet" for test in run["quiet"]["tests"]})
    found.update({test: test for test in run["alone"]})
    return found


def facts(run):
    """Sets of what --stats-extended names."""
    of = lambda is_chosen: {(one["measure"], found["test"]) for one in run["outliers"] if is_chosen(one) for found in one["found"]}
    return {"above all, by time": of(lambda one: not one["group"] and one["measure"] != "calls"),
            "above all, by calls": of(lambda one: not one["group"] and one["measure"] == "calls"),
            "above their group, by time": of(lambda one: one["group"] and one["measure"] != "calls"),
            "above their group, by calls": of(lambda one: one["group"] and one["measure"] == "calls"),
            "correlations": {(one["first"], one["second"]) for one in run["correlations"]["found"]}}


def main():
    bench, *paths = sys.argv[1:]
    if not paths or len(paths) % 2:
        sys.exit(__doc__)
    sums = {}
    for first, second in zip(paths[::2], paths[1::2]):
        line = {}
        one, other = (places(answer(bench, "groups", path)) for path in (first, second))
        tests = sorted(one.keys() & other.keys())
        parted = sum((one[a] == one[b]) != (other[a] == other[b]) for a, b in itertools.combinations(tests, 2))
        line["pairs of tests parted"] = (parted, len(tests) * (len(tests) - 1) // 2)
        one, other = (facts(answer(bench, "summary", path, "--stats-extended")) for path in (first, second))
        for what in one:
            line[what] = (len(one[what] ^ other[what]), len(one[what] & other[what]))
        print(f"{os.path.basename(first)}, {os.path.basename(second)}: {len(tests)} tests")
        for what, (differ, same) in line.items():
            sums[what] = (sums.get(what, (0, 0))[0] + differ, sums.get(what, (0, 0))[1] + same)
            print(f"  {what}: {differ} {'of' if 'parted' in what else 'in one run,'} {same}{'' if 'parted' in what else ' in both'}")
    print("all:")
    for what, (differ, same) in sums.items():
        print(f"  {what}: {differ} {'of' if 'parted' in what else 'in one run,'} {same}{'' if 'parted' in what else ' in both'}")


main()
