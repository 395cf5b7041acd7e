# SPDX-License-Identifier: MIT
"""`bench run` from outside: the rows of a program that is not linked with syscost are those of the same program linked with
it; the counts of any other command are those that strace sees; the command's output and exit code are its own."""
import csv
import itertools
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "adapters"))
from adapter_case import (BIN, COUNT_CALLS, COUNT_CHILDREN, FILTER_REASON, MANY, NO_CAPABILITIES, PLAIN, UNDER_A_FILTER,  # noqa: E402
                          main, why_not)
from rights import MAY_HAVE_NETWORKS  # noqa: E402
from run_case import BENCH, RunCase, calls_for_ordinary_users  # noqa: E402


PATCHED = os.path.join(BIN, "agent_patched_googletest")

# Two clocks are read one after the other to compare them: a call may seem to lie that much outside of its test.
CLOCKS_APART_NS = 5000


class Tests(RunCase):
    def test_rows_are_those_of_the_linked_program(self):
        self.compare_with_linked(PLAIN)

    @unittest.skipUnless(shutil.which("strip"), "needs strip (Debian: binutils)")
    def test_also_of_a_stripped_program(self):
        self.compare_with_linked(self.copy_of(PLAIN, "strip"))

    def test_also_on_the_other_backends(self):
        for backend in ("dispatch", "dispatch-trap", "seccomp"):
            if backend.startswith("dispatch") and os.uname().machine != "x86_64":
                continue
            with self.subTest(backend=backend):
                self.needs(backend)
                self.compare_with_linked(PLAIN, SYSCOST_BACKEND=backend)
                os.remove(self.csv)

    @unittest.skipUnless(NO_CAPABILITIES, "needs root, to become an ordinary user")
    @unittest.skipUnless(os.uname().machine == "x86_64", "dispatch is for x86-64")
    def test_also_for_an_ordinary_user(self):
        self.check_as_ordinary_user(PLAIN)

    @unittest.skipUnless(os.uname().machine == "x86_64", "dispatch is for x86-64")
    def test_injected_calls_are_counted_in_their_rows_and_the_run_names_the_rule(self):
        # ebpf cannot inject.
        column = calls_for_ordinary_users()
        knows_results = column == "calls"
        for command in ((PLAIN,), ("sh", "-c", f'"{PLAIN}" "$@"', "sh")):
            with self.subTest(command):
                self.bench_run("--inject", "getppid:EPERM:2+", f"--csv={self.csv}", "--", *command, "--gtest_filter=Shapes.Calls*")
                rows = {row["test"]: (row[column], row["errors"], row["injected"])
                        for row in self.rows(kind="test", record="syscall", syscall="getppid")}
                self.assertEqual(rows["Shapes.CallsThreeTimes"], ("3", "2" if knows_results else "", "2"))
                self.assertEqual(rows["Shapes.CallsFromAThread"], ("5", "4" if knows_results else "", "4"))
                self.assertIn("inject=getppid:EPERM:2+", self.rows(kind="run")[0]["detail"])
                os.remove(self.csv)

    def test_the_output_and_the_verdict_are_the_programs_own(self):
        for variables in ({}, {"SYSCOST_TEST_FAIL": "1"}):
            self.check_output_and_verdict(PLAIN, **variables)
        self.assertEqual({row["outcome"] for row in self.rows(kind="test", record="test", test="Outcomes.Throws")},
                         {"passed", "failed"})

    def test_the_search_for_the_tests_takes_little_memory(self):
        # What is taken for a vector while the search goes on may span everything between two mappings.
        some, much = 64 << 10, 0  # KiB
        for _ in range(3):
            subprocess.run([BENCH, "run", "--backend=none", f"--csv={self.csv}", "--", PLAIN, "--gtest_filter=WithFixture.One"],
                           check=True, capture_output=True)
            much = max(much, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
        self.assertLess(much, some)

    def test_a_folder_with_colons_in_its_name(self):
        folder = os.path.join(self.folder, "a::b:")
        os.mkdir(folder)
        self.run_program("env", "-C", folder, BENCH, "run", f"--csv={self.csv}", "--", PLAIN, "--gtest_filter=Shapes.CallsThreeTimes")
        self.assertEqual(self.getppids(), {"Shapes.CallsThreeTimes": 3})
        self.run_program("env", "-C", folder, BENCH, "run", "--", PLAIN, "--gtest_filter=Shapes.CallsThreeTimes")

    def test_a_suite_that_ctest_runs(self):
        self.check_below_ctest(f"{PLAIN} --gtest_filter=Shapes.CallsThreeTimes",
                               f'sh -c "{PLAIN} --gtest_filter=WithFixture.One"')

    @unittest.skipUnless(MAY_HAVE_NETWORKS, "needs unshare, and the rights to make a network namespace")
    def test_the_helper_is_there_before_the_first_test_program(self):
        self.needs("ebpf")
        # In a network namespace of its own, another test's helper has another name, and is not seen here.
        names = ('for p in /proc/[0-9]*; do [ "$(readlink $p/ns/net)" = "$(readlink /proc/self/ns/net)" ] && cat $p/comm; done; '
                 'true')
        done = self.run_program("unshare", "-n", BENCH, "run", f"--csv={self.csv}", "--", "sh", "-c",
                                f"{names}; {PLAIN} --gtest_brief=1 --gtest_filter=Shapes.CallsThreeTimes")
        self.assertEqual(done.out.split().count("syscost-ebpf-he"), 1, done.out)
        self.assertEqual(self.getppids(), {"Shapes.CallsThreeTimes": 3})

    def test_the_intervals_of_a_command_add_up_to_the_whole(self):
        for backend in ("ebpf", "seccomp"):
            with self.subTest(backend=backend):
                self.needs(backend)
                self.bench_run(f"--csv={self.csv}", f"--backend={backend}", "--interval=100ms", "--process", "--", "sh", "-c",
                               "for i in 1 2 3 4; do cat /dev/null; sleep 0.08; done")
                sums = {}
                for row in self.rows(record="syscall"):
                    counts = sums.setdefault(row["kind"], {})
                    counts[row["syscall"]] = counts.get(row["syscall"], 0) + int(row["entries"])
                self.assertEqual(sums["interval"], sums["process"])
                self.assertGreaterEqual(len(self.rows(kind="interval", record="test")), 2)
                watched = self.run_program(BENCH, "watch", self.csv)
                self.assertIn("sh, ", watched.out)
                os.remove(self.csv)

    def test_live_prints_the_intervals_and_keeps_the_exit_code(self):
        done = self.bench_run("--live", "--interval=100ms", "--process", "--", "sh", "-c", "sleep 0.35; echo out; exit 3", code=3)
        self.assertEqual(done.out, "out\n")
        self.assertRegex(done.err, r"sh, [0-9.]+ s: [0-9.]+ calls/s, ")

    def test_live_writes_to_the_folder_that_bazel_brings_back(self):
        done = self.bench_run("--live", "--process", "--", "true", TEST_UNDECLARED_OUTPUTS_DIR=self.folder)
        self.assertNotIn("% of work", done.err, "no summary")
        self.csv = os.path.join(self.folder, "syscost.csv")
        self.assertEqual(len(self.rows(kind="process", record="test")), 1)

    def test_a_command_with_rows_that_cannot_be_written_does_not_end_with_0(self):
        done = self.bench_run("--csv=/dev/full", "--process", "--", "true", code=1)
        self.assertIn("/dev/full", done.err)

    def test_a_limit_of_the_size_of_files_is_named(self):
        # The kernel sends SIGXFSZ to the thread that writes. Pipes have no such limit.
        line = 'ulimit -f 0; exec "$@"'
        for options in ((), ("--csv=it.csv",)):
            with self.subTest(options):
                done = self.run_program("sh", "-c", line, "sh", BENCH, "run", *options, "--", PLAIN, "--gtest_filter=Shapes.*", code=None)
                self.assertIn("File too large", done.err)
                self.assertGreater(done.code, 0)
                self.assertLess(done.code, 128, done.err)
        done = self.run_program("sh", "-c", 'ulimit -f 0; "$@" >out; echo $?', "sh", BENCH, "summary", "--help")
        self.assertEqual(done.out, "2\n", done.err)
        self.assertIn("could not be written", done.err)
        self.bench_run(f"--csv={self.csv}", "--", PLAIN, "--gtest_filter=Shapes.*")
        done = self.run_program("sh", "-c", line, "sh", BENCH, "baseline", "update", self.csv, "-o", "own.baseline", code=2)
        self.assertIn("File too large", done.err)
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith("own.")], [])

    def test_intervals_of_tests_are_refused(self):
        done = self.bench_run("--interval=1s", "--", PLAIN, code=2)
        self.assertIn("add --process to measure it as a whole", done.err)
        self.assertIn("not 5", self.bench_run("--interval=5", "--", "true", code=2).err)

    @staticmethod
    def shard_of(path):
        with open(path, newline="", encoding="utf-8") as file:
            return next(row["detail"].rpartition(";")[2] for row in csv.DictReader(file) if row["record"] == "run")

    def test_a_shard_without_a_test_has_its_row_and_is_no_failure(self):
        self.bench_run(f"--csv={self.csv}", "--", PLAIN, GTEST_TOTAL_SHARDS="9999", GTEST_SHARD_INDEX="9998")
        self.assertEqual(self.shard_of(self.csv), "shard=9999 of 9999")
        self.assertEqual(self.rows(), [])

    def test_shards_in_a_tree_of_bazel_are_one_run(self):
        for shard in range(3):
            folder = os.path.join(self.folder, "tree", f"shard_{shard + 1}_of_3", "test.outputs")
            os.makedirs(folder)
            done = self.bench_run("--", PLAIN, "--gtest_filter=WithFixture.*:Shapes.CallsThreeTimes", TEST_UNDECLARED_OUTPUTS_DIR=folder,
                                  GTEST_TOTAL_SHARDS="3", GTEST_SHARD_INDEX=str(shard), SYSCOST_RUN_ID="build7")
            self.assertIn(f"{shard + 1} of 3", self.shard_of(os.path.join(folder, "syscost.csv")))
            self.assertIn("getppid", done.err)
        whole = self.run_program(BENCH, "summary", "--recursive", os.path.join(self.folder, "tree"))
        self.assertIn("tree: run build7 in 3 shards, ", whole.out)
        self.assertIn("3 tests  wall ", whole.out)
        shutil.rmtree(os.path.join(self.folder, "tree", "shard_2_of_3"))
        part = self.run_program(BENCH, "summary", "--recursive", os.path.join(self.folder, "tree"), code=2)
        self.assertIn("shard 2 of 3 of " + os.path.basename(PLAIN) + " is missing", part.err)

    @unittest.skipUnless(subprocess.run(["unshare", "--pid", "--fork", "--mount-proc", "true"], capture_output=True).returncode == 0,
                         "no right to make a PID namespace")
    def test_a_run_id_names_the_pid_namespace(self):
        # In two namespaces two runs are process 1 of one host, and may start in one second.
        self.run_program("unshare", "--pid", "--fork", "--mount-proc", BENCH, "run", f"--csv={self.csv}", "--", PLAIN,
                         "--gtest_filter=WithFixture.One")
        [run_id] = {row["run_id"] for row in self.rows()}
        self.assertRegex(run_id, r"-[0-9]{6,}-1-[0-9]+$")

    def test_a_run_id_of_any_text_finds_its_rows(self):
        for run_id in ("nightly, 7", 'a "quoted" one', "two\nlines", os.fsdecode(b"caf\xe9"), "7"):
            for program in (PLAIN, MANY):
                with self.subTest(run_id=run_id, program=program):
                    done = self.bench_run("--", program, "--gtest_filter=WithFixture.One", SYSCOST_RUN_ID=run_id)
                    self.assertIn("WithFixture.One  passed  wall ", done.err)
                    self.bench_run(f"--csv={self.csv}", "--", program, "--gtest_filter=WithFixture.One", SYSCOST_RUN_ID=run_id)
                    self.assertEqual(len(self.rows(kind="test", record="test")), 1)
                    os.remove(self.csv)

    def test_a_live_run_of_any_id_shows_its_intervals(self):
        for run_id in ("nightly, 7", 'a "quoted" one', os.fsdecode(b"caf\xe9")):
            with self.subTest(run_id=run_id):
                done = self.bench_run("--live", "--interval=100ms", "--process", "--", "sleep", "0.3", SYSCOST_RUN_ID=run_id)
                self.assertIn("calls/s", done.err)

    def test_rows_of_another_id_are_those_of_the_run_if_a_program_below_it_wrote_them(self):
        for program in (PLAIN, MANY):
            for below in (["SYSCOST_RUN_ID=run 7"], ["-u", "SYSCOST_RUN_ID"]):  # the first id ends as theirs
                with self.subTest(program=program, below=below):
                    for file in ([f"--csv={self.csv}"], []):
                        done = self.bench_run(*file, "--", "env", *below, program, "--gtest_filter=WithFixture.One", SYSCOST_RUN_ID="7")
                        self.assertNotIn("bench: ", done.err)
                    self.assertIn("WithFixture.One  passed  wall ", done.err)

    def test_a_command_may_begin_the_file_anew(self):
        self.bench_run(f"--csv={self.csv}", "--", PLAIN)
        for first in (f"rm {self.csv}", f": >{self.csv}", f"mv {self.csv} {self.csv}.old"):
            with self.subTest(first):
                self.bench_run(f"--csv={self.csv}", "--", "sh", "-c", f"{first}; {PLAIN} --gtest_filter=WithFixture.One")
                self.assertEqual(len(self.rows(kind="test", record="test")), 1)
                self.bench_run(f"--csv={self.csv}", "--", PLAIN)

    def test_a_linked_program_measures_itself_once(self):
        self.bench_run(f"--csv={self.csv}", "--", MANY, "--gtest_filter=WithFixture.*")
        self.assertEqual(self.getppids(), {"WithFixture.One": 14, "WithFixture.Two": 24})

    @unittest.skipUnless(shutil.which("strip"), "needs strip (Debian: binutils)")
    def test_a_stripped_linked_program_measures_itself_once(self):
        self.bench_run(f"--csv={self.csv}", "--", self.copy_of(MANY, "strip"), "--gtest_filter=WithFixture.*")
        self.assertEqual(self.getppids(), {"WithFixture.One": 14, "WithFixture.Two": 24})

    def test_a_csv_that_cannot_be_written_is_told_as_such(self):
        done = self.bench_run("--csv=/dev/full", "--", PLAIN, "--gtest_filter=WithFixture.*", code=None)
        self.assertNotEqual(done.code, 0)
        self.assertIn("/dev/full", done.err)
        self.assertNotIn("reported a test", done.err)

    def test_rows_of_another_program_are_no_rows_of_this_run(self):
        done = self.bench_run(f"--csv={self.csv}", "--tests", "--", "sh", "-c", f"echo other >> {self.csv}", code=1)
        self.assertIn("no program below sh reported a test", done.err)

    def test_a_preload_of_the_users_own_stays(self):
        theirs = os.path.join(BIN, "libadapter_evil.so")
        self.assertTrue(os.path.exists(theirs))
        done = self.bench_run("--tests", "--", "sh", "-c", f"echo $LD_PRELOAD; {PLAIN} --gtest_filter=Shapes.*",
                              LD_PRELOAD=theirs)
        paths = done.out.splitlines()[0].split(":")
        self.assertEqual((os.path.basename(paths[0]), paths[1:]), ("libsyscost-preload.so", [theirs]))

    def test_no_csv_means_a_summary_on_stderr(self):
        done = self.bench_run("--", PLAIN, "--gtest_filter=WithFixture.*")
        self.assertIn("WithFixture.Two", done.err)
        self.assertIn("getppid", done.err)
        self.assertNotIn("getppid", done.out)
        self.assertEqual(os.listdir(self.folder), [])


def without_seed(output):
    """Catch2 3.5 and newer says the seed of its random numbers, which differs each time."""
    return re.sub(r"(?m)^Randomness seeded to: \d+$", "", output)


class OtherFramework(RunCase):
    """A program and, with `_linked` after its name, the same one linked with syscost."""
    PROGRAM = None
    LIST = "--list-tests"
    CRASHING = None

    def setUp(self):
        if self.PROGRAM is None or not os.path.exists(os.path.join(BIN, self.PROGRAM)):
            self.skipTest("not built: its framework is not installed")
        super().setUp()
        self.program = os.path.join(BIN, self.PROGRAM)
        self.linked = self.program + "_linked"

    def test_a_linked_program_has_the_same_rows(self):
        failed = self.run_program(self.program, code=None).code
        self.compare_with_linked(self.program, "--success", linked=self.linked, code=failed)

    def test_a_linked_program_measures_itself_once_under_bench_run(self):
        alone = self.run_program(self.linked, code=None)
        self.bench_run(f"--csv={self.csv}", "--", self.linked, code=alone.code)
        tests = [row["test"] for row in self.rows(kind="test", record="test")]
        self.assertEqual(len(tests), len(set(tests)))

    @unittest.skipUnless(os.uname().machine == "x86_64", "--syscost_trace needs dispatch, which is for x86-64")
    def test_the_calls_of_a_trace_lie_in_their_test(self):
        self.needs("dispatch")
        # The framework's own work inside a test is a pause: the test's time leaves it out, the trace does not.
        self.bench_run(f"--csv={self.csv}", "--backend=dispatch", "--trace", "--", self.program, code=None)
        for test in ("Makes seven calls", "Runs its body for each section"):
            done = self.run_program(BENCH, "trace", test, self.csv, "--format=json")
            trace = json.loads(done.out)
            self.assertTrue(trace["events"])
            for event in trace["events"]:
                self.assertGreaterEqual(event["at_ns"], -CLOCKS_APART_NS)
                self.assertLessEqual(event["at_ns"] + event["took_ns"], trace["window"]["took_ns"] + CLOCKS_APART_NS)
        # A trace that lasts longer than its test is still the trace of that test.
        done = self.run_program(BENCH, "findings", self.csv, "--format=json")
        findings = json.loads(done.out)
        self.assertGreater(findings["windows"], 0)
        self.assertEqual(findings["traced"], findings["windows"])

    def test_a_test_that_crashes_has_its_own_calls_and_times(self):
        # The framework ends the test from its handler of the signal: no body has ended.
        began = time.monotonic_ns()
        for run in (("bench", "run", f"--csv={self.csv}", "--", self.program), (self.linked, f"--syscost_csv={self.csv}")):
            with self.subTest(run=run[0]):
                words = [*run, *self.CRASHING]
                done = self.bench_run(*words[2:], code=None) if run[0] == "bench" else self.run_program(*words, code=None)
                self.assertNotEqual(done.code, 0)
                self.assertEqual(self.getppids(), {"Crashes": 6})
                (row,) = self.rows(kind="test", record="test")
                self.assertEqual(row["outcome"], "failed")
                for column in ("wall_ns", "user_ns", "system_ns", "voluntary_switches", "minor_faults", "major_faults"):
                    self.assertLess(int(row[column] or 0), time.monotonic_ns() - began, column)
                os.remove(self.csv)

    @unittest.skipUnless(os.uname().machine == "x86_64", "only dispatch can forbid, which is for x86-64")
    def test_a_forbidden_call_fails_the_test_that_makes_it(self):
        self.needs("dispatch")
        seven = self.selected("Makes seven calls")
        for run in (("bench", "run", "--forbid=getppid", f"--csv={self.csv}", "--", self.program),
                    (self.linked, "--syscost_forbid=getppid", f"--syscost_csv={self.csv}")):
            with self.subTest(run=run[0]):
                def start(*words):
                    words = (*run, *words)
                    return self.bench_run(*words[2:], code=None) if run[0] == "bench" else self.run_program(*words, code=None)
                failed_by_itself = self.run_program(self.program, self.selected("Fails"), code=None).code
                done = start(seven)
                self.assertEqual(done.code, failed_by_itself)
                self.assertIn('"getppid" is forbidden, and 7 calls were made:', done.out)
                self.assertRegex(done.out, r"\n +getppid\(\) at ")
                self.assertNotIn("forbidden", done.err)
                os.remove(self.csv)
                done = start()
                outcomes = {row["test"]: row["outcome"] for row in self.rows(kind="test", record="test")}
                # What fails as it should has failed by itself.
                self.assertEqual({test for test, outcome in outcomes.items() if outcome == "passed"} - {"Fails as it should"},
                                 {"Makes no call"})
                # Each run of a body is told, and the next ones go on.
                self.assertIn('"getppid" is forbidden, and 3 calls were made:', done.out)
                self.assertIn('"getppid" is forbidden, and 8 calls were made:', done.out)
                # A body that has ended by itself cannot fail once more: the run does.
                self.assertIn("test Throws: ", done.err)
                os.remove(self.csv)

    def test_linking_changes_nothing_without_a_request(self):
        for flags in ((), (self.LIST,), ("Makes seven calls",)):
            theirs = self.run_program(self.program, *flags, code=None)
            ours = self.run_program(self.linked, *flags, code=None)
            self.assertEqual((ours.code, without_seed(ours.out).replace("_linked", ""), ours.err),
                             (theirs.code, without_seed(theirs.out), theirs.err))

    def test_a_linked_program_takes_our_flags_and_variables(self):
        only = self.selected("Makes seven calls")
        done = self.run_program(self.linked, f"--syscost_csv={self.csv}", only, "--syscost_profile", "syscalls")
        self.assertIn("[ SYSCOST  ] Makes seven calls: 7 getppid", done.out)
        self.assertEqual(self.getppids(), {"Makes seven calls": 7})
        self.assertEqual({row["selection"] for row in self.rows(kind="run")}, {"subset"})
        os.remove(self.csv)
        self.run_program(self.linked, only, SYSCOST_CSV=self.csv)
        self.assertEqual(self.getppids(), {"Makes seven calls": 7})
        done = self.run_program(self.linked, "--syscost_backend=none_such", code=2)
        self.assertIn("none_such", done.err)

    def test_listing_writes_no_rows(self):
        listed = self.run_program(self.linked, f"--syscost_csv={self.csv}", self.LIST, code=None)
        self.assertEqual(listed.out.replace("_linked", ""), self.run_program(self.program, self.LIST, code=None).out)
        self.assertFalse(os.path.exists(self.csv) and self.rows(kind="test"))

    @staticmethod
    def selected(test):
        return test

    def measured(self, backend):
        """{test: calls of getppid}, {test: outcome}."""
        alone = self.run_program(self.program, code=None)
        done = self.bench_run("--csv", self.csv, "--backend", backend, "--", self.program, code=alone.code)
        self.assertEqual(without_seed(done.out), without_seed(alone.out))
        outcomes = {row["test"]: row["outcome"] for row in self.rows(kind="test", record="test")}
        counts = dict.fromkeys(outcomes, 0)
        for row in self.rows(kind="test", record="syscall", syscall="getppid"):
            counts[row["test"]] += int(row["calls"] or row["entries"])
        os.remove(self.csv)
        return counts, outcomes

    def check(self, expected, failing):
        for backend in ("ebpf", "dispatch", "seccomp"):
            if backend == "dispatch" and os.uname().machine != "x86_64":
                continue
            with self.subTest(backend=backend):
                self.needs(backend)
                counts, outcomes = self.measured(backend)
                self.assertEqual(counts, expected)
                self.assertEqual({test for test, outcome in outcomes.items() if outcome != "passed"}, failing)


class Catch2(OtherFramework):
    PROGRAM = "agent_catch2_tests"
    CRASHING = ("Crashes",)

    def test_each_test_has_its_own_calls(self):
        self.check({"Makes no call": 0, "Makes seven calls": 7, "Runs its body for each section": 8,
                    "Runs its body for each value": 6, "Fails": 3, "Throws": 5, "Has a fixture": 31}, {"Fails", "Throws"})


class Doctest(OtherFramework):
    PROGRAM = "agent_doctest_tests"
    CRASHING = ("--no-skip", "--test-case=Crashes")
    LIST = "--list-test-cases"

    @staticmethod
    def selected(test):
        return f"--test-case={test}"

    @unittest.skipUnless(os.uname().machine == "x86_64", "only dispatch can forbid, which is for x86-64")
    def test_a_scope_that_forbids_fails_its_test_without_any_request(self):
        self.needs("dispatch")
        done = self.run_program(os.path.join(BIN, "agent_doctest_faults"), code=1)
        self.assertEqual(len(re.findall(r'doctest_faults\.cc:\d+: "getppid" is forbidden, and 1 call was made:', done.out)), 2)
        self.assertIn("test cases:  7 |  5 passed | 2 failed", done.out)

    def test_tests_without_a_row_are_told_and_are_no_success(self):
        replaced = os.path.join(BIN, "agent_doctest_replaced")
        self.run_program(replaced)
        for command in ((BENCH, "run", f"--csv={self.csv}", "--", replaced), (replaced + "_linked", f"--syscost_csv={self.csv}")):
            with self.subTest(command=command[0]):
                done = self.run_program(*command, code=1)
                self.assertIn("2 tests ran and could not be measured, the last of them Two: ", done.err)
                self.assertEqual(self.rows(kind="test"), [])

    def test_each_test_has_its_own_calls(self):
        self.check({"Makes no call": 0, "Makes seven calls": 7, "Has\ta\\nname": 8, "Runs its body for each section": 8, "Fails": 3,
                    "Fails as it should": 3, "Throws": 5, "Has a fixture": 31, "storage.Is in a suite": 9},
                   {"Fails", "Throws"})


class InOneSegment:
    """Constants and code in one segment, as gold lays programs out: a text is not taken for a test's body."""

    def test_the_file_is_laid_out_so(self):
        for program in (self.program, self.linked):
            headers = subprocess.run(["readelf", "-lW", program], check=True, capture_output=True, text=True).stdout
            self.assertEqual(re.findall(r"^ +LOAD .* (R[ W][ E]) +0x", headers, re.MULTILINE), ["R E", "RW "])

    def test_the_output_is_the_programs_own(self):
        for reporter in ("console", "xml"):
            alone = self.run_program(self.program, f"--reporters={reporter}", code=None)
            measured = self.bench_run(f"--csv={self.csv}", "--", self.program, f"--reporters={reporter}", code=alone.code)
            self.assertEqual(measured.out, alone.out)


class DoctestInOneSegment(InOneSegment, Doctest):
    PROGRAM = "agent_doctest_one_segment"


class DoctestAtOnePlace(InOneSegment, Doctest):
    PROGRAM = "agent_doctest_one_place"


class Catch2InOneSegment(InOneSegment, Catch2):
    PROGRAM = "agent_catch2_one_segment"
    test_the_output_is_the_programs_own = None


def seen_by_strace(log):
    """{syscall: calls} and {(syscall, errno): calls}."""
    calls, errors = {}, {}
    begun = re.compile(r"\d+ +(\w+)\(")
    failed = re.compile(r"\d+ +(?:(\w+)\(|<\.\.\. (\w+) resumed).* = -1 (E\w+) ")
    with open(log, encoding="utf-8", errors="replace") as file:
        for line in file:
            if found := begun.match(line):
                calls[found[1]] = calls.get(found[1], 0) + 1
            if found := failed.match(line):
                key = (found[1] or found[2], found[3])
                errors[key] = errors.get(key, 0) + 1
    return calls, errors


class Commands(RunCase):
    def seen_by_us(self, **equal):
        calls, errors = {}, {}
        for row in self.rows(kind="process", record="syscall", **equal):
            calls[row["syscall"]] = calls.get(row["syscall"], 0) + int(row["entries"])
            for one in row["errnos"].split():
                name, count = one.split(":")
                errors[row["syscall"], name] = errors.get((row["syscall"], name), 0) + int(count)
        return calls, errors

    @unittest.skipUnless(shutil.which("strace"), "needs strace")
    @unittest.skipIf(UNDER_A_FILTER, FILTER_REASON)
    def test_the_counts_of_a_command_are_those_of_strace(self):
        with open(os.path.join(self.folder, "text"), "w", encoding="utf-8") as file:
            file.write("b\na\n" * 1000)
        log = os.path.join(self.folder, "strace")
        commands = (["ls", "-la", "/etc"], ["sort", "text"], ["grep", "-c", "a", "text", "/none"], ["od", "-c", "text"],
                    ["find", "/etc/ssl", "-name", "x"])
        for backend, command in itertools.product(COUNT_CHILDREN, commands):
            with self.subTest(backend=backend, command=command):
                self.needs(backend)
                alone = subprocess.run(["strace", "-f", "-qq", "-e", "signal=none", "-o", log, *command], cwd=self.folder,
                                       capture_output=True, text=True, check=False)
                done = self.bench_run("--csv", self.csv, "--backend", backend, "--", *command, code=alone.returncode)
                ours = self.seen_by_us()
                os.remove(self.csv)
                calls, errors = seen_by_strace(log)
                if backend not in COUNT_CALLS:  # it sees no result
                    errors = {}
                self.assertEqual((done.out, ours), (alone.stdout, (calls, errors)))

    def test_programs_below_are_one_row_or_one_each(self):
        command = ("--process", "--", "sh", "-c", "/bin/echo a; /bin/true; exit 3")
        self.bench_run("--csv", self.csv, *command, code=3)
        [whole] = self.rows(kind="process", record="test")
        self.assertEqual((whole["test"], whole["window"], whole["outcome"]), ("sh", "", "failed"))
        self.assertNotEqual(whole["wall_ns"], "")
        os.remove(self.csv)
        self.bench_run("--csv", self.csv, "--children", *command, code=3)
        rows = self.rows(kind="process", record="test")
        self.assertEqual({row["window"] for row in rows}, {"", "echo", "true"})
        self.assertEqual(sum(int(row["total_entries"]) for row in rows), int(whole["total_entries"]))

    @unittest.skipUnless(NO_CAPABILITIES, "needs root, to become an ordinary user")
    @unittest.skipIf(UNDER_A_FILTER, FILTER_REASON)
    def test_an_ordinary_user_has_the_entries(self):
        self.run_program(*NO_CAPABILITIES, "-c", f"{BENCH} run --csv={self.csv} -- /bin/echo a")
        [row] = self.rows(kind="process", record="syscall", syscall="write")
        self.assertEqual((row["backend"], row["entries"]), ("seccomp", "1"))

    def test_a_whole_command_has_its_own_environment(self):
        done = self.bench_run("--csv", self.csv, "--process", "--", "env")
        alone = self.run_program("env")
        self.assertEqual(sorted(done.out.splitlines()), sorted(alone.out.splitlines()))

    def test_a_signal_ends_it_as_in_a_shell(self):
        self.bench_run("--csv", self.csv, "--process", "--", "sh", "-c", "kill -9 $$", code=137)
        [row] = self.rows(kind="process", record="test")
        self.assertEqual(row["outcome"], "failed")

    def test_a_command_without_tests_says_what_to_do(self):
        done = self.bench_run("--tests", "--", "true", code=1)
        self.assertIn("no program below true reported a test", done.err)
        self.assertIn("bench run --process -- true", done.err)

    def test_a_test_program_that_runs_no_test_gets_no_advice_to_start_one(self):
        done = self.bench_run("--", PLAIN, "--gtest_filter=None.*", code=1)
        self.assertIn("reported a test that ended, so nothing was measured\n  fix: let it run a test", done.err)
        self.assertNotIn("let it start programs", done.err)
        self.assertNotIn("executes itself", done.err)

    def test_an_environment_that_skips_all_tests_is_no_run_that_measured_something(self):
        for more in ((), (f"--csv={self.csv}",)):
            for runner in ((), ("env",)):
                with self.subTest(more=more, runner=runner):
                    done = self.bench_run(*more, "--", *runner, PLAIN, code=1, SYSCOST_TEST_SKIP_ALL="1")
                    self.assertIn("  fix: a program began its tests and came to its end, and none of them ran", done.err)
                    self.assertIn("GTEST_SKIP", done.err)
        # This environment makes calls, so it has a row. Without it:
        with open(self.csv, encoding="utf-8") as file:
            lines = [line for line in file if ",environment," not in line]
        with open(self.csv, "w", encoding="utf-8") as file:
            file.writelines(lines)
        read = self.run_program(BENCH, "summary", self.csv, code=2)
        self.assertIn("none of their tests ran: no test was measured", read.err)
        # Another program of the run had a test.
        line = f"SYSCOST_TEST_SKIP_ALL=1 {PLAIN} && {PLAIN} --gtest_filter=WithFixture.One"
        self.bench_run("--", "sh", "-c", line)


class Refusals(RunCase):
    def test_the_doctor_needs_no_command(self):
        done = self.bench_run("--doctor", code=None)
        self.assertIn("dispatch", done.out)
        self.assertNotIn("bench run needs a command", done.err)

    def test_the_doctor_needs_no_program(self):
        done = self.run_program(BENCH, "doctor")
        self.assertEqual(done.out.splitlines()[0], "syscost doctor: what can measure syscalls here")
        self.assertRegex(done.out, f"(?m)^  dispatch {'does not work' if why_not('dispatch') else 'works'}: ")

    def test_the_doctor_without_the_rest_of_syscost_says_what_is_missing(self):
        alone = shutil.copy(BENCH, self.folder)
        done = self.run_program(alone, "doctor", code=2)
        self.assertIn("syscost-run: No such file or directory\n`bench doctor` needs the whole of syscost.", done.err)

    @unittest.skipUnless(os.path.exists(PATCHED), "it is built for the tests of every night, of Debian's sources of GoogleTest")
    def test_an_unknown_googletest_runs_its_tests_unmeasured(self):
        plain = self.run_program(PATCHED, code=1)
        done = self.bench_run("--", PATCHED, code=1)
        self.assertEqual(re.sub(r"\d+ ms", "", done.out), re.sub(r"\d+ ms", "", plain.out))
        self.assertIn(f"not measured: {PATCHED}: its GoogleTest is no version that syscost knows", done.err)
        self.assertNotIn("crashed", done.err)

    def refused(self, *arguments):
        done = self.bench_run(*arguments, code=2)
        self.assertEqual(done.out, "")
        return done.err

    def test_bad_options_end_before_anything_runs(self):
        self.assertIn("bench run has no option --no_such", self.refused("--no_such", "--", "ls"))
        self.assertIn("bench run has no option --bckend=ebpf", self.refused("--bckend=ebpf", "--", "ls"))
        self.assertIn('"eppf" is not one of', self.refused("--backend=eppf", "--", "ls"))
        self.assertIn("bench run needs a command", self.refused())
        self.assertIn("no_such_program: No such file", self.refused("--", "no_such_program"))
        temporary = os.path.join(self.folder, "temporary")
        os.mkdir(temporary)
        self.bench_run("--backend=dispatch", "--", os.path.join(BIN, "agent_static"), code=2, TMPDIR=temporary)
        self.assertEqual(os.listdir(temporary), [])

    def test_a_command_without_the_mark_is_answered_by_the_line_to_type(self):
        for typed, meant in ((["ls"], "bench run -- ls"), (["./x", "--gtest_filter=A.*"], "bench run -- ./x '--gtest_filter=A.*'"),
                             (["--csv", "a.csv", "ctest", "-R", "two words"], "bench run --csv a.csv -- ctest -R 'two words'"),
                             (["--csv=a b", "./x", "--", "y"], "bench run '--csv=a b' -- ./x")):
            with self.subTest(typed):
                self.assertIn(f"  fix: write the command after --: {meant}\n", self.refused(*typed))

    def test_a_file_for_rows_among_the_options_of_the_command_is_refused(self):
        # The rows would be there, and `bench run` would say that nothing was measured.
        for option in (f"--syscost_csv={self.csv}", "--syscost_csv"):
            for program in (PLAIN, MANY):
                said = self.refused("--", program, "--gtest_filter=Shapes.*", option, self.csv)
                self.assertIn(f"{option} is an option of the command", said)
                self.assertIn(f"write it before --: bench run --csv=FILE -- {program}", said)
        self.assertFalse(os.path.exists(self.csv))

    def test_a_folder_whose_name_the_loader_would_change_is_refused(self):
        # The loader splits LD_PRELOAD at blanks and colons, and replaces these names.
        for name in ("a b", "a:b", "$ORIGIN", "${ORIGIN}", "in$LIB", "x${LIB}y", "$PLATFORM", "${PLATFORM}"):
            with self.subTest(name):
                folder = os.path.join(self.folder, name)
                os.mkdir(folder)
                alone = shutil.copy(os.path.join(BIN, "..", "libexec", "syscost", "syscost-run"), folder)
                done = self.run_program(alone, "--", PLAIN, "--gtest_filter=Shapes.*", code=2)
                self.assertIn(f"syscost lies in {folder}, and LD_PRELOAD cannot hold a path with a blank", done.err)
                self.assertIn("fix: install it in a folder without them", done.err)
                self.assertNotIn("ERROR: ld.so", done.err)
        for name in ("LIB", "$", "$$", "ORIGIN$", "$lib"):
            with self.subTest(name):
                folder = os.path.join(self.folder, name)
                os.mkdir(folder)
                alone = shutil.copy(os.path.join(BIN, "..", "libexec", "syscost", "syscost-run"), folder)
                self.assertIn("libsyscost-preload.so: No such file or directory", self.run_program(alone, "--", PLAIN, code=2).err)

    def test_tests_that_cannot_be_entered_are_refused(self):
        self.assertIn("linked statically", self.refused("--", os.path.join(BIN, "agent_static")))

    def test_tests_of_a_set_uid_program_are_refused(self):
        self.assertIn("set-uid", self.refused("--", self.set_uid_copy_of(PLAIN)))


if __name__ == "__main__":
    csv.field_size_limit(1 << 30)
    main()
