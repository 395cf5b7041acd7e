# SPDX-License-Identifier: MIT
"""--syscost_children: rows of kind process for what a test's children do, apart from its own."""
import os
import re
import shutil
import subprocess
import unittest

from adapter_case import BIN, NO_CAPABILITIES, Case, environment, main

CHILDREN = os.path.join(BIN, "adapter_children")
BENCH = os.path.join(BIN, "bench")
SELF, OTHER = "adapter_children", "adapter_child"


class Family:
    """Every backend that counts children passes these; a class below says which it is."""
    backend = None

    def measure(self, *flags, **more):
        return self.run_program(CHILDREN, f"--syscost_csv={self.csv}", f"--syscost_backend={self.backend}", "--syscost_children",
                                *flags, **more)

    def processes(self):
        """{(test, program): entries of getppid}; 0 where the process has no such row."""
        counts = {(row["test"], row["window"]): 0 for row in self.rows(kind="process", record="test")}
        for row in self.rows(kind="process", record="syscall", syscall="getppid"):
            counts[row["test"], row["window"]] += int(row["entries"])
        return counts

    def test_are_counted_by_program_apart_from_the_test(self):
        self.measure()
        self.assertEqual({key: count for key, count in self.processes().items() if count > 0},
                         {("Children.Forked", SELF): 5, ("Children.Grandchildren", SELF): 6,
                          ("Children.ForkedAndExecuted", SELF): 2, ("Children.ForkedAndExecuted", OTHER): 14,
                          ("Children.Spawned", OTHER): 4, ("Children.AskedForOnlyTheirParentAnswers", SELF): 9})
        own = {row["test"]: int(row["entries"]) for row in self.rows(kind="test", record="syscall", syscall="getppid")}
        self.assertEqual(own, {"Children.None": 1, "Children.Forked": 3, "Children.ForkedAndExecuted": 2,
                               "Children.AskedForOnlyTheirParentAnswers": 2})

    def test_execve_is_the_callers_and_exit_group_the_programs(self):
        self.measure("--gtest_filter=*.ForkedAndExecuted")
        found = {(row["window"], row["syscall"]): int(row["entries"])
                 for row in self.rows(kind="process", record="syscall") if row["syscall"] in ("execve", "exit_group")}
        self.assertEqual(found, {(SELF, "execve"): 2, (OTHER, "exit_group"): 2})

    def test_own_and_childrens_rows_together_are_what_strace_counts(self):
        if shutil.which("strace") is None:
            self.skipTest("needs strace")
        log = os.path.join(self.folder, "strace.log")
        tests = "--gtest_filter=-*.AskedFor*"  # which measures, flag or no flag
        self.run_program("strace", "-f", "-e", "trace=getppid", "-o", log, CHILDREN, tests)
        with open(log, encoding="utf-8") as file:
            entered = sum(1 for line in file if re.search(r"\bgetppid\(", line))
        self.measure(tests)
        rows = [row for kind in ("test", "process") for row in self.rows(kind=kind, record="syscall", syscall="getppid")]
        self.assertEqual(sum(int(row["entries"]) for row in rows), entered)

    def test_have_the_tests_key_and_no_number_that_was_not_measured(self):
        self.measure("--gtest_filter=*.Forked", "--gtest_repeat=2")
        rows = self.rows(kind="process", record="test")
        self.assertEqual([(row["test"], row["window"], row["parent"], row["repetition"]) for row in rows],
                         [("Children.Forked", SELF, "", "0"), ("Children.Forked", SELF, "", "1")])
        for row in rows:
            self.assertGreater(int(row["total_entries"]), 5)
            for column in ("outcome", "wall_ns", "user_ns", "system_ns", "lost", *self.not_measured):
                self.assertEqual(row[column], "", column)
            self.assertEqual(row["origin"], "syscost")

    def test_are_left_out_where_nobody_asked(self):
        self.run_program(CHILDREN, f"--syscost_csv={self.csv}", f"--syscost_backend={self.backend}")
        self.assertEqual(self.rows(kind="process"), [])

    def test_leave_the_tests_own_row_as_it_is_without_them(self):
        def own():
            return {(row["test"], row["syscall"]): row["entries"] for row in self.rows(kind="test", record="syscall")}
        self.measure()
        asked = own()
        os.remove(self.csv)
        self.run_program(CHILDREN, f"--syscost_csv={self.csv}", f"--syscost_backend={self.backend}")
        self.assertEqual(asked, own())

    def test_stand_in_the_line_under_the_test(self):
        done = self.run_program(CHILDREN, "--syscost_profile=syscalls", f"--syscost_backend={self.backend}",
                                "--syscost_children", "--syscost_filter=getppid", "--gtest_filter=*.ForkedAndExecuted")
        self.assertRegex(done.out, f"2 getppid.*; child {SELF}: 2 getppid; child {OTHER}: 14 getppid")

    def test_are_shown_by_bench_apart_from_the_test(self):
        if not os.path.exists(BENCH):
            self.skipTest("needs bench")
        self.measure("--gtest_filter=*.Forked")
        done = subprocess.run([BENCH, "summary", self.csv], env=environment(), capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        own, child = done.stdout.split(f"process Children.Forked, {SELF}")
        self.assertRegex(own, r" 3 .*\bgetppid\b")
        self.assertRegex(child, r" 5 .*\bgetppid\b")


class ChildrenOnSeccomp(Family, Case):
    backend = "seccomp"
    not_measured = ("total_calls", "total_errors")


class ChildrenOnEbpf(Family, Case):
    backend = "ebpf"
    not_measured = ()

    def setUp(self):
        super().setUp()
        done = self.run_program(CHILDREN, "--syscost_backend=ebpf", f"--syscost_csv={self.csv}.probe", "--gtest_filter=-*",
                                code=None)
        if done.code != 0:
            self.skipTest(done.err)


class ChildrenRefused(Case):
    def measure(self, *flags, **more):
        return self.run_program(CHILDREN, f"--syscost_csv={self.csv}", "--syscost_children", *flags, **more)

    def test_by_a_backend_that_cannot_count_them(self):
        for backend in ("dispatch", "dispatch-trap", "none"):
            with self.subTest(backend=backend):
                done = self.measure(f"--syscost_backend={backend}", code=2)
                self.assertIn("--syscost_children", done.err)
                self.assertIn("--syscost_backend seccomp", done.err)
                self.assertIn("--syscost_backend ebpf", done.err)
                self.assertNotIn("[ RUN", done.out)

    def test_so_that_auto_takes_the_first_that_can(self):
        done = self.measure("--gtest_filter=*.Forked")
        taken = {row["backend"] for row in self.rows()}
        if taken != {"ebpf"}:  # where it works it comes first
            self.assertEqual(taken, {"seccomp"})
            self.assertRegex(done.err, "not ebpf: .*; dispatch: backend dispatch(-trap)? does not count child processes")

    def test_so_that_auto_takes_seccomp_without_privilege_and_says_why(self):
        if NO_CAPABILITIES is None:
            self.skipTest("needs root, to give it up")
        done = self.run_program(*NO_CAPABILITIES, "-c", f'exec "{CHILDREN}" --syscost_csv="{self.csv}" --syscost_children '
                                "--gtest_filter=*.Forked")
        self.assertEqual({row["backend"] for row in self.rows()}, {"seccomp"})
        self.assertRegex(done.err, "not ebpf: eBPF needs CAP_BPF .*; dispatch: backend dispatch does not count child processes")


if __name__ == "__main__":
    main()
