# SPDX-License-Identifier: MIT
"""Makes a CSV as large as that of a large suite: `make_run.py HEADER_OF TESTS > FILE`.

HEADER_OF is any CSV of the same version. The rows are made up, from a fixed seed: every fifth test is as quiet as unit
tests mostly are, others have up to twelve syscalls with histograms of many buckets.
"""
import csv
import random
import sys

CALLS = ["openat", "read", "write", "close", "fstat", "mmap", "munmap", "futex", "fsync", "lseek", "newfstatat", "poll",
         "clock_nanosleep", "brk", "getdents64", "unlink"]
WAITS = {"futex", "poll", "clock_nanosleep"}
RUN = dict(schema_version="1", run_id="1795225951-99", started_at="2026-11-21T01:52:31.123456Z", host="builder",
           kernel_release="6.1.0", commit="43cf755a0e1c", build_type="Release", backend="dispatch", selection="whole",
           program="storage_tests", pid="99", kind="test", repetition="0", origin="syscost", end="end")


def bucket(ns):
    """The lower bound of the histogram's bucket of `ns`."""
    power = ns.bit_length() - 1
    return ns if power < 3 else (ns >> (power - 3)) << (power - 3)


def rows_of(dice, name, sited):
    wall = int(dice.lognormvariate(13, 2)) + 2000
    syscalls = [] if dice.random() < 0.2 else dice.sample(CALLS, dice.randint(1, 12))
    rows = []
    for syscall in syscalls:
        values = [max(60, int(dice.lognormvariate(7.5, 1))) for _ in range(int(dice.lognormvariate(3, 1)) + 1)]
        buckets = {}
        for value in values:
            buckets[bucket(value)] = buckets.get(bucket(value), 0) + 1
        errors = dice.randint(0, len(values)) if dice.random() < 0.1 else 0
        site = f"at src/storage/part_{dice.randint(0, 200)}.cc:{dice.randint(10, 900)} storage::Part::work+{dice.randint(1, 40)}"
        rows.append(dict(RUN, test=name, record="syscall", syscall=syscall, detail=site if sited else "",
                         **{"class": "wait" if syscall in WAITS else "file"},
                         entries=len(values), calls=len(values), restarts=0, in_flight=0, no_return=0, carried_in=0, denied=0,
                         errors=errors, errnos=f"ENOENT:{errors}" if errors else "", latency_count=len(values),
                         latency_sum_ns=sum(values), latency_min_ns=min(values), latency_max_ns=max(values),
                         histogram=" ".join(f"{low}:{count}" for low, count in sorted(buckets.items()))))
    total = dict(RUN, test=name, record="test", outcome="failed" if dice.random() < 0.002 else "passed", wall_ns=wall,
                 user_ns=wall // 4, system_ns=wall // 3, overhead_estimate_ns=wall // 50,
                 total_entries=sum(row["calls"] for row in rows), total_calls=sum(row["calls"] for row in rows),
                 total_errors=sum(row["errors"] for row in rows), total_kernel_ns=sum(row["latency_sum_ns"] for row in rows),
                 late=0, lost=0)
    return [total] + rows


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        header = file.readline().strip().split(",")
    dice = random.Random(19)
    writer = csv.DictWriter(sys.stdout, header, lineterminator="\n")
    writer.writeheader()
    for number in range(int(sys.argv[2])):
        name = f"{dice.choice(['Storage', 'Log', 'Cache', 'Index', 'Net'])}{number // 40}.Keeps{dice.choice(['Order', 'Size', 'Bytes', 'Nothing'])}When{number}"
        writer.writerows(rows_of(dice, name, len(sys.argv) > 3))


main()
