#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What is asked of one kernel: run under it, as root, by kernels.py.

    checks.py BIN ANSWER CASES CHECK... [-- OBJECT...]

BIN: the folder of the programs. ANSWER: the file that gets the answers, as JSON: {"kernel": its release, "rows": [{"of":
what, "is": the answer in a word or two, "good": whether it is as documented, "why": lines}], "counts": {backend: {what:
number}}, "done": [CHECK that came to its end]}. Rewritten with each answer, so that what was found stays when the machine dies. CASES: which of each backend's in the
conformance suite, as --gtest_filter has it. OBJECT: made of the BPF sources by another compiler.
"""

import concurrent.futures
import csv
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

# docs/backends.md; ebpf's is that of task storage for tracing programs, dispatch's of Syscall User Dispatch.
FIRST = {"ebpf": (5, 13), "dispatch": (5, 11), "dispatch-trap": (5, 11), "seccomp": (5, 9)}
BACKENDS = tuple(FIRST)
SCHEDULER_FIRST = (5, 15)  # docs/critical-path.md
CYCLES = 1  # of 1024 writes a test: emulated, a call that seccomp stops takes milliseconds
TRACED_CYCLES = 50
# How libc's allocator spends its time differs with what ran before.
OF_THE_ALLOCATOR = {"brk", "mmap", "munmap", "mprotect", "madvise"}


def release():
    return os.uname().release


def is_older_than(version):
    return tuple(int(part) for part in release().split("-")[0].split(".")[:2]) < version


def is_too_old_for(backend):
    return is_older_than(FIRST[backend])


class Answers:
    def __init__(self, programs, answer, cases, objects):
        self.bin, self.answer, self.cases, self.objects = programs, answer, cases, objects
        self.rows, self.counts, self.done = [], {}, []

    def add(self, of, answer, good=True, why=()):
        self.rows.append({"of": of, "is": answer, "good": good, "why": list(why)})
        print(f"{release()}: {of}: {answer}", flush=True)
        self.write()

    def write(self):
        with open(self.answer, "w", encoding="utf-8") as file:
            json.dump({"kernel": release(), "rows": self.rows, "counts": self.counts, "done": self.done}, file, indent=1)

    def run(self, program, *arguments, folder=None, **variables):
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("SYSCOST", "GTEST"))}
        return subprocess.run([os.path.join(self.bin, program), *arguments], cwd=folder, env={**clean, **variables},
                              capture_output=True, text=True, check=False, errors="replace")


def programs(answers):
    """Does the verifier take every BPF program, of each compiler, with everything that can be switched on?"""
    done = answers.run("syscost_ebpf_load_objects", *answers.objects)
    lines = done.stdout.splitlines()
    good = sum("programs accepted" in line for line in lines)
    of = f"BPF objects of {1 + len(answers.objects)} compiler{'s' if answers.objects else ''}"
    if done.returncode == 0:
        answers.add(of, f"{good} of {len(lines)} loads accepted")
    elif is_too_old_for("ebpf"):
        answers.add(of, "too old for them")
    else:
        answers.add(of, f"{good} of {len(lines)} accepted", False, lines + done.stderr.splitlines())


def doctor(answers):
    """Does each backend open and count, or say that the kernel is too old?"""
    said = answers.run("demo_batched_writes", "--syscost_doctor").stdout
    for backend in BACKENDS:
        if backend == "dispatch-trap":
            continue
        [line] = re.findall(rf"^  {backend} +(.*)$", said, re.MULTILINE) or ["is not mentioned"]
        if line.startswith("works: opened, and counted 64 of 64 known calls"):
            answers.add(f"doctor: {backend}", "works")
        else:
            answers.add(f"doctor: {backend}", "refused", is_too_old_for(backend), [line])
    taken = re.findall(r"auto would take (\S+?)\.", said)
    best = next(backend for backend in BACKENDS if not is_too_old_for(backend))
    answers.add("doctor: auto takes", *taken, good=taken == [best], why=() if taken == [best] else said.splitlines())


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def smoke(answers):
    """What a demo called, as each backend counts it: the same calls under each kernel."""
    for backend in BACKENDS:
        if is_too_old_for(backend):
            answers.add(f"demo: {backend}", "too old")
            continue
        with tempfile.TemporaryDirectory(prefix="syscost-kernels-") as folder:
            done = answers.run("demo_batched_writes", "--cycles", str(CYCLES), "--repeats", "1", f"--syscost_csv={folder}/rows.csv",
                               f"--syscost_backend={backend}", folder=folder)
            if done.returncode != 0:
                answers.add(f"demo: {backend}", f"exit code {done.returncode}", False,
                            (done.stdout + done.stderr).splitlines()[-20:])
                continue
            column = "calls" if backend.startswith("dispatch") else "entries"
            counts = answers.counts.setdefault(backend, {})
            for row in rows_of(f"{folder}/rows.csv"):
                if row["record"] == "syscall" and row["syscall"] not in OF_THE_ALLOCATOR:
                    counts[" ".join((row["test"], row["window"], row["syscall"]))] = int(row[column])
        answers.add(f"demo: {backend}", f"{sum(counts.values())} calls")


def cases_of(answers, chosen, shard=0, shards=1):
    """(passed, [(failed, why)], skipped) of the conformance cases that a filter of GoogleTest's chooses, of one shard."""
    with tempfile.TemporaryDirectory(prefix="syscost-kernels-") as folder:
        report = os.path.join(folder, "report.json")
        done = answers.run("conformance_test", "--gtest_brief=1", f"--gtest_output=json:{report}",
                           "--gtest_filter=" + chosen.replace("-", "?"),  # what follows a "-" is left out
                           GTEST_TOTAL_SHARDS=str(shards), GTEST_SHARD_INDEX=str(shard))
        if not os.path.exists(report):
            return 0, [(chosen, "no report: " + " ".join((done.stdout + done.stderr).split()[-60:]))], 0
        with open(report, encoding="utf-8") as file:
            suites = json.load(file)["testsuites"]
    cases = [(suite["name"] + "." + case["name"], case) for suite in suites for case in suite["testsuite"]]
    failed = [(name, failure["failure"]) for name, case in cases for failure in case.get("failures", ())]
    skipped = sum(case["result"] == "SKIPPED" for _, case in cases)
    return len(cases) - skipped - len({name for name, _ in failed}), failed, skipped


def cases_on_all_processors(answers, chosen):
    shards = os.cpu_count() or 1
    with concurrent.futures.ThreadPoolExecutor(shards) as pool:
        parts = list(pool.map(lambda shard: cases_of(answers, chosen, shard, shards), range(shards)))
    if any(name == chosen for part in parts for name, _ in part[1]):  # no report: what one died of may be the others
        return cases_of(answers, chosen)
    return sum(part[0] for part in parts), [failure for part in parts for failure in part[1]], sum(part[2] for part in parts)


def conformance(answers):
    """Every case on every backend, one backend after the other: what is done stays if the time is over."""
    for backend in ("oracle", *BACKENDS):
        exact, failed, skipped = cases_on_all_processors(answers, f"conformance_{backend}.{answers.cases}")
        if failed:
            # On an emulated processor a case may run out of its time: what fails must fail again, with nothing beside it.
            again, failed, _ = cases_of(answers, ":".join(sorted({name for name, _ in failed})))
            exact += again
        if not (exact or failed or skipped):
            continue
        parts = [f"{exact} exact" if exact else "", f"{skipped} skipped" if skipped else "",
                 f"{len({name for name, _ in failed})} FAILED" if failed else ""]
        answers.add(f"conformance: {backend}", ", ".join(part for part in parts if part), not failed,
                    [f"{name}: {reason}" for name, reason in failed])


def profiles(answers):
    """bpftrace counts what the program called; perf is there."""
    for tool in ("bpftrace", "perf"):
        with tempfile.TemporaryDirectory(prefix="syscost-kernels-") as folder:
            done = answers.run("demo_batched_writes", "--profile", tool, "--cycles", str(TRACED_CYCLES), "--repeats", "1",
                               "--gtest_filter=*SingleBatchedWrite*", "--csv", f"{folder}/rows.csv", folder=folder)
            said = (done.stdout + done.stderr).splitlines()
            if done.returncode == 2:
                answers.add(f"profile: {tool}", "cannot run", True, said[-6:])
                continue
            if done.returncode != 0:
                answers.add(f"profile: {tool}", f"exit code {done.returncode}", False, said[-20:])
                continue
            if tool == "perf":
                answers.add("profile: perf", "works", any("task-clock" in line for line in said), said[-20:])
                continue
            writes = [int(row["entries"]) for row in rows_of(f"{folder}/rows.csv")
                      if row["origin"] == "bpftrace" and row["syscall"] == "write"]
            answers.add("profile: bpftrace", "exact" if writes == [TRACED_CYCLES] else f"{writes} of {TRACED_CYCLES}",
                        writes == [TRACED_CYCLES], said[-20:])


def scheduler(answers):
    """Does the critical path of threads that wake each other fill the wall time, and is each waker known?"""
    of = "critical path"
    with tempfile.TemporaryDirectory(prefix="syscost-kernels-") as folder:
        done = answers.run("adapter_pipeline", "--syscost_sched", f"--syscost_csv={folder}/rows.csv",
                           "--gtest_filter=Pipeline.WaitsInOneOrder", folder=folder)
        said = (done.stdout + done.stderr).splitlines()[-20:]
        if done.returncode == 2:
            old = next((line for line in said if "too old" in line), "")
            answers.add(of, "refused", is_older_than(SCHEDULER_FIRST) and bool(old), [old] if old else said)
            return
        shown = answers.run("bench", "trace", "Pipeline.WaitsInOneOrder", "rows.csv", "--critical-path", "--format=json",
                            folder=folder)
        if done.returncode != 0 or shown.returncode != 0:
            answers.add(of, f"exit codes {done.returncode} and {shown.returncode}", False, said + shown.stderr.splitlines())
            return
        path = json.loads(shown.stdout)
        [file] = glob.glob(f"{folder}/**/Pipeline.WaitsInOneOrder/sched.csv", recursive=True)
        wakers = [row["waker"] for row in rows_of(file) if row["event"] in ("woken", "created")]
        with open(file, encoding="utf-8") as text:
            lines = text.read().splitlines()
    steps = path["critical_path"]
    is_exact = sum(step["took_ns"] for step in steps) == path["wall_ns"] > 0
    unknown = wakers.count("unknown")
    answers.add(of, f"{'exact' if is_exact else 'INEXACT'}, {unknown} of {len(wakers)} wakers unknown"
                + (f", events missing at {path['missing_at']}" if path["missing_at"] else ""),
                is_exact and bool(wakers) and unknown == 0, lines)


CHECKS = {check.__name__: check for check in (programs, doctor, smoke, scheduler, profiles, conformance)}


def main():
    arguments = sys.argv[1:]
    objects = []
    if "--" in arguments:
        at = arguments.index("--")
        arguments, objects = arguments[:at], arguments[at + 1:]
    answers = Answers(*arguments[:3], objects)
    for check in arguments[3:]:
        CHECKS[check](answers)
        answers.done.append(check)
        answers.write()


if __name__ == "__main__":
    main()
