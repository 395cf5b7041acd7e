# SPDX-License-Identifier: MIT
"""syscost::Fault and syscost::Forbid in GoogleTest."""
import os
import re
import shutil
import subprocess

from adapter_case import BIN, DENY, Case, main, why_not

FAULTS = os.path.join(BIN, "adapter_faults")


class Faults(Case):
    def setUp(self):
        super().setUp()
        self.needs("dispatch")

    def test_all_hold_without_any_request(self):
        done = self.run_program(FAULTS, "--gtest_filter=Faults.*")
        self.assertIn("[  PASSED  ] 16 tests.", done.out)

    def test_all_hold_under_each_way_to_dispatch_and_with_lines(self):
        for flag in ("--syscost_backend=auto", "--syscost_backend=dispatch", "--syscost_backend=dispatch-trap", "--syscost_where",
                     f"--syscost_csv={self.csv}"):
            with self.subTest(flag):
                done = self.run_program(FAULTS, "--gtest_filter=Faults.*", "--syscost_quick", flag)
                self.assertIn("[  PASSED  ] 16 tests.", done.out)

    def test_auto_takes_dispatch(self):
        done = self.run_program(FAULTS, "--gtest_filter=Faults.Nest", "--syscost_backend=auto")
        self.assertIn("backend dispatch", done.err)

    def test_a_forbidden_call_is_a_failure_of_its_test(self):
        done = self.run_program(FAULTS, "--gtest_filter=Forbidden.*", code=1)
        self.assertIn('"lseek" is forbidden, and 2 calls were made:', done.out)
        line = r" at \S*forbidden_test.cc:\d+ .*\n"
        self.assertRegex(done.out, rf"lseek\(\d+, 5, SEEK_SET\){line}  lseek\(\d+, 6, SEEK_SET\){line}")
        self.assertRegex(done.out, rf"lseek\(\d+, 7, SEEK_CUR\){line}")
        self.assertRegex(done.out, r"lseek\(\d+, 8, SEEK_CUR\) at ")  # a tail call: its caller is on no stack
        self.assertIn("by: lseek(null_, 7, ", done.out)
        # The callers of calls with the same stack are shown once. GoogleTest 1.16 prints an empty line after a failure.
        opens = r"  openat\(AT_FDCWD, \"/dev/null\", O_RDONLY\|O_CLOEXEC\) at \S*faults_case.h:\d+ .*opens.*\n"
        self.assertRegex(done.out, rf"{opens}    from \S*forbidden_test.cc:\d+ .*TestBody.*\n{opens}{opens}\n?\[  FAILED")
        self.assertIn("[  FAILED  ] 4 tests", done.out)

    LINE = re.compile(r"^(\S+):(\d+): (?:Failure|Skipped)$", re.MULTILINE)

    def lines_of_failures(self, out):
        """The lines of source that GoogleTest names."""
        found = []
        for path, number in self.LINE.findall(out):
            with open(path, encoding="utf-8") as file:
                found.append(file.read().splitlines()[int(number) - 1].strip())
        return found

    def test_a_broken_promise_names_the_line_of_the_user(self):
        done = self.run_program(FAULTS, "--gtest_filter=Forbidden.*", code=1)
        self.assertNotIn("unknown file", done.out)
        self.assertEqual(self.lines_of_failures(done.out),
                         ['syscost::Forbid forbid("lseek");', 'EXPECT_NO_SYSCALLS("%file,lseek", lseek(null_, 7, SEEK_CUR));',
                          'syscost::Forbid forbid("openat");', 'syscost::Forbid forbid("lseek", syscost::Reach::process);'])

    def test_a_fault_that_cannot_be_names_its_line(self):
        done = self.run_program(FAULTS, "--gtest_filter=Refused.*", code=1)
        self.assertNotIn("unknown file", done.out)
        lines = self.lines_of_failures(done.out)
        self.assertEqual(len(lines), 12)
        self.assertEqual([line for line in lines if not line.startswith("syscost::Fault fault(")], [])

    def test_a_test_that_is_skipped_names_its_own_line(self):
        done = self.run_program(FAULTS, "--gtest_filter=Faults.Nest", "--syscost_backend=ebpf", CI="", code=None)
        self.assertNotIn("unknown file", done.out)
        for line in self.lines_of_failures(done.out):
            self.assertRegex(line, r"^(syscost::F|TEST)")

    def test_the_line_is_named_under_each_backend_with_and_without_where(self):
        for flags in ((), ("--syscost_where",), ("--syscost_backend=dispatch-trap",)):
            with self.subTest(flags):
                done = self.run_program(FAULTS, "--gtest_filter=Forbidden.ByAScope", *flags, code=1)
                self.assertRegex(done.out, r"lseek\(\d+, 5, SEEK_SET\) at \S*forbidden_test.cc:\d+ ")

    def test_lines_of_forbidden_calls_are_in_no_row(self):
        self.run_program(FAULTS, "--gtest_filter=Forbidden.*", f"--syscost_csv={self.csv}", code=1)
        self.assertEqual({row["detail"] for row in self.rows(kind="test", record="syscall", syscall="lseek")}, {""})

    def flags(self, *flags, code=0):
        return self.run_program(FAULTS, "--gtest_filter=Flags.*", f"--syscost_csv={self.csv}", *flags, code=code)

    def test_injected_calls_of_each_test_fail_in_the_words_of_strace(self):
        failed = "-1:13"
        good = "0:0"
        for text, expected in (("lseek:EACCES:3", [good, good, failed, good, good, good, "thread"]),
                               ("lseek:error=EACCES:when=3", [good, good, failed, good, good, good, "thread"]),
                               ("lseek:error=13:when=5+", [good] * 4 + [failed] * 2 + ["thread"]),
                               ("lseek:error=13:nth=5+", [good] * 4 + [failed] * 2 + ["thread failed"]),
                               ("lseek:EACCES:1", [failed] + [good] * 5 + ["thread failed"]),
                               ("lseek:EACCES:nth=1", [failed] + [good] * 5 + ["thread"]),
                               ("lseek:EACCES:2+3", [good, failed, good, good, failed, good, "thread"]),
                               ("lseek:EACCES:2..4", [good] + [failed] * 3 + [good] * 2 + ["thread"]),
                               ("lseek:EACCES:1..6+2", [failed, good] * 3 + ["thread failed"]),
                               ("lseek:EACCES", [failed] * 6 + ["thread failed"]),
                               ("lseek:retval=0x20:when=2", [good, "32:0"] + [good] * 4 + ["thread"]),
                               ("lseek:delay_enter=1ms:delay_exit=500:when=1", [good] * 6 + ["thread"]),
                               ("lseek:EACCES:1;lseek:EIO:2", [failed, good, "-1:5", good, good, good, "thread failed"]),
                               ("lseek:EACCES:3:path=/dev/null:kind=char", [good, good, failed, good, good, good, "thread"]),
                               ("lseek:EACCES:below=/dev/shm", [good] * 6 + ["thread"]),
                               ("lseek:EACCES:kind=file", [good] * 6 + ["thread"]),
                               ("lseek:EACCES:fd=1000", [good] * 6 + ["thread"]),
                               ("%desc,!read:EACCES:chance=0", [good] * 6 + ["thread"])):
            with self.subTest(text):
                done = self.flags(f"--syscost_inject={text}")
                for name in ("one", "two"):
                    self.assertIn(" ".join([name, *expected]) + "\n", done.out)
                self.assertIn("backend dispatch", done.err)

    def test_rows_have_the_injected_errors_and_the_run_says_how_many(self):
        done = self.flags("--syscost_inject=lseek:EACCES:nth=2+")
        self.assertIn("syscost: inject lseek:EACCES:nth=2+: 12 of 14 calls were hit", done.err)
        for row in self.rows(kind="test", record="syscall", syscall="lseek"):
            self.assertEqual((row["calls"], row["errors"], row["errnos"]), ("7", "6", "EACCES:6"))
        done = self.flags("--syscost_inject=socket:EACCES")
        self.assertIn("syscost: inject socket:EACCES: no test made such a call", done.err)

    def test_results_and_counts_are_those_of_strace(self):
        if shutil.which("strace") is None or subprocess.run(["strace", "-o", "/dev/null", "true"], check=False).returncode != 0:
            self.skipTest("strace cannot trace here")
        test = (FAULTS, "--gtest_filter=Oracle.EachCallThreeTimes")

        def calls(done):
            return [line for line in done.out.splitlines() if line.startswith("call ")]
        names = [line.split()[1] for line in calls(self.run_program(*test))]
        self.assertGreaterEqual(len(names), 60)
        # Calls that start-up makes, too: strace's `when` counts from the start of the program.
        from_start = {"getppid", "getdents64", "rt_sigaction", "sigaltstack", "chdir", "lseek", "getrusage", "statfs"}
        rare = ",".join(name for name in names if name not in from_start)
        for backend in ("dispatch", "dispatch-trap", "seccomp"):
            if why_not(backend):
                continue
            for word in ("error=EXDEV", "error=EINTR", "error=EAGAIN:when=2", "error=ENOSPC:when=2+", "retval=5:when=1..3+2"):
                with self.subTest(word, backend=backend):
                    chosen = rare if "when" in word else ",".join(name for name in names if name != "rt_sigaction")
                    oracle = self.run_program("strace", "-f", "-o", "/dev/null", "-e", f"inject={chosen}:{word}", *test,
                                              "--syscost_backend=none")  # a backend makes calls of its own when it opens
                    if os.path.exists(self.csv):
                        os.remove(self.csv)
                    ours = self.run_program(*test, f"--syscost_backend={backend}", f"--syscost_inject={chosen}:{word}",
                                            f"--syscost_csv={self.csv}")
                    self.assertEqual(calls(ours), calls(oracle))
                    rows = {row["syscall"]: row for row in self.rows(kind="test", record="syscall")}
                    for line in calls(oracle):
                        _, name, *results = line.split()
                        failed = sum(result.startswith("-1:") and result != "-1:0" for result in results)
                        if name == "getppid":  # it prints no result
                            continue
                        if backend == "seccomp":  # it sees no result of a call that is made
                            self.assertEqual((name, rows[name]["entries"]), (name, "3"))
                            continue
                        self.assertEqual((name, rows[name]["calls"], rows[name]["errors"]), (name, "3", str(failed)))

    def test_each_thread_has_numbers_of_its_own_as_in_strace(self):
        if shutil.which("strace") is None or subprocess.run(["strace", "-o", "/dev/null", "true"], check=False).returncode != 0:
            self.skipTest("strace cannot trace here")
        test = (FAULTS, "--gtest_filter=Oracle.CallsOfThreads")

        def threads(done):
            return [line for line in done.out.splitlines() if line.startswith("thread ")]
        for when in ("1", "2", "5", "6", "2+", "3+2", "2..4", "1..5+3"):
            inject = f"getpgid,dup,umask:error=EXDEV:when={when}"
            oracle = threads(self.run_program("strace", "-f", "-o", "/dev/null", "-e", f"inject={inject}", *test,
                                              "--syscost_backend=none"))
            self.assertEqual(len(oracle), 6)
            self.assertEqual(len({line.split(" ", 2)[2] for line in oracle}), 1, "strace counts each thread by itself")
            for backend in ("dispatch", "dispatch-trap"):
                with self.subTest(when, backend=backend):
                    ours = self.run_program(*test, f"--syscost_backend={backend}", f"--syscost_inject={inject}")
                    self.assertEqual(threads(ours), oracle)

    def test_the_environment_asks_too(self):
        done = self.run_program(FAULTS, "--gtest_filter=Flags.One", SYSCOST_INJECT="lseek:EIO:1")
        self.assertIn("one -1:5 0:0", done.out)

    def test_a_forbidden_call_fails_each_test_that_makes_it(self):
        done = self.flags("--syscost_forbid=lseek", code=1)
        self.assertEqual(done.out.count('"lseek" is forbidden, and 7 calls were made:'), 2)
        self.assertIn("[  FAILED  ] 2 tests", done.out)
        self.assertEqual({row["outcome"] for row in self.rows(kind="test", record="test")}, {"failed"})
        self.assertEqual({row["calls"] for row in self.rows(kind="test", record="syscall", syscall="lseek")}, {"7"})
        self.flags("--syscost_forbid=%network")

    def test_bad_values_and_other_backends_are_refused(self):
        for value, reason in (("write", "does not say what happens"), ("wriet:EIO", "wriet"), ("write:EFOO", "neither an errno"),
                              ("write:EIO:0", "neither"), ("write:error=0", "names no errno"), ("write:when=1", "does not say"),
                              ("write:EIO:when=3..2", "is not FIRST"), ("write:signal=SIGTERM", "does not have"),
                              ("exit_group:EIO", "cannot fail"), ("write,exit_group:EIO:99", "cannot fail"), ("write:EIO:path=/", "all files"), ("write:shorten=0", "from 1 on"),
                              ("*:EIO:2", "faults, and 127 can be open"), ("getppid:EIO:kind=file", "has a file"), ("", "")):
            with self.subTest(value):
                done = self.flags(f"--syscost_inject={value}", code=2)
                self.assertIn("--syscost_inject", done.err)
                self.assertIn(reason, done.err)
        for flag, other in (("--syscost_backend=ebpf", "cannot make one fail"), ("--syscost_backend=none", "makes no calls"), ("--syscost_children", "dispatch ends in a child"),
                            ("--syscost_backend=ebpf", "--syscost_backend dispatch or seccomp")):
            with self.subTest(flag):
                self.assertIn(other, self.flags("--syscost_inject=write:EIO", flag, code=2).err)

    def test_seccomp_makes_calls_fail_where_dispatch_is_denied(self):
        self.needs("seccomp")
        without_dispatch = (DENY, "EPERM", "dispatch")
        done = self.run_program(*without_dispatch, FAULTS, "--gtest_filter=Faults.*", "--syscost_backend=auto")
        self.assertIn("backend seccomp", done.err)
        self.assertIn("not dispatch: ", done.err)
        self.assertEqual(set(re.findall(r"\[  SKIPPED \] Faults\.(\w+) ", done.out)),
                         {"AreCountedAsCalls", "ShortenAndDelay", "DoNotHitSyscost", "OfAFile"})
        self.assertNotIn("[  FAILED  ]", done.out)
        done = self.run_program(*without_dispatch, FAULTS, "--gtest_filter=Flags.*", "--syscost_inject=lseek:EACCES:2..3",
                                f"--syscost_csv={self.csv}")
        for row in self.rows(kind="test", record="syscall", syscall="lseek"):
            self.assertEqual((row["entries"], row["calls"], row["injected"]), ("7", "", "2"))
        self.assertIn("one 0:0 -1:13 -1:13 0:0 0:0 0:0 thread\n", done.out)
        self.assertIn("syscost: inject lseek:EACCES:2..3: 4 of 14 calls were hit", done.err)
        done = self.run_program(*without_dispatch, FAULTS, "--gtest_filter=Flags.*", "--syscost_forbid=lseek", code=1)
        self.assertEqual(done.out.count('"lseek" is forbidden, and 7 calls were made:'), 2)
        self.assertRegex(done.out, r"lseek\(\d+, 0, SEEK_CUR\)\n")
        self.assertIn("without lines: backend dispatch alone finds them", done.out)

    def test_seccomp_refuses_what_another_process_cannot_do(self):
        self.needs("seccomp")
        for word, reason in (("shorten=1", "cannot shorten"), ("after=5:EIO", "how many bytes"), ("delay_exit=5", "the end of a call"),
                             ("EIO:path=/dev/null", "which file"), ("EIO:kind=file", "which file"), ("error=512", "the kernel's own")):
            with self.subTest(word):
                done = self.flags(f"--syscost_inject=write:{word}", "--syscost_backend=seccomp", code=2)
                self.assertIn(f"--syscost_inject write:{word}: ", done.err)
                self.assertIn(reason, done.err)
                done = self.run_program(DENY, "EPERM", "dispatch", FAULTS, "--gtest_filter=Flags.*", f"--syscost_inject=write:{word}",
                                        code=2)
                self.assertIn("no backend can make calls fail here; dispatch: ", done.err)
                self.assertIn(reason, done.err)
        done = self.flags("--syscost_inject=brk:ENOMEM", "--syscost_backend=seccomp", code=2)
        self.assertIn("names brk, which cannot fail", done.err)
        done = self.run_program(FAULTS, "--gtest_filter=Faults.OfAFile", "--syscost_backend=seccomp", code=1, CI="1")
        self.assertIn("does not see which file", done.out)

    def test_seccomp_makes_calls_fail_and_counts_children(self):
        self.needs("seccomp")
        done = self.flags("--syscost_inject=lseek:EACCES:2", "--syscost_backend=seccomp", "--syscost_children")
        self.assertIn("one 0:0 -1:13 0:0", done.out)

    def test_a_fault_that_stays_does_not_hit_what_syscost_writes(self):
        done = self.run_program(FAULTS, "--gtest_filter=Stays.*", f"--syscost_csv={self.csv}")
        self.assertEqual([row["outcome"] for row in self.rows(kind="test", record="test")], ["passed"])
        self.assertIn("still open 28", done.out)

    def test_mistakes_fail_everywhere(self):
        done = self.run_program(FAULTS, "--gtest_filter=Refused.*", code=1)
        self.assertIn("[  FAILED  ] 12 tests", done.out)
        for reason in ("is negative, or longer than an hour", "names exit_group, which cannot fail", "wriet", "0 is no errno", "-28 is no errno", "without the sign",
                       "-5000 is no result of a call", "no call that is selected can be shortened", "reads or writes any", "numbered from 1 on", "shortened to 0 bytes",
                       "no call that is selected has a file", "is no path of a fault"):
            self.assertIn(reason, done.out)

    def test_a_backend_that_cannot_refuse_skips_or_fails_the_test_and_ends_it(self):
        for backend in ("ebpf", "none"):
            with self.subTest(backend):
                if backend == "ebpf":
                    self.needs("ebpf")
                command = (FAULTS, "--gtest_filter=Faults.FailTheThirdWrite", f"--syscost_backend={backend}")
                skipped = self.run_program(*command)
                self.assertIn("[  SKIPPED ] 1 test", skipped.out)
                failed = self.run_program(*command, code=1, CI="1")
                self.assertIn("[  FAILED  ] 1 test", failed.out)
                if backend == "ebpf":
                    self.assertIn("backend ebpf only counts calls, and cannot make one fail or forbid it", failed.out)
                    self.assertIn("--syscost_backend dispatch", failed.out)
                # It did not go on: its expectations would have failed.
                self.assertNotIn("fault.matches()", skipped.out + failed.out)


class FaultsUnderSanitizers(Case):
    """The same programs with a sanitizer in them; the library has none."""
    def setUp(self):
        super().setUp()
        self.needs("dispatch")

    def of_each_program(self, name, check):
        """Calls check(program) for each sanitizer that the build has."""
        for sanitizer in ("address", "undefined", "thread"):
            program = os.path.join(BIN, f"adapter_{name}_{sanitizer}")
            if os.path.exists(program):
                with self.subTest(sanitizer):
                    check(program)

    def test_faults_hold(self):
        def check(program):
            for backend in ("dispatch", "dispatch-trap"):
                done = self.run_program(program, "--gtest_filter=Faults.*", f"--syscost_backend={backend}")
                self.assertIn("[  PASSED  ] 16 tests.", done.out)
        self.of_each_program("faults", check)

    def test_forbidden_calls_fail_their_tests_with_lines(self):
        def check(program):
            done = self.run_program(program, "--gtest_filter=Forbidden.*", code=1)
            self.assertIn("[  FAILED  ] 4 tests", done.out)
            self.assertRegex(done.out, r"lseek\(\d+, 5, SEEK_SET\) at \S*forbidden_test.cc:\d+ ")
        self.of_each_program("faults", check)

    def test_failures_are_tried_in_children(self):
        def check(program):
            done = self.run_program(program, "--gtest_filter=Failures.*")
            self.assertIn("[  PASSED  ]", done.out)
        self.of_each_program("failures", check)

    def test_states_after_power_cuts_are_the_same(self):
        def check(program):
            done = self.run_program(program, "--gtest_filter=Crashes.*")
            self.assertIn("[  PASSED  ]", done.out)
        self.of_each_program("crash", check)


if __name__ == "__main__":
    main()
