# SPDX-License-Identifier: MIT
"""`bench run` with programs whose main() does something unusual before the tests, and with tests that forbid what syscost needs
to read their names: the rows are those of the calls, the verdict is the program's, and a message of syscost is not lost."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "adapters"))
from adapter_case import BIN, automatic, main, why_not  # noqa: E402
from run_case import BENCH, RunCase  # noqa: E402

DYNAMIC, STATIC = (os.path.join(BIN, name) for name in ("agent_mains", "agent_mains_static"))
LINKED, TWO, DOCTEST, BENCHMARKS = (os.path.join(BIN, name) for name in (
    "agent_mains_linked", "agent_two_gtests", "agent_doctest_twice", "agent_starts_before_benchmarks"))
ALL = {f"Mains.{name}": 10 for name in ("First", "SetsGs", "Second", "ForbidsReading", "Third")}


class Mains(RunCase):
    def remove_rows(self):
        if os.path.exists(self.csv):
            os.remove(self.csv)

    def needs_backend_that_lets_go(self):
        """Skips the test where what runs after the tests is under the filter of seccomp, and so not measured."""
        if automatic() == "seccomp":
            self.skipTest("auto takes seccomp here")

    def each(self, look, *arguments, backends=("ebpf", "dispatch", "seccomp"), code=0, **variables):
        """Runs each program under each backend, and calls `look` with the backend and the result of `bench run`."""
        for program in (DYNAMIC, STATIC):
            for backend in backends:
                with self.subTest(program=os.path.basename(program), backend=backend):
                    if program == STATIC:
                        if not os.path.exists(STATIC):
                            self.skipTest("no static program was built")
                        self.needs_static_programs()
                    self.needs(backend)
                    self.remove_rows()
                    look(backend, self.bench_run(f"--backend={backend}", f"--csv={self.csv}", "--", program, *arguments, code=code,
                                                 **variables))

    def check(self, *arguments, **variables):
        def look(backend, done):
            self.assertIn("[  PASSED  ] 5 tests.", done.out)
            self.assertEqual(self.getppids(column="entries" if backend == "seccomp" else "calls"), ALL)
            if not variables:
                self.assertEqual({row["syscall"] for row in self.rows(record="syscall")}, {"getppid"}, "of tests and set-ups")
            self.assertNotIn("no test", done.err)
        self.each(look, *arguments, **variables)

    def test_a_child_runs_the_tests(self):
        self.check("child")

    def test_a_thread_runs_the_tests_and_main_has_ended(self):
        self.check("thread")

    def test_main_clears_the_environment(self):
        self.check("clearenv")

    def test_a_filter_answers_the_calls_that_read_memory(self):
        self.check(FORBIDS="answer")

    def test_a_filter_kills_for_the_calls_that_read_memory(self):
        self.check(FORBIDS="kill")

    def test_the_loader_starts_it(self):
        loader = "/lib64/ld-linux-x86-64.so.2"
        if not os.path.exists(loader):
            self.skipTest(f"there is no {loader}")
        self.bench_run(f"--csv={self.csv}", "--", "sh", "-c", f"{loader} {DYNAMIC}")
        self.assertEqual(self.getppids(), ALL)
        self.assertEqual({row["program"] for row in self.rows()}, {"agent_mains"})

    def test_programs_that_main_starts_before_and_after_its_tests_are_measured(self):
        for program in (DYNAMIC, LINKED):
            for when, how in (("before", "system"), ("before", "fork"), ("after", "system"), ("after", "fork"), ("after", "exec")):
                with self.subTest(program=os.path.basename(program), when=when, how=how):
                    if when == "after":
                        self.needs_backend_that_lets_go()
                    self.remove_rows()
                    self.bench_run(f"--csv={self.csv}", "--", program, when, how, DYNAMIC)
                    self.assertEqual(sorted(row["test"] for row in self.rows(kind="test", record="test")),
                                     sorted([*ALL, "Mains.First"]))
                    self.assertEqual(self.getppids(), {**ALL, "Mains.First": 20})

    def test_a_test_clears_the_environment(self):
        for program in (DYNAMIC, LINKED):
            with self.subTest(program=os.path.basename(program)):
                self.needs_backend_that_lets_go()
                self.remove_rows()
                self.bench_run(f"--csv={self.csv}", "--", program, "after", "fork", DYNAMIC, CLEARS="1")
                self.assertEqual(self.getppids(), {**ALL, "Mains.First": 20})

    def test_programs_after_the_tests_that_seccomp_measured_are_named(self):
        self.needs("seccomp")
        for other, how in ((DYNAMIC, "system"), (DYNAMIC, "fork"), (DYNAMIC, "exec"), (STATIC, "fork"), (STATIC, "system")):
            with self.subTest(other=os.path.basename(other), how=how):
                if not os.path.exists(other):
                    self.skipTest("no static program was built")
                self.remove_rows()
                done = self.bench_run("--backend=seccomp", f"--csv={self.csv}", "--", DYNAMIC, "after", how, other)
                self.assertEqual(self.getppids(column="entries"), ALL)
                self.assertEqual(done.out.count("[  PASSED  ] "), 2)
                self.assertIn(f"bench: not measured: {other} runs under the seccomp filter", done.err)

    def test_a_runner_that_reads_what_tests_print_finds_no_line_of_syscost(self):
        done = self.bench_run(f"--csv={self.csv}", "--", "sh", "-c", f"{DYNAMIC} 2>one && {LINKED} 2>two && cat one two")
        self.assertEqual(self.getppids(), {test: 20 for test in ALL})
        self.assertEqual(done.err.count("syscost: backend "), 1)
        for name in ("one", "two"):
            with open(os.path.join(self.folder, name), encoding="utf-8") as file:
                self.assertEqual(file.read(), "")

    def test_a_program_that_bench_run_does_not_know_of_says_itself_how_it_is_measured(self):
        done = self.bench_run(f"--csv={self.csv}", "--", "sh", "-c",
                              f"env -u LD_PRELOAD -u _SYSCOST_PRELOAD -u _SYSCOST_NOTES {LINKED} 2>one; cat one")
        self.assertIn("syscost: backend ", done.out + done.err)

    def test_a_run_of_one_test_says_nothing_of_the_next_run(self):
        for program in (DYNAMIC, LINKED):
            with self.subTest(program=os.path.basename(program)):
                self.remove_rows()
                self.bench_run(f"--csv={self.csv}", "--", program, "twice")
                self.assertEqual([row["test"] for row in self.rows(kind="run", window="begin")], ["Mains.First", ""])

    def test_a_second_run_of_doctest_is_as_the_first(self):
        for program in (DOCTEST, DOCTEST + "_linked"):
            with self.subTest(program=os.path.basename(program)):
                if not os.path.exists(program):
                    self.skipTest("doctest-dev is not installed")
                self.remove_rows()
                self.bench_run("--tests", "--allow_lost", f"--csv={self.csv}", "--", program, PROGRAM=DYNAMIC)
                self.assertEqual({row["program"] for row in self.rows()}, {os.path.basename(program)})
                first, second = ({row["syscall"]: row["total_entries"] or row["calls"] for row in
                                  self.rows(kind="test", record="syscall", repetition=number)} for number in ("0", "1"))
                self.assertEqual(second.keys() - first.keys(), set())

    def test_what_main_starts_before_its_benchmarks_is_measured_once(self):
        for program in (BENCHMARKS, BENCHMARKS + "_linked"):
            with self.subTest(program=os.path.basename(program)):
                if not os.path.exists(program):
                    self.skipTest("Google Benchmark is not installed")
                self.remove_rows()
                self.bench_run("--tests", f"--csv={self.csv}", "--", program, PROGRAM=DYNAMIC)
                self.assertEqual(self.getppids(), ALL)
                self.assertEqual(len(self.rows(kind="benchmark", record="test")), 1)

    def test_rows_that_cannot_be_read_back_are_not_called_missing(self):
        ordinary = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []
        done = self.run_program(*ordinary, "sh", "-c", f"umask 0477; exec {BENCH} run --backend=none --csv={self.csv} -- {DYNAMIC}")
        self.assertIn("out.csv cannot be read back (Permission denied)", done.err)
        self.assertNotIn("nothing was measured", done.err)

    def test_rows_are_found_with_few_descriptors(self):
        self.run_program("sh", "-c", f"ulimit -n 5; exec {BENCH} run --backend=none --csv={self.csv} -- {DYNAMIC}")

    def test_two_googletests_run_one_after_the_other(self):
        for order in ([], ["library"]):
            with self.subTest(order=order):
                self.remove_rows()
                self.bench_run(f"--csv={self.csv}", "--", TWO, *order)
                self.assertEqual(self.getppids(), {"Program.Calls": 7, "Library.Calls": 5})

    def test_a_googletest_beside_a_linked_one_is_named(self):
        for order in ([], ["library"]):
            with self.subTest(order=order):
                self.remove_rows()
                command = " ".join([TWO + "_linked", *order])  # a runner may hide what its tests print
                done = self.bench_run(f"--csv={self.csv}", "--", "sh", "-c", f"{command} >out 2>&1")
                self.assertEqual(self.getppids(), {"Program.Calls": 7})
                self.assertEqual(done.err.count(f"bench: not measured: {TWO}_linked has two GoogleTests"), 1)

    @unittest.skipIf(why_not("dispatch"), "needs dispatch, which such a program stops")
    def test_a_message_comes_from_a_program_without_output(self):
        def look(_, done):
            self.assertIn("syscost: the counts of test Mains.SetsGs are void: the program sets the gs register", done.err)
        self.each(look, "silent", backends=("dispatch",), code=1, SETS_GS="1")


class Sanitized(RunCase):
    def test_doctest_under_address_sanitizer_runs_as_alone(self):
        sanitized, usual = (os.path.join(BIN, name) for name in ("agent_doctest_asan", "agent_doctest_tests"))
        if not os.path.exists(sanitized):
            self.skipTest("needs doctest, and a compiler with AddressSanitizer")
        names = []
        for program in (sanitized, usual):
            code = self.run_program(program, code=None).code
            self.bench_run(f"--csv={self.csv}", "--", program, code=code)
            names.append({row["test"] for row in self.rows(kind="test", record="test")})
            os.remove(self.csv)
        self.assertEqual(*names)
        self.assertNotEqual(names[0], set())


if __name__ == "__main__":
    main()
