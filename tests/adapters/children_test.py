# SPDX-License-Identifier: MIT
"""--syscost_children: rows of kind process for what a test's children do, apart from its own."""
import collections
import os
import re
import shutil
import subprocess
import unittest

from adapter_case import BIN, LIMITS, NO_CAPABILITIES, UNDER_A_FILTER, Case, environment, main

CHILDREN = os.path.join(BIN, "adapter_children")
FAMILIES = os.path.join(BIN, "adapter_families")
BENCH = os.path.join(BIN, "bench")
SELF, OTHER, FAMILY, OTHER_32 = "adapter_children", "adapter_child", "adapter_families", "adapter_child_32"


class Family:
    """Every backend that counts children passes these; a class below says which it is."""
    backend = None

    def measure(self, *flags, program=CHILDREN, **more):
        return self.run_program(program, f"--syscost_csv={self.csv}", f"--syscost_backend={self.backend}", "--syscost_children",
                                *flags, **more)

    def skipped(self):
        return {row["test"] for row in self.rows(kind="test", record="test", outcome="skipped")}

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

    def test_are_known_however_they_came_to_be(self):
        self.measure("--gtest_filter=Families.*-" + self.beyond, program=FAMILIES)
        expected = {("Families.ThreadsOfAChild", FAMILY): 30, ("Families.ChildrenOfAThread", FAMILY): 4,
                    ("Families.Orphan", FAMILY): 5, ("Families.Vforked", OTHER): 3,
                    ("Families.ExecutedBySecondThread", OTHER): 6, ("Families.ExecutedTwice", OTHER): 8,
                    ("Families.ThatCannotBeExecuted", FAMILY): 2, ("Families.InAPidNamespace", FAMILY): 4,
                    ("Families.InAPidNamespace", OTHER): 2, ("Families.Of32Bits", OTHER_32): 3,
                    ("Families.OfADeathTest", FAMILY): 3, ("Families.Crowd", FAMILY): 8 * 4 * 500}
        found = collections.Counter()
        for row in self.rows(kind="process", record="syscall"):
            if row["syscall"] in ("getppid", "i386:getppid"):
                found[row["test"], row["window"]] += int(row["entries"])
        # A shell may ask for its parent.
        expected = {key: count for key, count in expected.items() if key[0] not in self.skipped()}
        self.assertEqual({key: found[key] for key in found if key[1] in (FAMILY, OTHER, OTHER_32)}, expected)
        self.assertEqual({row["lost"] for row in self.rows(kind="test", record="test")} - {"", "0"}, set())

    def test_that_outlive_their_test_are_counted_to_the_next(self):
        self.measure("--gtest_filter=Outliving.*", program=FAMILIES)
        self.assertEqual({key: count for key, count in self.processes().items() if count > 0},
                         {("Outliving.Starts", FAMILY): 1, ("Outliving.IsGoneOnWith", FAMILY): 7})

    def test_that_outlive_the_run_go_on_as_ever(self):
        fifo = os.path.join(self.folder, "fifo")
        os.mkfifo(fifo)
        self.measure("--gtest_filter=Outliving.TheRun", program=FAMILIES, SYSCOST_TEST_OUTLIVE=fifo)
        with open(fifo, "w", encoding="ascii"):  # waits for the child, which waits for us
            pass
        with open(fifo, encoding="ascii") as answer:
            self.assertEqual(answer.read(), "5")

    def test_of_too_many_programs_are_counted_as_lost(self):
        for i in range(40):
            shutil.copy(os.path.join(BIN, OTHER), os.path.join(self.folder, f"program{i}"))
        self.measure("--gtest_filter=*.OfManyPrograms", "--syscost_filter=getppid", "--syscost_allow_lost", program=FAMILIES,
                     SYSCOST_TEST_PROGRAMS=self.folder)
        counted = sum(self.processes().values())
        self.assertGreaterEqual(counted, 30)
        test = self.rows(kind="test", record="test")[0]
        self.assertEqual(counted + int(test["lost"]), 40)

    def test_execve_is_the_callers_and_exit_group_the_programs(self):
        self.measure("--gtest_filter=*.ForkedAndExecuted")
        found = {(row["window"], row["syscall"]): int(row["entries"])
                 for row in self.rows(kind="process", record="syscall") if row["syscall"] in ("execve", "exit_group")}
        self.assertEqual(found, {(SELF, "execve"): 2, (OTHER, "exit_group"): 2})

    def test_are_every_call_that_strace_sees_of_each_program(self):
        if shutil.which("strace") is None:
            self.skipTest("needs strace")
        log = os.path.join(self.folder, "strace.log")
        tests = "--gtest_filter=-*.AskedFor*"  # which measures, flag or no flag
        self.run_program("strace", "-f", "-o", log, CHILDREN, tests)
        self.measure(tests)
        found = collections.Counter()
        for row in self.rows(kind="process", record="syscall"):
            found[row["window"], row["syscall"]] += int(row["entries"])
        self.assertEqual(found, self.traced_children(log))

    def traced_children(self, log):
        """{(program, syscall): entries} of all but the first process; each begins as SELF, and none has threads."""
        counts, program, first = collections.Counter(), {}, None
        with open(log, encoding="utf-8") as file:
            for line in file:
                pid, text = line.split(maxsplit=1)
                first = first or pid
                entered = re.match(r"(\w+)\(", text)
                if pid != first and entered:
                    counts[program.get(pid, SELF), entered[1]] += 1
                if re.match(r"(execve\(|<\.\.\. execve resumed).*= 0$", text):
                    program[pid] = OTHER
        return counts

    def test_have_the_tests_key_and_no_number_that_was_not_measured(self):
        self.measure("--gtest_filter=*.Forked", "--gtest_repeat=2")
        rows = self.rows(kind="process", record="test", as_written=True)
        self.assertEqual([(row["test"], row["window"], row["parent"], row["repetition"]) for row in rows],
                         [("Children.Forked", SELF, "", "0"), ("Children.Forked", SELF, "", "1")])
        for row in rows:
            self.assertGreater(int(row["total_entries"]), 5)
            for column in ("outcome", "wall_ns", "user_ns", "system_ns", "lost", *self.not_measured):
                self.assertEqual(row[column], "", column)
            self.assertEqual(row["origin"], "syscost")

    def test_are_left_out_by_default(self):
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
    # A signal may come before the supervisor was told of the call; and it knows no end of a call.
    beyond = "*.OfManyPrograms:*.StartedInATimedPass:*.KilledInACall:*.Interrupted:*.Failing:*.BlockedAcrossAScope"
    not_measured = ("total_calls", "total_errors")


class ChildrenOnEbpf(Family, Case):
    backend = "ebpf"
    beyond = "*.OfManyPrograms:*.StartedInATimedPass"
    not_measured = ()

    def setUp(self):
        super().setUp()
        self.needs("ebpf")

    def of_syscall(self, test, syscall, kind="process", parent=""):
        """The row of `syscall` of the test program's own fork children."""
        rows = self.rows(kind=kind, record="syscall", test=test, window=FAMILY, syscall=syscall, parent=parent)
        self.assertEqual(len(rows), 1, rows)
        return {key: int(value) for key, value in rows[0].items() if value.isdigit()} | {"errnos": rows[0]["errnos"]}

    def test_have_errors_and_times(self):
        self.measure("--gtest_filter=*.Failing", program=FAMILIES)
        closed = self.of_syscall("Families.Failing", "close")
        self.assertEqual((closed["calls"], closed["errnos"]), (3, "EBADF:3"))
        self.assertEqual(closed["latency_count"], 3)
        self.assertGreater(closed["latency_min_ns"], 0)
        self.assertEqual(self.of_syscall("Families.Failing", "fcntl")["errnos"], "EBADF:1")

    def test_have_calls_that_a_signal_ended(self):
        self.measure("--gtest_filter=*.KilledInACall:*.Interrupted", program=FAMILIES)
        killed = self.of_syscall("Families.KilledInACall", "pause")
        self.assertEqual([killed[key] for key in ("entries", "calls", "in_flight", "no_return")], [1, 0, 0, 1])
        interrupted = self.of_syscall("Families.Interrupted", "pause")
        self.assertEqual([interrupted[key] for key in ("entries", "calls", "in_flight", "no_return")], [1, 1, 0, 0])
        self.assertEqual(interrupted["errnos"], "EINTR:1")

    def test_have_calls_that_cross_the_boundaries_of_windows(self):
        self.measure("--gtest_filter=*.BlockedAcrossAScope", program=FAMILIES)
        columns = ("entries", "calls", "in_flight", "carried_in")
        whole = self.of_syscall("Families.BlockedAcrossAScope", "read")
        self.assertEqual([whole[key] for key in columns], [2, 2, 0, 0])
        part = self.of_syscall("Families.BlockedAcrossAScope", "read", parent="part")
        self.assertEqual([part[key] for key in columns], [1, 0, 1, 1])

    def test_that_were_born_while_nothing_was_attached_are_counted_later(self):
        self.measure("--gtest_filter=*.StartedInATimedPass", "--syscost_cycles=4", "--syscost_repeats=3", "--syscost_allow_lost",
                     program=FAMILIES)
        passes = self.rows(kind="process", record="syscall", window=FAMILY, syscall="getppid", parent="asking")
        self.assertEqual([(row["repetition"], row["entries"], row["calls"]) for row in passes],
                         [(str(repetition), "8", "8") for repetition in range(3)])
        # Under a seccomp filter, as in a container, the filter may have denied the read in which the child was blocked.
        # Such an exit has two explanations, so it is counted as lost, if the child was blocked by then.
        lost = {row["lost"] for row in self.rows(kind="loop", record="test")}
        self.assertIn(lost, ({"0"}, {"0", "1"}) if UNDER_A_FILTER else ({"0"},))

    def test_that_measure_themselves_are_counted_by_both(self):
        inner = os.path.join(self.folder, "inner.csv")
        command = (f"{CHILDREN} --syscost_backend=ebpf --syscost_children --syscost_csv={inner} "
                   "--gtest_filter=*.ForkedAndExecuted")
        self.measure("--gtest_filter=Programs.*", program=LIMITS, SYSCOST_TEST_PROGRAM=command)
        self.assertEqual(self.processes()["Programs.ThatATestStarts", OTHER], 14)
        self.csv = inner
        self.assertEqual(self.processes(), {("Children.ForkedAndExecuted", SELF): 2, ("Children.ForkedAndExecuted", OTHER): 14})

    def test_add_up(self):
        # Under a filter StartedInATimedPass loses an event (test_that_were_born_while_nothing_was_attached_are_counted_later).
        left_out = "-*.StartedInATimedPass" if UNDER_A_FILTER else ""
        self.measure(f"--gtest_filter=Families.*{left_out}", "--syscost_cycles=4", "--syscost_repeats=3", program=FAMILIES)
        for row in self.rows(kind="process", record="syscall"):
            ended = [int(row[key]) for key in ("calls", "restarts", "in_flight", "no_return")]
            self.assertEqual(int(row["entries"]), sum(ended), row)


class ChildrenWatched(Case):
    """Beside nothing else: tools attach tracepoints that every syscall of the machine passes."""

    def test_make_no_call_for_us_while_tools_watch(self):
        if os.geteuid() != 0 or shutil.which("bpftrace") is None or shutil.which("perf") is None:
            self.skipTest("needs root, bpftrace and perf")
        for backend in "seccomp", "ebpf":
            with self.subTest(backend=backend):
                self.compare_watched(backend)

    def compare_watched(self, backend):
        # Long enough for the tools to make calls of their own meanwhile.
        flags = f"--syscost_backend={backend}", "--syscost_children", "--gtest_filter=Families.Waiting"
        calls = None
        for tools in "", "bpftrace", "bpftrace,perf":
            self.csv = os.path.join(self.folder, f"{backend}.{tools}.csv")
            profile = (f"--syscost_profile={tools}", "--syscost_bpf=syscount") if tools else ()
            self.run_program(FAMILIES, f"--syscost_csv={self.csv}", *flags, *profile)
            found = collections.Counter()
            for row in self.rows(kind="process", record="syscall"):
                found[row["window"], row["syscall"]] += int(row["entries"])
            calls = calls or found  # without tools; libc adds some of its own
            self.assertLessEqual(collections.Counter({(FAMILY, "close"): 3, (FAMILY, "poll"): 1, (FAMILY, "exit_group"): 1}), calls)
            self.assertEqual(found, calls, tools)


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
        self.assertRegex(done.err, "not ebpf: --syscost_children needs the capabilities in the test itself.*eBPF needs CAP_BPF .*; dispatch: backend dispatch does not count child processes")


if __name__ == "__main__":
    main()
