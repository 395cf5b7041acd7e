# SPDX-License-Identifier: MIT
"""Runs a program of Google Benchmark's without us, with us, and with us measuring; its exit code must be the same.

Usage: compare_exit_codes.py DOCTOR WITHOUT WITH ROWS [FLAG]...    or    compare_exit_codes.py --skip REASON

DOCTOR is a program of ours, asked whether anything can count here. ROWS, rows or no_rows: whether the program has
benchmarks of which the run that measures must have written rows, where it succeeds.
"""
import csv
import os
import subprocess
import sys
import tempfile

SKIPPED = 77


def run(program, folder, *flags):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("SYSCOST_", "BENCHMARK_"))}
    return subprocess.run([program, *flags], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          errors="replace", env=kept)


def rows_of(path):
    if not os.path.exists(path):
        return []
    with open(path, newline="", encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if row["record"] == "test"]


def main():
    if sys.argv[1] == "--skip":
        print("skipped: " + sys.argv[2])
        return SKIPPED
    doctor, without, linked = map(os.path.abspath, sys.argv[1:4])
    has_rows = {"rows": True, "no_rows": False}[sys.argv[4]]
    flags = sys.argv[5:]
    with tempfile.TemporaryDirectory() as folder:
        can_count = run(doctor, folder, "--syscost_doctor").returncode == 0
        out = os.path.join(folder, "out.csv")
        expected = run(without, folder, *flags)
        runs = {"linked": run(linked, folder, *flags)}
        if can_count:
            runs["measuring"] = run(linked, folder, "--syscost_csv=" + out, *flags)
        rows = rows_of(out)
    is_right = True
    for name, got in runs.items():
        print(f"{name}: exit code {got.returncode}, without us {expected.returncode}\n{got.stderr[-3000:]}")
        is_right = is_right and got.returncode == expected.returncode
    counted = [row for row in rows if row["total_calls"]]
    print(f"compared: {', '.join(runs)}; {len(rows)} rows, {len(counted)} of them with counts")
    # One that fails without us may fail before its first benchmark.
    if can_count and expected.returncode == 0 and bool(counted) != has_rows:
        is_right = False
        print("measuring wrote " + ("no row with counts" if has_rows else "rows, though the program has no benchmark"))
    return 0 if is_right else 1


sys.exit(main())
