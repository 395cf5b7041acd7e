# SPDX-License-Identifier: MIT
"""Windows of the GoogleTest adapter, from outside: which calls each test, suite and environment is charged with."""
import os
import shutil
import subprocess
import time
import unittest
import xml.etree.ElementTree as xml

from adapter_case import (BACKENDS, BIN, COUNT_CALLS, COUNT_ENTRIES, EARLY, FILTER_REASON, MANY, UNDER_A_FILTER, USER_MAIN, Case,
                          environment, main)


ALARM = os.path.join(BIN, "adapter_alarm")
OWN_MEMORY = os.path.join(BIN, "adapter_own_memory")


class Windows(Case):
    EXPECTED = {
        "Shapes.Empty": 0, "Shapes.CallsThreeTimes": 3, "Shapes.CallsFromAThread": 5, "Outcomes.Skips": 1,
        "Outcomes.Fails": 2, "Outcomes.Throws": 2, "WithFixture.One": 14, "WithFixture.Two": 24, "Typed/0.Calls": 1,
        "Typed/1.Calls": 2, "Few/Parameterised.Calls/0": 4, "Few/Parameterised.Calls/1": 6, "DyingDeathTest.Fast": 1,
        "DyingDeathTest.Threadsafe": 1, "Forks.ChildReturnsIntoGoogleTest": 0, "Hostile.ClosesEveryDescriptor": 0,
        "Hostile.ComesAfter": 9, "Hostile.IsKilled": 0}

    def test_every_test_has_a_row_with_its_own_calls(self):
        for backend in COUNT_CALLS:
            with self.subTest(backend=backend):
                self.needs(backend)
                self.csv = os.path.join(self.folder, backend + ".csv")
                self.run_program(MANY, f"--syscost_csv={self.csv}", f"--syscost_backend={backend}")
                self.assertEqual(self.getppids(), self.EXPECTED)
                self.assertEqual({row["selection"] for row in self.rows()}, {"whole"})
                self.assertEqual({row["backend"] for row in self.rows()}, {backend})

    def test_an_empty_test_makes_no_call(self):
        for backend in BACKENDS:
            with self.subTest(backend=backend):
                self.needs(backend)
                self.csv = os.path.join(self.folder, backend + ".csv")
                self.run_program(MANY, f"--syscost_csv={self.csv}", f"--syscost_backend={backend}",
                                 "--gtest_filter=Shapes.Empty:Shapes.CallsThreeTimes")
                for test, made in (("Shapes.Empty", "0"), ("Shapes.CallsThreeTimes", "3")):
                    [row] = self.rows(kind="test", record="test", test=test, as_written=True)
                    self.assertEqual(row["total_entries"], made if backend in COUNT_ENTRIES else "")
                    self.assertEqual(row["total_calls"], made if backend in COUNT_CALLS else "")

    def test_the_run_says_once_what_it_found_around_it(self):
        self.run_program("sh", "-c", f"ulimit -S -n 200; exec {MANY} --gtest_filter=Shapes.*", SYSCOST_CSV=self.csv, TZ="UTC")
        [row] = self.rows(kind="run", window="begin")
        found = dict(one.split("=", 1) for one in row["detail"].split(";"))
        self.assertEqual((found["open_files"], found["time_zone"], found["output"]), ("200", "UTC", "no terminal"))
        self.assertEqual(found["cpus"], str(len(os.sched_getaffinity(0))))
        self.assertEqual(found["folder_depth"], str(self.folder.count("/")))
        first, second = self.csv, os.path.join(self.folder, "second.csv")
        self.run_program(MANY, f"--syscost_csv={second}", "--gtest_filter=Shapes.*", TZ="UTC")
        done = self.run_program(os.path.join(BIN, "bench"), "compare", first, second, code=None)
        self.assertIn("limit of open files differs (200 -> ", done.out)
        self.assertNotIn("TZ differs", done.out)

    def test_what_syscost_allocates_in_a_test_is_not_the_tests(self):
        for backend in BACKENDS:
            with self.subTest(backend=backend):
                self.needs(backend)
                self.csv = os.path.join(self.folder, backend + ".csv")
                self.run_program(OWN_MEMORY, f"--syscost_csv={self.csv}", f"--syscost_backend={backend}", "--syscost_quick")
                made = self.getppids(column="calls" if backend in COUNT_CALLS else "entries")
                tests = ("First", "Nothing", "FirstScope", "SecondScope", "ScopeOfAll", "Leaks", "Loop", "LeftLoop")
                self.assertEqual(made, {"OwnMemory." + test: made["OwnMemory.Nothing"] for test in tests} |
                                 {"OwnMemory.First": made["OwnMemory.First"]})
                self.assertGreater(made["OwnMemory.Nothing"], 0)  # of GoogleTest itself

    # The limit of docs/performance.md for a window with one row is a matter of these: each is a call that is observed.
    @unittest.skipUnless(shutil.which("strace"), "needs strace")
    @unittest.skipIf(UNDER_A_FILTER, FILTER_REASON)
    def test_a_window_of_ebpf_takes_sixteen_calls_of_ours(self):
        self.needs("ebpf")
        doctor = self.run_program(MANY, "--syscost_doctor").out
        if "shares its BPF programs" not in doctor:
            self.skipTest("the programs are this process's own; they are asked by other calls")
        log = os.path.join(self.folder, "strace")
        self.run_program("strace", "-qq", "-s", "1000", "-o", log, MANY, f"--syscost_csv={self.csv}",
                         "--gtest_filter=Shapes.Empty:Shapes.CallsThreeTimes")
        with open(log, encoding="utf-8", errors="replace") as file:
            calls = [line for line in file if not line.startswith("write(1, ")]
        rows = [i for i, line in enumerate(calls) if line.startswith("write(") and ",test,Shapes." in line]
        self.assertEqual(len(rows), 2)
        # From the first test's rows to the second's. A C library calls fstat by one name or the other; what the heap asks
        # for depends on what was allocated before.
        names = [line.split("(")[0].replace("newfstatat", "fstat") for line in calls[rows[0] + 1:rows[1] + 1]]
        self.assertEqual([name for name in names if name not in ("brk", "mmap", "munmap")], [
            "fstat", "rt_sigprocmask", "flock", "getrusage", "getppid", "getppid", "getppid", "gettid", "fstat", "pread64",
            "getrusage", "fstat", "flock", "fstat", "rt_sigprocmask", "write"])

    def test_an_alarm_that_a_test_leaves_does_not_run_while_its_trace_is_written(self):
        self.needs("dispatch")
        started = time.monotonic()
        self.run_program(ALARM, f"--syscost_csv={self.csv}", "--syscost_backend=dispatch", "--syscost_trace=events=1100000")
        self.assertEqual(self.names_of_tests(), ["Alarm.IsLeft", "Alarm.HasTheTimeThatWasLeft"])
        [row] = self.rows(test="Alarm.IsLeft", record="syscall", syscall="getppid")
        self.assertEqual(row["calls"], "1000000")
        self.assertGreater(time.monotonic() - started, 0.3)  # else it says nothing

    def test_set_up_and_tear_down_have_rows_of_their_own_and_the_printer_has_none(self):
        for output in ([], ["--gtest_brief=1"], ["--gtest_color=yes"]):
            with self.subTest(output=output):
                if os.path.exists(self.csv):
                    os.remove(self.csv)
                self.run_program(MANY, f"--syscost_csv={self.csv}", "--gtest_filter=Shapes.*:WithFixture.*:Typed*", *output)
                self.assertEqual(self.getppids("suite"), {"WithFixture set-up": 7, "WithFixture tear-down": 8})
                self.assertEqual(self.getppids("environment"), {"set-up": 11, "tear-down": 12})
                self.assertEqual(self.rows(syscall="write"), [])

    def test_no_backend_charges_what_the_printer_writes(self):
        for backend in BACKENDS:
            with self.subTest(backend=backend):
                self.needs(backend)
                if os.path.exists(self.csv):
                    os.remove(self.csv)
                self.run_program(MANY, f"--syscost_csv={self.csv}", f"--syscost_backend={backend}",
                                 "--gtest_filter=Shapes.Empty:WithFixture.*:Outcomes.Skips")
                self.assertEqual({row["backend"] for row in self.rows()}, {backend})
                self.assertEqual(self.rows(syscall="write"), [])
                suites = {(row["test"], row["window"]) for row in self.rows(kind="suite")}
                self.assertEqual(suites, {("WithFixture", "set-up"), ("WithFixture", "tear-down")})

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
        for backend in COUNT_CALLS:
            with self.subTest(backend=backend):
                self.needs(backend)
                done = self.run_program(MANY, "--syscost_profile=syscalls", f"--syscost_backend={backend}", "--syscost_filter", "%file",
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

    def test_a_test_that_closes_all_descriptors_has_no_count_on_ebpf_and_the_next_is_right(self):
        self.needs("ebpf")
        done = self.run_program(MANY, f"--syscost_csv={self.csv}", "--syscost_backend=ebpf", "--gtest_filter=Hostile.*", code=1,
                                SYSCOST_TEST_HOSTILE="1")
        totals = {row["test"]: row["total_calls"] for row in self.rows(kind="test", record="test")}
        self.assertEqual(totals, {"Hostile.ClosesEveryDescriptor": "", "Hostile.ComesAfter": "9", "Hostile.IsKilled": "0"})
        self.assertIn("the counts of test Hostile.ClosesEveryDescriptor are void", done.err)
        self.assertIn("[       OK ] Hostile.ClosesEveryDescriptor", done.out)
        self.assertNotIn("[  FAILED  ] Hostile", done.out)

    def test_a_tear_down_with_void_counts_has_a_row_without_numbers(self):
        self.needs("ebpf")
        self.run_program(MANY, f"--syscost_csv={self.csv}", "--syscost_backend=ebpf", "--gtest_filter=Shapes.Empty", code=1,
                         SYSCOST_TEST_HOSTILE_END="1")
        totals = {row["window"]: row["total_calls"] for row in self.rows(kind="environment", record="test")}
        self.assertEqual(totals, {"set-up": "11", "tear-down": ""})

    def test_a_test_that_closes_all_descriptors_is_counted_where_none_is_needed(self):
        for backend in ("dispatch", "dispatch-trap"):
            with self.subTest(backend=backend):
                self.needs(backend)
                self.csv = os.path.join(self.folder, backend + ".csv")
                self.run_program(MANY, f"--syscost_csv={self.csv}", f"--syscost_backend={backend}", "--gtest_filter=Hostile.*",
                                 SYSCOST_TEST_HOSTILE="1")
                self.assertEqual(self.getppids(), {"Hostile.ClosesEveryDescriptor": 1, "Hostile.ComesAfter": 9, "Hostile.IsKilled": 0})
                [closed] = self.rows(kind="test", record="syscall", syscall="close")
                self.assertEqual(closed["calls"], str(4096 - 3))
                self.assertEqual({row["lost"] for row in self.rows(kind="test", record="test")}, {"0"})

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
            for i, name in enumerate(names):
                # Every second one by a script, which has ctest's SYSCOST_CSV.
                by_script = '"sh" "-c" "\\"$@\\"; exit $?" "sh" ' if i % 2 else ""
                file.write(f'add_test("{name}" {by_script}"{MANY}" "--gtest_filter={name}")\n'
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


if __name__ == "__main__":
    main()
