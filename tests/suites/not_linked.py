# SPDX-License-Identifier: MIT
"""A suite as it was built, under `bench run`: what is compared beside the verdicts, with the plain run and with the linked one."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "agent"))
from counted import counted_by_window  # pylint: disable=wrong-import-position

# Differs between two plain runs.
OF_ONE_RUN = re.compile(r'\b(?:time|timestamp|hostname|duration\w*)="[^"]*"|\b0x[0-9a-f]{6,}\b')


def environment(folder, **variables):
    """Ours with these, and no others of frameworks and of syscost. Some suites share a folder below /tmp with other runs."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("SYSCOST_", "GTEST_"))}
    return {**kept, "TMPDIR": folder, "TEST_TMPDIR": folder, **variables}


def reports_of(suite, folder, place, before, variables):
    """Runs the suite's programs that write reports when asked by words; adds their exit codes to the reports."""
    for program, words in suite.get("programs", {}).items():
        name = Path(program).name
        with tempfile.TemporaryDirectory(prefix="syscost-verdicts-") as own:
            done = subprocess.run([*before, folder / program, *(word.format(xml=place / f"{name}.xml") for word in words)], cwd=folder,
                                  capture_output=True, env=environment(own, **variables))
        (place / f"{name}.status").write_text(str(done.returncode), encoding="utf-8")
    return {file.name: OF_ONE_RUN.sub("", file.read_text(encoding="utf-8", errors="replace")) for file in place.iterdir()}


def new_folder(path):
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    return path


class Rows:
    """The rows of each window, as several runs of one way saw them."""

    def __init__(self):
        self.runs = []

    def add(self, csv):
        self.runs.append(counted_by_window(csv) if csv.exists() else {})

    def of(self, window):
        return {run.get(window) for run in self.runs}

    def windows(self):
        return {window for run in self.runs for window in run}


def compared(here, linked):
    """(windows with equal rows, those that also differ between runs of one way, those that differ always)."""
    same, by_chance, other = [], [], []
    for window in sorted(here.windows() | linked.windows()):
        if here.of(window) & linked.of(window):
            same.append(window)
        elif len(here.of(window)) > 1 or len(linked.of(window)) > 1:
            by_chance.append(window)
        else:
            other.append(window)
    return same, by_chance, other


def difference(here, linked, window):
    """What one run of each way says of a window: for a person."""
    def lines(rows):
        found = {}
        for row in rows.runs[0].get(window) or ():
            row = dict(row)
            found[row.get("syscall", "totals")] = " ".join(f"{key}={row[key]}" for key in ("entries", "calls", "errors", "errnos", "outcome",
                                                                                       "repetition") if key in row)
        return found
    ours, theirs = lines(here), lines(linked)
    for name in sorted({*ours, *theirs}):
        if ours.get(name) != theirs.get(name):
            yield f"{name}: not linked {ours.get(name, 'none')}; linked {theirs.get(name, 'none')}"
