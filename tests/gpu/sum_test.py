#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The sum suite passes on this machine's device, or skips with the reason; its phases have rows of their own.

sum_test.py PROGRAM BENCH
"""
import csv
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM, BENCH = sys.argv[1], sys.argv[2]
PHASES = {"alloc", "copy in", "launch", "sync", "copy out", "free"}
SKIPPED = 77


def run(folder: str, *arguments: str) -> subprocess.CompletedProcess:
    # PoCL keeps compiled kernels; a folder of ours, so that each run compiles and none writes to the user's.
    environment = {**os.environ, "POCL_CACHE_DIR": folder, "SYSCOST_UNAVAILABLE": "skip"}
    return subprocess.run([PROGRAM, *arguments], env=environment, cwd=folder, capture_output=True, text=True, timeout=280,
                          check=False)


def why_no_device() -> str | None:
    with tempfile.TemporaryDirectory() as folder:
        probe = run(folder, "--gtest_filter=GpuSum.NothingAtAll")
    for line in probe.stdout.splitlines():
        if line.startswith(("no GPU", "no OpenCL")):
            return line
    return None


class Sum(unittest.TestCase):
    def test_the_cpu_reference_runs_without_any_device(self):
        with tempfile.TemporaryDirectory() as folder:
            done = run(folder, "--gtest_filter=CpuReference.*")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("[  PASSED  ] 1 test.", done.stdout)

    def test_without_a_device_every_test_of_it_is_skipped_and_says_why(self):
        if NO_DEVICE is None:
            self.skipTest("there is a device")
        with tempfile.TemporaryDirectory() as folder:
            done = run(folder)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("[  PASSED  ] 1 test.", done.stdout)
        skipped = done.stdout.count("[  SKIPPED ] GpuSum.") // 2  # as they happen, and in the list at the end
        self.assertEqual(done.stdout.count(NO_DEVICE), skipped)

    def test_the_suite_passes_and_bench_shows_its_phases(self):
        if NO_DEVICE is not None:
            self.skipTest(NO_DEVICE)
        with tempfile.TemporaryDirectory() as folder:
            done = run(folder, "--csv", "sum.csv")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            with open(Path(folder) / "sum.csv", newline="", encoding="utf-8") as file:
                rows = [row for row in csv.DictReader(file) if row["record"] == "test"]
            if not any(row["backend"] != "none" for row in rows):
                self.skipTest("nothing can count here; --syscost_doctor says why")
            scopes = {row["window"] for row in rows if row["kind"] == "scope" and row["test"] == "GpuSum.Basic"}
            self.assertEqual(scopes, PHASES | {"init"})
            rounds = [row for row in rows if row["test"] == "GpuSum.AllocationPerCall" and row["window"] == "launch"]
            self.assertEqual(len(rounds), 16)
            summary = subprocess.run([BENCH, "summary", "--details", "sum.csv"], cwd=folder, capture_output=True, text=True, check=False)
            self.assertEqual((summary.returncode, summary.stderr), (0, ""))
            self.assertIn("scope GpuSum.ThousandWarmLaunches, launches", summary.stdout)


NO_DEVICE = why_no_device()

if __name__ == "__main__":
    result = unittest.main(argv=sys.argv[:1], exit=False).result
    if not result.wasSuccessful():
        sys.exit(1)
    if NO_DEVICE is not None:
        print(f"skipped: {NO_DEVICE}")
        sys.exit(SKIPPED)
