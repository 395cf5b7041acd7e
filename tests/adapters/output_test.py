# SPDX-License-Identifier: MIT
"""What a program with the GoogleTest adapter prints, refuses and leaves alone."""
import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
import unittest
import xml.etree.ElementTree as xml

from adapter_case import (AUTOMATIC, BACKENDS, COUNT_CALLS, COUNT_ENTRIES, DENY, EARLY, FORKING_MAIN, MANY,
                          MAY_HAVE_NETWORKS, NO_BACKEND, NO_CAPABILITIES, OUR_MAIN, PLAIN, PROPERTIES, USER_MAIN, Case, automatic,
                          main, needs_results)


class Output(Case):
    @needs_results
    def test_properties_are_in_xml_and_json(self):
        for backend in COUNT_CALLS:
            with self.subTest(backend=backend):
                self.needs(backend)
                self.run_program(MANY, f"--syscost_csv={self.csv}", f"--syscost_backend={backend}",
                                 "--gtest_filter=Shapes.CallsThreeTimes", "--gtest_output=xml:o.xml")
                tree = xml.parse(os.path.join(self.folder, "o.xml"))
                properties = {p.get("name"): p.get("value") for p in tree.iter("property")}
                self.assertEqual(properties["syscost_calls_getppid"], "3")
                self.assertEqual(properties["syscost_calls"], "3")
                self.assertEqual(properties.get("syscost_entries"), "3" if backend in COUNT_ENTRIES else None)
                self.assertEqual(properties["syscost_errors"], "0")
                self.assertEqual(properties["syscost_lost"], "0")
                self.assertGreater(int(properties["syscost_kernel_ns"]), 0)
        self.run_program(MANY, f"--syscost_csv={self.csv}", "--gtest_filter=Shapes.CallsThreeTimes", "--gtest_output=json:o.json")
        with open(os.path.join(self.folder, "o.json"), encoding="utf-8") as file:
            test = json.load(file)["testsuites"][0]["testsuite"][0]
        self.assertEqual(test["syscost_calls_getppid"], "3")

    def properties(self, backend, test):
        """Of a test in GoogleTest's XML, and what was printed."""
        done = self.run_program(PROPERTIES, f"--syscost_csv={self.csv}", f"--syscost_backend={backend}",
                                f"--gtest_filter={test}", "--gtest_output=xml:o.xml")
        tree = xml.parse(os.path.join(self.folder, "o.xml"))
        return {p.get("name"): p.get("value") for p in tree.iter("property")}, done.err

    def test_a_number_that_a_backend_does_not_measure_is_no_property(self):
        for backend in BACKENDS:
            with self.subTest(backend=backend):
                self.needs(backend)
                properties, _ = self.properties(backend, "Properties.FiveCalls")
                for kind, measures in (("calls", COUNT_CALLS), ("entries", COUNT_ENTRIES)):
                    expected = "5" if backend in measures else None
                    self.assertEqual(properties.get(f"syscost_{kind}"), expected)
                # One number for each syscall: calls, or entries where the backend sees no calls.
                name = "calls" if backend in COUNT_CALLS else "entries"
                self.assertEqual({key: value for key, value in properties.items() if "getppid" in key},
                                 {f"syscost_{name}_getppid": "5"})
                self.assertEqual("syscost_errors" in properties, backend in COUNT_CALLS)

    def test_a_property_of_the_test_itself_stays(self):
        for backend in BACKENDS:
            with self.subTest(backend=backend):
                self.needs(backend)
                properties, said = self.properties(backend, "Properties.OneOfItsOwn")
                self.assertEqual(properties["syscost_lost"], "mine")
                self.assertEqual(said.count("test Properties.OneOfItsOwn records the property syscost_lost itself"), 1, said)

    def test_the_profile_prints_one_line_under_each_test(self):
        for backend in COUNT_CALLS:
            with self.subTest(backend=backend):
                self.needs(backend)
                done = self.run_program(MANY, "--syscost_profile=syscalls", f"--syscost_backend={backend}",
                                        "--gtest_filter=Shapes.Empty:Shapes.CallsThreeTimes")
                lines = [line for line in done.out.splitlines() if re.match(r"\[ (RUN|SYSCOST|      OK)", line)]
                self.assertRegex("\n".join(lines), r"""\[ RUN      \] Shapes.Empty
\[ SYSCOST  \] no syscalls
\[       OK \] Shapes.Empty .*
\[ RUN      \] Shapes.CallsThreeTimes
\[ SYSCOST  \] 3 getppid, \d+.* [nmu]?s in the kernel, .* % of wall
\[       OK \] Shapes.CallsThreeTimes""")
                self.assertNotIn("\033", done.out)

    @needs_results
    def test_the_line_names_its_test_where_googletest_does_not(self):
        done = self.run_program(MANY, "--syscost_profile=syscalls", "--gtest_brief=1", "--gtest_filter=Shapes.CallsThreeTimes")
        self.assertRegex(done.out, r"\[ SYSCOST  \] Shapes.CallsThreeTimes: 3 getppid, ")

    def test_the_line_has_colour_when_googletest_has(self):
        arguments = (MANY, "--syscost_profile=syscalls", "--gtest_color=yes", "--gtest_filter=Shapes.Empty")
        self.assertIn("\033[0;36m[ SYSCOST  ] \033[m", self.run_program(*arguments).out)
        self.assertNotIn("\033[0;36m", self.run_program(*arguments, NO_COLOR="1").out)

    def test_a_header_line_says_what_is_measured_how(self):
        for backend in BACKENDS:
            with self.subTest(backend=backend):
                self.needs(backend)
                done = self.run_program(MANY, f"--syscost_csv={self.csv}", f"--syscost_backend={backend}", "--gtest_filter=Shapes.Empty")
                self.assertRegex(done.err, rf"^syscost: backend {backend} \(.*\), csv {self.csv}, run \S+\n$")

    def test_our_main_takes_short_forms_and_passes_the_rest_on(self):
        self.run_program(OUR_MAIN, "--csv", self.csv, "--label", "a, \"b\"", "--gtest_filter=Shapes.Empty")
        self.assertEqual({row["label"] for row in self.rows()}, {'a, "b"'})
        self.assertEqual(self.names_of_tests(), ["Shapes.Empty"])

    def test_googletests_main_does_not_ignore_short_forms_without_a_word(self):
        ends = "--gtest_filter=Shapes.CallsThreeTimes"
        for typed, name in ((f"--csv={self.csv}", "csv"), ("--csv", "csv"), ("--profile=perf", "profile"), ("--trace", "trace")):
            with self.subTest(typed):
                done = self.run_program(MANY, ends, typed, self.csv)
                self.assertEqual(done.err, f"syscost: GoogleTest's main ignores --{name}\n  write --syscost_{name}, or link "
                                 "syscost::gtest_main, which has the short flags\n")
        for program, typed in ((USER_MAIN, "--csv=a"), (MANY, "--csvs=a"), (MANY, "csv"), (MANY, "--syscost_quick"), (PLAIN, "--csv=a")):
            with self.subTest(program=program, typed=typed):
                self.assertNotIn("ignores", self.run_program(program, ends, typed, code=None).err)
        self.assertFalse(os.path.exists(self.csv))

    def test_a_flag_wins_over_its_variable(self):
        self.run_program(MANY, f"--syscost_csv={self.csv}", "--gtest_filter=Shapes.Empty",
                         SYSCOST_CSV=os.path.join(self.folder, "other.csv"))
        self.assertEqual(os.listdir(self.folder), ["out.csv"])

    def test_help_and_doctor_answer_instead_of_running_tests(self):
        for flag, words in (("--syscost_help", ["--syscost_csv FILE"]),
                            ("--syscost_doctor", [rf"(?m)^  {backend} +(works|does not work): " for backend in AUTOMATIC])):
            done = self.run_program(MANY, flag)
            for word in words:
                self.assertRegex(done.out, word)
            self.assertNotIn("[ RUN", done.out)

    @unittest.skipUnless(MAY_HAVE_NETWORKS, "a network namespace of its own needs root")
    def test_the_doctor_says_whether_bpf_programs_are_shared_and_why_not(self):
        self.needs("ebpf")
        done = self.run_program(MANY, "--syscost_doctor")
        self.assertIn("shares its BPF programs with other measured processes", done.out)
        # Orphans would come to the program, and with them the helper that it would have to start; so a network namespace
        # in which none is.
        code = ("import ctypes, os, sys; libc = ctypes.CDLL(None); "
                "libc.unshare(0x40000000); "
                "libc.prctl(36, 1, 0, 0, 0); os.execv(sys.argv[1], sys.argv[1:])")
        done = self.run_program(sys.executable, "-c", code, MANY, "--syscost_doctor")
        self.assertIn("runs BPF programs of its own: this process adopts orphans", done.out)

    def test_bpf_programs_are_shared_under_a_filter_that_allows_bpf(self):
        # As in a container of Docker that has CAP_BPF: its profile denies other calls.
        self.needs("ebpf")
        done = self.run_program(DENY, "EPERM", "seccomp", MANY, "--syscost_doctor")
        self.assertIn("shares its BPF programs with other measured processes", done.out)

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


    def test_a_program_that_runs_no_googletest_test_says_that_it_has_no_rows(self):
        silent = "this program ran no GoogleTest test and measured nothing: it has no rows in "
        done = self.run_program(USER_MAIN, f"--syscost_csv={self.csv}", SYSCOST_TEST_NO_TESTS="1")
        self.assertEqual(done.err, f"syscost: {silent}{self.csv}\n")
        # A helper inherits the variable from the test that starts it, and is no test.
        done = self.run_program(USER_MAIN, SYSCOST_CSV=self.csv, SYSCOST_TEST_NO_TESTS="1")
        self.assertEqual(done.err, "")
        with open(os.path.join(self.folder, "CTestTestfile.cmake"), "w", encoding="utf-8") as file:
            file.write(f"add_test(own {USER_MAIN})\n")
        if shutil.which("ctest"):
            done = self.run_program("ctest", "-V", SYSCOST_CSV=self.csv, SYSCOST_TEST_NO_TESTS="1")
            self.assertIn(silent, done.out)
        self.assertFalse(os.path.exists(self.csv))


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
        self.assertIn("--syscost_label requires --syscost_csv", self.refused(MANY, "--syscost_label=after"))
        self.assertIn('--children: "3" is not one of', self.refused(OUR_MAIN, "--children=3"))

    def test_another_backend_than_a_static_initialiser_got_runs_no_test(self):
        self.assertIn("--syscost_backend", self.refused(EARLY, "--backend=none"))

    def test_files_that_are_not_ours_or_not_writable_run_no_test(self):
        with open(self.csv, "w", encoding="utf-8") as file:
            file.write("my,notes\n")
        self.assertIn("not a syscost CSV", self.refused(MANY, f"--syscost_csv={self.csv}"))
        with open(self.csv, encoding="utf-8") as file:
            self.assertEqual(file.read(), "my,notes\n")
        self.assertIn("missing", self.refused(MANY, f"--syscost_csv={self.folder}/missing/x.csv"))

    def test_a_csv_that_a_stranger_keeps_locked_runs_no_test(self):
        self.run_program(MANY, f"--syscost_csv={self.csv}", "--gtest_filter=Shapes.Empty")
        with open(self.csv, encoding="utf-8") as stranger:  # opened for reading only
            fcntl.flock(stranger, fcntl.LOCK_SH)
            error = self.refused(MANY, f"--syscost_csv={self.csv}")
            self.assertIn(f"another process (process {os.getpid()}, python3) holds the lock of the CSV file {self.csv}", error)

    def test_a_csv_where_googletests_report_goes_runs_no_test(self):
        os.symlink("out.csv", os.path.join(self.folder, "link"))  # to what is not there yet
        for report in "xml:out.csv", "json:./out.csv", "xml:link", f"xml:{self.folder}/../{os.path.basename(self.folder)}/out.csv":
            error = self.refused(MANY, f"--syscost_csv={self.csv}", f"--gtest_output={report}")
            self.assertIn(f"the CSV and the report of GoogleTest are one file, {self.csv}", error)
            self.assertFalse(os.path.exists(self.csv))
        self.assertIn("are one file", self.refused(MANY, "--syscost_csv=test_detail.xml", "--gtest_output=xml"))
        self.assertIn("are one file", self.refused(EARLY, f"--csv={self.csv}", f"--gtest_output=xml:{self.csv}"))

    def test_a_report_that_is_another_file_or_no_format_of_googletests_is_not_ours_to_refuse(self):
        for report in "xml:other.xml", f"foo:{self.csv}":
            self.run_program(MANY, f"--syscost_csv={self.csv}", "--gtest_filter=Shapes.Empty", f"--gtest_output={report}")
        self.run_program(MANY, "--syscost_csv=/dev/null", "--gtest_filter=Shapes.Empty", "--gtest_output=xml:/dev/null")

    @unittest.skipUnless(NO_CAPABILITIES and shutil.which("capsh"), "needs root and capsh to drop capabilities")
    def test_without_capabilities_it_says_which_are_missing_and_runs_no_test(self):
        error = self.refused(*NO_BACKEND, "-c", f"{MANY} --syscost_csv={self.csv}")
        self.assertIn("CAP_BPF", error)
        self.assertRegex(error, "ebpf: (run as root, or start as root and run: setpriv|in compose.yaml cap_add)")

    @unittest.skipUnless(NO_CAPABILITIES and shutil.which("capsh"), "needs root and capsh to drop capabilities")
    def test_without_capabilities_the_counts_are_the_same(self):
        os.chmod(self.folder, 0o777)
        for run, backend in (("auto", automatic("ebpf")), ("dispatch-trap", "dispatch-trap")):
            with self.subTest(run):
                self.needs(backend)
                self.run_program(*NO_CAPABILITIES, "-c", f"{MANY} --syscost_csv={self.csv} --syscost_backend={run} "
                                 "--gtest_filter=Shapes.CallsThreeTimes")
                [row] = self.rows(record="syscall", kind="test", backend=backend)
                self.assertEqual((row["syscall"], row["calls"], row["entries"], row["latency_count"]),
                                 ("getppid", "3", "", "3") if backend in COUNT_CALLS else ("getppid", "", "3", ""))

    @unittest.skipUnless(NO_CAPABILITIES and shutil.which("capsh"), "needs root and capsh to drop capabilities")
    def test_backend_none_writes_times_without_counts(self):
        self.run_program(*NO_CAPABILITIES, "-c",
                         f"{MANY} --syscost_csv={self.csv} --syscost_backend=none --gtest_filter=Shapes.CallsThreeTimes")
        [row] = self.rows()
        self.assertEqual((row["total_calls"], row["lost"], row["backend"]), ("", "", "none"))
        self.assertGreater(int(row["wall_ns"]), 0)


class HostileTexts(Case):
    """Texts that someone else chose: they must not move the cursor of a terminal, set its title, turn a line round or begin a new one."""
    EVIL = "\x1b[31mP\x1b]0;x\a\u202egpj\u0085\n::error::e"
    SHOWN = r"\x1b[31mP\x1b]0;x\x07\u202egpj\u0085\x0a::error::e"

    def harmless(self, done):
        printed = done.err + "".join(line for line in done.out.splitlines(True) if "SYSCOST" in line)
        for character in ("\x1b", "\a", "\r", "\u202e", "\u0085", "\n::error"):
            self.assertNotIn(character, printed)
        for line in done.err.splitlines():
            self.assertTrue(line.startswith(("syscost: ", "  ")), done.err)
        self.assertIn(self.SHOWN, printed)

    def test_of_files_and_folders(self):
        folder = os.path.join(self.folder, self.EVIL)
        os.makedirs(os.path.join(folder, "syscost_artifacts"))
        with open(os.path.join(folder, "notes.csv"), "w", encoding="utf-8") as file:
            file.write(f"{self.EVIL},notes\n")
        self.harmless(self.run_program(MANY, f"--syscost_csv={folder}/notes.csv", code=2))
        self.harmless(self.run_program(MANY, f"--syscost_csv={folder}/missing/x.csv", code=2))
        self.harmless(self.run_program(MANY, f"--syscost_csv={folder}", code=2))
        self.harmless(self.run_program(MANY, f"--syscost_csv={folder}/x.csv", "--gtest_filter=Shapes.Empty"))
        os.rmdir(os.path.join(folder, "syscost_artifacts"))
        os.symlink("nowhere", os.path.join(folder, "syscost_artifacts"))
        with self.subTest("trace"):
            self.needs("dispatch")
            self.harmless(self.run_program(MANY, f"--syscost_csv={folder}/y.csv", "--syscost_trace", "--syscost_backend=dispatch", code=2))

    def test_of_flags_and_variables(self):
        for flag in ("csv", "backend", "filter", "inject", "forbid", "profile", "bpf", "bpf_path", "label", "children", "interval",
                     "cycles", "detail", "where", "artifacts", "no_such_flag"):
            with self.subTest(flag=flag):
                done = self.run_program(MANY, f"--syscost_{flag}={self.EVIL}", "--gtest_filter=Shapes.Empty", code=None)
                if self.EVIL in done.err or self.SHOWN in done.err:
                    self.harmless(done)

    def test_of_a_repository(self):
        shared = os.path.join(self.folder, self.EVIL)
        os.makedirs(os.path.join(shared, ".git"))
        os.makedirs(os.path.join(shared, "work"))
        with open(os.path.join(shared, ".git/HEAD"), "w", encoding="utf-8") as file:
            file.write("ref: refs/heads/main\n")
        os.chmod(os.path.join(shared, ".git"), 0o777)
        command = ["sh", "-c", f'cd "$0/work" && exec {MANY} --syscost_csv={self.csv} --gtest_filter=Shapes.Empty', shared]
        done = self.run_program(*command)
        self.harmless(done)
        self.assertIn("no commit: ", done.err)
        self.assertIn(".git can be written by other users; SYSCOST_COMMIT can name it", done.err)
        self.assertEqual({row["commit"] for row in self.rows()}, {""})
        self.assertNotIn("no commit", self.run_program(*command, SYSCOST_COMMIT="abc").err)

    def test_of_a_process_that_holds_the_lock(self):
        self.run_program(MANY, f"--syscost_csv={self.csv}", "--gtest_filter=Shapes.Empty")
        with subprocess.Popen(
                [sys.executable, "-c", "import ctypes, fcntl, sys\n"
                 "ctypes.CDLL(None).prctl(15, b'\\x1b[31mP\\x1b]0;x\\a', 0, 0, 0)\n"
                 "file = open(sys.argv[1])\nfcntl.flock(file, fcntl.LOCK_EX)\nprint('held', flush=True)\nsys.stdin.read()", self.csv],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
            holder.stdout.readline()
            done = self.run_program(MANY, f"--syscost_csv={self.csv}", code=2)
            holder.stdin.close()
        self.assertIn(rf"another process (process {holder.pid}, \x1b[31mP\x1b]0;x\x07) holds the lock", done.err)
        self.assertNotIn("\x1b", done.err)


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
            # The calls of the heap depend on earlier allocations, so they are not behaviour of the test.
            return [name for name in names[first:] if name not in ("brk", "mmap", "munmap")]
        self.assertEqual(calls(MANY), calls(PLAIN))

    @unittest.skipUnless(shutil.which("strace"), "needs strace")
    def test_markers_let_a_strace_log_be_cut_at_tests(self):
        log = os.path.join(self.folder, "strace")
        for backend in BACKENDS:
            with self.subTest(backend=backend):
                self.needs(backend)
                self.run_program("strace", "-qq", "-e", "signal=none", "-o", log, MANY, f"--syscost_csv={self.csv}",
                                 f"--syscost_backend={backend}", "--gtest_filter=Shapes.CallsThreeTimes", SYSCOST_MARKERS="1")
                with open(log, encoding="utf-8", errors="replace") as file:
                    text = file.read()
                inside = re.search(r'"syscost-begin test Shapes.*?\n(.*?)write\(-1, "syscost-end test Shapes', text, re.S).group(1)
                names = [line.split("(")[0] for line in inside.splitlines()]
                # A call that dispatch traps is a signal of the program's own, and strace shows its end.
                ours = ("rt_sigreturn",) if backend.startswith("dispatch") else ()
                self.assertEqual([name for name in names if name not in ours], ["getppid"] * 3)

    def test_strict_flags_of_a_users_main_still_decide(self):
        self.assertIn("Unknown command line flag", self.run_program(USER_MAIN, "--syscost_profile=syscalls", code=None).err)


if __name__ == "__main__":
    main()
