# SPDX-License-Identifier: MIT
"""What a program with the Google Benchmark adapter shows, and that it shows nothing of ours without a flag."""
import json
import os
import re
import shutil

from benchmark_case import BACKENDS, SHAPES, UNLINKED, QUICK, BenchmarkCase, main


class Output(BenchmarkCase):
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

    def test_a_csv_where_google_benchmarks_report_goes_runs_nothing(self):
        for flags, variables in (["--benchmark_out=out.csv"], {}), ([], {"BENCHMARK_OUT": self.csv}):
            done = self.run_program(SHAPES, f"--syscost_csv={self.csv}", QUICK, self.FEW, *flags, code=2, **variables)
            self.assertIn(f"the CSV and the report of Google Benchmark are one file, {self.csv}", done.err)
            self.assertFalse(os.path.exists(self.csv))

    def test_where_only_entries_are_known_they_are_the_counters_and_calls_stay_empty(self):
        done = self.run_program(SHAPES, f"--syscost_csv={self.csv}", "--syscost_backend=seccomp", QUICK, self.FEW)
        lines = {line.split()[0]: line for line in done.out.splitlines() if line.startswith("BM_")}
        self.assertIn("syscalls=1", lines["BM_OneCall"])
        self.assertIn("syscalls=64", lines["BM_Complexity/64"])
        for row in self.rows(record="syscall", syscall="getppid", as_written=True):
            self.assertGreater(int(row["entries"]), 0)
            self.assertEqual([row[c] for c in ("calls", "in_flight", "carried_in", "denied", "errors")], [""] * 5)
        self.assertTrue(all(int(row["wall_ns"]) > 0 for row in self.rows(record="test", outcome="passed")))

    def test_the_process_that_is_timed_never_installs_a_filter(self):
        if shutil.which("strace") is None:
            self.skipTest("needs strace")
        log = os.path.join(self.folder, "strace.log")
        self.run_program("strace", "-f", "-e", "trace=execve,seccomp", "-o", log, SHAPES, "--syscost_backend=seccomp", QUICK,
                         "--benchmark_filter=OneCall")
        with open(log, encoding="utf-8") as file:
            calls = [line.split(maxsplit=1) for line in file]
        timed = calls[0][0]
        installers = {process for process, call in calls if "SECCOMP_SET_MODE_FILTER" in call}
        self.assertNotEqual(installers, set(), "somebody counts")
        self.assertNotIn(timed, installers)

    def test_counters_stand_beside_the_times(self):
        done = self.run_program(SHAPES, "--syscost_backend=auto", QUICK, self.FEW)
        lines = {line.split()[0]: line for line in done.out.splitlines() if line.startswith("BM_")}
        self.assertIn("syscalls=1", lines["BM_OneCall"])
        self.assertIn("mine=42 syscalls=1 a label", lines["BM_UserCounter"])
        self.assertRegex(lines["BM_OpensOnce"], r"syscalls=1 syscalls_per_run=1\b")
        self.assertIn("syscalls=64", lines["BM_Complexity/64"])
        self.assertIn("syscalls=1", lines["BM_Repeats/repeats:3_mean"])
        for name in ("BM_Repeats/repeats:3_stddev", "BM_Complexity_BigO", "BM_Complexity_RMS", "BM_Skipped"):
            self.assertNotIn("syscalls", lines[name])
        self.assertNotIn("sys_getppid", done.out)

    def test_a_counter_of_the_benchmarks_own_with_our_name_stays(self):
        done = self.run_program(SHAPES, f"--syscost_csv={self.csv}", QUICK, "--benchmark_filter=BM_CountsItself")
        self.assertIn("syscalls=77", done.out)
        self.assertEqual(self.calls("BM_CountsItself"), {"getppid": 1000})

    def test_a_profile_names_the_syscalls(self):
        done = self.run_program(SHAPES, "--syscost_profile=syscalls", QUICK, "--benchmark_filter=BM_OpensOnce|WritesAndSync/4")
        self.assertRegex(done.out, r"BM_OpensOnce .*sys_openat=0 sys_write=1 syscalls=1 syscalls_per_run=1")
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

    def check_rows_beside_aggregates_on_the_screen(self, form):
        report = os.path.join(self.folder, f"google.{form}")
        done = self.run_program(SHAPES, f"--syscost_csv={self.csv}", QUICK, "--benchmark_filter=BM_Last",
                                "--benchmark_repetitions=3", "--benchmark_display_aggregates_only=true",
                                f"--benchmark_out={report}", f"--benchmark_out_format={form}")
        self.assertIn("BM_Last_mean", done.out)
        self.assertNotRegex(done.out, r"(?m)^BM_Last ")
        rows = self.rows(record="test")
        self.assertEqual([row["repetition"] for row in rows], ["0", "1", "2"])
        self.assertEqual([row["repetition"] for row in rows if not row["wall_ns"] or not row["iterations"]], [])

    def test_aggregates_only_on_the_screen_leave_every_repetition_in_the_rows(self):
        self.check_rows_beside_aggregates_on_the_screen("json")

    def test_so_they_do_beside_google_benchmarks_own_csv(self):
        self.check_rows_beside_aggregates_on_the_screen("csv")

    def test_the_header_says_who_counts_and_where_rows_go(self):
        for backend in BACKENDS:
            with self.subTest(backend=backend):
                self.needs(backend)
                done = self.run_program(SHAPES, f"--syscost_csv={self.csv}", f"--syscost_backend={backend}", QUICK,
                                        "--benchmark_filter=BM_Last")
                self.assertRegex(done.err, rf"(?m)^syscost: backend {backend} in a process of its own, csv {self.csv}, run \S+$")


if __name__ == "__main__":
    main()
