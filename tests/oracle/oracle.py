#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Does syscost report what an oracle says: bytes, and what each test leaves open?

    oracle.py --bench BENCH --lists LIBRARY --backend dispatch -- PROGRAM ARGUMENTS

runs a program of tests below strace, with --syscost_leaks and with LIBRARY (proc_lists.c), and compares each window's rows
with what strace and /proc say. It prints what differs and a summary. Exit status: 0 nothing differs, 1 something does, 77 the
oracle does not work here. --no-strace leaves out strace, and bytes with it: for programs that do not work below it.
"""
import argparse
import collections
import csv
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import strace_sums

PAGE = os.sysconf("SC_PAGE_SIZE")
EXITING = 0x4  # PF_EXITING: a thread that is ending
LEFT = ("descriptors", "threads", "children", "mapped bytes")


class Lists:
    """What /proc said at one marker."""

    def __init__(self):
        self.descriptors, self.threads, self.children, self.pages, self.most_bytes = {}, set(), set(), 0, 0
        self.stretches, self.has_filter = [], False
        self.is_whole = False

    def take(self, key, name, value):
        if key == "descriptor":
            self.descriptors[int(name)] = value
        elif key == "thread" and not int(value.rpartition(")")[2].split()[6]) & EXITING:
            self.threads.add(int(name))
        elif key == "children":
            self.children.update(int(child) for child in value.split())
        elif key == "statm":
            self.pages = int(value.split()[0])
        elif key == "peak":
            self.most_bytes = int(value.split()[0]) * 1024
        elif key == "seccomp":
            self.has_filter = value.strip() != "0"
        elif key == "map":
            self.stretches.append(tuple(int(end, 16) for end in value.split("-")))
        elif key == "end":
            self.is_whole = True


def left_by_windows(path):
    """(pid, window, repetition) -> what is there after it and was not before."""
    before, found, seen, now = {}, {}, collections.Counter(), None
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        key, name, value = (line.split(" ", 2) + ["", ""])[:3]
        if key != "marker":
            now.take(key, name, value)
            if key != "end":
                continue
            if edge == "syscost-begin":
                before[name] = now
            elif name in before:
                then = before.pop(name)
                found[int(name), window, seen[name, window]] = {
                    "descriptors": sorted(set(now.descriptors) - set(then.descriptors)), "threads": len(now.threads - then.threads),
                    "children": len(now.children - then.children), "mapped bytes": max(now.pages - then.pages, 0) * PAGE, "growth": (now.pages - then.pages) * PAGE,
                    "peak": now.most_bytes - then.pages * PAGE if now.most_bytes > then.most_bytes else None, "stretches": then.stretches,
                    "may be filtered": now.has_filter}
                seen[name, window] += 1
            continue
        now = Lists()
        edge, _, window = value.partition(" ")
    return found


def rows_of(path):
    """(pid, window, repetition) -> the row of the window, and the rows of its syscalls."""
    windows = collections.defaultdict(lambda: [None, []])
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["kind"] not in ("test", "suite", "environment"):
                continue
            name = " ".join(part for part in (row["kind"], row["test"], row["window"]) if part)
            window = windows[int(row["pid"]), name, int(row["repetition"])]
            if row["record"] == "test":
                window[0] = row
            else:
                window[1].append(row)
    return windows


def differing_bytes(row, syscalls, sums):
    """One line for each number that differs. An empty cell is right only if nothing can say the number."""
    ours = {column: collections.Counter() for column in ("bytes", "bytes_released", "short_calls")}
    silent = set()
    for one in syscalls:
        abi, _, name = one["syscall"].rpartition(":")
        for column, counter in ours.items():
            counter[name] += int(one[column] or 0)
            if not one[column] and abi:  # dispatch has no lengths of calls by int $0x80
                silent.add((column, name))
    is_lower_bound = int(row["lost"]) + int(row["late"]) > 0
    for column, theirs in (("bytes", sums.bytes), ("bytes_released", sums.released), ("short_calls", sums.short)):
        for name in sorted(set(theirs) | set(ours[column])):
            mine, its = ours[column][name], theirs[name]
            if mine != its and (column, name) not in silent and not (is_lower_bound and mine < its):
                yield f"{column} of {name}: {mine}, strace {its}"
    for column, its in sums.totals().items():
        is_same = row[column] == ("" if its is None else str(its))
        if not is_same and not silent and not (is_lower_bound and row[column] and its is not None and int(row[column]) < its):
            yield f"{column}: {row[column] or 'empty'}, strace {its}"


def differing_kinds(row, syscalls, sums):
    """One line for each kind of file whose bytes differ (--detail file)."""
    ours, silent = collections.Counter(), set()
    for one in syscalls:
        abi, _, name = one["syscall"].rpartition(":")
        if name in strace_sums.MOVES:
            ours[name, one["detail"]] += int(one["bytes"] or 0)
            if abi:  # these calls have no details
                silent.add(name)
    is_lower_bound = int(row["lost"]) + int(row["late"]) > 0
    for name, kind in sorted(set(ours) | set(sums.by_kind)):
        mine, its = ours[name, kind], sums.by_kind[name, kind]
        if mine != its and name not in silent and not (is_lower_bound and mine < its):
            yield f"bytes of {name} by {kind or 'no kind'}: {mine}, strace {its}"


def differing_left(row, left):
    listed = [int(one.split()[0]) for one in row["left_open"].split(";") if one[:1].isdigit()]
    if ";and " in row["left_open"] and len(left["descriptors"]) == int(row["descriptors_left"]):
        listed = left["descriptors"]  # it names the first 32
    ours = {"descriptors": sorted(listed), "threads": int(row["threads_left"]), "children": int(row["children_left"]),
            "mapped bytes": int(row["mapped_bytes_left"] or 0)}
    for what in LEFT:
        # The row of a tear-down has no mappings: it takes descriptors and threads of the set-up into account.
        if ours[what] != left[what] and (what != "mapped bytes" or row["mapped_bytes_left"]):
            yield f"{what} left: {ours[what]}, /proc {left[what]}"


def differing_peak(row, left, sums, may_be_empty):
    """The kernel's own mark, if the window raised it; else the address space as strace's calls change it. A stack that grows changes it
    without a call."""
    ours = int(row["peak_mapped_bytes"]) if row["peak_mapped_bytes"] else None
    if left["peak"] is not None:
        if ours != left["peak"]:
            yield f"peak of mapped bytes: {ours}, VmPeak {left['peak']}"
        return
    if ours is None:
        if not may_be_empty:
            yield "peak of mapped bytes: empty"
        return
    if sums is None:
        return
    simulated, grown = sums.mappings.most - sums.mappings.at_begin, sums.mappings.bytes - sums.mappings.at_begin
    by_faults = max(left["growth"] - grown, 0)
    if not simulated <= ours <= simulated + by_faults:
        yield f"peak of mapped bytes: {ours}, strace {simulated} and {by_faults} of stacks"


class Comparison:
    def __init__(self):
        self.kinds = collections.Counter()
        self.of_bytes = self.lower_bounds = self.of_lists = self.leaving = self.of_peaks = 0
        self.faults = []

    def __str__(self):
        return (f"{self.of_bytes} windows with bytes ({self.lower_bounds} of them lower bounds), {self.of_lists} with lists, {self.leaving} leave "
                f"something; {self.of_peaks} with a peak of mapped bytes; {len(self.faults)} numbers differ")


def compare(folder, with_kinds=False):
    """Of the run that observe() left in the folder; with kinds of files if they were asked for."""
    rows, left = rows_of(folder / "rows.csv"), left_by_windows(folder / "lists")
    has_strace = (folder / "strace").exists()
    sums = strace_sums.windows(folder / "strace", {key: one["stretches"] for key, one in left.items()}) if has_strace else {}
    done = Comparison()
    for key, (row, syscalls) in rows.items():
        found = []
        if row is None:
            continue
        if has_strace and row["total_bytes_mapped"]:
            done.of_bytes += 1
            done.lower_bounds += int(row["lost"]) + int(row["late"]) > 0
            found += differing_bytes(row, syscalls, sums[key]) if key in sums else ["no markers in strace's log"]
            if with_kinds and key in sums:
                found += differing_kinds(row, syscalls, sums[key])
                for (_, kind), count in sums[key].by_kind.items():
                    done.kinds[kind] += count
        if row["descriptors_left"]:
            done.of_lists += 1
            done.leaving += key in left and any(left[key][what] for what in LEFT[:3])
            found += differing_left(row, left[key]) if key in left else ["no lists of /proc"]
            if key in left and row["mapped_bytes_left"]:
                done.of_peaks += row["peak_mapped_bytes"] != ""
                # dispatch does not ask the kernel under a filter of the program's.
                may_be_empty = not row["total_bytes_mapped"] or int(row["lost"]) + int(row["late"]) > 0 or left[key]["may be filtered"]
                found += differing_peak(row, left[key], sums.get(key), may_be_empty)
        done.faults += [f"{key[1]} (repetition {key[2]}): {one}" for one in found]
    return done


def skip(reason):
    print(reason)
    sys.exit(77)


def has_kinds(flags):
    return any(flag.startswith("--detail=") and "file" in flag for flag in flags)


def observe(folder, bench, lists, backend, command, has_strace=True, flags=()):
    """Runs the command; the exit status. The folder gets the rows, the logs and, in `output`, what the command printed."""
    for name in ("rows.csv", "lists", "strace"):
        (folder / name).unlink(missing_ok=True)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SYSCOST_")}
    environment.update(LD_PRELOAD=str(lists), ORACLE_LISTS=str(folder / "lists"), SYSCOST_MARKERS="1")
    words = [bench, "run", "--tests", "--leaks", "--backend", backend, "--csv", folder / "rows.csv", *flags, "--"]
    if has_strace:
        traced = "trace=" + ",".join(f"?{name}" for name in strace_sums.TRACED)  # "?": this architecture may lack it
        words += ["strace", "-f", "-q", "-s", "4096", *(["-yy"] if has_kinds(flags) else []), "-e", traced, "-o", folder / "strace"]
    with open(folder / "output", "w", encoding="utf-8") as output:
        return subprocess.run(words + command, env=environment, stdout=output, stderr=output, check=False).returncode


def said(folder):
    return (folder / "output").read_text(encoding="utf-8", errors="replace")


def missing():
    """Why the oracle cannot work here, or an empty text."""
    if shutil.which("strace") is None:
        return "strace is missing (Debian: apt-get install strace)"
    done = subprocess.run(["strace", "-f", "-o", "/dev/null", "true"], text=True, capture_output=True, check=False)
    return "strace does not work here: " + done.stderr.strip()[:200] if done.returncode != 0 else ""


def why_not(bench, backend):
    """Why the backend does not work here, or an empty text. The doctor has one line for both kinds of dispatch."""
    done = subprocess.run([bench, "doctor"], text=True, capture_output=True, check=False)
    line = re.search(rf"(?m)^  {backend.removesuffix('-trap')} +does not work: (.*)", done.stdout)
    return line[1] if line else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", required=True)
    parser.add_argument("--lists", required=True, help="the library of proc_lists.c")
    parser.add_argument("--backend", default="dispatch")
    parser.add_argument("--flag", action="append", default=[], help="one more of bench run")
    parser.add_argument("--no-strace", action="store_true", help="compare without bytes: for programs that do not work below strace")
    parser.add_argument("--keep", help="a folder for the logs")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    if not options.no_strace and missing():
        skip(missing())
    if reason := why_not(options.bench, options.backend):
        skip(f"{options.backend} does not work here: {reason}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(options.keep or temporary)
        folder.mkdir(exist_ok=True)
        status = observe(folder, options.bench, options.lists, options.backend, options.command, not options.no_strace, options.flag)
        if not (folder / "rows.csv").exists() or not (folder / "lists").exists():
            print(said(folder)[-2000:])
            sys.exit(1)
        done = compare(folder, has_kinds(options.flag))
    if done.kinds:
        print("bytes by kind: " + ", ".join(f"{count} {kind or 'no file'}" for kind, count in done.kinds.most_common()))
    print("\n".join(done.faults + [f"{done}; exit status {status}"]))
    sys.exit(1 if done.faults or done.of_lists == 0 else 0)


if __name__ == "__main__":
    main()
