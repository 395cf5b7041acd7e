# SPDX-License-Identifier: MIT
"""The programs of a suite that we did not write: how they run one by one, and the counts of their windows."""
import collections
import json
import os
import subprocess
import sys
from pathlib import Path

from cells import COUNTED, Run

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "suites"))
from suites import BACKENDS, SUITES, TOP, build, give_up  # pylint: disable=wrong-import-position,unused-import

LONGEST = 60  # seconds on a quiet machine; the longest program takes 40


def arguments(parser):
    """What `parser` and all tools here take, from the command line: syscost is built, and each suite exists."""
    parser.add_argument("--build", type=Path, default=TOP / "build" / "release", help="where syscost is built")
    parser.add_argument("--work", type=Path, default=TOP / "build" / "suites", help="sources, builds, logs and rows")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("suites", nargs="*", help=f"of {', '.join(SUITES)}; all by default")
    args = parser.parse_args()
    args.build, args.work, args.suites = args.build.resolve(), args.work.resolve(), args.suites or list(SUITES)
    if not (args.build / "lib" / "libsyscost_gtest.a").exists():
        give_up(f"{args.build} holds no syscost: build it first (./dev build), or name another folder by --build")
    for name in args.suites:
        if name not in SUITES:
            give_up(f"no suite {name}; there are {', '.join(SUITES)}")
    args.work.mkdir(parents=True, exist_ok=True)
    return args


def arguments_of_changes(parser):
    """The same, for a tool that prints counts that changed."""
    parser.add_argument("--longest", type=float, default=60, help="leave out programs that take more seconds")
    parser.add_argument("--details", action="store_true", help="each count that changed, a line")
    return arguments(parser)


def environment(**variables):
    """Ours with these, and no others of frameworks and of syscost."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("SYSCOST_", "GTEST_", "SLIP_"))}
    return {**kept, **variables}


def run_quietly(command, folder, stdout=subprocess.DEVNULL, longest=LONGEST, **variables):
    subprocess.run(command, cwd=folder, env=environment(**variables), stdout=stdout, stderr=subprocess.DEVNULL,
                   stdin=subprocess.DEVNULL, timeout=longest, check=False)


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
        given = {"SYSCOST_CSV": str(self.output), "SYSCOST_BACKEND": self.backend}
        try:
            run_quietly([*before, *self.command], folder or self.folder, stdout, **{**self.variables, **given, **variables})
        except subprocess.TimeoutExpired:
            return {}
        return counts_of(self.output)


def counts_of(file):
    windows = collections.defaultdict(dict)
    if not file.exists():
        return windows
    skipped = set()
    for row in Run(file).rows:
        if row["kind"] not in COUNTED:
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


__all__ = ["SUITES", "TOP", "arguments", "arguments_of_changes", "changed", "environment", "give_up", "programs_of", "run_quietly"]
