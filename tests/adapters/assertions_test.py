# SPDX-License-Identifier: MIT
"""The assertions and measurements that are written in code, in tests and in programs without a framework."""
import os
import re
import shutil
import unittest
from pathlib import Path

from adapter_case import ASSERTIONS, NO_BACKEND, NO_CAPABILITIES, PLAIN_MAIN, Case, main, needs_results


class Assertions(Case):
    def results(self, *command, code, **variables):
        done = self.run_program(*command, code=code, **variables)
        verdicts = dict((name, verdict) for verdict, name in
                        re.findall(r"^\[ +(OK|FAILED|SKIPPED) +\] (Assertions\.\w+) \(", done.out, re.M))
        return verdicts, done.out

    @needs_results
    def test_hold_fail_and_explain_where_syscalls_are_counted(self):
        verdicts, out = self.results(ASSERTIONS, code=1)
        self.assertEqual(verdicts, {
            "Assertions.Hold": "OK", "Assertions.TakeStatementsWithCommas": "OK", "Assertions.StandWhereAStatementStands": "OK",
            "Assertions.ReadAValueFirst": "OK", "Assertions.FailWithTheBreakdown": "FAILED", "Assertions.FailFatally": "FAILED",
            "Assertions.FailForASelectorThatNamesNothing": "FAILED", "Assertions.CountScopesOfTheirOwn": "OK"})
        self.assertIn('calls of "getppid": expected <= 1, counted 4', out)
        self.assertIn("all syscalls: 4 getppid", out)
        self.assertNotIn("still here", out)
        self.assertNotIn("SYSCOST", out)

    def test_give_the_same_verdicts_inside_measured_tests_and_named_scopes_get_rows(self):
        plain, _ = self.results(ASSERTIONS, code=1)
        measured, _ = self.results(ASSERTIONS, f"--syscost_csv={self.csv}", code=1)
        self.assertEqual(measured, plain)
        [scope] = self.rows(kind="scope", record="test")
        self.assertEqual((scope["test"], scope["window"], scope["total_calls"]),
                         ("Assertions.CountScopesOfTheirOwn", "named scope", "6"))
        self.assertEqual(self.getppids()["Assertions.CountScopesOfTheirOwn"], 6)
        self.assertEqual(self.getppids()["Assertions.Hold"], 4 * 3 + 2)

    def test_name_the_lines_where_calls_have_them(self):
        done = self.run_program(ASSERTIONS, "--gtest_filter=*FailWithTheBreakdown", "--syscost_where",
                                "--syscost_backend=dispatch", f"--syscost_csv={self.csv}", code=None)
        if done.code == 2:
            self.skipTest(done.err)
        self.assertRegex(done.out, r"all syscalls: 4 getppid\n  4 getppid at \S*assertions_test\.cc:\d+ \S*call\S*\n")
        # None of the work for the message is charged to the test, and no write of the framework.
        self.assertEqual({row["syscall"] for row in self.rows(kind="test", record="syscall")}, {"getppid"})

    def test_name_the_first_of_many_lines_and_the_beginning_of_long_names(self):
        done = self.run_program(ASSERTIONS, "--gtest_filter=ManyLines.*", "--syscost_where", "--syscost_backend=dispatch",
                                f"--syscost_csv={self.csv}", code=None)
        if done.code == 2:
            self.skipTest(done.err)
        message = done.out.split("all syscalls: 55 getppid\n")[1].split("\n[")[0].splitlines()
        # Of the callers that make 1, 2, ... 10 calls.
        self.assertEqual([line.split()[0] for line in message[:6]], ["10", "9", "8", "7", "6", "5"])
        self.assertEqual(message[6], "  and 10 in 4 more lines")
        for line in message[:6]:
            self.assertRegex(line, r"^  \d+ getppid at \S*assertions_test\.cc:\d+ .*a_namespace_with_a_long_name_.*\.\.\.$")
            self.assertLess(len(line), 280)
        # The rows have the whole name.
        details = [row["detail"] for row in self.rows(kind="test", record="syscall")]
        self.assertEqual(len(details), 10)
        self.assertTrue(all(len(detail) > 240 and "::call_times<" in detail for detail in details), details[0])

    def test_leaks_fail_with_what_is_left(self):
        done = self.run_program(ASSERTIONS, "--gtest_filter=Leaks.A*None*:Leaks.Fail*", code=1)
        self.assertRegex(done.out, r"OK \] Leaks.AreNoneWhereAllIsClosed")
        self.assertRegex(done.out, r"left open: descriptor \d+ \(device /dev/null\)\nby: g_left = open\(")

    def test_what_a_test_leaves_open_is_in_its_row_and_no_call_of_the_listing(self):
        done = self.run_program(ASSERTIONS, "--gtest_filter=Leaks.*", "--syscost_leaks", f"--syscost_csv={self.csv}", code=1)
        self.assertRegex(done.err, r"syscost: test Leaks.ArePartOfATestsRow left open: descriptor \d+ \(device /dev/null\)\n")
        self.assertEqual(done.err.count("left open"), 1, done.err)
        rows = {row["test"]: row for row in self.rows(kind="test", record="test")}
        left = rows["Leaks.ArePartOfATestsRow"]
        self.assertEqual((left["descriptors_left"], left["threads_left"], left["children_left"]), ("1", "0", "0"))
        self.assertRegex(left["left_open"], r"^\d+ device /dev/null$")
        self.assertEqual(rows["Leaks.AreNoneWhereAllIsClosed"]["descriptors_left"], "0")
        self.assertEqual(rows["Leaks.AreNoneWhereAllIsClosed"]["left_open"], "")
        self.assertEqual([row["syscall"] for row in self.rows(test="Leaks.ArePartOfATestsRow", record="syscall")], ["openat"])
        listing = {row["syscall"] for row in self.rows(kind="test", record="syscall")}
        self.assertFalse(listing & {"getdents64", "readlink", "access"}, listing)

    def test_leaks_have_the_line_that_opened_them(self):
        done = self.run_program(ASSERTIONS, "--gtest_filter=LeaksWithLines.*:Leaks.FailWith*", "--syscost_leaks", "--syscost_where",
                                "--syscost_backend=dispatch", f"--syscost_csv={self.csv}", code=None)
        if done.code == 2:
            self.skipTest(done.err)
        [row] = self.rows(test="LeaksWithLines.HaveTheLineOfTheLastOpening", record="test")
        source = (Path(__file__).parent / "programs/assertions_test.cc").read_text().splitlines()
        lines = [re.sub(r"^\d+ pipe ?", "", one) for one in row["left_open"].split(";")]
        self.assertEqual(row["descriptors_left"], "4")
        called = [re.search(r"assertions_test\.cc:(\d+) ", line) for line in lines]
        self.assertEqual([found and source[int(found[1]) - 1].strip()[:19] for found in called],
                         ["ASSERT_EQ(pipe2(end"] * 2 + ["ASSERT_NE(dup3(ends", None], row["left_open"])
        self.assertEqual(lines[3], "")
        [row] = self.rows(test="LeaksWithLines.HaveTheLineThatStartedAThreadAndAChild", record="test")
        self.assertEqual((row["descriptors_left"], row["threads_left"], row["children_left"]), ("0", "1", "1"))
        started = [re.fullmatch(r"(thread|child) at \S*assertions_test\.cc:(\d+) \S.*", one) for one in row["left_open"].split(";")]
        self.assertEqual([found and (found[1], source[int(found[2]) - 1].strip()[:23]) for found in started],
                         [("thread", "g_running = new std::thr"[:23]), ("child", "const pid_t child = for"[:23])], row["left_open"])
        self.assertRegex(done.err, r"AThreadAndAChild left open: 1 thread \(started at \S*assertions_test\.cc:\d+ .*\), "
                                   r"1 child process \(started at \S*assertions_test\.cc:\d+ ")
        [row] = self.rows(test="LeaksWithLines.AreNoneOfWhatEnds", record="test")
        self.assertEqual((row["threads_left"], row["children_left"], row["left_open"]), ("0", "0", ""))
        # The message of an assertion has it, too.
        self.assertRegex(done.out, r"left open: descriptor \d+ \(device /dev/null, opened at \S*assertions_test\.cc:\d+ ")

    def test_what_a_set_up_opens_is_left_by_its_suite_and_by_none_of_its_tests(self):
        done = self.run_program(ASSERTIONS, "--gtest_filter=LeaksOfSuite.*", "--gtest_repeat=2", "--syscost_leaks",
                                f"--syscost_csv={self.csv}", code=0)
        self.assertEqual(re.findall(r"syscost: (.*) left open: descriptor \d+ \((.*)\)\n", done.err),
                         [("suite LeaksOfSuite tear-down", "device /dev/zero")] * 2, done.err)
        left = [(row["test"], row["window"], row["repetition"], row["descriptors_left"], row["threads_left"])
                for row in self.rows(record="test") if row["kind"] in ("test", "suite")]
        tests = ("LeaksOfSuite.AreNotThoseOfItsTests", "LeaksOfSuite.AreNotThoseOfItsLastTest")
        self.assertEqual(left, [row for i in "01" for row in (
            ("LeaksOfSuite", "set-up", i, "", ""), *((test, "", i, "0", "0") for test in tests),
            ("LeaksOfSuite", "tear-down", i, "1", "0"))])

    def test_a_peak_of_memory_belongs_to_the_test_that_raised_it(self):
        done = self.run_program(ASSERTIONS, "--gtest_filter=Memory.*", f"--syscost_csv={self.csv}", code=0)
        raised, later = self.rows(kind="test", record="test")
        itself = 1024 * int(re.search(r"its own reading: (\d+) KiB", done.out)[1])
        self.assertGreaterEqual(itself, 64 << 20)
        # The kernel's mark never falls, and after the test read it the test gave the memory back.
        self.assertEqual(int(raised["peak_rss_bytes"]), itself)
        self.assertEqual(later["peak_rss_bytes"], "")

    def test_what_a_test_has_open_when_it_ends_the_process_is_no_leak(self):
        done = self.run_program(ASSERTIONS, "--gtest_filter=LeaksAtExit.*", "--syscost_leaks", f"--syscost_csv={self.csv}",
                                code=0, LEAKS_AT_EXIT="1")
        self.assertNotIn("left open", done.err)
        self.assertEqual([row["descriptors_left"] for row in self.rows(kind="test", record="test")], [""])

    @unittest.skipUnless(NO_CAPABILITIES and shutil.which("capsh"), "needs root and capsh to drop capabilities")
    def test_skip_here_and_fail_in_ci_where_nothing_can_count(self):
        one = [*NO_BACKEND, "-c", f"{ASSERTIONS} --gtest_filter=*.ReadAValueFirst:*.Hold"]
        skipped = {"Assertions.Hold": "SKIPPED", "Assertions.ReadAValueFirst": "SKIPPED"}
        failed = {"Assertions.Hold": "FAILED", "Assertions.ReadAValueFirst": "FAILED"}
        verdicts, out = self.results(*one, code=0)
        self.assertEqual(verdicts, skipped)
        self.assertIn("CAP_BPF", out)
        verdicts, out = self.results(*one, code=1, CI="true")
        self.assertEqual(verdicts, failed)
        self.assertIn("CAP_BPF", out)
        self.assertEqual(self.results(*one, code=0, CI="true", SYSCOST_UNAVAILABLE="skip")[0], skipped)
        self.assertEqual(self.results(*one, code=1, SYSCOST_UNAVAILABLE="fail")[0], failed)
        # A mistake in the test is one on every machine.
        wrong = [*NO_BACKEND, "-c", f"{ASSERTIONS} --gtest_filter=*.FailForASelectorThatNamesNothing"]
        self.assertEqual(self.results(*wrong, code=1, SYSCOST_UNAVAILABLE="skip")[0], {"Assertions.FailForASelectorThatNamesNothing": "FAILED"})


class Plain(Case):
    """Programs without a test framework."""

    @needs_results
    def test_measure_and_scopes_work_without_any_flag(self):
        done = self.run_program(PLAIN_MAIN)
        self.assertEqual(done.out, "measured: 3 getppid\npart: 1\nwhole: 11\ncycles: 5\n")
        self.assertEqual((done.err, os.listdir(self.folder)), ("", []))

    def test_named_scopes_write_rows_and_flags_work(self):
        done = self.run_program(PLAIN_MAIN, f"--syscost_csv={self.csv}", "--syscost_cycles", "7")
        self.assertIn("cycles: 7\n", done.out)
        self.assertEqual([(row["kind"], row["test"], row["window"], row["parent"]) for row in self.rows(record="test")],
                         [("scope", "", "part", "whole"), ("scope", "", "whole", "")])
        self.assertEqual([row["calls"] for row in self.rows(syscall="getppid")], ["1", "11"])

    def test_rows_that_wait_are_written_when_the_program_ends(self):
        self.run_program(PLAIN_MAIN, f"--syscost_csv={self.csv}", SYSCOST_TEST_LEAVE_OPEN="1")
        self.assertEqual([(row["window"], row["parent"], row["total_calls"]) for row in self.rows(record="test")],
                         [("inner", "outer", "2")])

    def test_a_full_disk_ends_the_program_non_zero(self):
        done = self.run_program(PLAIN_MAIN, "--syscost_csv=/dev/full", code=1)
        self.assertIn("cycles: 5\n", done.out)
        self.assertIn("/dev/full", done.err)

    @needs_results
    def test_the_profile_prints_a_line_for_each_named_scope(self):
        done = self.run_program(PLAIN_MAIN, "--syscost_profile=syscalls")
        self.assertRegex(done.err, r"syscost: scope part: .*1 getppid, .* in the kernel")
        self.assertRegex(done.err, r"syscost: scope whole: .*11 getppid, .* in the kernel")
        self.assertEqual(done.out, self.run_program(PLAIN_MAIN).out)

    @needs_results
    def test_a_loop_prints_its_line_and_writes_its_rows(self):
        flags = ("--syscost_profile=syscalls", "--syscost_cycles=5", "--syscost_repeats=2")
        done = self.run_program(PLAIN_MAIN, *flags, SYSCOST_CSV=self.csv, SYSCOST_TEST_LOOP="1")
        # One warm-up, two timed and two counted passes.
        self.assertEqual(done.out, "calls: 25\n")
        self.assertRegex(done.err, r"syscost: loop three: 3 getppid a call, .* a call \[.*\] least and greatest, "
                                   r"2 passes of 5 calls: ")
        self.assertEqual([(row["kind"], row["test"], row["window"], row["parent"], row["repetition"], row["iterations"],
                           row["total_calls"]) for row in self.rows(record="test")],
                         [("loop", "", "three", "", str(i), "5", "15") for i in range(2)])
        self.assertEqual([row["calls"] for row in self.rows(syscall="getppid")], ["15", "15"])

    def test_a_loop_that_the_end_of_the_process_cuts_short_says_so(self):
        flags = (f"--syscost_csv={self.csv}", "--syscost_cycles=5", "--syscost_repeats=2", "--syscost_warmup=0")
        done = self.run_program(PLAIN_MAIN, *flags, code=1, SYSCOST_TEST_LOOP="1", SYSCOST_TEST_EXIT="1")
        self.assertIn("loop three was ended by the end of the process, after 1 of 2 timed and 0 counted passes", done.err)
        self.assertEqual([row["kind"] for row in self.rows(record="test")], ["loop"])

    def test_a_loop_is_left_early_by_pthread_exit_which_unwinds_the_stack(self):
        flags = (f"--syscost_csv={self.csv}", "--syscost_cycles=5", "--syscost_repeats=2", "--syscost_warmup=0")
        done = self.run_program(PLAIN_MAIN, *flags, SYSCOST_TEST_LOOP="1", SYSCOST_TEST_PTHREAD_EXIT="1")
        self.assertIn("loop three was left early, after 1 of 2 timed and 0 counted passes", done.err)
        self.assertEqual([row["kind"] for row in self.rows(record="test")], ["loop"])

    def test_a_loop_runs_once_if_nothing_is_requested(self):
        done = self.run_program(PLAIN_MAIN, SYSCOST_TEST_LOOP="1")
        self.assertEqual((done.out, done.err, os.listdir(self.folder)), ("calls: 1\n", "", []))

    def test_a_bad_flag_ends_the_program_at_the_first_use(self):
        self.assertIn("no flag --syscost_cvs", self.run_program(PLAIN_MAIN, "--syscost_cvs=x", code=2).err)

    @unittest.skipUnless(NO_CAPABILITIES and shutil.which("capsh"), "needs root and capsh to drop capabilities")
    def test_without_a_backend_the_cost_says_why(self):
        done = self.run_program(*NO_BACKEND, "-c", PLAIN_MAIN)
        self.assertRegex(done.out, r"measured: n/a \(.*CAP_BPF")
        self.assertNotRegex(done.out, r": \d+\n.*cycles")


if __name__ == "__main__":
    main()
