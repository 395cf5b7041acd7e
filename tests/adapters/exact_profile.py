# SPDX-License-Identifier: MIT
"""Does bpftrace hold exactly the writes that the demo makes, every time? Prints a table, and ends with 1 when once it
does not.

    exact_profile.py BIN [TIMES]

BIN: the folder of the programs. TIMES: how often, 20 by default; ctest runs fewer. Ends with 77 where bpftrace cannot run.
"""
import csv
import json
import os
import subprocess
import sys
import tempfile

from adapter_case import BIN, environment
from profile_test import why_not

TESTS = (("ManySmallWrites", 512000), ("SingleBatchedWrite", 500))
TIMES = int(sys.argv[2]) if len(sys.argv) > 2 else 20


def trace(test, folder):
    """(entries in the CSV, values in the histogram of the CSV, values in that of the artifact, does our count agree)."""
    rows = os.path.join(folder, "out.csv")
    done = subprocess.run([os.path.join(BIN, "demo_batched_writes"), "--profile", "bpftrace", "--bpf", "syslat",
                           "--cycles", "500", "--repeats", "1", f"--gtest_filter=*{test}*", "--csv", rows],
                          cwd=folder, env=environment(), capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
    with open(rows, newline="", encoding="utf-8") as file:
        [row] = [row for row in csv.DictReader(file)
                 if (row["origin"], row["kind"], row["syscall"]) == ("bpftrace", "loop", "write")
                 and row["test"] == "BatchedWrites." + test]
    artifacts = os.path.join(folder, "syscost_artifacts", row["run_id"], row["program"], row["test"],
                             "loop " + row["window"], "syslat.json")
    with open(artifacts, encoding="utf-8") as file:
        [write] = [one for one in json.load(file)["syscalls"] if one["syscall"] == "write"]
    return (int(row["entries"]), sum(int(bucket.split(":")[1]) for bucket in row["histogram"].split()),
            sum(bucket["count"] for bucket in write["latency"]), "write, as counted" in done.stdout)


def main():
    reason = why_not()
    if reason:
        print("skipped: " + reason)
        return 77
    exact = 0
    print(f"{'run':>4}  {'test':<20}{'writes':>8}{'entries':>9}{'histogram':>11}{'artifact':>10}  as counted")
    for run in range(1, TIMES + 1):
        for test, writes in TESTS:
            with tempfile.TemporaryDirectory(prefix="syscost-exact-") as folder:
                *seen, agrees = trace(test, folder)
            is_exact = seen == [writes] * 3 and agrees
            exact += is_exact
            print(f"{run:>4}  {test:<20}{writes:>8}{seen[0]:>9}{seen[1]:>11}{seen[2]:>10}  "
                  f"{'yes' if agrees else 'NO'}{'' if is_exact else '   <-- not exact'}", flush=True)
    print(f"{exact} of {TIMES * len(TESTS)} exact")
    return 0 if exact == TIMES * len(TESTS) else 1


if __name__ == "__main__":
    sys.exit(main())
