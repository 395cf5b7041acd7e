# SPDX-License-Identifier: MIT
"""What the tests of the Google Benchmark adapter share: its programs, and a short run of some of their benchmarks.

The bodies make known numbers of calls.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from adapter_case import (BACKENDS, BIN, COUNT_CALLS, COUNT_ENTRIES, NO_BACKEND, Case,  # noqa: E402, F401: for importers
                          environment, needs_results)
from adapter_case import main as main_with  # noqa: E402

SHAPES = os.path.join(BIN, "benchmark_shapes")          # BENCHMARK_MAIN() and syscost::benchmark
THEIR_MAIN = os.path.join(BIN, "benchmark_their_main")  # libbenchmark_main and syscost::benchmark
OUR_MAIN = os.path.join(BIN, "benchmark_our_main")      # syscost::benchmark_main
UNLINKED = os.path.join(BIN, "benchmark_unlinked")      # BENCHMARK_MAIN(), without us
USER_MAIN = os.path.join(BIN, "benchmark_user_main")
DYING = os.path.join(BIN, "benchmark_dying")
MEASURING = os.path.join(BIN, "benchmark_measuring")    # judges its bodies by syscost::measure and Scope
QUICK = "--benchmark_min_time=0.001"


class BenchmarkCase(Case):
    def measured(self, *names, program=SHAPES, **options):
        """Runs the benchmarks of these names and returns their rows of record `test`, by name."""
        pattern = "--benchmark_filter=" + "|".join(f"^{name}$" for name in names)
        self.run_program(program, f"--syscost_csv={self.csv}", QUICK, pattern, *options.pop("flags", []), **options)
        return {row["test"]: row for row in self.rows(record="test")}

    def calls(self, test, repetition="0"):
        """{syscall: calls} of a repetition."""
        return {row["syscall"]: int(row["calls"])
                for row in self.rows(record="syscall", test=test, repetition=repetition)}


def main():
    main_with(SHAPES)
