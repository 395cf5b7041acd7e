# SPDX-License-Identifier: MIT
"""Holds a CSV of greeting_test against what its tests are known to do; says what differs and ends with 1."""
import csv
import sys

with open(sys.argv[1], newline="", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))

problems = []
tests = sorted(row["test"] for row in rows if row["kind"] == "test" and row["record"] == "test")
if tests != ["Greeting.AsksForNothing", "Greeting.WritesNineteenTimes"]:
    problems.append(f"expected one row for each of the two tests, got {tests}")
calls = {
    (row["test"], row["syscall"]): row["calls"] or row["entries"]
    for row in rows
    if row["kind"] == "test" and row["record"] == "syscall"
}
if calls.get(("Greeting.WritesNineteenTimes", "write")) != "19":
    problems.append(f"expected 19 calls of write, got {calls}")
extra = {key: value for key, value in calls.items() if key[0] == "Greeting.AsksForNothing"}
if extra:
    problems.append(f"an empty test makes no call, but got {extra}")
if any(row["end"] != "end" for row in rows):
    problems.append("a row is torn")
for problem in problems:
    print(f"{sys.argv[1]}: {problem}")
sys.exit(1 if problems else 0)
