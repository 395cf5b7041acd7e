# SPDX-License-Identifier: MIT
"""The Google Benchmark adapter from outside: programs are run as users run them, and their rows, output and exit codes are
read.

The bodies make known numbers of calls. Usage: benchmark_test.py BIN [CLASS...]; BIN is the folder of the programs. Ends
with 77 (skipped, to ctest) where nothing can count.
"""
import collections
import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BIN = os.path.abspath(sys.argv[1])
SHAPES = os.path.join(BIN, "benchmark_shapes")          # BENCHMARK_MAIN() and syscost::benchmark
THEIR_MAIN = os.path.join(BIN, "benchmark_their_main")  # libbenchmark_main and syscost::benchmark
OUR_MAIN = os.path.join(BIN, "benchmark_our_main")      # syscost::benchmark_main
UNLINKED = os.path.join(BIN, "benchmark_unlinked")      # BENCHMARK_MAIN(), without us
USER_MAIN = os.path.join(BIN, "benchmark_user_main")
NO_CAPABILITIES = ["capsh", "--drop=all", "--user=nobody", "--"] if os.geteuid() == 0 else None
QUICK = "--benchmark_min_time=0.001"

Done = collections.namedtuple("Done", "code out err")


def environment(**variables):
    """This process's environment without what would change the programs' behaviour, plus `variables`."""
    kept = {k: v for k, v in os.environ.items()
            if not k.startswith(("SYSCOST_", "BENCHMARK_")) and k not in ("CI", "NO_COLOR")}
    return {**kept, **variables}


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="syscost-benchmark-")
        os.chmod(self.folder, 0o777)
        self.addCleanup(shutil.rmtree, self.folder)
        self.csv = os.path.join(self.folder, "out.csv")

    def run_program(self, *command, code=0, **variables):
        done = subprocess.run(command, env=environment(**variables), cwd=self.folder, capture_output=True, text=True)
        if code is not None:
            self.assertEqual(done.returncode, code, f"{command}\n{done.stdout}\n{done.stderr}")
        return Done(done.returncode, done.stdout, done.stderr)

    def rows(self, **equal):
        with open(self.csv, newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertTrue(all(row["end"] == "end" for row in rows))
        return [row for row in rows if all(row[k] == v for k, v in equal.items())]

    def measured(self, *names, program=SHAPES, **options):
        """Runs the benchmarks of these names and returns their rows of record `test`, by name."""
        pattern = "--benchmark_filter=" + "|".join(f"^{name}$" for name in names)
        self.run_program(program, f"--syscost_csv={self.csv}", QUICK, pattern, *options.pop("flags", []), **options)
        return {row["test"]: row for row in self.rows(record="test")}

    def calls(self, test, repetition="0"):
        """{syscall: calls} of a repetition."""
        return {row["syscall"]: int(row["calls"])
                for row in self.rows(record="syscall", test=test, repetition=repetition)}


class Counts(Case):
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
        "Fixture/CallsTwice": ({"getppid": 2}, 1000),
        "BM_Template<3>": ({"getppid": 3}, 1000),
        "BM_UserCounter": ({"getppid": 1}, 1000),
        "BM_Odd/iterations:2": ({"getppid": 1}, 2),
        "BM_Last": ({"getppid": 1}, 1000),
    }

    def test_every_shape_has_a_row_with_its_own_calls_and_no_others(self):
        for flags in ([], ["--benchmark_enable_random_interleaving=true", "--benchmark_repetitions=2"]):
            with self.subTest(flags=flags):
                if os.path.exists(self.csv):
                    os.remove(self.csv)
                self.run_program(SHAPES, f"--syscost_csv={self.csv}", QUICK, "--benchmark_filter=-TooMany|Slow", *flags)
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
                self.assertEqual({row["backend"] for row in self.rows()}, {"ebpf"})
                # Complexity's own reports are no benchmarks.
                self.assertEqual([test for test in rows if "BigO" in test or "RMS" in test], [])

    def test_time_and_iterations_are_those_google_benchmark_reports(self):
        report = os.path.join(self.folder, "out.json")
        rows = self.measured("BM_OneCall", "BM_ManualTime/manual_time", flags=[f"--benchmark_out={report}"])
        with open(report, encoding="utf-8") as file:
            runs = {run["name"]: run for run in json.load(file)["benchmarks"]}
        for test, row in rows.items():
            self.assertEqual(int(row["iterations"]), runs[test]["iterations"])
            self.assertAlmostEqual(int(row["wall_ns"]) / int(row["iterations"]), runs[test]["real_time"], delta=1)
            self.assertEqual((row["user_ns"], row["system_ns"], row["overhead_estimate_ns"]), ("", "", ""))
            self.assertNotEqual(row["iterations"], row["counted_iterations"])

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
        self.assertEqual((row["counted_iterations"], row["total_calls"]), ("1", "1"))

    def test_skipped_and_failing_benchmarks_have_rows_without_numbers(self):
        rows = self.measured("BM_Skipped", "BM_FailsInTheLoop", "BM_Last")
        for test in ("BM_Skipped", "BM_FailsInTheLoop"):
            self.assertEqual({column: rows[test][column] for column in ("outcome", "iterations", "wall_ns", "total_calls")},
                             {"outcome": "failed", "iterations": "", "wall_ns": "", "total_calls": ""})
        self.assertEqual(rows["BM_Last"]["total_calls"], "1000")

    def test_more_threads_than_lanes_are_no_number_rather_than_a_short_one(self):
        pattern = "--benchmark_filter=BM_TooManyThreads|BM_Last"
        done = self.run_program(SHAPES, f"--syscost_csv={self.csv}", QUICK, pattern, code=1)
        self.assertIn("benchmark BM_TooManyThreads/iterations:2/threads:20 has no counts: Backend ebpf cannot tell this thread from the others: more than 16 threads", done.err)
        rows = {row["test"]: row for row in self.rows(record="test")}
        self.assertEqual(rows["BM_TooManyThreads/iterations:2/threads:20"]["total_calls"], "")
        self.assertNotEqual(rows["BM_TooManyThreads/iterations:2/threads:20"]["wall_ns"], "")
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


class Output(Case):
    FEW = "--benchmark_filter=OneCall|Repeats|Complexity|Skipped|UserCounter|OpensOnce"

    @staticmethod
    def shape(text):
        """Output without what times change: numbers, widths, rules, moments, and which complexity fits them best."""
        text = re.sub(r"Load Average.*\n|\d{4}-\d\d-\d\dT\S+\n|^Running .*\n|Run on.*\n", "", text, flags=re.M)
        text = re.sub(r"-{5,}|[ \t]+", " ", text)
        text = re.sub(r"\(1\)|\bN?lgN\b|\bN\^[23]|\bN\b", "O", text)
        return re.sub(r"[-+]?\d+(\.\d+)?(e[-+]?\d+)?( ?[kMGmunp%]\b)?", "#", text)

    def test_without_a_flag_nothing_is_added(self):
        for report in ([], ["--benchmark_format=json"], ["--benchmark_format=csv", "--benchmark_filter=OneCall"]):
            linked = self.run_program(SHAPES, QUICK, self.FEW, *report)
            unlinked = self.run_program(UNLINKED, QUICK, self.FEW, *report)
            self.assertEqual(self.shape(linked.out.replace("benchmark_shapes", "PROGRAM")),
                             self.shape(unlinked.out.replace("benchmark_unlinked", "PROGRAM")))
            self.assertEqual(self.shape(linked.err), self.shape(unlinked.err))

    def test_listing_is_inert(self):
        for flags in (["--benchmark_list_tests"], ["--benchmark_list_tests=true"]):
            linked = self.run_program(SHAPES, f"--syscost_csv={self.csv}", self.FEW, *flags)
            unlinked = self.run_program(UNLINKED, self.FEW, *flags)
            self.assertEqual(linked.out, unlinked.out)
            self.assertEqual(linked.err, "")
        self.assertFalse(os.path.exists(self.csv))

    def test_where_only_entries_are_known_they_are_the_counters_and_calls_stay_empty(self):
        done = self.run_program(SHAPES, f"--syscost_csv={self.csv}", "--syscost_backend=seccomp", QUICK, self.FEW)
        lines = {line.split()[0]: line for line in done.out.splitlines() if line.startswith("BM_")}
        self.assertIn("syscalls=1", lines["BM_OneCall"])
        self.assertIn("syscalls=64", lines["BM_Complexity/64"])
        for row in self.rows(record="syscall", syscall="getppid"):
            self.assertGreater(int(row["entries"]), 0)
            self.assertEqual([row[c] for c in ("calls", "in_flight", "carried_in", "denied", "errors")], [""] * 5)
        # The process that is timed is under no filter.
        self.assertTrue(all(int(row["wall_ns"]) > 0 for row in self.rows(record="test", outcome="passed")))

    def test_counters_stand_beside_the_times(self):
        done = self.run_program(SHAPES, "--syscost_backend=auto", QUICK, self.FEW)
        lines = {line.split()[0]: line for line in done.out.splitlines() if line.startswith("BM_")}
        self.assertIn("syscalls=1", lines["BM_OneCall"])
        self.assertIn("mine=42 syscalls=1 a label", lines["BM_UserCounter"])
        self.assertRegex(lines["BM_OpensOnce"], r"syscalls=1 syscalls_fixed=1\b")
        self.assertIn("syscalls=64", lines["BM_Complexity/64"])
        self.assertIn("syscalls=1", lines["BM_Repeats/repeats:3_mean"])
        for name in ("BM_Repeats/repeats:3_stddev", "BM_Complexity_BigO", "BM_Complexity_RMS", "BM_Skipped"):
            self.assertNotIn("syscalls", lines[name])
        self.assertNotIn("sys_getppid", done.out)

    def test_a_profile_names_the_syscalls(self):
        done = self.run_program(SHAPES, "--syscost_profile=syscalls", QUICK, "--benchmark_filter=BM_OpensOnce|WritesAndSync/4")
        self.assertRegex(done.out, r"BM_OpensOnce .*sys_openat=0 sys_write=1 syscalls=1 syscalls_fixed=1")
        self.assertRegex(done.out, r"BM_WritesAndSync/4 .*sys_fdatasync=1 sys_pwrite64=4 syscalls=5")

    def test_counters_are_in_the_json_and_in_its_file(self):
        report = os.path.join(self.folder, "out.json")
        done = self.run_program(SHAPES, "--syscost_backend=auto", QUICK, "--benchmark_filter=BM_WritesAndSync",
                                "--benchmark_format=json", f"--benchmark_out={report}")
        with open(report, encoding="utf-8") as file:
            from_file = json.load(file)
        for runs in (json.loads(done.out), from_file):
            self.assertEqual({run["name"]: run["syscalls"] for run in runs["benchmarks"]},
                             {"BM_WritesAndSync/1": 2, "BM_WritesAndSync/4": 5, "BM_WritesAndSync/8": 9,
                              "BM_WritesAndSync/16": 17})

    def test_a_file_from_the_environment_has_them_too(self):
        report = os.path.join(self.folder, "out.json")
        self.run_program(SHAPES, "--syscost_backend=auto", QUICK, "--benchmark_filter=BM_Last", BENCHMARK_OUT=report)
        with open(report, encoding="utf-8") as file:
            self.assertEqual([run["syscalls"] for run in json.load(file)["benchmarks"]], [1])

    def test_other_formats_of_the_file_are_written_as_ever(self):
        for form in ("console", "csv"):
            report = os.path.join(self.folder, form)
            self.run_program(SHAPES, "--syscost_backend=auto", QUICK, "--benchmark_filter=BM_Last",
                             f"--benchmark_out={report}", f"--benchmark_out_format={form}")
            with open(report, encoding="utf-8") as file:
                self.assertIn("BM_Last", file.read())

    def test_google_benchmarks_own_csv_gets_no_counters(self):
        # It aborts over a counter that its first benchmark did not have.
        flags = ("--benchmark_format=csv", "--benchmark_filter=Skipped|OneCall|OpensOnce", QUICK)
        done = self.run_program(SHAPES, f"--syscost_csv={self.csv}", *flags)
        self.assertEqual(self.shape(done.out), self.shape(self.run_program(UNLINKED, *flags).out))
        self.assertEqual(self.calls("BM_OpensOnce"), {"write": 1000, "openat": 1})

    def test_aggregates_only_on_the_screen_leave_every_repetition_in_the_rows(self):
        report = os.path.join(self.folder, "out.json")
        done = self.run_program(SHAPES, f"--syscost_csv={self.csv}", QUICK, "--benchmark_filter=BM_Last",
                                "--benchmark_repetitions=3", "--benchmark_display_aggregates_only=true",
                                f"--benchmark_out={report}")
        self.assertIn("BM_Last_mean", done.out)
        self.assertNotRegex(done.out, r"(?m)^BM_Last ")
        self.assertEqual([row["repetition"] for row in self.rows(record="test")], ["0", "1", "2"])

    def test_the_header_says_who_counts_and_where_rows_go(self):
        done = self.run_program(SHAPES, f"--syscost_csv={self.csv}", QUICK, "--benchmark_filter=BM_Last")
        self.assertRegex(done.err, rf"(?m)^syscost: backend ebpf in a process of its own, csv {self.csv}, run \S+$")


class Mains(Case):
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
        self.assertEqual(done.out, "arguments left: mine\nown reporter: BM_First syscalls=1\nown reporter: final\n"
                                   "own reporter: BM_Second syscalls=2\nown reporter: final\nran 1 and 1\n")
        self.assertEqual([(row["test"], row["total_calls"]) for row in self.rows(record="test")],
                         [("BM_First", "1000"), ("BM_Second", "2000")])
        with open(os.path.join(self.folder, "main_ended.txt"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "ended\n")

    def test_loops_in_a_shared_library(self):
        program = os.path.join(BIN, "benchmark_library_with")
        self.run_program(program, QUICK, SYSCOST_CSV=self.csv)
        self.assertEqual([row["total_calls"] for row in self.rows(record="test")], ["1000"])

    def test_loops_in_a_library_without_us_are_no_zero(self):
        program = os.path.join(BIN, "benchmark_library_without")
        done = self.run_program(program, f"--syscost_csv={self.csv}", QUICK, code=1)
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
        self.run_program(program, QUICK)  # unasked: as ever


class Refusals(Case):
    def test_bad_flags_and_files_end_with_2_before_any_benchmark(self):
        for flags, word in ((["--syscost_cvs=x"], "did you mean --syscost_csv"), (["--syscost_csv="], "file name"),
                            (["--syscost_csv=/nowhere/x.csv"], "/nowhere/x.csv"), (["--syscost_cycles=0"], "cycles"),
                            (["--syscost_backend=dispatch"], "no backend")):
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
        if NO_CAPABILITIES is None or shutil.which("capsh") is None:
            self.skipTest("needs root and capsh")
        command = f"{SHAPES} --syscost_csv={self.csv} {QUICK} --syscost_backend=ebpf"
        done = self.run_program(*NO_CAPABILITIES, "-c", command, code=2)
        self.assertRegex(done.err, "CAP_BPF|cap_bpf")
        self.assertIn("fix:", done.err)
        self.assertNotIn("BM_", done.out)
        # Unasked it runs.
        self.run_program(*NO_CAPABILITIES, "-c", f"{SHAPES} {QUICK} --benchmark_filter=BM_Last")


class OddBodies(Case):
    FEW = "--benchmark_filter=BM_OneCall$|BM_Odd|BM_Last"

    def odd(self, body, code):
        return self.run_program(SHAPES, f"--syscost_csv={self.csv}", QUICK, self.FEW, code=code, SYSCOST_TEST_BODY=body)

    def totals(self):
        return {row["test"]: row["total_calls"] for row in self.rows(record="test")}

    def test_what_ends_the_program_loses_nothing_before_it(self):
        for body, code, how in (("throw", -6, "was killed by SIGABRT"), ("crash", -11, "was killed by SIGSEGV"),
                                ("exit", 1, "ended with exit code 0")):
            with self.subTest(body=body):
                self.csv = os.path.join(self.folder, body)
                done = self.odd(body, code)
                self.assertIn(f"the process that counts {how} in benchmark BM_Odd/iterations:2: 1 of 3 benchmarks have "
                              "counts", done.err)
                self.assertEqual(self.totals(), {"BM_OneCall": "1000"})

    def test_what_only_the_counting_process_dies_of_leaves_the_times(self):
        done = self.odd("crash-counted", 1)
        self.assertIn("was killed by SIGSEGV in benchmark BM_Odd/iterations:2", done.err)
        self.assertEqual(self.totals(), {"BM_OneCall": "1000", "BM_Odd/iterations:2": "", "BM_Last": ""})
        self.assertTrue(all(row["wall_ns"] for row in self.rows(record="test")))

    def test_what_the_counting_process_wrote_before_it_died_is_shown(self):
        self.assertIn("thrown by the body", self.odd("throw", -6).err.split("fix:")[0])

    def test_a_body_that_forks_is_counted(self):
        self.odd("fork", 0)
        calls = self.calls("BM_Odd/iterations:2")
        self.assertEqual((calls["getppid"], calls["wait4"]), (2, 2))
        self.assertEqual(self.totals()["BM_Last"], "1000")

    def test_a_fork_child_that_runs_the_rest_writes_nothing(self):
        self.odd("fork-returns", 0)
        self.assertEqual([row["test"] for row in self.rows(record="test")],
                         ["BM_OneCall", "BM_Odd/iterations:2", "BM_Last"])
        self.assertEqual(self.totals()["BM_Last"], "1000")


class Oracle(Case):
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
    doctor = subprocess.run([SHAPES, "--syscost_doctor"], env=environment(), capture_output=True, text=True)
    if doctor.returncode != 0:
        print("skipped: nothing can count syscalls here\n" + doctor.stdout)
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
