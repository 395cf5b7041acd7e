# SPDX-License-Identifier: MIT
"""What a CSV says of each window, without what differs between two processes that do the same: for comparisons of a
program that is linked with syscost and one that is not."""
import collections
import csv
import platform
import re

# Columns that identify the process, or hold times.
ITS_OWN = re.compile(r"run_id|started_at|program|pid|build_id|build_type|.*_ns|.*_switches|.*_faults|histogram|late|"
                     r"overhead_estimate_ns|carried_in|in_flight|no_return|total_calls|total_entries|"
                     # A program prints and reads its own path and name, which may have another length.
                     r"bytes|total_bytes_read|total_bytes_written|peak_rss_bytes")
# In a test with threads it depends on their timing.
BY_CHANCE = {"futex", "getrandom", "sched_yield", "madvise", "munmap", "mprotect", "mmap", "brk", "rt_sigreturn"}
# From glibc 2.41 on, the first getrandom of a dynamic program maps memory of the vDSO, with signals blocked. A static
# program has no vDSO.
LIBC, LIBC_VERSION = platform.libc_ver()
MAPS_AT_GETRANDOM = LIBC == "glibc" and tuple(map(int, LIBC_VERSION.split("."))) >= (2, 41)
if MAPS_AT_GETRANDOM:
    BY_CHANCE.add("rt_sigprocmask")


def is_its_own(column):
    return ITS_OWN.fullmatch(column) or (MAPS_AT_GETRANDOM and column in ("total_bytes_mapped", "total_bytes_unmapped"))


def rows_of_windows(path):
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["kind"] != "run" and row["syscall"] not in BY_CHANCE:
                yield row, tuple(sorted((k, v) for k, v in row.items() if v and not is_its_own(k)))


def counted(path):
    """The rows of windows, each a tuple of (column, value) in the order of the columns' names."""
    return sorted(comparable for _, comparable in rows_of_windows(path))


def counted_by_window(path):
    """The same, by (program, kind, test, window). Processes that run the same test add rows to one window."""
    windows = collections.defaultdict(list)
    for row, comparable in rows_of_windows(path):
        windows[row["program"], row["kind"], row["test"], row["window"]].append(comparable)
    return {window: tuple(sorted(rows)) for window, rows in windows.items()}
