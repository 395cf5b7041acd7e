# SPDX-License-Identifier: MIT
"""syscost::loop from outside: its rows must hold exactly what a call of the body makes, times the calls of a pass."""
import collections
import os
import re
import shutil
import subprocess
import unittest

from adapter_case import FILTER_REASON, LOOPS, UNDER_A_FILTER, Case, environment, main, needs_results, why_not


class LoopCase(Case):
    def run_test(self, name, *flags, code=0, **variables):
        return self.run_program(LOOPS, f"--gtest_filter=Loop.{name}", *flags, code=code, **variables)

    def measure(self, name, *flags, **options):
        return self.run_test(name, f"--syscost_csv={self.csv}", "--syscost_profile=syscalls", *flags, **options)

    def counts(self, kind, syscall="getppid", **equal):
        return [int(row["calls"]) for row in self.rows(kind=kind, record="syscall", syscall=syscall, **equal)]


class Loops(LoopCase):
    FLAGS = ("--syscost_cycles=50", "--syscost_repeats=4")

    @needs_results
    def test_each_repetition_has_the_exact_counts_and_a_time(self):
        self.measure("CountsEachCallOfTheBody", *self.FLAGS)
        self.assertEqual(self.counts("loop"), [150] * 4)
        whole = self.rows(kind="loop", record="test")
        self.assertEqual([row["repetition"] for row in whole], ["0", "1", "2", "3"])
        for row in whole:
            self.assertEqual((row["test"], row["window"], row["iterations"], row["total_calls"], row["lost"]),
                             ("Loop.CountsEachCallOfTheBody", "three", "50", "150", "0"))
            self.assertGreater(int(row["wall_ns"]), 0)
            self.assertEqual(row["overhead_estimate_ns"], "0")

    def test_the_test_around_it_is_not_charged_and_says_so(self):
        self.measure("CountsEachCallOfTheBody", *self.FLAGS)
        self.assertEqual(self.counts("test"), [7])
        [row] = self.rows(kind="test", record="test")
        self.assertEqual(row["total_calls"], "7")
        self.assertEqual(row["detail"], "excludes loop three")

    def test_each_iteration_of_gtest_repeat_goes_on_with_the_repetitions(self):
        self.measure("CountsEachCallOfTheBody", "--gtest_repeat=2", *self.FLAGS)
        whole = self.rows(kind="loop", record="test")
        self.assertEqual([row["repetition"] for row in whole], [str(i) for i in range(8)])
        self.assertEqual(self.counts("loop"), [150] * 8)

    @needs_results
    def test_a_line_break_in_a_name_stays_out_of_the_lines_that_are_printed(self):
        done = self.measure("HasALineBreakInItsName", "--syscost_cycles=1", "--syscost_repeats=1")
        self.assertIn("loop two\\nlines: 1 getppid a call, ", done.out)
        self.assertIn(", one pass of 1 call\n", done.out)
        self.assertNotIn("two\nlines", done.out + done.err)
        self.assertEqual({row["window"] for row in self.rows(kind="loop")}, {"two\\nlines"})

    def test_an_empty_body_makes_no_syscall(self):
        self.measure("HasNoSyscallsOfItsOwn", "--syscost_quick")
        self.assertEqual([row["total_calls"] for row in self.rows(kind="loop", record="test")], ["0"] * 3)

    @needs_results
    def test_calibrates_the_calls_of_a_pass(self):
        done = self.measure("HasNoSyscallsOfItsOwn", "--syscost_quick")
        [*rows] = self.rows(kind="loop", record="test")
        self.assertGreater(int(rows[0]["iterations"]), 10000)
        self.assertRegex(done.out, r"loop empty: no syscalls, .* a call \[.*\] least and greatest, 3 passes of \d+ calls")

    @needs_results
    def test_the_first_call_does_not_decide_how_long_a_pass_is(self):
        done = self.measure("HasAColdFirstCall", "--syscost_quick")
        rows = self.rows(kind="loop", record="test")
        self.assertGreater(int(rows[0]["iterations"]), 1000)
        self.assertNotIn("TOO SHORT", done.out)

    @needs_results
    def test_the_line_ends_with_what_to_think_of_the_times(self):
        # Which of the words it is depends on the machine; unit tests hold the times of each (spread_test.cc).
        done = self.measure("CountsEachCallOfTheBody", "--syscost_cycles=1", "--syscost_repeats=4")
        self.assertRegex(done.out, r"4 passes of 1 call: (TOO SHORT to tell, more --syscost_cycles would|stable|UNSTABLE, \d+ % apart)\n")

    def test_several_loops_of_a_test_are_told_apart(self):
        self.measure("SeveralInOneTest", *self.FLAGS)
        self.assertEqual(self.counts("loop", window="one"), [50] * 4)
        self.assertEqual(self.counts("loop", window="two"), [100] * 4)
        [row] = self.rows(kind="test", record="test")
        self.assertEqual(row["detail"], "excludes loop one, two")
        self.assertEqual(row["total_calls"], "0")

    def test_threads_born_in_the_body_count(self):
        self.measure("SeesThreadsOfTheBody", "--syscost_cycles=5", "--syscost_repeats=4")
        self.assertEqual(self.counts("loop"), [30] * 4)

    @needs_results
    def test_the_line_under_the_test(self):
        done = self.measure("WithManySyscalls", "--syscost_cycles=100", "--syscost_repeats=10")
        self.assertRegex(done.out, r"\[ SYSCOST  \] loop mixed: 1 close, 1 getppid a call, [\d.]+ [nu]s a call "
                                      r"\[[\d.]+ [nu]s, [\d.]+ [nu]s\], 10 passes of 100 calls: (stable|UNSTABLE, \d+ % apart)\n")
        self.assertNotIn("no syscalls", done.out)


class LoopsLeftEarly(LoopCase):
    FLAGS = ("--syscost_cycles=5", "--syscost_repeats=4", "--syscost_warmup=0")

    def test_the_line_needs_no_more_than_the_backend_knows(self):
        for backend in ("dispatch", "seccomp"):
            with self.subTest(backend=backend):
                self.needs(backend)
                done = self.measure("CountsEachCallOfTheBody", f"--syscost_backend={backend}", *self.FLAGS, CI="1")
                self.assertIn("[       OK ] Loop.CountsEachCallOfTheBody", done.out)
                self.assertNotIn("SKIPPED", done.out)
                self.assertRegex(done.out, r"SYSCOST  \] 7 getppid")

    def test_break_keeps_whole_passes_and_the_tests_own_counts(self):
        done = self.measure("CanBeLeftByBreak", *self.FLAGS)
        self.assertIn("loop broken was left early, after 1 of 4 timed and 0 counted passes", done.err)
        self.assertEqual(self.counts("test"), [2])
        [row] = self.rows(kind="loop", record="test")
        self.assertEqual(row["total_calls"], "")

    def test_an_exception_passes_through(self):
        self.measure("CanBeLeftByAnException", *self.FLAGS)
        self.assertEqual(self.counts("test"), [4])
        self.assertEqual(self.rows(kind="loop"), [])

    def test_a_loop_inside_another_is_part_of_its_body(self):
        done = self.measure("InsideAnotherRunsItsBodyOnce", *self.FLAGS)
        self.assertIn("loop inner runs while another loop runs", done.err)
        self.assertEqual(self.counts("loop", window="outer"), [5] * 4)
        self.assertEqual(self.rows(window="inner"), [])

    def test_a_fork_child_counts_for_itself(self):
        self.measure("ForksInItsBody", *self.FLAGS)
        self.assertEqual(self.counts("loop"), [5] * 4)
        self.assertEqual(len(self.rows(kind="test", record="test")), 1)


class LoopsAndTheEndOfTheProcess(LoopCase):
    """Nothing unwinds the stack: the loop's own code never hears of it."""
    FLAGS = ("--syscost_cycles=5", "--syscost_repeats=4", "--syscost_warmup=0")

    def end(self, how, at, code):
        return self.measure("MayEndTheProcess", *self.FLAGS, code=code, SYSCOST_TEST_ENDS=how, SYSCOST_TEST_ENDS_AT=str(at))

    @needs_results
    def test_in_a_timed_pass_the_whole_ones_before_are_kept(self):
        done = self.end("exit 0", 13, 1)
        self.assertIn("loop ended was ended by the end of the process, after 2 of 4 timed and 0 counted passes", done.err)
        rows = self.rows(kind="loop", record="test")
        self.assertEqual([(row["repetition"], row["total_calls"]) for row in rows], [("0", ""), ("1", "")])
        self.assertTrue(all(int(row["wall_ns"]) > 0 for row in rows))

    def test_in_a_counted_pass_the_whole_ones_before_are_kept(self):
        done = self.end("exit 0", 33, 1)
        self.assertIn("after 4 of 4 timed and 2 counted passes", done.err)
        self.assertEqual([row["total_calls"] for row in self.rows(kind="loop", record="test")], ["15", "15", "", ""])

    def test_the_test_has_its_row_with_what_it_did_and_no_outcome(self):
        for at in (13, 33):
            with self.subTest(at=at):
                self.csv = os.path.join(self.folder, f"{at}.csv")
                done = self.end("exit 0", at, 1)
                self.assertIn("test Loop.MayEndTheProcess was ended by the end of the process: its row has what", done.err)
                [row] = self.rows(kind="test", record="test")
                self.assertEqual((row["outcome"], row["total_calls"], row["detail"]), ("", "2", "excludes loop ended"))
                self.assertEqual(self.counts("test"), [2])

    def test_quick_exit_is_an_end_as_well(self):
        done = self.end("quick_exit", 33, 1)
        self.assertIn("after 4 of 4 timed and 2 counted passes", done.err)
        self.assertEqual([row["total_calls"] for row in self.rows(kind="loop", record="test")], ["15", "15", "", ""])
        self.assertEqual(self.counts("test"), [2])

    def test_an_exit_code_of_the_programs_own_stays(self):
        done = self.end("exit 3", 13, 3)
        self.assertIn("loop ended was ended by the end of the process", done.err)

    def test_another_thread_may_be_the_one_that_calls_exit(self):
        done = self.end("exit elsewhere", 33, 1)
        self.assertIn("after 4 of 4 timed and 2 counted passes", done.err)
        self.assertEqual([row["total_calls"] for row in self.rows(kind="loop", record="test")], ["15", "15", "", ""])
        self.assertIn("test Loop.MayEndTheProcess was ended by the end of the process: its row has what", done.err)
        self.assertEqual(self.counts("test"), [2])

    def test_outside_a_loop_nothing_is_lost_and_the_exit_code_stays(self):
        done = self.end("exit 0", 0, 0)
        self.assertNotIn("loop ended was ended", done.err)
        self.assertEqual(self.counts("loop"), [15] * 4)
        self.assertEqual(self.counts("test"), [3])

    def test_unasked_the_process_ends_as_it_would(self):
        done = self.run_test("MayEndTheProcess", SYSCOST_TEST_ENDS="exit 0", SYSCOST_TEST_ENDS_AT="1")
        self.assertEqual(done.err, "")


class LoopsAndScopes(LoopCase):
    FLAGS = ("--syscost_cycles=5", "--syscost_repeats=4", "--syscost_warmup=1")

    def each_backend_that_can_detach(self):
        """The flag of each of them that works here; self.csv is a file of its own."""
        for backend in ("ebpf", "dispatch"):
            if not why_not(backend):
                self.csv = os.path.join(self.folder, f"{backend}.csv")
                yield f"--syscost_backend={backend}"

    def test_what_measures_in_the_body_counts_in_every_pass_and_the_loop_has_no_times(self):
        for flag in self.each_backend_that_can_detach():
            done = self.measure("MeasuresInItsBody", flag, *self.FLAGS, CI="1")
            self.assertEqual(done.err.count("loop measures is counted but not timed: a scope or an assertion of syscost "
                                            "measures while it runs"), 1)
            self.assertEqual([row["wall_ns"] for row in self.rows(kind="loop", record="test")], [""] * 4)
            self.assertEqual(self.counts("loop"), [25] * 4)

    def test_what_measures_first_in_a_timed_pass_counts_there(self):
        for flag in self.each_backend_that_can_detach():
            done = self.measure("MeasuresInALaterCallOfItsBody", flag, *self.FLAGS, CI="1")
            self.assertIn("loop later is counted but not timed", done.err)
            self.assertEqual([row["wall_ns"] for row in self.rows(kind="loop", record="test")], [""] * 4)
            self.assertEqual(self.counts("loop"), [5] * 4)

    @needs_results
    def test_an_assertion_on_another_thread_has_the_verdict_that_it_has_without_flags(self):
        for name, code in (("AssertsOnAThreadOfItsBody", 0), ("AThreadBesideItAsserts", 0),
                           ("AssertsWhatIsWrongOnAThreadOfItsBody", 1)):
            self.run_test(name, code=code)
            for flag in self.each_backend_that_can_detach():
                done = self.measure(name, flag, *self.FLAGS, code=code, CI="1")
                self.assertRegex(done.err, "loop (thread|beside|wrong) is counted but not timed")
                self.assertNotIn("SKIPPED", done.out)
                self.assertNotIn("n/a", done.out)

    def test_a_loop_inside_a_scope_has_counts_and_no_times(self):
        done = self.measure("InsideAScopeIsCountedAndNotTimed", *self.FLAGS)
        self.assertIn("loop inside is counted but not timed: a scope is open around it", done.err)
        self.assertEqual([row["wall_ns"] for row in self.rows(kind="loop", record="test")], [""] * 4)
        self.assertEqual(self.counts("loop"), [5] * 4)
        # The scope sees every pass: warm-up, timed, counted.
        self.assertIn(f"around: {5 * 9} getppid", done.out)

    def test_scopes_around_a_loop_have_no_call_of_ours(self):
        for flag in self.each_backend_that_can_detach():
            for further in ((), ("--syscost_where",)) if "dispatch" in flag else ((),):
                self.csv += "+"
                self.measure("InsideScopesOfBothReaches", flag, *further, *self.FLAGS)
                rows = {name: collections.Counter() for name in ("process", "thread")}
                for row in self.rows(kind="scope", record="syscall"):
                    rows[row["window"]][row["syscall"]] += int(row["calls"])
                    self.assertEqual(row["detail"].startswith("at "), bool(further), row["detail"])
                self.assertEqual(rows, {"process": {"getppid": 45, "getpgrp": 20000}, "thread": {"getppid": 45}})
                self.assertEqual({row["lost"] for row in self.rows(kind="scope", record="test")}, {"0"})

    def test_a_scope_from_test_to_test_has_no_call_of_ours(self):
        for flag in self.each_backend_that_can_detach():
            self.run_program(LOOPS, "--gtest_filter=FromTestToTest.*", "--gtest_brief=1", f"--syscost_csv={self.csv}", flag)
            calls = {row["syscall"]: row["calls"] for row in self.rows(kind="scope", record="syscall")}
            self.assertEqual(calls, {"getppid": "2"})

    @unittest.skipIf(UNDER_A_FILTER, FILTER_REASON)
    def test_what_a_thread_did_while_nothing_was_attached_is_not_made_up(self):
        # One read entered in the test and ended elsewhere, which dispatch does not count. Another ended in the test and had
        # entered elsewhere.
        for backend, read in (("ebpf", ["1", "0", "1", "1"]), ("dispatch", ["", "0", "", "1"])):
            with self.subTest(backend=backend):
                self.needs(backend)
                self.csv = os.path.join(self.folder, f"{backend}.csv")
                self.measure("AThreadGoesOnWhileTheBackendIsOff", f"--syscost_backend={backend}", "--syscost_cycles=5",
                             "--syscost_repeats=4")
                reads = self.rows(kind="test", record="syscall", syscall="read")
                self.assertEqual(len(reads), 1)
                self.assertEqual([reads[0][column] for column in ("entries", "calls", "in_flight", "carried_in")], read)
                self.assertEqual(self.rows(kind="test", record="syscall", syscall="pread64"), [])
                self.assertEqual(self.counts("test"), [1])
                [row] = self.rows(kind="test", record="test")
                self.assertEqual((row["lost"], row["late"]), ("0", "0"))


class LoopsUnasked(LoopCase):
    def test_without_a_request_the_body_runs_once(self):
        done = self.run_test("InsideAnotherRunsItsBodyOnce")
        self.assertEqual(done.err, "")
        trace = os.path.join(self.folder, "trace")
        if shutil.which("strace"):
            subprocess.run(["strace", "-f", "-e", "getppid", "-o", trace, LOOPS,
                            "--gtest_filter=Loop.CountsEachCallOfTheBody"], env=environment(), check=True,
                           capture_output=True)
            with open(trace, encoding="utf-8") as file:
                self.assertEqual(len(re.findall(r"getppid\(\)", file.read())), 2 + 3 + 5)

    def test_bad_values_end_the_program(self):
        for flag in ("--syscost_repeats=0", "--syscost_repeats=x", "--syscost_warmup=-1", "--syscost_quick=maybe",
                     "--syscost_cycles=0"):
            done = self.run_test("HasNoSyscallsOfItsOwn", flag, code=2)
            self.assertIn("bad value of " + flag.split("=")[0], done.err)

    def test_without_a_backend_there_are_times_and_no_counts(self):
        self.run_test("CountsEachCallOfTheBody", f"--syscost_csv={self.csv}", "--syscost_backend=none",
                      "--syscost_cycles=50", "--syscost_repeats=4")
        rows = self.rows(kind="loop", record="test")
        self.assertEqual([row["total_calls"] for row in rows], [""] * 4)
        self.assertTrue(all(int(row["wall_ns"]) > 0 for row in rows))


if __name__ == "__main__":
    main()
