# SPDX-License-Identifier: MIT
"""What the rows of a run say: how often getppid was called in a test and in the passes of its loop."""
import csv
import os

PER_CALL_OF_LOOP = 3


def read_rows(path):
    try:
        # A pipe that took the file's place would never be opened.
        if not os.path.isfile(path):
            return []
        if not os.access(path, os.R_OK):
            os.chmod(path, 0o600)  # with umask 777 a program writes a file that only root can read
        with open(path, newline="", encoding="utf-8", errors="replace") as file:
            return list(csv.DictReader(file))
    except OSError:
        return []


def number_of(rows, name):
    """How often getppid was called in the test: (number, lost); the number is None if the test was not measured."""
    [row] = [r for r in rows if (r["kind"], r["record"], r["test"]) == ("test", "test", name)][:1] or [None]
    if row is None or not (row["total_entries"] or row["total_calls"]):
        return None, 0
    calls = [r for r in rows if (r["kind"], r["record"], r["test"], r["syscall"]) == ("test", "syscall", name, "getppid")]
    return sum(int(r["entries"] or r["calls"] or 0) for r in calls), int(row["lost"] or 0) + int(row["late"] or 0)


def children_of(rows, name):
    """The same of the test's children, all programs together."""
    mine = [r for r in rows if (r["kind"], r["test"]) == ("process", name)]
    _, lost = number_of(rows, name)
    return sum(int(r["entries"] or r["calls"] or 0) for r in mine if r["syscall"] == "getppid"), lost


def loops_of(rows):
    """(number, number that is right, lost) of each counted pass."""
    passes = []
    for row in rows:
        if (row["kind"], row["record"]) != ("loop", "test"):
            continue
        calls = [r for r in rows if (r["kind"], r["record"], r["repetition"], r["syscall"])
                 == ("loop", "syscall", row["repetition"], "getppid")]
        counted = bool(row["total_entries"] or row["total_calls"])
        number = sum(int(r["entries"] or r["calls"] or 0) for r in calls) if counted else None
        passes.append((number, PER_CALL_OF_LOOP * int(row["iterations"] or 0), int(row["lost"] or 0) + int(row["late"] or 0)))
    return passes


def exact_or_missing(number, lost, made):
    """(letter, why): '='; 'R' if there is no number or calls are lost (an unseen thread counts as lost); 'W' if the
    number is wrong."""
    if number is None:
        return "R", "no number"
    if number > made or (lost == 0 and number != made):
        return "W", f"{number} of {made} calls, {lost} lost"
    return ("R", f"{number} of {made} calls, {lost} lost") if lost else ("=", "")
