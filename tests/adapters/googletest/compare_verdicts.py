# SPDX-License-Identifier: MIT
"""Runs a program of GoogleTest's without us, with us, and with us measuring; the verdict of every test must be the same.

Usage: compare_verdicts.py WITHOUT WITH [counts_properties]

counts_properties: the program counts the properties that GoogleTest will write to its XML, where ours stand too when we
measure; so when measuring it is run without XML, and its exit code alone is compared.
"""
import collections
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml


def run(program, folder, writes_xml=True, **variables):
    """(exit code, {test: verdict}, stderr); programs that run their tests several times report the last."""
    output = os.path.join(folder, "verdicts.xml")
    if os.path.exists(output):
        os.remove(output)
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("SYSCOST_", "GTEST_"))}
    # By a variable: some of the programs look at their own flags.
    done = subprocess.run([program], cwd=folder, capture_output=True, text=True, errors="replace",
                          env={**kept, **({"GTEST_OUTPUT": "xml:" + output} if writes_xml else {}), **variables})
    verdicts = collections.OrderedDict()
    if os.path.exists(output):
        for case in xml.parse(output).iter("testcase"):
            failed = "failed" if case.find("failure") is not None else case.get("result")
            verdicts[f'{case.get("classname")}.{case.get("name")}'] = (case.get("status"), failed)
    return done.returncode, verdicts, done.stderr


def main():
    without, linked = map(os.path.abspath, sys.argv[1:3])
    counts_properties = "counts_properties" in sys.argv[3:]
    can_count = subprocess.run([linked], env={**os.environ, "SYSCOST_DOCTOR": "1"}, capture_output=True).returncode == 0
    with tempfile.TemporaryDirectory() as folder:
        csv = os.path.join(folder, "out.csv")
        expected = run(without, folder)
        runs = {"linked": run(linked, folder)}
        if can_count and counts_properties:
            code, _, error = run(linked, folder, writes_xml=False, SYSCOST_CSV=csv)
            runs["measuring without XML"] = (code, expected[1], error)
        elif can_count:
            runs["measuring"] = run(linked, folder, SYSCOST_CSV=csv)
        is_right = True
        for name, got in runs.items():
            if got[:2] != expected[:2]:
                is_right = False
                print(f"{name}: exit code {got[0]}, without us {expected[0]}; tests that differ:")
                for test in set(expected[1]) | set(got[1]):
                    if expected[1].get(test) != got[1].get(test):
                        print(f"  {test}: {got[1].get(test)}, without us {expected[1].get(test)}")
                print(got[2][-2000:])
        if can_count and expected[1] and not os.path.exists(csv):
            is_right = False
            print("measuring wrote no CSV: was it measured at all?")
        print(f"{len(expected[1])} tests, runs compared: {', '.join(runs)}")
        return 0 if is_right else 1


sys.exit(main())
