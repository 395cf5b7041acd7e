# SPDX-License-Identifier: MIT
"""`bench run` with Google Benchmark: the rows are those of the same program linked with syscost, and what the program prints
and writes is what it prints and writes alone."""
import json
import os
import re
import shutil
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "adapters", "benchmark"))
from benchmark_case import DYING, QUICK, SHAPES, UNLINKED  # noqa: E402
from adapter_case import BIN, main  # noqa: E402
from run_case import BENCH, RunCase  # noqa: E402

DYING_UNLINKED = os.path.join(BIN, "agent_benchmark_dying")
MANAGERS = os.path.join(BIN, "agent_benchmark_managers")
# One of each shape in which Google Benchmark runs a body.
SOME = ("--benchmark_filter=BM_(OneCall|OneCallThreads|RealTime|ProcessTime|Fixed|Repeats|OnlyAggregates|KeepRunning|Batch|"
        "OpensOnce|PerRunCalls|PerRunCallsThreads|Pauses|PausesThreads|ManualTime)(/|$)")
TIMES = re.compile(r" +[0-9.e+-]+ (ns|us|ms|%)")


class Benchmarks(RunCase):
    def compare(self, linked, program, *flags, **variables):
        self.run_program(linked, f"--syscost_csv={self.csv}", *flags, **variables)
        expected = self.counted()
        os.remove(self.csv)
        self.bench_run(f"--csv={self.csv}", "--", program, *flags, **variables)
        ours = self.counted()
        unsure = {dict(row)["test"] for row in ours + expected if not self.is_sure(row)}
        self.assertEqual([row for row in ours if dict(row)["test"] not in unsure],
                         [row for row in expected if dict(row)["test"] not in unsure])
        self.assertEqual({dict(row)["test"] for row in ours}, {dict(row)["test"] for row in expected})

    def counted(self):
        """Google Benchmark chooses how many iterations it times."""
        return sorted(tuple((k, v) for k, v in row if k != "iterations") for row in super().counted())

    @staticmethod
    def is_sure(row):
        """On a busy machine a counted pass is long enough before each thread has 1000 iterations; these have a number of their own."""
        threads = re.search(r"/threads:(\d+)", dict(row)["test"])
        each = [str(iterations * int(threads[1] if threads else 1)) for iterations in (1, 10, 100)]
        return dict(row).get("counted_iterations") not in each

    def test_rows_are_those_of_the_linked_program(self):
        self.compare(SHAPES, UNLINKED, QUICK, SOME)

    @unittest.skipUnless(shutil.which("strip"), "needs strip (Debian: binutils)")
    def test_also_of_a_stripped_program_on_the_other_backends(self):
        stripped = self.copy_of(UNLINKED, "strip")
        for backend in ("dispatch", "seccomp"):
            if backend == "dispatch" and os.uname().machine != "x86_64":
                continue
            with self.subTest(backend=backend):
                self.needs(backend)
                self.compare(SHAPES, stripped, QUICK, "--benchmark_filter=BM_(OneCallThreads|Pauses|Fixed)(/|$)",
                             SYSCOST_BACKEND=backend)
                os.remove(self.csv)

    def test_benchmarks_after_tests_run_whatever_counted_the_tests(self):
        both = os.path.join(BIN, "agent_tests_and_benchmarks")
        for backend in ("ebpf", "dispatch", "seccomp"):
            with self.subTest(backend=backend):
                self.needs(backend)
                done = self.bench_run(f"--csv={self.csv}", "--backend", backend, "--", both)
                self.assertEqual([row["test"] for row in self.rows(kind="test", record="test")], ["Calls.Five"])
                self.assertIn("one_call", done.out)
                # The filter of seccomp stays: what the benchmarks call is not counted, and the run says why.
                self.assertEqual("its tests ran before them under backend seccomp" in done.err, backend == "seccomp", done.err)
                (row,) = self.rows(kind="benchmark", record="test")
                self.assertEqual(row["backend"], "none" if backend == "seccomp" else backend)
                os.remove(self.csv)

    def test_a_time_that_is_none_is_empty_in_each_way(self):
        test = "BM_NegativeTime/iterations:10/manual_time"
        flags = (QUICK, "--benchmark_filter=BM_NegativeTime|BM_Fixed", f"--benchmark_out={self.folder}/out.json")
        for way in ("linked", "bench run"):
            with self.subTest(way):
                if way == "linked":
                    done = self.run_program(SHAPES, f"--syscost_csv={self.csv}", *flags)
                else:
                    done = self.bench_run(f"--csv={self.csv}", "--", UNLINKED, *flags)
                rows = {row["test"]: row for row in self.rows(record="test")}
                self.assertEqual((rows[test]["wall_ns"], rows[test]["iterations"]), ("", "10"))
                self.assertGreater(int(rows["BM_Fixed/iterations:7"]["wall_ns"]), 0)
                self.assertEqual(done.err.count(f"benchmark {test} took -1e-05 s by its own times, which is no time"), 1, done.err)
                os.remove(self.csv)
                # Google Benchmark's own file of the same run.
                summary = self.run_program(BENCH, "summary", os.path.join(self.folder, "out.json"))
                self.assertIn(f"note: benchmark {test}: real_time -1000.0 is no time", summary.err)

    def test_what_it_prints_and_writes_is_its_own(self):
        flags = (QUICK, "--benchmark_filter=BM_(Fixed|Repeats)(/|$)", "--benchmark_repetitions=2")
        report = os.path.join(self.folder, "report.json")
        alone = self.run_program(UNLINKED, *flags, f"--benchmark_out={report}")
        with open(report, encoding="utf-8") as file:
            theirs = json.load(file)
        done = self.bench_run(f"--csv={self.csv}", "--", UNLINKED, *flags, f"--benchmark_out={report}")
        with open(report, encoding="utf-8") as file:
            ours = json.load(file)
        self.assertEqual([sorted(run) for run in ours["benchmarks"]], [sorted(run) for run in theirs["benchmarks"]])
        self.assertEqual([run["name"] for run in ours["benchmarks"]], [run["name"] for run in theirs["benchmarks"]])
        names = [line.split()[0] for line in alone.out.splitlines()]
        self.assertEqual([line.split()[0] for line in done.out.splitlines()], names)
        self.assertEqual({row["repetition"] for row in self.rows(kind="benchmark", test="BM_Fixed/iterations:7")}, {"0", "1"})

    def test_listing_and_a_filter_that_selects_nothing_stay_what_they_are(self):
        for flags in (("--benchmark_list_tests",), ("--benchmark_filter=none_such",)):
            alone = self.run_program(UNLINKED, *flags, code=None)
            done = self.bench_run(f"--csv={self.csv}", "--", UNLINKED, *flags, code=None)
            self.assertEqual(done.out, alone.out)

    def test_a_manager_of_the_programs_own_is_used_as_often_as_alone(self):
        alone = self.run_program(MANAGERS, QUICK, code=3)
        done = self.bench_run(f"--csv={self.csv}", "--", MANAGERS, QUICK, code=3)
        self.assertEqual(re.findall("ran .*", done.err), re.findall("ran .*", alone.err))
        self.assertEqual(len(re.findall("ran .*", done.err)), 1)
        rows = self.rows(kind="benchmark", record="syscall", syscall="getppid")
        self.assertEqual([(row["test"], row["repetition"]) for row in rows],
                         [("BM_Twice", "0"), ("BM_Few/iterations:5", "0"), ("BM_Bases/One", "0"), ("BM_Few/iterations:5", "1")])
        self.assertEqual([row["calls"] for row in rows[1::2]], ["5", "5"])
        [twice] = self.rows(kind="benchmark", record="test", test="BM_Twice")
        self.assertEqual(int(rows[0]["calls"]), 2 * int(twice["counted_iterations"]))

    def test_a_benchmark_that_ends_the_process_that_counts_loses_only_its_own_counts(self):
        for how in ("abort", "exit", "kill", "throw"):
            with self.subTest(how=how):
                done = self.bench_run(f"--csv={self.csv}", "--", DYING_UNLINKED, QUICK, SYSCOST_TEST_DIES=f"Middle:in:{how}")
                self.assertIn("a benchmark of BM_Middle", done.err)
                rows = self.rows(kind="benchmark", record="test")
                lost = [row["test"] for row in rows if row["counted_iterations"] == ""]
                self.assertEqual([name[:9] for name in lost], ["BM_Middle"])
                self.assertGreater(len(rows), 2)
                self.assertNotIn("", [row["wall_ns"] for row in rows])
                os.remove(self.csv)

    def test_a_linked_program_measures_itself_once(self):
        self.bench_run(f"--csv={self.csv}", "--", DYING, QUICK)
        names = [row["test"] for row in self.rows(kind="benchmark", record="test")]
        self.assertEqual(len(names), len(set(names)))
        self.assertGreater(len(names), 2)

    def test_tools_beside_it_are_refused(self):
        done = self.bench_run(f"--csv={self.csv}", "--profile", "perf", "--", UNLINKED, QUICK, SOME, code=2)
        self.assertIn("linked with syscost::benchmark", done.err)


if __name__ == "__main__":
    main()
