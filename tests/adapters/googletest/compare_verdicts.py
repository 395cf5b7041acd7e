# SPDX-License-Identifier: MIT
"""Runs a program of GoogleTest's without us, with us, and with us measuring by each backend that works here; the verdict of
every test must be the same.

Usage: compare_verdicts.py WITHOUT WITH [counts_properties]

counts_properties: the program counts the properties that GoogleTest will write to its XML, where ours stand too when we
measure; so when measuring it is run without XML, and its exit code alone is compared.
"""
import collections
import csv
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
from backends import AUTOMATIC  # pylint: disable=wrong-import-position


def run(program, folder, writes_xml=True, **variables):
    """(exit code, {test: verdict}, stderr); programs that run their tests several times report the last."""
    output = os.path.join(folder, "verdicts.xml")
    if os.path.exists(output):
        os.remove(output)
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("SYSCOST_", "GTEST_"))}
    # By a variable, because some of the programs check their own flags.
    done = subprocess.run([program], cwd=folder, capture_output=True, text=True, errors="replace",
                          env={**kept, **({"GTEST_OUTPUT": "xml:" + output} if writes_xml else {}), **variables})
    verdicts = collections.OrderedDict()
    if os.path.exists(output):
        for case in xml.parse(output).iter("testcase"):
            failed = "failed" if case.find("failure") is not None else case.get("result")
            verdicts[f'{case.get("classname")}.{case.get("name")}'] = (case.get("status"), failed)
    return done.returncode, verdicts, done.stderr


def backends_that_work(linked):
    doctor = subprocess.run([linked], env={**os.environ, "SYSCOST_DOCTOR": "1"}, capture_output=True, text=True)
    found = re.findall(rf"^  ({'|'.join(AUTOMATIC)}) +works:", doctor.stdout, flags=re.MULTILINE)
    return found + (["dispatch-trap"] if "dispatch" in found else [])


def backends_in(file):
    """The backends that measured the rows of `file`; an empty set if there is no such file."""
    if not os.path.exists(file):
        return set()
    with open(file, newline="", encoding="utf-8") as lines:
        return {row["backend"] for row in csv.DictReader(lines)}


def main():
    without, linked = map(os.path.abspath, sys.argv[1:3])
    counts_properties = "counts_properties" in sys.argv[3:]
    is_right = True
    with tempfile.TemporaryDirectory() as folder:
        expected = run(without, folder)
        measured = {}
        runs = {"linked": run(linked, folder)}
        for backend in backends_that_work(linked):
            rows = os.path.join(folder, f"{backend}.csv")
            code, verdicts, error = run(linked, folder, writes_xml=not counts_properties, SYSCOST_CSV=rows,
                                        SYSCOST_BACKEND=backend)
            runs[backend] = (code, expected[1] if counts_properties else verdicts, error)
            measured[backend] = backends_in(rows)
        # A test that did not run has no rows. All backends must agree on that.
        for backend, seen in measured.items():
            if not seen <= {backend} or (not seen and any(measured.values())):
                is_right = False
                print(f"{backend}: the rows name {seen or 'no backend'}; this backend should have measured the run")
        for name, got in runs.items():
            if got[:2] != expected[:2]:
                is_right = False
                print(f"{name}: exit code {got[0]}, without us {expected[0]}; tests that differ:")
                for test in set(expected[1]) | set(got[1]):
                    if expected[1].get(test) != got[1].get(test):
                        print(f"  {test}: {got[1].get(test)}, without us {expected[1].get(test)}")
                print(got[2][-2000:])
        print(f"{len(expected[1])} tests, runs compared: {', '.join(runs)}")
        return 0 if is_right else 1


sys.exit(main())
