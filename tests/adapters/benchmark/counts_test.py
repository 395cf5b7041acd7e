# SPDX-License-Identifier: MIT
"""Counts of the Google Benchmark adapter: what an iteration of every shape of benchmark asks of the kernel."""
import json
import os
import shutil

from benchmark_case import BIN, COUNT_CALLS, COUNT_ENTRIES, SHAPES, USER_MAIN, QUICK, BenchmarkCase, main, needs_results


class Counts(BenchmarkCase):
    # Calls of an iteration, by benchmark; and how many iterations are counted.
    EXPECTED = {
        "BM_OneCall": ({"getppid": 1}, 1000),
        "BM_OneCallThreads/threads:1": ({"getppid": 1}, 1000),
        "BM_OneCallThreads/threads:2": ({"getppid": 1}, 2000),
        "BM_OneCallThreads/threads:8": ({"getppid": 1}, 8000),
        "BM_RealTime/real_time": ({"getppid": 1}, 1000),
        "BM_ProcessTime/process_time": ({"getppid": 1}, 1000),
        "BM_Fixed/iterations:7": ({"getppid": 1}, 7),
        "BM_MinTime/min_time:0.020": ({"getppid": 1}, 1000),
        "BM_NoCall": ({}, 1000),
        "BM_KeepRunning": ({"getppid": 1}, 1000),
        "BM_Batch": ({"getppid": 1}, 8000),
        "BM_WritesAndSync/1": ({"pwrite64": 1, "fdatasync": 1}, 1000),
        "BM_WritesAndSync/4": ({"pwrite64": 4, "fdatasync": 1}, 1000),
        "BM_WritesAndSync/8": ({"pwrite64": 8, "fdatasync": 1}, 1000),
        "BM_WritesAndSync/16": ({"pwrite64": 16, "fdatasync": 1}, 1000),
        "BM_Pauses/iterations:200": ({"getppid": 1, "getgid": 1}, 200),
        "BM_PausesThreads/iterations:200/threads:2": ({"getppid": 1, "getgid": 1}, 400),
        "BM_Barrier/iterations:50/threads:2": ({"getppid": 1}, 100),
        "BM_ManualTime/manual_time": ({"getppid": 1}, 1000),
        "BM_Complexity/1": ({"getppid": 1}, 1000),
        "BM_Complexity/4": ({"getppid": 4}, 1000),
        "BM_Complexity/16": ({"getppid": 16}, 1000),
        "BM_Complexity/64": ({"getppid": 64}, 1000),
        "BM_ComplexityOnce/1/repeats:1": ({"getppid": 1}, 1000),
        "BM_ComplexityOnce/2/repeats:1": ({"getppid": 2}, 1000),
        "BM_ComplexityOwn/2/repeats:1": ({"getppid": 2}, 1000),
        "Fixture/CallsTwice": ({"getppid": 2}, 1000),
        "BM_Template<3>": ({"getppid": 3}, 1000),
        "BM_UserCounter": ({"getppid": 1}, 1000),
        "BM_Odd/iterations:2": ({"getppid": 1}, 2),
        "BM_Last": ({"getppid": 1}, 1000),
    }

    def test_every_shape_has_a_row_with_its_own_calls_and_no_others(self):
        interleaving = ["--benchmark_enable_random_interleaving=true", "--benchmark_repetitions=2"]
        for backend, flags in (("ebpf", []), ("ebpf", interleaving), ("dispatch", []), ("dispatch", interleaving)):
            with self.subTest(backend=backend, flags=flags):
                self.needs(backend)
                if os.path.exists(self.csv):
                    os.remove(self.csv)
                self.run_program(SHAPES, f"--syscost_csv={self.csv}", f"--syscost_backend={backend}", QUICK,
                                 "--benchmark_filter=-TooMany|Slow", *flags)
                rows = {row["test"]: row for row in self.rows(record="test", repetition="0")}
                for test, (calls, iterations) in self.EXPECTED.items():
                    expected = {syscall: count * iterations for syscall, count in calls.items()}
                    # A slow machine ends the growth of a pass early, at a power of ten.
                    counted = int(rows[test]["counted_iterations"])
                    self.assertEqual(iterations % counted, 0, test)
                    expected = {syscall: count * counted // iterations for syscall, count in expected.items()}
                    self.assertEqual(self.calls(test), expected, test)
                    self.assertEqual(rows[test]["total_calls"], str(sum(expected.values())), test)
                    self.assertEqual((rows[test]["outcome"], rows[test]["lost"]), ("passed", "0"), test)
                self.assertEqual({row["kind"] for row in self.rows()}, {"benchmark"})
                self.assertEqual({row["backend"] for row in self.rows()}, {backend})
                # Complexity's own reports are no benchmarks.
                self.assertEqual([test for test in rows if "BigO" in test or "RMS" in test], [])

    def test_a_thread_that_the_body_starts_has_one_number_in_counters_and_rows(self):
        report = os.path.join(self.folder, "out.json")
        for backend in COUNT_CALLS:
            with self.subTest(backend=backend):
                self.needs(backend)
                self.csv = os.path.join(self.folder, backend + ".csv")
                row = self.measured("BM_Odd/iterations:2", flags=[f"--benchmark_out={report}", "--syscost_profile=syscalls",
                                                                  f"--syscost_backend={backend}"],
                                    SYSCOST_TEST_BODY="thread")["BM_Odd/iterations:2"]
                with open(report, encoding="utf-8") as file:
                    [run] = json.load(file)["benchmarks"]
                self.assertEqual(run["syscalls"] * 2 + run.get("syscalls_per_run", 0), int(row["total_calls"]))
                self.assertEqual(self.calls(row["test"])["getgid"], 2)
                # It is entered and never returns, so it is no call.
                self.assertNotIn("sys_exit", run)
                leaving = [(one["entries"], one["calls"], one["no_return"]) for one in self.rows(record="syscall", syscall="exit")]
                self.assertEqual(leaving, [("2", "0", "2")] if backend in COUNT_ENTRIES else [])

    def test_with_lines_the_rows_of_a_syscall_add_up_to_the_same(self):
        names = ["BM_OneCall", "BM_OneCallThreads/threads:8", "BM_WritesAndSync/4", "BM_Pauses/iterations:200", "BM_Template<3>"]
        done = self.run_program(SHAPES, "--syscost_where", f"--syscost_csv={self.csv}", QUICK,
                                "--benchmark_filter=" + "|".join(f"^{name}$" for name in names), code=None)
        if done.code != 0:
            self.skipTest("dispatch does not work here: " + done.err)
        for row in self.rows(record="test"):
            calls, iterations = self.EXPECTED[row["test"]]
            counted = int(row["counted_iterations"])
            found = {}
            for one in self.rows(record="syscall", test=row["test"]):
                found[one["syscall"]] = found.get(one["syscall"], 0) + int(one["calls"])
                self.assertRegex(one["detail"], "^at .*many_shapes", row["test"])
            self.assertEqual(found, {syscall: count * counted for syscall, count in calls.items()}, row["test"])
            self.assertEqual((row["backend"], row["lost"]), ("dispatch", "0"))
        self.assertEqual(len(self.rows(record="test")), len(names))

    def test_a_limit_of_files_sizes_leaves_the_counts(self):
        # The process that counts writes to stderr, as Google Benchmark does.
        done = self.run_program("bash", "-c", f"ulimit -f 0; exec {SHAPES} {QUICK} --benchmark_filter=BM_OneCall$ "
                                "--benchmark_format=json --syscost_profile=syscalls")
        [run] = json.loads(done.out)["benchmarks"]
        self.assertEqual(run["syscalls"], 1, done.err)

    def test_time_and_iterations_are_those_google_benchmark_reports(self):
        report = os.path.join(self.folder, "out.json")
        rows = self.measured("BM_OneCall", "BM_ManualTime/manual_time", flags=[f"--benchmark_out={report}"])
        with open(report, encoding="utf-8") as file:
            runs = {run["name"]: run for run in json.load(file)["benchmarks"]}
        for test, row in rows.items():
            self.assertEqual(int(row["iterations"]), runs[test]["iterations"])
            self.assertAlmostEqual(int(row["wall_ns"]) / int(row["iterations"]), runs[test]["real_time"], delta=1)
            self.assertAlmostEqual(int(row["cpu_ns"]) / int(row["iterations"]), runs[test]["cpu_time"], delta=1)
            self.assertEqual((row["user_ns"], row["system_ns"], row["overhead_estimate_ns"]), ("", "", ""))

    def test_each_repetition_has_a_row(self):
        self.measured("BM_OneCall", "BM_Repeats/repeats:3", flags=["--benchmark_repetitions=2"])
        rows = self.rows(record="test")
        self.assertEqual([(row["test"], row["repetition"]) for row in rows],
                         [("BM_OneCall", "0"), ("BM_OneCall", "1"), ("BM_Repeats/repeats:3", "0"),
                          ("BM_Repeats/repeats:3", "1"), ("BM_Repeats/repeats:3", "2")])
        self.assertEqual({row["total_calls"] for row in rows}, {"1000"})

    def test_an_explicit_number_of_iterations_is_counted_warm(self):
        # The first repetition of the counting process is one that is not timed.
        self.measured("BM_Fixed/iterations:7")
        self.assertEqual(self.calls("BM_Fixed/iterations:7"), {"getppid": 7})

    def test_what_happens_sometimes_is_counted_as_often_as_it_happens(self):
        row = self.measured("BM_SometimesMore")["BM_SometimesMore"]
        counted = int(row["counted_iterations"])
        self.assertEqual(self.calls("BM_SometimesMore"), {"getppid": counted, "getuid": (counted + 15) // 16})

    def test_cycles_say_how_long_a_counted_pass_is(self):
        row = self.measured("BM_SometimesMore", flags=["--syscost_cycles=100"])["BM_SometimesMore"]
        self.assertEqual((row["counted_iterations"], row["total_calls"]), ("100", "107"))

    def test_a_slow_body_is_counted_in_few_iterations(self):
        row = self.measured("BM_Slow/real_time")["BM_Slow/real_time"]
        self.assertEqual((row["counted_iterations"], row["total_calls"]), ("10", "10"))

    def test_skipped_and_failing_benchmarks_have_rows_without_numbers(self):
        rows = self.measured("BM_Skipped", "BM_FailsInTheLoop", "BM_Last")
        for test in ("BM_Skipped", "BM_FailsInTheLoop"):
            self.assertEqual({column: rows[test][column] for column in ("outcome", "iterations", "wall_ns", "cpu_ns", "total_calls")},
                             {"outcome": "failed", "iterations": "", "wall_ns": "", "cpu_ns": "", "total_calls": ""})
        self.assertEqual(rows["BM_Last"]["total_calls"], "1000")

    def test_more_threads_than_lanes_are_no_number_rather_than_a_short_one(self):
        name = "BM_TooManyThreads/iterations:2/threads:20"
        for backend in COUNT_CALLS:
            with self.subTest(backend=backend):
                self.needs(backend)
                self.csv = os.path.join(self.folder, backend + ".csv")
                done = self.run_program(SHAPES, f"--syscost_csv={self.csv}", f"--syscost_backend={backend}", QUICK,
                                        "--benchmark_filter=BM_TooManyThreads|BM_Last")
                self.assertIn(f"benchmark {name} has no counts: Backend {backend} cannot tell this thread from the others: "
                              "more than 16 threads", done.err)
                rows = {row["test"]: row for row in self.rows(record="test")}
                self.assertEqual(rows[name]["total_calls"], "")
                self.assertNotEqual(rows[name]["wall_ns"], "")
                self.assertEqual(rows["BM_Last"]["total_calls"], "1000")

    def test_only_aggregates_still_have_a_row_with_counts(self):
        row = self.measured("BM_OnlyAggregates/repeats:3")["BM_OnlyAggregates/repeats:3"]
        self.assertEqual((row["wall_ns"], row["iterations"], row["total_calls"]), ("", "", "1000"))

    def test_aggregates_of_a_fixed_number_of_iterations_keep_their_counts_to_themselves(self):
        name = "BM_FixedAggregates/iterations:100/repeats:3"
        rows = self.measured(name, "BM_OpensOnce")
        self.assertEqual((rows[name]["counted_iterations"], rows[name]["total_calls"]), ("100", "100"))
        self.assertEqual(self.measured("BM_OpensOnce")["BM_OpensOnce"]["total_calls"], rows["BM_OpensOnce"]["total_calls"])

    def test_a_filter_counts_only_what_it_selects(self):
        self.measured("BM_SometimesMore", flags=["--syscost_filter=getuid"])
        self.assertEqual(self.calls("BM_SometimesMore"), {"getuid": 63})
        self.assertEqual({row["filter"] for row in self.rows()}, {"getuid"})

    def test_the_selection_says_how_much_was_run(self):
        for flags, selection in (["--benchmark_filter=BM_Last"], "isolated"), (["--benchmark_filter=OneCall"], "subset"):
            self.csv = os.path.join(self.folder, selection)
            self.run_program(SHAPES, f"--syscost_csv={self.csv}", QUICK, *flags)
            self.assertEqual({row["selection"] for row in self.rows()}, {selection})
        self.csv = os.path.join(self.folder, "whole")
        self.run_program(USER_MAIN.replace("user_main", "library_with"), QUICK, SYSCOST_CSV=self.csv)
        self.assertEqual({row["selection"] for row in self.rows()}, {"whole"})


class PerRunCalls(BenchmarkCase):
    """Calls made once per run, regardless of iterations, are listed apart. So runs with different passes agree."""

    def one(self, *flags, test="BM_PerRunCalls", **variables):
        """{syscall: its row} of a run of `test`, in a file of its own; and the file."""
        self.csv = os.path.join(self.folder, "out%d.csv" % len(os.listdir(self.folder)))
        self.measured(test, flags=flags, **variables)
        return {row["syscall"]: row for row in self.rows(record="syscall", test=test)}

    @staticmethod
    def per_run(row):
        return row["per_run_calls"], row["per_run_errors"], row["per_run_errnos"]

    @needs_results
    def test_they_stand_beside_the_calls_they_are_a_part_of(self):
        for cycles in "1000", "100":
            rows = self.one("--syscost_cycles=" + cycles)
            self.assertEqual((rows["access"]["calls"], *self.per_run(rows["access"])), ("3", "3", "3", "ENOENT:3"))
            self.assertEqual((rows["getppid"]["calls"], *self.per_run(rows["getppid"])), (str(2 * int(cycles)), "0", "0", ""))

    @needs_results
    def test_several_threads_have_theirs_together(self):
        rows = self.one(test="BM_PerRunCallsThreads/threads:2")
        self.assertEqual(self.per_run(rows["access"]), ("6", "6", "ENOENT:6"))

    def test_they_are_unknown_where_the_benchmark_says_how_many_iterations(self):
        rows = self.one(test="BM_Fixed/iterations:7")
        self.assertEqual(self.per_run(rows["getppid"]), ("", "", ""))

    @needs_results
    def test_they_are_known_of_what_happens_sometimes(self):
        self.assertEqual(self.per_run(self.one(test="BM_SometimesMore")["getuid"]), ("0", "0", ""))

    def verdict(self, old, new):
        """Exit code, and what changed, as bench compare says it of two runs (flags, body)."""
        bench = os.path.join(BIN, "bench")
        if not os.path.exists(bench):
            self.skipTest("needs bench, which is not built here")
        files = []
        for cycles, body in old, new:
            self.one("--syscost_cycles=" + cycles, SYSCOST_TEST_BODY=body)
            files.append(self.csv)
        done = self.run_program(bench, "compare", *files, "--format=json", code=None)
        [test] = json.loads(done.out)["tests"]
        changes = [(one["syscall"], one["errno"], one["per_run"], one["new"] - one["old"]) for one in test["deltas"]]
        return done.code, test["verdict"], changes

    def test_passes_of_different_lengths_say_the_same(self):
        for cycles in "1000", "100":
            self.assertEqual(self.verdict(("1000", ""), (cycles, "")), (0, "same", []))
            self.assertEqual(self.verdict((cycles, ""), ("1000", "")), (0, "same", []))

    @needs_results
    def test_one_more_is_found_whatever_the_length(self):
        for cycles in "1000", "100":
            self.assertEqual(self.verdict(("1000", ""), (cycles, "one more per run")),
                             (1, "regressed", [("access", None, True, 1), ("access", "ENOENT", True, 1)]))

    def test_a_doubled_call_of_an_iteration_is_found_whatever_the_length(self):
        for cycles in "1000", "100":
            self.assertEqual(self.verdict(("1000", ""), (cycles, "twice as many")),
                             (1, "regressed", [("getppid", None, False, 2)]))


class Oracle(BenchmarkCase):
    @needs_results
    def test_strace_counts_the_same(self):
        if shutil.which("strace") is None:
            self.skipTest("needs strace")
        log = os.path.join(self.folder, "log")
        self.run_program("strace", "-ff", "-o", log, "-e", "trace=pwrite64,truncate", SHAPES, f"--syscost_csv={self.csv}",
                         "--benchmark_filter=BM_ForStrace")
        seen = []
        for name in os.listdir(self.folder):
            if not name.startswith("log."):
                continue
            with open(os.path.join(self.folder, name), encoding="utf-8") as file:
                lines = file.read().splitlines()
            seen.append((sum(line.startswith("pwrite64(") for line in lines),
                         sum(line.startswith("truncate(") and "ENOENT" in line for line in lines)))
        [row] = self.rows(record="test")
        calls = self.calls("BM_ForStrace/iterations:50")
        [failing] = self.rows(record="syscall", syscall="truncate")
        # The counting process makes a repetition to warm up and the one that is counted, the other process the timed one.
        self.assertEqual(sorted(pair for pair in seen if pair != (0, 0)),
                         [(calls["pwrite64"], calls["truncate"]), (2 * calls["pwrite64"], 2 * calls["truncate"])])
        self.assertEqual((row["counted_iterations"], failing["errnos"]), ("50", "ENOENT:50"))


if __name__ == "__main__":
    main()
