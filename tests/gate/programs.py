# SPDX-License-Identifier: MIT
"""The programs of a suite that we did not write, run one by one, and the counts of their windows."""
import collections
import csv
import json
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "suites"))
from suites import SUITES, TOP, build, give_up  # pylint: disable=wrong-import-position

LONGEST = 900
WINDOWS = ("test", "suite", "environment")


def add_arguments(parser):
    parser.add_argument("--build", type=Path, default=TOP / "build" / "release", help="where syscost is built")
    parser.add_argument("--work", type=Path, default=TOP / "build" / "suites", help="sources, builds, logs and rows")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--longest", type=float, default=60, help="leave out programs that take more seconds")
    parser.add_argument("--details", action="store_true", help="each count that changed, a line")
    parser.add_argument("suites", nargs="*", help=f"of {', '.join(SUITES)}; all by default")


class Program:
    """One program of a suite, as ctest runs it."""

    def __init__(self, test, suite, backend, place):
        properties = {one["name"]: one["value"] for one in test.get("properties", [])}
        self.name, self.command, self.backend = test["name"], test["command"], backend
        self.folder = properties.get("WORKING_DIRECTORY")
        self.variables = {**dict(one.split("=", 1) for one in properties.get("ENVIRONMENT", [])),
                          **SUITES[suite].get("variables", {})}
        self.output = place / f"{test['name']}.csv"

    def run(self, before=(), folder=None, stdout=subprocess.DEVNULL, **variables):
        """The counts of its windows, {(kind, test, window): {(syscall, is volatile): calls}}; skipped tests have none."""
        self.output.unlink(missing_ok=True)
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("SYSCOST_", "GTEST_"))}
        given = {"SYSCOST_CSV": str(self.output), "SYSCOST_BACKEND": self.backend}
        try:
            subprocess.run([*before, *self.command], cwd=folder or self.folder, env={**kept, **self.variables, **given, **variables},
                           stdout=stdout, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, timeout=LONGEST, check=False)
        except subprocess.TimeoutExpired:
            return {}
        return counts_of(self.output)


def counts_of(file):
    windows = collections.defaultdict(dict)
    if not file.exists():
        return windows
    skipped = set()
    with open(file, newline="", encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            if row["kind"] not in WINDOWS:
                continue
            key = row["kind"], row["test"], row["window"]
            window = windows[key]
            if row["outcome"] == "skipped":
                skipped.add(key)
            if row["record"] == "syscall":
                window[row["syscall"], "volatile" in row["class"]] = int(row["calls"] or row["entries"])
    for key in skipped:
        del windows[key]
    return windows


def programs_of(name, args, backend, place):
    """Builds the suite; all its programs, whether or not they have tests."""
    place.mkdir(parents=True, exist_ok=True)
    place.chmod(0o777)
    folder = build(name, SUITES[name], args, True)
    shown = subprocess.run(["ctest", "--show-only=json-v1"], cwd=folder, capture_output=True, text=True, check=True)
    for test in json.loads(shown.stdout)["tests"]:
        if "command" in test and "python" not in Path(test["command"][0]).name:
            program = Program(test, name, backend, place)
            program.folder = program.folder or folder
            yield program


def always(runs, window, call):
    """The count that the window has in all runs; None where it differs, or one of them lacks the window."""
    if any(window not in one for one in runs):
        return None
    counts = {one[window].get(call, 0) for one in runs}
    return counts.pop() if len(counts) == 1 else None


def changed(before, after):
    """(window, syscall, is volatile, calls before, calls after) of each count that agrees in all of `before` and in all of
    `after`, and differs between the two."""
    for window in before[0]:
        for call in sorted({call for one in (*before, *after) for call in one.get(window, {})}):
            was, is_now = always(before, window, call), always(after, window, call)
            if was is not None and is_now is not None and was != is_now:
                yield window, *call, was, is_now


__all__ = ["SUITES", "TOP", "Program", "add_arguments", "changed", "give_up", "programs_of"]
