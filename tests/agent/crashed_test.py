# SPDX-License-Identifier: MIT
"""A program that ends before its tests do is seen, and so is what fails outside of tests; workers of one program are one run."""
import os
import shutil
import subprocess
import time

import run_case
from adapter_case import BIN, MANY, PLAIN, main, needs_results

BENCH = run_case.BENCH
PROGRAM = os.path.join(BIN, "agent_ends")
WORKERS = os.path.join(BIN, "adapter_workers")


class Ends(run_case.RunCase):
    def measure(self, *flags, linked, code=None, **variables):
        if os.path.exists(self.csv):
            os.remove(self.csv)
        if linked:
            return self.run_program(PROGRAM + "_linked", f"--syscost_csv={self.csv}", *flags, code=code, **variables)
        return self.bench_run(f"--csv={self.csv}", "--", PROGRAM, *flags, code=code, **variables)

    def both(self, *flags, **variables):
        for linked in (False, True):
            yield linked, self.measure(*flags, linked=linked, **variables)

    def marks(self):
        return [(row["window"], row["outcome"]) for row in self.rows(kind="run")]

    def outcomes(self):
        return {row["test"]: row["outcome"] for row in self.rows(kind="test", record="test")}

    def summary(self, code=0):
        return self.run_program(BENCH, "summary", self.csv, code=code)


class Crashed(Ends):
    def test_a_crash_in_the_middle_names_the_program_and_the_test_before(self):
        for how, end in (("signal", "SIGSEGV"), ("abort", "SIGABRT"), ("_exit", "exit code 0"), ("exec", "exit code 0")):
            for linked, done in self.both(SYSCOST_TEST_END=how):
                self.assertEqual(self.outcomes(), {"Ends.Before": "passed"})
                if linked:
                    self.assertEqual(self.marks(), [("begin", "")])
                    self.assertIn("crashed: agent_ends_linked crashed after Ends.Before", self.summary().out)
                    continue
                self.assertEqual(self.marks(), [("begin", ""), ("exit", end)])
                said = f"crashed after Ends.Before, by {end}" if end[0] == "S" else f"ended after Ends.Before, with {end}"
                self.assertIn("crashed: agent_ends " + said, self.summary().out)
                self.assertRegex(done.err, f"bench: agent_ends (was ended by|ended with) {end} before its tests did")

    def test_a_program_with_one_test_names_that_test(self):
        for _, done in self.both("--gtest_filter=Ends.Here", SYSCOST_TEST_END="signal"):
            self.assertEqual(self.outcomes(), {})
            self.assertRegex(self.summary(code=2).err, r"agent_ends(_linked)? crashed in Ends.Here")
            self.assertNotEqual(done.code, 0)

    def test_a_crash_before_the_first_test_is_seen(self):
        for _, _ in self.both(SYSCOST_TEST_END="set-up"):
            self.assertEqual(self.outcomes(), {})
            self.assertRegex(self.summary(code=2).err, r"agent_ends(_linked)? crashed before its first test had a row")

    def test_among_other_programs_the_crashed_one_is_named(self):
        done = self.bench_run("--", "sh", "-c", f"{PLAIN} --gtest_filter=Shapes.*; {PROGRAM}; true", SYSCOST_TEST_END="set-up")
        self.assertIn("crashed: agent_ends crashed before its first test had a row", done.err)
        self.assertIn("getppid", done.err)

    def test_a_test_that_calls_exit_is_named(self):
        for _, _ in self.both(SYSCOST_TEST_END="exit"):
            self.assertEqual(self.outcomes(), {"Ends.Before": "passed", "Ends.Here": ""})
            self.assertRegex(self.summary().out, r"crashed: agent_ends(_linked)? ended in Ends.Here, by exit\(\)")

    def test_what_only_looks_like_a_crash_is_none(self):
        for how in ("", "child", "death", "threadsafe death"):
            for _, _ in self.both(SYSCOST_TEST_END=how):
                self.assertEqual(len(self.outcomes()), 4)
                self.assertEqual(self.marks()[-1], ("end", "passed"))
                self.assertNotIn("crashed", self.summary().out)
        for flags in (["--gtest_repeat=3", "--gtest_shuffle"], ["--gtest_filter=Other.*"]):
            for _, _ in self.both(*flags):
                self.assertEqual(self.marks(), [("begin", ""), ("end", "passed")])

    @needs_results
    def test_a_program_that_executes_itself_before_its_tests_is_no_crash(self):
        # Under `bench run`, what a program executes after its tests began is not measured.
        self.measure(linked=True, SYSCOST_TEST_END="exec in set-up", SYSCOST_CSV=self.csv)
        self.assertEqual(self.marks(), [("begin", ""), ("begin", ""), ("end", "passed")])
        self.assertEqual(len(self.outcomes()), 4)
        self.assertNotIn("crashed", self.summary().out)

    def test_a_program_that_runs_no_test_is_no_crash(self):
        for flag in ("--gtest_list_tests", "--help", "--gtest_filter=None"):
            with self.subTest(flag):
                self.measure(flag, linked=True)
                self.assertFalse(os.path.exists(self.csv) and self.rows(kind="run"))

    def test_parallel_programs_of_ctest_each_have_their_end(self):
        with open(os.path.join(self.folder, "CTestTestfile.cmake"), "w", encoding="utf-8") as file:
            for number in range(12):
                test = ("Before", "Here", "After")[number % 3]
                file.write(f"add_test(number_{number} {PROGRAM}_linked --gtest_filter=Ends.{test})\n")
        self.run_program("ctest", "-j4", code=8, SYSCOST_CSV=self.csv, SYSCOST_TEST_END="signal")
        self.assertEqual(len({row["run_id"] for row in self.rows(kind="run")}), 1)
        self.assertEqual(sorted(self.marks()), [("begin", "")] * 12 + [("end", "passed")] * 8)
        self.assertEqual(self.summary().out.count("agent_ends_linked crashed in Ends.Here"), 1)

    def test_a_comparison_is_red_where_new_crashed(self):
        old, new = (os.path.join(self.folder, name) for name in ("old.csv", "new.csv"))
        self.bench_run(f"--csv={old}", "--", PROGRAM, "--gtest_filter=Ends.Before")
        self.bench_run(f"--csv={new}", "--", PROGRAM, "--gtest_filter=Ends.Before:Ends.Here", code=None, SYSCOST_TEST_END="signal")
        done = self.run_program(BENCH, "compare", old, new, code=1)
        self.assertIn("1 program crashed", done.out)
        self.assertIn("agent_ends crashed after Ends.Before", done.out)
        # It crashed before, too: nothing is lost.
        self.run_program(BENCH, "compare", new, old, code=0)
        baseline = os.path.join(self.folder, "baseline.tsv")
        self.assertIn("crashed", self.run_program(BENCH, "baseline", "update", "--output", baseline, new, code=2).err)
        self.run_program(BENCH, "baseline", "update", "--output", baseline, old)
        self.assertIn("1 program crashed", self.run_program(BENCH, "check", "--baseline", baseline, new, code=1).out)
        page = os.path.join(self.folder, "page.html")
        self.run_program(BENCH, "report", new, "--output", page)
        with open(page, encoding="utf-8") as file:
            self.assertIn("agent_ends crashed after Ends.Before", file.read())


class OutsideOfTests(Ends):
    """What only the parent of a test program sees."""

    def below_shell(self, end, *commands, code=0):
        """Runs the program, which ends in the way `end`, and then `commands`, below a shell that does not look at its end."""
        if os.path.exists(self.csv):
            os.remove(self.csv)
        line = "; ".join([f"SYSCOST_TEST_END='{end}' {commands[0] if commands else PROGRAM}", *commands[1:], "true"])
        return self.bench_run(f"--csv={self.csv}", "--", "sh", "-c", line, code=code)

    def exits(self):
        return [(row["program"], row["outcome"]) for row in self.rows(kind="run", window="exit")]

    def test_a_crash_before_the_tests_is_seen(self):
        for end in ("static object", "before tests"):
            for program in (PROGRAM, PROGRAM + "_linked"):
                with self.subTest(end, program=program):
                    name = os.path.basename(program)
                    done = self.below_shell(end, program, f"{PLAIN} --gtest_filter=Shapes.CallsThreeTimes")
                    self.assertEqual(self.exits(), [(name, "SIGABRT")])
                    self.assertIn(f"bench: {name} was ended by SIGABRT before it reported a test", done.err)
                    self.assertIn(f"crashed: {name} crashed before it reported a test, by SIGABRT", self.summary().out)
                    self.assertEqual(len({row["run_id"] for row in self.rows()}), 1)

    def test_a_crash_after_the_tests_is_seen(self):
        for end, signal, said in (("after tests", "SIGABRT", "crashed"), ("destructor", "SIGABRT", "crashed"),
                                  ("killed after tests", "SIGKILL", "was ended")):
            with self.subTest(end):
                done = self.below_shell(end)
                self.assertEqual(self.marks(), [("begin", ""), ("end", "passed"), ("exit", signal)])
                self.assertIn(f"bench: agent_ends was ended by {signal} after its tests ended", done.err)
                self.assertIn(f"crashed: agent_ends {said} after its tests ended, by {signal}", self.summary().out)
                self.assertEqual(len({(row["pid"], row["started_at"]) for row in self.rows(kind="run")}), 1)

    def test_it_is_seen_of_programs_with_any_name(self):
        for name, shown in (('a"b', 'a"b'), ("a,b", "a,b"), ("a\nb", "a\\nb")):
            with self.subTest(name):
                copy = os.path.join(self.folder, name)
                shutil.copy(PROGRAM, copy)
                done = self.below_shell("after tests", f"'{copy}'")
                self.assertEqual(self.marks(), [("begin", ""), ("end", "passed"), ("exit", "SIGABRT")])
                self.assertEqual({row["program"] for row in self.rows(kind="run")}, {shown})
                self.assertIn(f"bench: {shown} was ended by SIGABRT after its tests ended", done.err)

    def test_a_label_like_a_row_says_nothing_of_the_tests(self):
        for label in ("x,begin,,0,run,,y", "x,run,,end,,0,run,,y"):
            with self.subTest(label):
                done = self.measure("--gtest_filter=Ends.Before", linked=False, code=0, SYSCOST_LABEL=label)
                self.assertNotIn("bench: ", done.err)

    def test_parallel_runs_of_one_id_and_file_each_tell_of_their_own_programs(self):
        others, end = (os.path.join(self.folder, name) for name in ("others", "end"))
        variables = {**os.environ, "SYSCOST_RUN_ID": "one", "SYSCOST_TEST_END": "signal"}
        for mine, code, says in (("true", 1, "no program below sh reported a test"), (PLAIN + " --gtest_filter=Shapes.*", 0, "")):
            first = f"{PLAIN} --gtest_filter=Shapes.CallsThreeTimes; " if code == 0 else ""
            wait = f"{first}touch {others}; while ! test -e {end}; do sleep 0.01; done; {mine}"
            with subprocess.Popen([BENCH, "run", f"--csv={self.csv}", "--", "sh", "-c", wait], env=variables, text=True,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as waiting:
                while not os.path.exists(others):
                    time.sleep(0.01)
                crashed = self.bench_run(f"--csv={self.csv}", "--", PROGRAM, code=None, SYSCOST_RUN_ID="one", SYSCOST_TEST_END="signal")
                with open(end, "w", encoding="utf-8"):
                    pass
                err = waiting.communicate()[1]
            self.assertIn("bench: agent_ends was ended by SIGSEGV", crashed.err)
            self.assertEqual((waiting.returncode, "agent_ends" in err), (code, False), err)
            self.assertIn(says, err)
            for path in (others, end, self.csv):
                os.remove(path)

    def test_a_run_within_a_run_is_measured_by_both(self):
        inner = f"{BENCH} run --csv={self.csv} -- {PLAIN} --gtest_filter=Shapes.CallsThreeTimes"
        self.assertNotIn("bench: ", self.bench_run(f"--csv={self.csv}", "--", "sh", "-c", inner).err)

    def test_an_exit_code_that_no_test_explains_is_seen(self):
        done = self.below_shell("exit code")
        self.assertEqual(self.exits(), [("agent_ends", "exit code 7")])
        self.assertIn("bench: agent_ends ended with exit code 7 after its tests ended", done.err)
        self.assertIn("failed: agent_ends ended with exit code 7 although none of its tests failed", self.summary().out)
        self.below_shell("static exit", PROGRAM, f"{PLAIN} --gtest_filter=Shapes.CallsThreeTimes")
        self.assertIn("failed: agent_ends ended with exit code 77 before it reported a test", self.summary().out)

    def test_it_is_seen_of_the_command_itself(self):
        for end, code in (("after tests", 134), ("exit code", 7), ("before tests", 134)):
            self.measure(linked=False, code=code, SYSCOST_TEST_END=end)
            self.assertEqual(len(self.exits()), 1, end)

    def test_an_end_with_an_explanation_is_not_told(self):
        for end in ("", "child", "death", "threadsafe death", "_exit after tests", "exec after tests"):
            with self.subTest(end):
                done = self.below_shell(end)
                self.assertEqual(self.exits(), [])
                self.assertNotRegex(done.err, "bench: agent_ends")
        for variables in ({"SYSCOST_TEST_FAIL": "test"}, {"SYSCOST_TEST_FAIL": "suite"}):
            self.measure(linked=False, code=1, **variables)
            self.assertEqual(self.exits(), [])
        for flag in ("--gtest_list_tests", "--help"):
            self.below_shell("", f"{PROGRAM} {flag}", PROGRAM)
            self.assertEqual(self.exits(), [])

    def test_another_process_of_a_program_may_end_as_it_likes(self):
        for end in ("static exit", "terminated before tests"):
            self.below_shell(end, PROGRAM, PROGRAM)
            self.assertEqual(self.exits(), [], end)
            self.assertEqual(len(self.outcomes()), 4)

    def test_workers_that_end_with_codes_are_no_crash(self):
        for variables in ({}, {"SYSCOST_TEST_STARTS": "1"}):
            self.bench_run(f"--csv={self.csv}", "--", WORKERS, **variables)
            self.assertEqual(self.exits(), [])
            os.remove(self.csv)

    def test_a_file_of_the_programs_own_makes_no_false_word(self):
        self.below_shell("", f"{PROGRAM}_linked --syscost_csv={os.path.join(self.folder, 'own.csv')}", PROGRAM)
        self.assertEqual(self.exits(), [])

    def test_a_comparison_is_red(self):
        old, new, again = (os.path.join(self.folder, name) for name in ("old.csv", "new.csv", "again.csv"))
        self.bench_run(f"--csv={old}", "--", PROGRAM)
        baseline = os.path.join(self.folder, "baseline.tsv")
        self.run_program(BENCH, "baseline", "update", "--output", baseline, old)
        for end, said in (("after tests", "agent_ends crashed after its tests ended, by SIGABRT"),
                          ("exit code", "agent_ends ended with exit code 7 although none of its tests failed")):
            self.bench_run(f"--csv={new}", "--", PROGRAM, code=None, SYSCOST_TEST_END=end)
            self.assertIn(said, self.run_program(BENCH, "compare", old, new, code=1).out)
            self.assertIn(said, self.run_program(BENCH, "check", "--baseline", baseline, new, code=1).out)
            self.bench_run(f"--csv={again}", "--", PROGRAM, code=None, SYSCOST_TEST_END=end)
            self.run_program(BENCH, "compare", new, again, code=0)  # nothing is lost
            os.remove(new)
            os.remove(again)

    def test_other_frameworks_and_static_programs_are_seen_too(self):
        for name, arguments in (("agent_catch2_tests", "Crashes"), ("agent_doctest_tests", "--no-skip --test-case=Crashes"),
                                ("agent_static_shapes", "")):
            program = os.path.join(BIN, name)
            if not os.path.exists(program):
                continue
            with self.subTest(name):
                stopped = f"sh -c 'ulimit -c 0; exec {program} {arguments}'"
                crashed = bool(arguments)
                if program == run_case.STATIC_SHAPES and run_case.why_no_static_programs():
                    done = self.below_shell("", stopped, code=1)
                    self.assertNotIn(f"bench: {name} ", done.err)
                    self.assertIn(f"bench: not measured: {program}: ", done.err)
                    self.needs_static_programs()
                done = self.below_shell("", stopped)
                self.assertEqual(self.exits(), [(name, "SIGABRT")] if crashed else [])
                if crashed:
                    # The framework's signal handler ended the test and the run.
                    self.assertIn(f"crashed: {name} crashed in Crashes or after it, by SIGABRT", self.summary().out)
                    self.assertIn(f"bench: {name} was ended by SIGABRT in its last test or after it", done.err)


class Listeners(Ends):
    def test_a_failure_that_a_listener_adds_at_a_tests_end_is_in_the_row(self):
        for early in ({}, {"SYSCOST_TEST_EARLY": "1"}):
            for _, done in self.both(SYSCOST_TEST_FAIL="test", **early):
                self.assertEqual(done.code, 1)
                self.assertEqual(self.outcomes(), {"Ends.Before": "passed", "Ends.Here": "failed", "Ends.After": "passed",
                                                   "Other.Runs": "passed"})
                self.assertEqual(self.marks()[-1], ("end", "failed"))

    def test_a_failure_outside_of_tests_is_the_programs(self):
        for what in ("suite", "environment"):
            for _, done in self.both(SYSCOST_TEST_FAIL=what):
                self.assertEqual(done.code, 1)
                self.assertEqual(set(self.outcomes().values()), {"passed"})
                self.assertEqual(self.marks()[-1], ("end", "failed"))
                self.assertRegex(self.summary().out, r"failed: agent_ends(_linked)? failed outside of its tests")

    def test_a_problem_of_ours_is_no_failure_of_the_program(self):
        self.needs("ebpf")
        linked = PROGRAM + "_linked"
        ebpf, void = f"--syscost_csv={self.csv}", {"SYSCOST_BACKEND": "ebpf", "SYSCOST_TEST_END": "closed"}
        old = os.path.join(self.folder, "old.csv")
        self.run_program(linked, f"--syscost_csv={old}", SYSCOST_BACKEND="ebpf")
        for command in ((linked, ebpf), (BENCH, "run", f"--csv={self.csv}", "--", linked)):
            with self.subTest(command):
                done = self.run_program(*command, code=1, **void)
                self.assertIn("the counts of test Ends.Here are void", done.err)
                self.assertEqual(self.marks(), [("begin", ""), ("end", "passed")])
                compared = self.run_program(BENCH, "compare", old, self.csv)
                self.assertIn("verdict: ok", compared.out)
                os.remove(self.csv)
                # What fails besides is the program's.
                for what in ("suite", "environment", "iteration", "test"):
                    self.run_program(*command, code=1, SYSCOST_TEST_FAIL=what, **void)
                    self.assertEqual(self.marks()[-1], ("end", "failed"), what)
                    os.remove(self.csv)

    def test_a_listener_that_counts_blocks_of_the_heap_sees_none_of_ours(self):
        for _, done in self.both(SYSCOST_TEST_FAIL="heap"):
            self.assertEqual(done.code, 0, done.out)

    def test_the_row_is_there_if_a_listener_ends_the_program(self):
        for _, _ in self.both(SYSCOST_TEST_FAIL="exit"):
            self.assertEqual(self.outcomes(), {"Ends.Before": "passed", "Ends.Here": "passed"})
            self.assertIn(self.marks(), ([("begin", "")], [("begin", ""), ("exit", "exit code 0")]))

    def test_the_row_of_the_test_before_a_crash_is_there(self):
        for _, _ in self.both(SYSCOST_TEST_FAIL="test", SYSCOST_TEST_END="", GTEST_FILTER="Ends.*"):
            self.assertEqual(len(self.outcomes()), 3)
        for how in ("signal", "_exit"):
            for _, _ in self.both(SYSCOST_TEST_END=how):
                self.assertEqual(list(self.outcomes()), ["Ends.Before"])


class Workers(Ends):
    def test_workers_of_one_program_are_one_run(self):
        for variables in ({}, {"SYSCOST_TEST_STARTS": "1"}):
            for request in ((f"--syscost_csv={self.csv}",), ()):
                with self.subTest(request=request, **variables):
                    environment = {} if request else {"SYSCOST_CSV": self.csv}
                    done = self.run_program(WORKERS, *request, **variables, **environment)
                    self.assertEqual(len({row["run_id"] for row in self.rows()}), 1)
                    self.assertEqual(self.getppids(), {"First.Calls": 1, "Second.Calls": 2, "Third.Calls": 3})
                    self.assertNotIn("this program ran no GoogleTest test", done.err)
                    self.assertIn("3 tests", self.summary().out)
                    os.remove(self.csv)

    def test_two_runs_of_a_program_stay_two(self):
        for _ in range(2):
            self.run_program(MANY, f"--syscost_csv={self.csv}", "--gtest_filter=Shapes.*")
        self.assertEqual(len({row["run_id"] for row in self.rows()}), 2)


if __name__ == "__main__":
    main()
