# SPDX-License-Identifier: MIT
"""The GoogleTest adapter from outside: programs are run as users run them, and their rows, output and exit codes are read."""
import json
import os
import re
import shutil
import subprocess
import unittest
import xml.etree.ElementTree as xml

from adapter_case import (ASSERTIONS, EARLY, FORKING_MAIN, MANY, NO_BACKEND, NO_CAPABILITIES, OUR_MAIN, PLAIN, PLAIN_MAIN, USER_MAIN, Case,
                          environment, main)


class Windows(Case):
    EXPECTED = {
        "Shapes.Empty": 0, "Shapes.CallsThreeTimes": 3, "Shapes.CallsFromAThread": 5, "Outcomes.Skips": 1,
        "Outcomes.Fails": 2, "Outcomes.Throws": 2, "WithFixture.One": 14, "WithFixture.Two": 24, "Typed/0.Calls": 1,
        "Typed/1.Calls": 2, "Few/Parameterised.Calls/0": 4, "Few/Parameterised.Calls/1": 6, "DyingDeathTest.Fast": 1,
        "DyingDeathTest.Threadsafe": 1, "Forks.ChildReturnsIntoGoogleTest": 0, "Hostile.ClosesEveryDescriptor": 0,
        "Hostile.ComesAfter": 9, "Hostile.IsKilled": 0}

    def test_every_test_has_a_row_with_its_own_calls(self):
        self.run_program(MANY, f"--syscost_csv={self.csv}")
        self.assertEqual(self.getppids(), self.EXPECTED)
        self.assertEqual({row["selection"] for row in self.rows()}, {"whole"})
        self.assertEqual({row["backend"] for row in self.rows()}, {"ebpf"})

    def test_an_empty_test_makes_no_call(self):
        self.run_program(MANY, f"--syscost_csv={self.csv}", "--gtest_filter=Shapes.Empty:Shapes.CallsThreeTimes")
        totals = {row["test"]: (row["total_entries"], row["total_calls"]) for row in self.rows(kind="test", record="test")}
        self.assertEqual(totals, {"Shapes.Empty": ("0", "0"), "Shapes.CallsThreeTimes": ("3", "3")})

    def test_set_up_and_tear_down_have_rows_of_their_own_and_the_printer_has_none(self):
        for output in ([], ["--gtest_brief=1"], ["--gtest_color=yes"]):
            with self.subTest(output=output):
                if os.path.exists(self.csv):
                    os.remove(self.csv)
                self.run_program(MANY, f"--syscost_csv={self.csv}", "--gtest_filter=Shapes.*:WithFixture.*:Typed*", *output)
                self.assertEqual(self.getppids("suite"), {"WithFixture set-up": 7, "WithFixture tear-down": 8})
                self.assertEqual(self.getppids("environment"), {"set-up": 11, "tear-down": 12})
                self.assertEqual(self.rows(syscall="write"), [])

    def test_a_skipped_test_is_not_charged_for_the_message(self):
        self.run_program(MANY, f"--syscost_csv={self.csv}", "--gtest_filter=Outcomes.Skips")
        [row] = self.rows(kind="test", record="test")
        self.assertEqual((row["outcome"], row["total_calls"], row["selection"]), ("skipped", "1", "isolated"))

    def test_a_filter_leaves_only_rows_of_what_it_selects(self):
        self.run_program(MANY, f"--syscost_csv={self.csv}", "--syscost_filter=getppid")
        self.assertEqual(self.getppids(), self.EXPECTED)
        self.assertEqual({row["syscall"] for row in self.rows(record="syscall")}, {"getppid"})
        self.assertEqual({row["filter"] for row in self.rows()}, {"getppid"})
        for row in self.rows(kind="test", record="test"):
            calls = int(row["total_calls"]) if row["total_calls"] else 0
            self.assertEqual(calls, self.EXPECTED[row["test"]], row["test"])
            self.assertIn(row["lost"], ("0", ""), row["test"])

    def test_lines_and_properties_are_of_what_the_filter_selects(self):
        report = os.path.join(self.folder, "out.xml")
        done = self.run_program(MANY, "--syscost_profile=syscalls", "--syscost_filter", "%file",
                                "--gtest_filter=Shapes.CallsThreeTimes", f"--gtest_output=xml:{report}")
        self.assertIn("[ SYSCOST  ] no syscalls (only %file counted)", done.out)
        self.assertIn("only %file counted", done.err)
        properties = {p.get("name"): p.get("value") for p in xml.parse(report).iter("property")}
        self.assertEqual((properties["syscost_calls"], properties["syscost_lost"]), ("0", "0"))
        self.assertNotIn("syscost_calls_getppid", properties)

    def test_a_filter_that_names_nothing_ends_the_program_before_any_test(self):
        done = self.run_program(MANY, "--syscost_profile=syscalls", "--syscost_filter=wriet", code=2)
        self.assertIn("Did you mean 'write'?", done.err)
        self.assertNotIn("[ RUN", done.out)

    def test_failures_and_exceptions_keep_their_verdict_and_their_row(self):
        self.run_program(MANY, f"--syscost_csv={self.csv}", "--gtest_filter=Outcomes.*", code=1, SYSCOST_TEST_FAIL="1")
        outcomes = {row["test"]: row["outcome"] for row in self.rows(kind="test", record="test")}
        self.assertEqual(outcomes, {"Outcomes.Skips": "skipped", "Outcomes.Fails": "failed", "Outcomes.Throws": "failed"})
        self.assertEqual(self.getppids()["Outcomes.Throws"], 2)

    def test_repeated_tests_count_their_repetitions(self):
        self.run_program(MANY, f"--syscost_csv={self.csv}", "--gtest_repeat=3", "--gtest_filter=WithFixture.*")
        self.assertEqual([(row["test"], row["repetition"]) for row in self.rows(kind="test", record="test")],
                         [(f"WithFixture.{name}", str(i)) for i in range(3) for name in ("One", "Two")])
        self.assertEqual([row["calls"] for row in self.rows(syscall="getppid", test="WithFixture.One")], ["14"] * 3)
        self.assertEqual(len(self.rows(kind="suite", record="test")), 6)

    def test_shuffled_tests_keep_their_numbers(self):
        self.run_program(MANY, f"--syscost_csv={self.csv}", "--gtest_shuffle", "--gtest_random_seed=7")
        self.assertEqual(self.getppids(), self.EXPECTED)

    def test_shards_together_make_the_whole_and_say_that_they_are_parts(self):
        for shard in range(3):
            self.run_program(MANY, f"--syscost_csv={self.csv}", GTEST_TOTAL_SHARDS="3", GTEST_SHARD_INDEX=str(shard))
        self.assertEqual(self.getppids(), self.EXPECTED)
        self.assertEqual({row["selection"] for row in self.rows()}, {"subset"})

    def test_a_fork_child_that_returns_into_googletest_writes_nothing(self):
        self.run_program(MANY, f"--syscost_csv={self.csv}", "--gtest_filter=Forks.*")
        self.assertEqual(self.getppids(), {"Forks.ChildReturnsIntoGoogleTest": 2})
        self.assertEqual(len(self.rows(kind="test", record="test")), 1)
        self.assertEqual(len(self.rows(kind="environment", record="test")), 2)

    def test_a_death_tests_child_that_measures_prints_and_writes_nothing(self):
        done = self.run_program(EARLY, f"--syscost_csv={self.csv}", "--gtest_filter=EarlyDeathTest.*")
        self.assertEqual(done.err.count("syscost: "), 1, done.err)
        self.assertEqual([row["window"] for row in self.rows(kind="scope", record="test")], ["named"])
        self.assertEqual(len({row["pid"] for row in self.rows()}), 1)
        self.assertEqual(self.getppids(), {"EarlyDeathTest.MeasuresFirst": 2})

    def test_flags_count_although_a_static_initialiser_measured(self):
        for flags in (["--csv", self.csv, "--label=l"], [f"--syscost_csv={self.csv}", "--syscost_label=l"]):
            with self.subTest(flags=flags):
                if os.path.exists(self.csv):
                    os.remove(self.csv)
                done = self.run_program(EARLY, *flags, "--gtest_filter=Early.Calls")
                self.assertEqual(self.getppids(), {"Early.Calls": 3})
                self.assertEqual({row["label"] for row in self.rows()}, {"l"})
                self.assertEqual(done.err.count("syscost: backend"), 1, done.err)

    def test_a_killed_test_takes_no_other_row_with_it(self):
        self.run_program(MANY, f"--syscost_csv={self.csv}", "--gtest_filter=Shapes.*:Hostile.IsKilled", code=-9,
                         SYSCOST_TEST_KILL="1")
        self.assertEqual(self.names_of_tests(), ["Shapes.Empty", "Shapes.CallsThreeTimes", "Shapes.CallsFromAThread"])

    def test_a_test_that_closes_all_descriptors_has_no_count_and_the_next_is_right(self):
        done = self.run_program(MANY, f"--syscost_csv={self.csv}", "--gtest_filter=Hostile.*", code=1,
                                SYSCOST_TEST_HOSTILE="1")
        totals = {row["test"]: row["total_calls"] for row in self.rows(kind="test", record="test")}
        self.assertEqual(totals, {"Hostile.ClosesEveryDescriptor": "", "Hostile.ComesAfter": "9", "Hostile.IsKilled": "0"})
        self.assertIn("the counts of test Hostile.ClosesEveryDescriptor are void", done.err)
        self.assertIn("[       OK ] Hostile.ClosesEveryDescriptor", done.out)
        self.assertNotIn("[  FAILED  ] Hostile", done.out)

    def test_a_users_listener_and_main_stay_out_of_the_windows(self):
        self.run_program(USER_MAIN, SYSCOST_CSV=self.csv)
        self.assertEqual(self.getppids(), {"Suite.One": 1, "Suite.Two": 4})
        self.assertEqual(self.getppids("suite"), {"Suite set-up": 2, "Suite tear-down": 3})
        self.assertEqual(self.getppids("environment"), {})

    def test_running_all_tests_twice_counts_on(self):
        self.run_program(USER_MAIN, SYSCOST_CSV=self.csv, SYSCOST_TEST_RUN_TWICE="1")
        self.assertEqual([(row["test"], row["repetition"]) for row in self.rows(kind="test", record="test")],
                         [("Suite.One", "0"), ("Suite.Two", "0"), ("Suite.One", "1"), ("Suite.Two", "1")])

    def test_ctest_in_parallel_shares_one_file_and_is_one_run(self):
        names = [name for name in self.EXPECTED if "DeathTest" not in name]
        build = os.path.join(self.folder, "build")
        for name in names:
            os.makedirs(os.path.join(build, "working", name.replace("/", "_")))
        with open(os.path.join(build, "CTestTestfile.cmake"), "w", encoding="utf-8") as file:
            for name in names:
                file.write(f'add_test("{name}" "{MANY}" "--gtest_filter={name}")\n'
                           f'set_tests_properties("{name}" PROPERTIES WORKING_DIRECTORY "working/{name.replace("/", "_")}")\n')
        subprocess.run(["ctest", "-j4", "--test-dir", build], env=environment(SYSCOST_CSV="out.csv"), cwd=build,
                       check=True, capture_output=True)
        # A relative name begins in the folder of the tests, not in each test's working directory.
        self.csv = os.path.join(build, "out.csv")
        expected = {**{name: self.EXPECTED[name] for name in names}, "Forks.ChildReturnsIntoGoogleTest": 2}
        self.assertEqual(self.getppids(), expected)
        self.assertEqual(len({row["run_id"] for row in self.rows()}), 1)
        self.assertEqual(len({row["pid"] for row in self.rows()}), len(names))
        self.assertEqual({row["selection"] for row in self.rows()}, {"isolated"})


class Output(Case):
    def test_properties_are_in_xml_and_json(self):
        self.run_program(MANY, f"--syscost_csv={self.csv}", "--gtest_filter=Shapes.CallsThreeTimes", "--gtest_output=xml:o.xml")
        tree = xml.parse(os.path.join(self.folder, "o.xml"))
        properties = {p.get("name"): p.get("value") for p in tree.iter("property")}
        self.assertEqual(properties["syscost_calls_getppid"], "3")
        self.assertEqual(properties["syscost_calls"], "3")
        self.assertEqual(properties["syscost_entries"], "3")
        self.assertEqual(properties["syscost_errors"], "0")
        self.assertEqual(properties["syscost_lost"], "0")
        self.assertGreater(int(properties["syscost_kernel_ns"]), 0)
        self.run_program(MANY, f"--syscost_csv={self.csv}", "--gtest_filter=Shapes.CallsThreeTimes", "--gtest_output=json:o.json")
        with open(os.path.join(self.folder, "o.json"), encoding="utf-8") as file:
            test = json.load(file)["testsuites"][0]["testsuite"][0]
        self.assertEqual(test["syscost_calls_getppid"], "3")

    def test_the_profile_prints_one_line_under_each_test(self):
        done = self.run_program(MANY, "--syscost_profile=syscalls", "--gtest_filter=Shapes.Empty:Shapes.CallsThreeTimes")
        lines = [line for line in done.out.splitlines() if re.match(r"\[ (RUN|SYSCOST|      OK)", line)]
        self.assertRegex("\n".join(lines), r"""\[ RUN      \] Shapes.Empty
\[ SYSCOST  \] no syscalls
\[       OK \] Shapes.Empty .*
\[ RUN      \] Shapes.CallsThreeTimes
\[ SYSCOST  \] 3 getppid, \d+.* ns in the kernel, .* % of wall
\[       OK \] Shapes.CallsThreeTimes""")
        self.assertNotIn("\033", done.out)

    def test_the_line_names_its_test_where_googletest_does_not(self):
        done = self.run_program(MANY, "--syscost_profile=syscalls", "--gtest_brief=1", "--gtest_filter=Shapes.CallsThreeTimes")
        self.assertRegex(done.out, r"\[ SYSCOST  \] Shapes.CallsThreeTimes: 3 getppid, ")

    def test_the_line_has_colour_when_googletest_has(self):
        arguments = (MANY, "--syscost_profile=syscalls", "--gtest_color=yes", "--gtest_filter=Shapes.Empty")
        self.assertIn("\033[0;36m[ SYSCOST  ] \033[m", self.run_program(*arguments).out)
        self.assertNotIn("\033[0;36m", self.run_program(*arguments, NO_COLOR="1").out)

    def test_a_header_line_says_what_is_measured_how(self):
        done = self.run_program(MANY, f"--syscost_csv={self.csv}", "--gtest_filter=Shapes.Empty")
        self.assertRegex(done.err, rf"^syscost: backend ebpf \(.*\), csv {self.csv}, run \S+\n$")

    def test_our_main_takes_short_forms_and_passes_the_rest_on(self):
        self.run_program(OUR_MAIN, "--csv", self.csv, "--label", "a, \"b\"", "--gtest_filter=Shapes.Empty")
        self.assertEqual({row["label"] for row in self.rows()}, {'a, "b"'})
        self.assertEqual(self.names_of_tests(), ["Shapes.Empty"])

    def test_a_flag_wins_over_its_variable(self):
        self.run_program(MANY, f"--syscost_csv={self.csv}", "--gtest_filter=Shapes.Empty",
                         SYSCOST_CSV=os.path.join(self.folder, "other.csv"))
        self.assertEqual(os.listdir(self.folder), ["out.csv"])

    def test_help_and_doctor_answer_instead_of_running_tests(self):
        for flag, word in (("--syscost_help", "--syscost_csv FILE"), ("--syscost_doctor", "ebpf    works")):
            done = self.run_program(MANY, flag)
            self.assertIn(word, done.out)
            self.assertNotIn("[ RUN", done.out)

    def test_a_full_disk_changes_no_verdict_and_fails_the_program(self):
        done = self.run_program(MANY, "--gtest_filter=Shapes.*", code=1, SYSCOST_CSV="/dev/full")
        self.assertEqual(done.out.count("[       OK ]"), 3)
        self.assertEqual(done.err.count("/dev/full"), 2, "the header line and one message: " + done.err)
        self.assertIn("the rows of", done.err)

    def test_a_full_disk_ends_no_program_that_throws_or_breaks_on_failure(self):
        for flag in ("--gtest_throw_on_failure", "--gtest_break_on_failure"):
            with self.subTest(flag=flag):
                done = self.run_program(MANY, "--gtest_filter=Shapes.*", flag, code=1, SYSCOST_CSV="/dev/full")
                self.assertEqual(done.out.count("[       OK ]"), 3)
                self.assertIn("3 tests from 1 test suite ran.", done.out)

    def test_a_fork_child_that_runs_the_tests_says_that_they_are_not_measured(self):
        done = self.run_program(FORKING_MAIN, f"--syscost_csv={self.csv}")
        self.assertEqual(done.err.count("these tests run in a fork child"), 1, done.err)
        self.assertIn("[       OK ] InChild.Runs", done.out)


class Refusals(Case):
    def refused(self, *command, **variables):
        done = self.run_program(*command, code=2, **variables)
        self.assertNotIn("[ RUN", done.out)
        self.assertIn("fix: ", done.err)
        return done.err

    def test_unknown_flags_and_bad_values_run_no_test(self):
        self.assertIn("did you mean --syscost_csv?", self.refused(MANY, "--syscost_cvs=x"))
        self.assertIn("did you mean --syscost_csv?", self.refused(MANY, "--syscost-csv=x"))
        self.assertIn("SYSCOST_CYCLES", self.refused(MANY, SYSCOST_CYCLES="many"))
        self.assertIn("--syscost_label names the rows of a CSV", self.refused(MANY, "--syscost_label=after"))
        self.assertIn("does not have --children", self.refused(OUR_MAIN, "--children=3"))

    def test_another_backend_than_a_static_initialiser_got_runs_no_test(self):
        self.assertIn("--syscost_backend", self.refused(EARLY, "--backend=none"))

    def test_files_that_are_not_ours_or_not_writable_run_no_test(self):
        with open(self.csv, "w", encoding="utf-8") as file:
            file.write("my,notes\n")
        self.assertIn("not a syscost CSV", self.refused(MANY, f"--syscost_csv={self.csv}"))
        with open(self.csv, encoding="utf-8") as file:
            self.assertEqual(file.read(), "my,notes\n")
        self.assertIn("missing", self.refused(MANY, f"--syscost_csv={self.folder}/missing/x.csv"))

    @unittest.skipUnless(NO_CAPABILITIES and shutil.which("capsh"), "needs root and capsh to drop capabilities")
    def test_without_capabilities_it_says_which_are_missing_and_runs_no_test(self):
        error = self.refused(*NO_CAPABILITIES, "-c", f"{NO_BACKEND} {MANY} --syscost_csv={self.csv}")
        self.assertIn("CAP_BPF", error)
        self.assertIn("setcap", error)

    @unittest.skipUnless(NO_CAPABILITIES and shutil.which("capsh"), "needs root and capsh to drop capabilities")
    def test_backend_none_writes_times_without_counts(self):
        self.run_program(*NO_CAPABILITIES, "-c",
                         f"{MANY} --syscost_csv={self.csv} --syscost_backend=none --gtest_filter=Shapes.CallsThreeTimes")
        [row] = self.rows()
        self.assertEqual((row["total_calls"], row["lost"], row["backend"]), ("", "", "none"))
        self.assertGreater(int(row["wall_ns"]), 0)


class Inert(Case):
    FILTER = "--gtest_filter=Shapes.Empty:Shapes.CallsThreeTimes:WithFixture.*:Few*:Outcomes.*"

    def test_listing_tests_touches_nothing(self):
        listed = self.run_program(MANY, "--gtest_list_tests", SYSCOST_CSV=self.csv)
        self.assertEqual(listed.out, self.run_program(PLAIN, "--gtest_list_tests").out)
        self.assertEqual((listed.err, os.listdir(self.folder)), ("", []))

    def test_listing_tests_touches_nothing_even_if_a_static_initialiser_measures(self):
        for variables in ({}, {"GTEST_LIST_TESTS": "1"}):
            flags = [] if variables else ["--gtest_list_tests"]
            listed = self.run_program(EARLY, *flags, f"--syscost_csv={self.csv}", **variables)
            self.assertIn("MeasuresFirst", listed.out)
            self.assertEqual((listed.err, os.listdir(self.folder)), ("", []))

    def test_a_linked_program_prints_as_if_we_were_not_there(self):
        def printed(program):
            return re.sub(r"\d+ ms", "N ms", self.run_program(program, self.FILTER).out).replace(PLAIN, MANY)
        self.assertEqual(printed(MANY), printed(PLAIN))

    @unittest.skipUnless(shutil.which("strace"), "needs strace")
    def test_a_linked_program_makes_the_same_calls_during_tests(self):
        def calls(program):
            log = os.path.join(self.folder, "strace")
            self.run_program("strace", "-qq", "-o", log, program, self.FILTER)
            with open(log, encoding="utf-8", errors="replace") as file:
                names = [line.split("(")[0] + (" RUN" if "[ RUN" in line else "") for line in file]
            first = names.index("write RUN")
            # What the heap asks for depends on what was allocated before; it is not behaviour.
            return [name for name in names[first:] if name not in ("brk", "mmap", "munmap")]
        self.assertEqual(calls(MANY), calls(PLAIN))

    @unittest.skipUnless(shutil.which("strace"), "needs strace")
    def test_markers_let_a_strace_log_be_cut_at_tests(self):
        log = os.path.join(self.folder, "strace")
        self.run_program("strace", "-qq", "-o", log, MANY, f"--syscost_csv={self.csv}",
                         "--gtest_filter=Shapes.CallsThreeTimes", SYSCOST_MARKERS="1")
        with open(log, encoding="utf-8", errors="replace") as file:
            text = file.read()
        inside = re.search(r'"syscost-begin test Shapes.*?\n(.*?)write\(-1, "syscost-end test Shapes', text, re.S).group(1)
        self.assertEqual([line.split("(")[0] for line in inside.splitlines()], ["getppid"] * 3)

    def test_strict_flags_of_a_users_main_still_decide(self):
        self.assertIn("Unknown command line flag", self.run_program(USER_MAIN, "--syscost_profile=syscalls", code=None).err)


class Assertions(Case):
    def results(self, *command, code, **variables):
        done = self.run_program(*command, code=code, **variables)
        verdicts = dict((name, verdict) for verdict, name in
                        re.findall(r"^\[ +(OK|FAILED|SKIPPED) +\] (Assertions\.\w+) \(", done.out, re.M))
        return verdicts, done.out

    def test_hold_fail_and_explain_where_syscalls_are_counted(self):
        verdicts, out = self.results(ASSERTIONS, code=1)
        self.assertEqual(verdicts, {
            "Assertions.Hold": "OK", "Assertions.TakeStatementsWithCommas": "OK", "Assertions.StandWhereAStatementStands": "OK",
            "Assertions.ReadAValueFirst": "OK", "Assertions.FailWithTheBreakdown": "FAILED", "Assertions.FailFatally": "FAILED",
            "Assertions.FailForASelectorThatNamesNothing": "FAILED", "Assertions.CountScopesOfTheirOwn": "OK"})
        self.assertIn('calls of "getppid": expected <= 1, counted 4', out)
        self.assertIn("all syscalls: 4 getppid", out)
        self.assertNotIn("still here", out)
        self.assertNotIn("SYSCOST", out)

    def test_give_the_same_verdicts_inside_measured_tests_and_named_scopes_get_rows(self):
        plain, _ = self.results(ASSERTIONS, code=1)
        measured, _ = self.results(ASSERTIONS, f"--syscost_csv={self.csv}", code=1)
        self.assertEqual(measured, plain)
        [scope] = self.rows(kind="scope", record="test")
        self.assertEqual((scope["test"], scope["window"], scope["total_calls"]),
                         ("Assertions.CountScopesOfTheirOwn", "named scope", "6"))
        self.assertEqual(self.getppids()["Assertions.CountScopesOfTheirOwn"], 6)
        self.assertEqual(self.getppids()["Assertions.Hold"], 3 * 3 + 2)

    @unittest.skipUnless(NO_CAPABILITIES and shutil.which("capsh"), "needs root and capsh to drop capabilities")
    def test_skip_here_and_fail_in_ci_where_nothing_can_count(self):
        one = [*NO_CAPABILITIES, "-c", f"{NO_BACKEND} {ASSERTIONS} --gtest_filter=*.ReadAValueFirst:*.Hold"]
        skipped = {"Assertions.Hold": "SKIPPED", "Assertions.ReadAValueFirst": "SKIPPED"}
        failed = {"Assertions.Hold": "FAILED", "Assertions.ReadAValueFirst": "FAILED"}
        verdicts, out = self.results(*one, code=0)
        self.assertEqual(verdicts, skipped)
        self.assertIn("CAP_BPF", out)
        verdicts, out = self.results(*one, code=1, CI="true")
        self.assertEqual(verdicts, failed)
        self.assertIn("CAP_BPF", out)
        self.assertEqual(self.results(*one, code=0, CI="true", SYSCOST_UNAVAILABLE="skip")[0], skipped)
        self.assertEqual(self.results(*one, code=1, SYSCOST_UNAVAILABLE="fail")[0], failed)


class Plain(Case):
    """Programs without a test framework."""

    def test_measure_and_scopes_work_without_any_flag(self):
        done = self.run_program(PLAIN_MAIN)
        self.assertEqual(done.out, "measured: 3 getppid\npart: 1\nwhole: 11\ncycles: 5\n")
        self.assertEqual((done.err, os.listdir(self.folder)), ("", []))

    def test_named_scopes_write_rows_and_flags_work(self):
        done = self.run_program(PLAIN_MAIN, f"--syscost_csv={self.csv}", "--syscost_cycles", "7")
        self.assertIn("cycles: 7\n", done.out)
        self.assertEqual([(row["kind"], row["test"], row["window"], row["parent"]) for row in self.rows(record="test")],
                         [("scope", "", "part", "whole"), ("scope", "", "whole", "")])
        self.assertEqual([row["calls"] for row in self.rows(syscall="getppid")], ["1", "11"])

    def test_rows_that_wait_are_written_when_the_program_ends(self):
        self.run_program(PLAIN_MAIN, f"--syscost_csv={self.csv}", SYSCOST_TEST_LEAVE_OPEN="1")
        self.assertEqual([(row["window"], row["parent"], row["total_calls"]) for row in self.rows(record="test")],
                         [("inner", "outer", "2")])

    def test_a_full_disk_ends_the_program_non_zero(self):
        done = self.run_program(PLAIN_MAIN, "--syscost_csv=/dev/full", code=1)
        self.assertIn("cycles: 5\n", done.out)
        self.assertIn("/dev/full", done.err)

    def test_the_profile_prints_a_line_for_each_named_scope(self):
        done = self.run_program(PLAIN_MAIN, "--syscost_profile=syscalls")
        self.assertRegex(done.err, r"syscost: scope part: .*1 getppid, .* in the kernel")
        self.assertRegex(done.err, r"syscost: scope whole: .*11 getppid, .* in the kernel")
        self.assertEqual(done.out, self.run_program(PLAIN_MAIN).out)

    def test_a_loop_prints_its_line_and_writes_its_rows(self):
        flags = ("--syscost_profile=syscalls", "--syscost_cycles=5", "--syscost_repeats=2")
        done = self.run_program(PLAIN_MAIN, *flags, SYSCOST_CSV=self.csv, SYSCOST_TEST_LOOP="1")
        # One warm-up, two timed and two counted passes.
        self.assertEqual(done.out, "calls: 25\n")
        self.assertRegex(done.err, r"syscost: loop three: 3 getppid a call, .* a call \[.*\] least and greatest, "
                                   r"2 passes of 5 calls: ")
        self.assertEqual([(row["kind"], row["test"], row["window"], row["parent"], row["repetition"], row["iterations"],
                           row["total_calls"]) for row in self.rows(record="test")],
                         [("loop", "", "three", "", str(i), "5", "15") for i in range(2)])
        self.assertEqual([row["calls"] for row in self.rows(syscall="getppid")], ["15", "15"])

    def test_a_loop_that_nobody_asks_about_runs_once(self):
        done = self.run_program(PLAIN_MAIN, SYSCOST_TEST_LOOP="1")
        self.assertEqual((done.out, done.err, os.listdir(self.folder)), ("calls: 1\n", "", []))

    def test_a_bad_flag_ends_the_program_at_the_first_use(self):
        self.assertIn("no flag --syscost_cvs", self.run_program(PLAIN_MAIN, "--syscost_cvs=x", code=2).err)

    @unittest.skipUnless(NO_CAPABILITIES and shutil.which("capsh"), "needs root and capsh to drop capabilities")
    def test_without_a_backend_the_cost_says_why(self):
        done = self.run_program(*NO_CAPABILITIES, "-c", f"{NO_BACKEND} {PLAIN_MAIN}")
        self.assertRegex(done.out, r"measured: n/a \(.*CAP_BPF")
        self.assertNotRegex(done.out, r": \d+\n.*cycles")


class Reading(Case):
    PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "csv-format.md")

    def test_the_pandas_calls_of_the_page_load_it_right(self):
        try:
            import pandas  # noqa: F401
        except ImportError:
            self.skipTest("needs python3-pandas")
        self.run_program(MANY, f"--syscost_csv={self.csv}", "--gtest_filter=Shapes.*")
        with open(self.PAGE, encoding="utf-8") as file:
            load, names = re.findall(r"```python\n(.*?)```", file.read(), re.S)
        scope = {}
        os.chdir(self.folder)
        exec(names + load, scope)  # as the page says it, names first
        self.assertEqual(scope["calls"]["Shapes.CallsThreeTimes", "getppid"], 3)
        self.assertTrue(scope["tests"].entries.isna().all(), "an empty field is no 0")
        self.assertEqual(str(scope["rows"].wall_ns.dtype), "UInt64")

    def test_the_query_of_the_page_in_a_stand_in_for_duckdb(self):
        # DuckDB is no Debian package: SQLite stands in. What is checked is the SQL and its answer, not read_csv()'s options.
        import sqlite3
        self.run_program(MANY, f"--syscost_csv={self.csv}", "--gtest_filter=Shapes.*")
        with open(self.PAGE, encoding="utf-8") as file:
            [query] = re.findall(r"```sql\n(.*?)```", file.read(), re.S)
        rows = self.rows()
        database = sqlite3.connect(":memory:")
        database.execute("CREATE TABLE rows (%s)" % ", ".join(f'"{name}"' for name in rows[0]))
        database.executemany("INSERT INTO rows VALUES (%s)" % ", ".join("?" * len(rows[0])),
                             [[value or None for value in row.values()] for row in rows])
        query = re.sub(r"read_csv\(.*\)", "rows", query).replace("GROUP BY ALL", "GROUP BY test, syscall")
        answer = {(test, syscall): calls for test, syscall, calls in database.execute(query)}
        self.assertEqual(answer["Shapes.CallsThreeTimes", "getppid"], 3)


if __name__ == "__main__":
    main()
