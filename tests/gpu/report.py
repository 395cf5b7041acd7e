#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Everything that only a GPU can show, in one go: ./dev gpu runs this.

report.py BIN_FOLDER OUT_FOLDER [--suite demo_gpu_sum_opencl]

Each check prints what it found: done, FAILED, or skipped with the reason; a cell that was not measured stays empty. The
same text is in OUT_FOLDER/report.md; docs/gpu.md has the conclusions. Exit code 1 when a check failed.
"""
import argparse
import csv
import glob
import os
import re
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

TIMEOUT = 1500
SELF_COST_LIMIT = 1.05
MEMORY = ("mmap", "munmap", "mprotect", "madvise", "mremap", "brk")
FILES = ("openat", "open", "read", "pread64", "close", "fstat", "newfstatat", "stat", "statx", "readlink", "access")
NO_DEVICE = re.compile(r"(no GPU that CUDA can use: [^\n']*|looking for a GPU failed: [^\n']*|no OpenCL platform[^\n']*)")


class Skip(Exception):
    """A check that cannot be made here; says why."""


class Report:
    def __init__(self, bin_folder, out, suite):
        self.bin, self.out, self.suite = bin_folder, out, suite
        self.lines, self.results, self.files = [], Counter(), {}

    def say(self, text=""):
        print(text, flush=True)
        self.lines.append(text)

    def program(self, name):
        path = self.bin / name
        if not path.exists():
            raise Skip(f"{name} is not built: CMake said why when it configured")
        return str(path)

    def run(self, command, tool_codes=(), **variables):
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("SYSCOST_", "GTEST_"))}
        done = subprocess.run(command, cwd=self.out, env={**kept, "SYSCOST_UNAVAILABLE": "skip", **variables},
                              capture_output=True, text=True, errors="replace", timeout=TIMEOUT, check=False)
        text = done.stdout + done.stderr
        if found := NO_DEVICE.search(text):
            raise Skip(found.group(1))
        if done.returncode == 2 and "fix:" in done.stderr:
            raise Skip(" ".join(done.stderr.split()))
        if done.returncode != 0 and done.returncode not in tool_codes:
            raise AssertionError(f"{' '.join(command)} ended with {done.returncode}\n{text[-2000:]}")
        return done

    def measured(self, name, *arguments):
        """Rows of the suite's run with these arguments; with ioctls apart where that can be had."""
        if name in self.files:
            return self.files[name]
        path = self.out / f"{name}.csv"
        path.unlink(missing_ok=True)
        command = [self.program(self.suite), "--csv", str(path), *arguments]
        try:
            self.run([*command, "--detail", "ioctl"])
        except Skip as why:
            if "detail" not in str(why):
                raise
            if not self.files:  # once is enough
                self.say(f"(ioctls are not told apart: {why})\n")
            self.run(command)
        with open(path, newline="", encoding="utf-8") as file:
            self.files[name] = [row for row in csv.DictReader(file) if row["origin"] == "syscost"]
        return self.files[name]

    def check(self, title, body):
        self.say(f"\n## {title}\n")
        try:
            body()
            state = "done"
        except Skip as why:
            self.say(f"skipped: {why}")
            state = "skipped"
        except AssertionError as why:
            self.say(f"FAILED: {why}")
            state = "failed"
        except Exception as why:  # one check that breaks must not cost what the others find
            self.say(f"FAILED: {type(why).__name__}: {why}")
            state = "failed"
        self.results[state] += 1
        self.write()

    def write(self):
        """What there is so far: a GPU may be gone before the end."""
        (self.out / "report.md").write_text("\n".join(self.lines) + "\n", encoding="utf-8")

    def table(self, head, rows):
        self.say("| " + " | ".join(head) + " |")
        self.say("|" + "---|" * len(head))
        for row in rows:
            self.say("| " + " | ".join("" if cell is None else str(cell) for cell in row) + " |")


def number(row, column):
    return int(row[column]) if row[column] else None


def count(row):
    """Trips into the kernel where the backend sees them, else calls."""
    value = number(row, "entries")
    return value if value is not None else number(row, "calls") or 0


def calls(rows, test, window=None, syscall=None):
    """How many calls in a test, or in its scopes of one name; None if they were not counted, or not all."""
    kind = "test" if window is None else "scope"
    of_window = [row for row in rows if row["kind"] == kind and row["test"] == test and window in (None, row["window"])]
    totals = [row for row in of_window if row["record"] == "test"]
    if not totals or any(not row["total_calls"] and not row["total_entries"] for row in totals):
        return None
    if any(int(row[loss] or 0) > 0 for row in totals for loss in ("lost", "late")):
        return None
    return sum(count(row) for row in of_window if row["record"] == "syscall" and syscall in (None, row["syscall"]))


def named(rows, test, window):
    """`3 nvidiactl RM_ALLOC ...`: the ioctls of a scope."""
    found = Counter()
    for row in rows:
        if (row["kind"], row["test"], row["window"], row["syscall"]) == ("scope", test, window, "ioctl"):
            found[row["detail"] or "not told apart"] += count(row)
    return found


def device(report):
    smi = shutil.which("nvidia-smi")
    if smi is None:
        raise Skip("nvidia-smi is not here: no NVIDIA driver")
    done = subprocess.run([smi, "--query-gpu=name,driver_version,compute_cap", "--format=csv,noheader"],
                          capture_output=True, text=True, timeout=TIMEOUT, check=False)
    if done.returncode != 0:
        raise Skip(" ".join((done.stdout + done.stderr).split()))
    report.say(done.stdout.strip())


def suite(report):
    rows = report.measured("suite")
    outcomes = Counter(row["outcome"] for row in rows if row["kind"] == "test" and row["record"] == "test")
    report.say(", ".join(f"{times} {outcome}" for outcome, times in sorted(outcomes.items())) +
               f"; bench summary {report.out / 'suite.csv'}")


def device_tests(report):
    report.run([report.program("gpu_stamps_on_gpu"), "--gtest_filter=OnGpu.*"])
    report.say("stamps, events, failing launches and overflow on the device: passed")


def warm_launches(report):
    rows = report.measured("launches", "--gtest_filter=*ThousandWarmLaunches")
    test = "GpuSum.ThousandWarmLaunches"
    ioctls = calls(rows, test, "launches", "ioctl")
    if ioctls is None:
        raise Skip("nothing was counted, or not all")
    total = calls(rows, test, "launches")
    report.say(f"1000 warm launches: {ioctls} ioctls, {total} syscalls; predicted: 0 ioctls, " +
               ("as predicted" if ioctls == 0 else "WHICH DOES NOT HOLD: these are"))
    for name, times in named(rows, test, "launches").most_common(10):
        report.say(f"- {times} {name}")


def self_cost(report):
    folder = report.out / "stamps"
    shutil.rmtree(folder, ignore_errors=True)
    report.run([report.program("demo_gpu_sum_stamps"), "--csv", str(report.out / "stamps.csv")],
               SYSCOST_ARTIFACTS=str(folder))
    found = []
    for path in glob.glob(str(folder / "stamps-*.csv")):
        with open(path, newline="", encoding="utf-8") as file:
            found += [row for row in csv.DictReader(file) if row["record"] == "launch"]
    assert found, "no launch was stamped"
    rows, worst = [], 0.0
    for row in found:
        plain, stamped = number(row, "plain_ns"), number(row, "stamped_ns")
        assert plain and stamped, f"{row['gpu_kernel']} was not timed"
        worst = max(worst, stamped / plain)
        rows.append((row["device"], row["timer_step_ns"], row["gpu_kernel"], plain, stamped,
                     f"{100 * (stamped / plain - 1):+.1f} %"))
    report.table(("GPU", "timer step, ns", "GPU kernel", "plain, ns", "warp stamps, ns", "slower by"), rows)
    assert worst <= SELF_COST_LIMIT, f"a GPU kernel is {100 * (worst - 1):.1f} % slower with warp stamps; the limit is 5 %"


def sanitizer(report):
    tool = shutil.which("compute-sanitizer") or shutil.which("compute-sanitizer", path="/usr/local/cuda/bin")
    programs = [(report.program("demo_gpu_sum_cuda"), "--gtest_filter=-*RefusesMoreMemoryThanThereIs"),
                (report.program("gpu_stamps_on_gpu"), "--gtest_filter=OnGpu.*-*SaysThat*:*ThatFails")]
    report.run([programs[0][0], "--gtest_filter=*Basic"])  # without a device there is nothing to sanitise
    if tool is None:
        raise Skip("compute-sanitizer was not found (Debian: nvidia-cuda-toolkit; NVIDIA: cuda-sanitizer-13-0)")
    for program, tests in programs:
        for kind in ("memcheck", "racecheck"):
            report.run([tool, "--tool", kind, "--error-exitcode", "99", program, tests])
            report.say(f"{kind} {Path(program).name}: clean")


def cupti(report):
    path = report.out / "cupti.csv"
    path.unlink(missing_ok=True)
    report.run([report.program("demo_gpu_sum_cuda"), "--profile", "cupti", "--csv", str(path)])
    with open(path, newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["kind"] == "gpu_kernel"]
    assert rows, "CUPTI recorded neither GPU kernel nor copy"
    figures = defaultdict(lambda: [0, 0, ""])
    for row in rows:
        figure = figures[row["test"], row["window"]]
        figure[0] += number(row, "iterations")
        figure[1] += number(row, "wall_ns")
        figure[2] = row["detail"] or figure[2]
    report.table(("test", "figure", "times", "ns each", "note"),
                 [(test, window, n, ns // n, note) for (test, window), (n, ns, note) in figures.items()])


def by_time(report):
    rows = [row for row in report.measured("basic", "--gtest_filter=*Basic")
            if row["kind"] == "test" and row["record"] == "syscall"]
    if not rows:
        raise Skip("nothing was counted")
    sums = defaultdict(lambda: [0, 0, 0])
    for row in rows:
        for i, value in enumerate((number(row, "latency_sum_ns"), count(row), number(row, "errors"))):
            sums[row["syscall"]][i] += value or 0
    total = sum(ns for ns, _, _ in sums.values()) or 1
    ordered = sorted(sums.items(), key=lambda one: -one[1][0])
    report.table(("syscall", "time, s", "% of time", "calls", "avg, us", "errors"),
                 [(name, f"{ns / 1e9:.6f}", f"{100 * ns / total:.2f}", n, f"{ns / 1e3 / n:.1f}" if n else None, errors)
                  for name, (ns, n, errors) in ordered[:12]])
    for what, names in (("memory", MEMORY), ("files", FILES)):
        parts = [f"{sums[name][1]} {name}" + (f" ({sums[name][2]} failed)" if sums[name][2] else "")
                 for name in names if name in sums]
        report.say(f"\n{what}: {', '.join(parts) or 'none'}")


def by_phase(report):
    rows = report.measured("basic", "--gtest_filter=*Basic")
    test, lines = "GpuSum.Basic", []
    for phase in ("init", "alloc", "copy in", "launch", "sync", "copy out", "free"):
        names = ", ".join(f"{times} {name}" for name, times in named(rows, test, phase).most_common(6))
        lines.append((phase, calls(rows, test, phase), calls(rows, test, phase, "ioctl"), names))
    if all(line[1] is None for line in lines):
        raise Skip("nothing was counted")
    report.table(("phase", "syscalls", "ioctl", "the most frequent, by name"), lines)


def by_size(report):
    path = report.out / "sizes.csv"
    path.unlink(missing_ok=True)
    report.run([report.program(report.suite + "_benchmark"), "--benchmark_filter=BM_TreeSum", "--syscost_csv", str(path),
                "--benchmark_min_time=0.05"])
    with open(path, newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["kind"] == "benchmark"]
    found = defaultdict(lambda: [0, 0, 0])
    for row in rows:
        numbers = found[row["test"].split("/")[1]]
        if row["record"] == "test":
            numbers[0] += number(row, "counted_iterations") or 0
            continue
        # Per-run calls belong to no sum.
        of_sums = count(row) - (number(row, "per_run_calls") or 0)
        numbers[1] += of_sums
        numbers[2] += of_sums if row["syscall"] == "ioctl" else 0
    report.table(("numbers", "bytes", "syscalls a sum", "ioctl a sum"),
                 [(size, 4 * int(size), f"{total / n:.2f}" if n else None, f"{ioctls / n:.2f}" if n else None)
                  for size, (n, total, ioctls) in found.items()])


def predictions(report):
    rows = report.measured("suite")

    def both(one, other, window=None, syscall=None):
        pair = [calls(rows, f"GpuSum.{test}", window, syscall) for test in (one, other)]
        return None if None in pair else f"{pair[0]}, {pair[1]}"

    first = calls(rows, "GpuSum.Basic", "init", "ioctl")
    later = calls(report.measured("suite"), "GpuSum.Basic", None, "ioctl")
    driver = sum(count(row) for row in rows if row["kind"] == "test" and "driver thread" in row["detail"])
    has_rows = any(row["record"] == "syscall" for row in rows)
    report.table(("prediction", "measured"), [
        ("a copy for each element, one for all: about as many syscalls (scope copies)",
         both("CopyPerElement", "CopyAtOnce", "copies")),
        ("16 sums with allocation for each, with one: ioctls", both("AllocationPerCall", "AllocationReused", None, "ioctl")),
        ("64 MiB from pageable, from pinned memory: ioctls of copy in", both("PageableCopy", "PinnedCopy", "copy in", "ioctl")),
        ("waiting by spinning, by blocking: syscalls of sync", both("SpinningWait", "BlockingWait", "sync")),
        ("naive, tree reduction: as many syscalls", both("NaiveReduction", "TreeReduction")),
        ("ioctls of the first use, of the whole first test", None if first is None else f"{first}, {later}"),
        ("calls of threads called cuda...", driver if has_rows else None),
    ])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bin", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--suite", default="demo_gpu_sum_cuda", help="the suite that the tables show")
    options = parser.parse_args()
    out = options.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    report = Report(options.bin.resolve(), out, options.suite)
    report.say(f"# {options.suite} on {os.uname().nodename}, Linux {os.uname().release}")
    for title, body in (
            ("GPU and driver", device), ("the suite", suite), ("tests of the device", device_tests),
            ("1000 warm launches", warm_launches), ("what warp stamps take (at most 5 %)", self_cost),
            ("compute-sanitizer", sanitizer), ("GPU kernels, copies, launch latency by CUPTI", cupti),
            ("the sum of 1000: syscalls by time", by_time), ("the sum of 1000: what each phase asks of the driver", by_phase),
            ("fixed cost and slope", by_size), ("predictions", predictions)):
        report.check(title, lambda body=body: body(report))
    results = report.results
    report.say(f"\n{results['done']} done, {results['failed']} failed, {results['skipped']} skipped")
    report.write()
    return 1 if results["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
