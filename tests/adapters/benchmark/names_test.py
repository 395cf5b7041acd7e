# SPDX-License-Identifier: MIT
"""Benchmarks of one name, in one call of RunSpecifiedBenchmarks() and in several: repetitions of one, in the rows and in bench."""
import os

from benchmark_case import BIN, QUICK, SHAPES, USER_MAIN, BenchmarkCase, main

BENCH = os.path.join(BIN, "bench")


class Names(BenchmarkCase):
    def repetitions(self):
        return [(row["test"], row["repetition"], row["total_calls"]) for row in self.rows(record="test")]

    def test_two_benchmarks_of_one_name_are_repetitions_of_one(self):
        self.measured("BM_Twin")
        self.assertEqual(self.repetitions(), [("BM_Twin", "0", "1000"), ("BM_Twin", "1", "2000")])

    def test_repetitions_of_each_come_one_after_the_other(self):
        self.measured("BM_Twin", flags=["--benchmark_repetitions=2"])
        self.assertEqual(self.repetitions(), [("BM_Twin", "0", "1000"), ("BM_Twin", "1", "1000"),
                                              ("BM_Twin", "2", "2000"), ("BM_Twin", "3", "2000")])

    def test_in_any_order_no_two_rows_have_one_number(self):
        self.measured("BM_Twin", flags=["--benchmark_repetitions=3", "--benchmark_enable_random_interleaving=true"])
        rows = self.repetitions()
        self.assertEqual(sorted(number for _, number, _ in rows), ["0", "1", "2", "3", "4", "5"])
        self.assertEqual(sorted(calls for _, _, calls in rows), ["1000"] * 3 + ["2000"] * 3)

    def test_a_main_that_runs_a_benchmark_twice_adds_repetitions(self):
        self.run_program(USER_MAIN, f"--syscost_csv={self.csv}", QUICK, SYSCOST_TEST_SAME="1")
        self.assertEqual(self.repetitions(), [("BM_First", "0", "1000"), ("BM_First", "1", "1000")])

    def test_bench_sees_all_of_them(self):
        self.measured("BM_Twin", program=SHAPES)
        done = self.run_program(BENCH, "summary", self.csv)
        self.assertRegex(done.out, r"(?m)^benchmark BM_Twin  passed  n=2  ")
        self.assertEqual(done.err, "")


if __name__ == "__main__":
    main()
