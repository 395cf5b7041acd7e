# SPDX-License-Identifier: MIT
"""A program that is asked for a list of its tests measures nothing, and `bench run` ends with the program's own code."""
import os
import shutil
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "adapters"))
from adapter_case import BIN, MANY, PLAIN, main  # noqa: E402
from run_case import BENCH, STATIC_SHAPES, RunCase  # noqa: E402

LISTINGS = {PLAIN: ("--gtest_list_tests", "--gtest_list_tests=1", "--help"), MANY: ("--gtest_list_tests",),
            STATIC_SHAPES: ("--gtest_list_tests",),
            os.path.join(BIN, "benchmark_unlinked"): ("--benchmark_list_tests", "--benchmark_list_tests=true", "--help"),
            os.path.join(BIN, "agent_catch2_tests"): ("--list-tests", "-l", "--list-tags", "-t", "-h", "--libidentify"),  # of Catch2 2 with the number
            os.path.join(BIN, "agent_catch2_tests_linked"): ("--list-tests",),
            os.path.join(BIN, "agent_doctest_tests"): ("--list-test-cases", "-ltc", "-lts", "--dt-list-test-cases", "--help", "-h", "-?", "-v", "--version", "-c",
                                                       "--count", "-nr", "--no-run=1"),
            os.path.join(BIN, "agent_doctest_tests_linked"): ("-ltc",)}
PROJECT = """
cmake_minimum_required(VERSION 3.16)
project(listed LANGUAGES C)
enable_testing()
set(CMAKE_C_LINK_EXECUTABLE "<CMAKE_COMMAND> -E copy {program} <TARGET>")
add_executable(shapes shapes.c)
include(GoogleTest)
gtest_discover_tests(shapes)
"""


class Listings(RunCase):
    def test_they_end_with_the_code_of_the_program_and_are_no_failure(self):
        for program, flags in LISTINGS.items():
            if not os.path.exists(program):
                continue
            for flag in flags:
                for runner in ((), ("sh", "-c", '"$@"; exit $?', "sh")):
                    with self.subTest(program=program, flag=flag, runner=runner):
                        if program == STATIC_SHAPES and not runner:
                            self.needs_static_programs()
                        alone = self.run_program(program, flag, code=None)
                        measured = ("--tests", f"--csv={self.csv}", "--", *runner, program, flag)
                        done = (self.run_below([program], *measured, passes=alone.out) if program == STATIC_SHAPES
                                else self.bench_run(*measured, code=alone.code))
                        self.assertEqual(done.out, alone.out)
                        self.assertEqual(done.err.splitlines()[-1], f"bench: {runner[0] if runner else program} was asked for a list of "
                                         "tests or for help, so nothing was measured")
                        self.assertNotIn("before it reported", done.err)
                        if os.path.exists(self.csv):
                            self.assertEqual(self.rows(kind="run"), [])
                            os.remove(self.csv)
                        if not runner:
                            self.assertEqual(self.bench_run("--", program, flag, code=alone.code).out, alone.out, "without a file")

    def test_what_only_looks_like_a_listing_is_none(self):
        for flags in (("--gtest_list_tests=0",), ("-l",), ("-t",)):
            done = self.bench_run("--", PLAIN, *flags, "--gtest_filter=None", code=1)
            self.assertIn("reported a test that ended, so nothing was measured\n  fix: let it run a test", done.err)

    def test_a_listing_beside_a_program_that_runs_no_test_stays_a_failure(self):
        self.bench_run("--", "sh", "-c", f"{PLAIN} --gtest_list_tests; {PLAIN} --gtest_filter=None", code=1)

    def test_a_listing_beside_a_program_that_runs_tests_is_as_if_it_were_not_there(self):
        self.bench_run(f"--csv={self.csv}", "--", "sh", "-c",
                       f"{PLAIN} --gtest_list_tests && {PLAIN} --gtest_filter=WithFixture.One")
        self.assertEqual(self.getppids(), {"WithFixture.One": 14})

    def test_a_program_that_crashes_before_its_list_is_told(self):
        program = os.path.join(BIN, "agent_ends")
        done = self.bench_run(f"--csv={self.csv}", "--", program, "--gtest_list_tests", code=134, SYSCOST_TEST_END="before tests")
        self.assertIn("agent_ends was ended by SIGABRT before it reported a test", done.err)

    @unittest.skipUnless(shutil.which("cmake") and shutil.which("cc"), "needs CMake and a C compiler")
    def test_cmake_finds_the_tests_of_a_program_and_runs_each_below_bench(self):
        with open(os.path.join(self.folder, "CMakeLists.txt"), "w", encoding="utf-8") as file:
            file.write(PROJECT.format(program=PLAIN))
        with open(os.path.join(self.folder, "shapes.c"), "w", encoding="utf-8") as file:
            file.write("int main(void) { return 0; }\n")
        self.run_program("cmake", "-S", ".", "-B", "build", f"-DCMAKE_CROSSCOMPILING_EMULATOR={BENCH};run;--csv;{self.csv};--")
        self.run_program("cmake", "--build", "build")
        self.run_program("ctest", "--test-dir", "build", "-j2", "-R", "^(Shapes.CallsThreeTimes|WithFixture.One)$", SYSCOST_RUN_ID="one")
        self.assertEqual(self.getppids(), {"Shapes.CallsThreeTimes": 3, "WithFixture.One": 14})
        self.assertEqual({row["run_id"] for row in self.rows()}, {"one"})


if __name__ == "__main__":
    main()
