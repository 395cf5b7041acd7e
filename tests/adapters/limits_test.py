# SPDX-License-Identifier: MIT
"""Scopes by thousands, lanes, and the limits of measuring. The programs' own assertions hold too, or they would not end with 0."""
import os
import unittest

from adapter_case import COUNT_CALLS, COUNT_ENTRIES, FILTER_REASON, LIMITS, MANY, SCOPES, UNDER_A_FILTER, Case, main, needs_results


class Scopes(Case):
    def scopes(self, **equal):
        return self.rows(kind="scope", record="test", **equal)

    def calls_of_test(self, test):
        """All but those of the thread that ThreadSanitizer has in its programs."""
        return {row["syscall"]: int(row["calls"]) for row in self.rows(kind="test", record="syscall", test=test)
                if row["syscall"] != "clock_nanosleep"}

    @needs_results
    def test_thousands_in_one_test_have_exact_rows_and_add_no_call_to_it(self):
        name = "ManyScopes.FiveThousand"
        self.run_program(SCOPES, f"--syscost_csv={self.csv}", f"--gtest_filter={name}")
        self.assertEqual([int(row["repetition"]) for row in self.scopes()], list(range(5000)))
        self.assertEqual([int(row["total_calls"]) for row in self.scopes()], [i % 3 + i % 2 for i in range(5000)])
        self.assertEqual(self.calls_of_test(name), {"getppid": 4999, "close": 2500})

    @needs_results
    def test_more_than_are_kept_are_counted_and_fail_the_run(self):
        done = self.run_program(SCOPES, f"--syscost_csv={self.csv}", "--gtest_filter=ManyScopes.M*:ManyScopes.N*", code=1)
        self.assertEqual(len(self.scopes(test="ManyScopes.MoreThanAreKept")), 10_000)
        self.assertEqual(len(self.scopes(test="ManyScopes.NextTest")), 3)
        self.assertEqual(self.calls_of_test("ManyScopes.MoreThanAreKept"), {"getppid": 10_099, "close": 5050})
        self.assertIn("100 rows of named scopes are missing, closed last in test ManyScopes.MoreThanAreKept", done.err)
        self.assertEqual(done.out.count("[       OK ]"), 2)

    def run_with_each_backend(self, tests):
        for backend in COUNT_CALLS:
            with self.subTest(backend=backend):
                self.needs(backend)
                self.run_program(SCOPES, f"--gtest_filter={tests}", f"--syscost_backend={backend}")

    def test_lanes_serve_one_thread_after_another(self):
        self.run_with_each_backend("Lanes.AHundred*")

    def test_lanes_of_threads_that_ended_inside_a_scope_serve_others(self):
        self.run_with_each_backend("Lanes.ThreadsThatLeaveTheirScopeOpen")

    def test_a_thread_without_a_lane_has_no_number_and_the_others_have_theirs(self):
        self.run_with_each_backend("Lanes.OneThreadMoreThanThereAre:Lanes.RefusingMakesNoSyscall")


class File(Case):
    def test_a_test_that_deletes_or_empties_the_file_of_the_rows_fails_the_run(self):
        for does in ("unlink", "truncate"):
            for kept in (["File.Two"], ["File.Two", "File.Three"]):
                with self.subTest(does=does, kept=kept):
                    done = self.run_program(LIMITS, "--gtest_filter=" + ":".join(["File.One", *kept]), code=1, SYSCOST_CSV=self.csv,
                                            SYSCOST_TEST_DOES=does)
                    self.assertIn(f"[  PASSED  ] {len(kept) + 1} tests", done.out)
                    self.assertEqual(done.err.count(f"rows are missing from the CSV file {self.csv}"), 1, done.err)
                    self.assertEqual([row["test"] for row in self.rows(kind="test", record="test")], kept)
                    os.remove(self.csv)


class Limits(Case):
    def test_a_thread_that_may_not_ask_for_its_id_has_no_short_number(self):
        for backend in COUNT_CALLS:
            with self.subTest(backend=backend):
                self.needs(backend)
                for name in ("Sandbox.DeniesGettidToAThread", "Sandbox.DeniesGettidToTheFirstThatMeasures"):
                    self.run_program(LIMITS, f"--gtest_filter={name}", SYSCOST_BACKEND=backend, CI="1")

    def test_a_filter_that_denies_calls_that_a_backend_does_not_make_leaves_the_number(self):
        for backend in ("dispatch", "dispatch-trap"):
            # A C library uses one of the two for fstat(); the file of the rows is looked at by the other one then.
            for name in ("Sandbox.DeniesGettidToTheTest", "Sandbox.DeniesFstatToTheTest", "Sandbox.DeniesNewfstatatToTheTest"):
                with self.subTest(backend=backend, name=name):
                    self.needs(backend)
                    self.csv = os.path.join(self.folder, f"{backend}.{name}.csv")
                    self.run_program(LIMITS, f"--syscost_csv={self.csv}", f"--syscost_backend={backend}", f"--gtest_filter={name}")
                    self.assertEqual(self.getppids(), {name: 1})

    def test_a_filter_that_denies_our_own_calls_leaves_no_number_and_says_so(self):
        self.needs("ebpf")
        for name in ("Sandbox.DeniesGettidToTheTest", "Sandbox.DeniesFstatToTheTest"):
            with self.subTest(name=name):
                if os.path.exists(self.csv):
                    os.remove(self.csv)
                done = self.run_program(LIMITS, f"--syscost_csv={self.csv}", "--syscost_backend=ebpf", f"--gtest_filter={name}", code=1)
                self.assertIn(f"the counts of test {name} are void: a seccomp filter", done.err)
                rows = [(row["outcome"], row["total_calls"]) for row in self.rows(kind="test", record="test")]
                self.assertEqual(rows, [("passed", "")])

    def test_a_filter_that_denies_bpf_or_sendmsg_denies_nothing_that_a_window_needs(self):
        for name in ("Sandbox.DeniesBpfToTheTest", "Sandbox.DeniesSendmsgToTheTest"):
            with self.subTest(name=name):
                if os.path.exists(self.csv):
                    os.remove(self.csv)
                self.run_program(LIMITS, f"--syscost_csv={self.csv}", f"--gtest_filter={name}")
                self.assertEqual(self.getppids(), {name: 1})

    @needs_results
    def test_a_linked_program_that_a_test_starts_belongs_to_the_tests_run(self):
        inner = f"sh -c '{MANY} --gtest_filter=Shapes.CallsThreeTimes; :'"
        with open(self.csv, "a+", encoding="utf-8"):  # another program with the file open starts no run
            for _ in range(2):
                self.run_program(LIMITS, "--gtest_filter=Programs.*", SYSCOST_CSV=self.csv, SYSCOST_TEST_PROGRAM=inner)
        runs = {}
        for row in self.rows(kind="test", record="test"):
            runs.setdefault(row["run_id"], []).append(row["test"])
        # The inner test ends, and is written, first.
        self.assertEqual(list(runs.values()), [["Shapes.CallsThreeTimes", "Programs.ThatATestStarts"]] * 2)

    @unittest.skipIf(UNDER_A_FILTER, FILTER_REASON)
    def test_syscalls_without_a_slot_are_lost_to_the_last_one(self):
        for backend in COUNT_CALLS:
            with self.subTest(backend=backend):
                self.needs(backend)
                self.csv = os.path.join(self.folder, backend + ".csv")
                done = self.run_program(LIMITS, f"--syscost_csv={self.csv}", f"--syscost_backend={backend}", "--gtest_filter=Limits.*",
                                        code=1)
                [row] = self.rows(kind="test", record="test")
                self.assertEqual(row["outcome"], "passed")
                counted = "entries" if backend in COUNT_ENTRIES else "calls"
                self.assertIn("the counts of test Limits.MoreDistinctSyscallsThanSlots are lower bounds: "
                              f"{row['total_calls']} {counted} were counted, and {row['lost']} events were lost\n  fix: ", done.err)
                self.assertGreater(int(row["lost"]), 0)
                self.assertLessEqual(len(self.rows(kind="test", record="syscall")), 128)
                self.assertEqual(int(row["total_calls"]) + int(row["lost"]), 600)
                self.assertEqual(row["total_entries"], row["total_calls"] if backend in COUNT_ENTRIES else "")

    @needs_results
    @unittest.skipIf(UNDER_A_FILTER, FILTER_REASON)
    def test_losses_that_are_accepted_keep_the_exit_code(self):
        done = self.run_program(LIMITS, f"--csv={self.csv}", "--gtest_filter=Limits.*", "--allow_lost")
        self.assertIn("are lower bounds", done.err)
        self.assertNotIn("lower bounds", done.out)

    def end(self, how):
        done = self.run_program(LIMITS, f"--syscost_csv={self.csv}", "--gtest_filter=Ends.*", SYSCOST_TEST_ENDS=how)
        return done, [(row["test"], row["outcome"]) for row in self.rows(kind="test", record="test")]

    def test_a_test_that_ends_the_process_has_its_row_whichever_thread_does_it(self):
        for how in ("exit", "exit elsewhere"):
            with self.subTest(how=how):
                self.csv = os.path.join(self.folder, how + ".csv")
                done, tests = self.end(how)
                self.assertIn("test Ends.InTheMiddle was ended by the end of the process: its row has what", done.err)
                self.assertEqual(tests, [("Ends.InTheMiddle", "")])
                self.assertEqual(self.getppids(), {"Ends.InTheMiddle": 4})

    def test_a_test_that_goes_on_as_a_daemon_says_that_it_has_no_row(self):
        done, tests = self.end("daemon")
        self.assertEqual(done.out.count("[       OK ]"), 2, "the child runs on: " + done.out)
        self.assertEqual(done.err.count("test Ends.InTheMiddle continued in a fork child of the process that measures"), 1, done.err)
        self.assertEqual(tests, [])

    def run_restarts(self, backend, selector):
        self.needs(backend)
        self.csv = os.path.join(self.folder, backend + ".csv")
        done = self.run_program(LIMITS, f"--syscost_csv={self.csv}", f"--syscost_backend={backend}", "--gtest_filter=Signals.*",
                                f"--syscost_filter={selector}")
        if "SKIPPED" in done.out:
            self.skipTest("a sanitizer keeps signals back")

    def test_a_call_restarted_under_a_filter_is_one_call(self):
        for backend in COUNT_CALLS:
            with self.subTest(backend=backend):
                self.run_restarts(backend, "recvfrom")
                [row] = self.rows(kind="test", record="syscall")
                # Only ebpf sees the restarts; each is an entry with a latency of its own.
                entries, restarts, latencies = ("4", "3", "4") if backend == "ebpf" else ("", "", "1")
                self.assertEqual([row[c] for c in ("syscall", "entries", "calls", "restarts", "errors", "latency_count")],
                                 ["recvfrom", entries, "1", restarts, "0", latencies])

    def test_a_call_restarted_and_left_out_by_a_filter_leaves_nothing(self):
        for backend in COUNT_CALLS:
            with self.subTest(backend=backend):
                self.run_restarts(backend, "sendto")
                [row] = self.rows(kind="test", record="test")
                self.assertEqual((row["total_calls"], row["lost"], row["late"]), ("1", "0", "0"))
                self.assertEqual(row["total_entries"], "1" if backend in COUNT_ENTRIES else "")
                self.assertEqual([row["syscall"] for row in self.rows(record="syscall")], ["sendto"])

    def test_windows_among_calling_threads_are_exact_and_nothing_comes_late(self):
        self.run_program(LIMITS, f"--syscost_csv={self.csv}", "--gtest_filter=Stress.*", "--gtest_repeat=20")
        tests = self.rows(kind="test", record="test")
        self.assertEqual([(row["late"], row["lost"]) for row in tests], [("0", "0")] * 20)

    def test_a_child_forked_after_all_descriptors_were_closed_keeps_the_tests_files(self):
        for backend in COUNT_CALLS:
            with self.subTest(backend=backend):
                self.needs(backend)
                self.csv = os.path.join(self.folder, backend + ".csv")
                done = self.run_program(LIMITS, f"--syscost_csv={self.csv}", f"--syscost_backend={backend}",
                                        "--gtest_filter=Descriptors.*", code=1 if backend == "ebpf" else 0)
                self.assertEqual(done.out.count("[       OK ]"), 2, done.out)
                name = "Descriptors.OfAChildThatWasForkedAfterAllWereClosed"
                [row] = self.rows(kind="test", record="test", test=name)
                calls = {row["syscall"]: row["calls"] for row in self.rows(kind="test", record="syscall", test=name)}
                if backend == "ebpf":  # it counts by descriptors
                    self.assertEqual((row["total_calls"], calls), ("", {}))
                    self.assertIn(f"the counts of test {name}", done.err)
                else:
                    self.assertEqual({one: calls[one] for one in ("close_range", "openat", "dup2", "close", "wait4")},
                                     {"close_range": "1", "openat": "1", "dup2": "124", "close": "125", "wait4": "1"})
                    self.assertEqual(row["lost"], "0")


if __name__ == "__main__":
    main()
