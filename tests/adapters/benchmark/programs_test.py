# SPDX-License-Identifier: MIT
"""The programs that the Google Benchmark adapter is linked into: their mains and libraries, and what they refuse."""
import os
import shutil

from benchmark_case import BIN, SHAPES, THEIR_MAIN, OUR_MAIN, USER_MAIN, NO_BACKEND, QUICK, BenchmarkCase, main


class Mains(BenchmarkCase):
    def test_every_main_measures(self):
        for program in (SHAPES, THEIR_MAIN, OUR_MAIN):
            with self.subTest(program=program):
                self.csv = os.path.join(self.folder, os.path.basename(program))
                rows = self.measured("BM_Last", program=program)
                self.assertEqual(rows["BM_Last"]["total_calls"], "1000")

    def test_our_main_has_short_forms_and_takes_them_out(self):
        self.run_program(OUR_MAIN, "--csv", self.csv, "--label=short", QUICK, "--benchmark_filter=BM_Last")
        self.assertEqual([row["label"] for row in self.rows(record="test")], ["short"])
        done = self.run_program(OUR_MAIN, "--nonsense", code=1)
        self.assertIn("unrecognized command-line flag: --nonsense", done.err)

    def test_variables_ask_as_flags_do(self):
        self.run_program(SHAPES, QUICK, "--benchmark_filter=BM_Last", SYSCOST_CSV=self.csv)
        self.assertEqual([row["total_calls"] for row in self.rows(record="test")], ["1000"])

    def test_a_main_that_runs_twice_with_a_reporter_of_its_own(self):
        done = self.run_program(USER_MAIN, f"--syscost_csv={self.csv}", QUICK, "mine")
        self.assertEqual(done.out, "arguments left: mine\nown reporter: BM_First\nown reporter: final\n"
                                   "own reporter: BM_Second\nown reporter: final\nran 1 and 1\n")
        self.assertEqual([(row["test"], row["total_calls"]) for row in self.rows(record="test")],
                         [("BM_First", "1000"), ("BM_Second", "2000")])
        with open(os.path.join(self.folder, "main_ended.txt"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "ended\n")

    def test_a_reporter_of_the_programs_own_has_counters_where_they_are_asked_for(self):
        done = self.run_program(USER_MAIN, "--syscost_profile=syscalls", QUICK)
        self.assertIn("own reporter: BM_First sys_getppid=1 syscalls=1\n", done.out)
        self.assertIn("own reporter: BM_Second sys_getppid=2 syscalls=2\n", done.out)

    def test_a_main_that_checks_what_ran_first_costs_the_counts_of_what_follows(self):
        # A counting process for the second run has no counts of the first one.
        done = self.run_program(USER_MAIN, f"--syscost_csv={self.csv}", QUICK, SYSCOST_TEST_CHECKS="1")
        self.assertIn("there are no counts: the process that counts ended with exit code 3 before it ran those of this call "
                      "of RunSpecifiedBenchmarks(); it wrote:\n  no results\n", done.err)
        self.assertEqual([(row["test"], row["total_calls"]) for row in self.rows(record="test")],
                         [("BM_First", "1000"), ("BM_Second", "")])

    def test_a_main_that_takes_a_lock_does_not_wait_for_itself(self):
        lock = os.path.join(self.folder, "lock")
        done = self.run_program(USER_MAIN, f"--syscost_csv={self.csv}", QUICK, SYSCOST_TEST_LOCK=lock)
        self.assertIn("the process that counts waited for a lock on a file that this process holds, and was ended before it ran", done.err)
        self.assertIn("ran 1 and 1", done.out)
        self.assertEqual({row["test"] for row in self.rows(record="test")}, {"BM_First", "BM_Second"})

    def test_a_main_that_ends_before_its_benchmarks_when_it_is_counted(self):
        done = self.run_program(USER_MAIN, f"--syscost_csv={self.csv}", QUICK, SYSCOST_TEST_WANTS_INPUT="1", stdin="input")
        self.assertIn("there are no counts: the process that counts ended with exit code 4 before it ran a benchmark; it "
                      "wrote:\n  no input\n  fix: let main() reach the benchmarks without input", done.err)
        self.assertEqual([(row["test"], row["total_calls"], row["backend"]) for row in self.rows(record="test")],
                         [("BM_First", "", "none"), ("BM_Second", "", "none")])
        self.assertTrue(all(row["wall_ns"] for row in self.rows(record="test")))
        self.run_program(USER_MAIN, f"--syscost_csv={self.csv}", QUICK, code=1, SYSCOST_TEST_WANTS_INPUT="1", stdin="input",
                         SYSCOST_UNAVAILABLE="fail")

    def test_a_program_that_runs_no_benchmark_ends_as_it_would_without_us(self):
        done = self.run_program(USER_MAIN, f"--syscost_csv={self.csv}", SYSCOST_TEST_RUNS_NOTHING="1")
        self.assertEqual(done.err, "syscost: this program ran no benchmark: there is nothing to count, and no CSV is written\n")
        self.assertFalse(os.path.exists(self.csv))

    def test_what_shows_tests_is_refused(self):
        for flag, why in (("--syscost_sched", "it shows tests, and a benchmark runs many times"),
                          ("--syscost_leaks", "it shows what tests and suites leave open")):
            done = self.run_program(SHAPES, flag, f"--syscost_csv={self.csv}", QUICK, code=2)
            self.assertIn(f"{flag} does not work with Google Benchmark: {why}\n"
                          f"  fix: leave {flag} out, or use it on a test with the same code\n", done.err)
            self.assertFalse(os.path.exists(self.csv))

    def test_a_filter_that_matches_nothing_ends_as_it_would_without_us(self):
        done = self.run_program(SHAPES, f"--syscost_csv={self.csv}", "--benchmark_filter=nothing")
        self.assertIn("Failed to match any benchmarks against regex: nothing", done.err)
        self.assertEqual(self.rows(), [])

    def test_loops_in_a_shared_library(self):
        program = os.path.join(BIN, "benchmark_library_with")
        self.run_program(program, QUICK, SYSCOST_CSV=self.csv)
        self.assertEqual([row["total_calls"] for row in self.rows(record="test")], ["1000"])

    def test_loops_in_a_library_without_us_are_no_zero(self):
        program = os.path.join(BIN, "benchmark_library_without")
        done = self.run_program(program, f"--syscost_csv={self.csv}", QUICK)
        self.assertIn("benchmark BM_InLibrary has no counts: Its loop was not seen", done.err)
        self.assertIn("fix: Link that library with syscost::benchmark", done.err)
        self.assertNotIn("syscalls=", done.out)
        [row] = self.rows(record="test")
        self.assertEqual((row["total_calls"], row["counted_iterations"]), ("", ""))
        self.assertNotEqual(row["wall_ns"], "")

    def test_a_main_in_a_library_without_us_is_an_error(self):
        program = os.path.join(BIN, "benchmark_hidden_main")
        done = self.run_program(program, QUICK, code=2, SYSCOST_CSV=self.csv)
        self.assertIn("these benchmarks are run by a main() in a shared library, past syscost", done.err)
        self.assertFalse(os.path.exists(self.csv))
        self.run_program(program, QUICK)  # without a flag it runs as before


class Refusals(BenchmarkCase):
    def test_bad_flags_and_files_end_with_2_before_any_benchmark(self):
        for flags, word in ((["--syscost_cvs=x"], "did you mean --syscost_csv"), (["--syscost_csv="], "file name"),
                            (["--syscost_csv=/nowhere/x.csv"], "/nowhere/x.csv"), (["--syscost_cycles=0"], "cycles"),
                            (["--syscost_backend=perf"], "not one of")):
            with self.subTest(flags=flags):
                done = self.run_program(SHAPES, *flags, code=2)
                self.assertIn(word, done.err)
                self.assertNotIn("BM_", done.out)

    def test_help_and_doctor(self):
        self.assertIn("--syscost_csv FILE", self.run_program(SHAPES, "--syscost_help").out)
        self.assertIn("ebpf", self.run_program(SHAPES, "--syscost_doctor").out)

    def test_without_a_backend_times_only(self):
        done = self.run_program(SHAPES, f"--syscost_csv={self.csv}", "--syscost_backend=none", QUICK,
                                "--benchmark_filter=BM_Last")
        self.assertNotIn("syscalls", done.out)
        [row] = self.rows()
        self.assertEqual((row["backend"], row["total_calls"], row["counted_iterations"]), ("none", "", ""))
        self.assertNotEqual(row["wall_ns"], "")

    def test_without_privilege_the_reason_and_the_fix(self):
        if NO_BACKEND is None or shutil.which("capsh") is None:
            self.skipTest("needs root and capsh")
        command = f"{SHAPES} --syscost_csv={self.csv} {QUICK}"
        done = self.run_program(*NO_BACKEND, "-c", command, code=2)
        self.assertRegex(done.err, "CAP_BPF|cap_bpf")
        self.assertIn("fix:", done.err)
        self.assertNotIn("BM_", done.out)
        # Without a flag it runs.
        self.run_program(*NO_BACKEND, "-c", f"{SHAPES} {QUICK} --benchmark_filter=BM_Last")


if __name__ == "__main__":
    main()
