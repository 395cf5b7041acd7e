# SPDX-License-Identifier: MIT
"""No test pays for what the C library does once in a process, if it can be done before; no program notices it."""
import json
import os
import shutil
import unittest

from adapter_case import FIRST_USES, Case, main


class FirstUses(Case):
    def arenas(self, *before, **variables):
        """How many arenas malloc made in the test, measured or not."""
        report = os.path.join(self.folder, "report.json")
        self.run_program(*before, FIRST_USES, "--gtest_filter=*MakesEveryArena", f"--gtest_output=json:{report}", **variables)
        with open(report, encoding="utf-8") as file:
            [test] = json.load(file)["testsuites"][0]["testsuite"]
        if "arenas" not in test:
            self.skipTest("the machine has too many processors for the test")
        return test["arenas"]

    def test_the_first_sort_of_an_array_asks_nothing_of_the_kernel(self):
        self.run_program(FIRST_USES, f"--syscost_csv={self.csv}", "--gtest_filter=*SortsAnArray")
        self.assertEqual(self.rows(syscall="sysinfo"), [])

    def test_no_thread_reads_the_list_of_processors_for_malloc(self):
        self.run_program(FIRST_USES, f"--syscost_csv={self.csv}", "--gtest_filter=*MakesEveryArena")
        self.assertEqual(self.rows(kind="test", syscall="openat"), [])

    def test_malloc_makes_as_many_arenas_as_it_does_without_us(self):
        for variables in ({}, {"MALLOC_ARENA_MAX": "3"}, {"GLIBC_TUNABLES": "glibc.malloc.arena_max=4"}):
            with self.subTest(**variables):
                self.assertEqual(self.arenas(SYSCOST_CSV=self.csv, **variables), self.arenas(**variables))

    @unittest.skipUnless(shutil.which("taskset"), "needs taskset")
    def test_malloc_makes_as_many_arenas_on_one_processor(self):
        one = ["taskset", "-c", str(min(os.sched_getaffinity(0)))]
        self.assertEqual(self.arenas(*one, SYSCOST_CSV=self.csv), self.arenas(*one))

    def test_the_time_zone_is_read_when_the_program_asks_for_it(self):
        # glibc's gmtime_r would have read it before.
        done = self.run_program(FIRST_USES, f"--syscost_csv={self.csv}", "--gtest_filter=*ChangesTheTimeZone", code=None)
        self.assertEqual(done.code, 0, done.out)


if __name__ == "__main__":
    main()
