# SPDX-License-Identifier: MIT
"""`bench run` below programs that change the environment, with programs that it cannot enter, and with unusual tests."""
import os
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "adapters"))
from adapter_case import BIN, MANY, NO_CAPABILITIES, PLAIN, main  # noqa: E402
from run_case import CALM, STATIC_SHAPES, RunCase  # noqa: E402

EXECUTES = os.path.join(BIN, "agent_executes")
STATIC = os.path.join(BIN, "agent_static")
ODD, ODD_PLAIN = os.path.join(BIN, "agent_odd"), os.path.join(BIN, "agent_odd_plain")
WAYS = ("execve execv execvp execvpe execl execlp execle fexecve execveat posix_spawn posix_spawnp vfork replaced twice null").split()
ONE_TEST = "--gtest_filter=WithFixture.One"


class Below(RunCase):
    def test_a_cleared_environment_gets_back_what_measures(self):
        for way in WAYS:
            with self.subTest(way=way):
                self.bench_run("--tests", f"--csv={self.csv}", "--", EXECUTES, way, PLAIN, ONE_TEST)
                self.assertEqual(self.getppids(), {"WithFixture.One": 14})
                os.remove(self.csv)

    def test_env_with_no_environment(self):
        self.bench_run(f"--csv={self.csv}", "--", "env", "-i", "A=1", "sh", "-c", f"test $A = 1 && env -i {PLAIN} {ONE_TEST}")
        self.assertEqual(self.getppids(), {"WithFixture.One": 14})

    def test_however_many_variables_have_our_prefix(self):
        others = {f"_SYSCOST_OTHER_{number}": "1" for number in range(300)}
        self.bench_run(f"--csv={self.csv}", "--", "env", "-i", PLAIN, ONE_TEST, **others)
        self.assertEqual(self.getppids(), {"WithFixture.One": 14})

    def test_below_programs_that_start_another_one(self):
        for starter in (["setpriv", "--no-new-privs"], ["ionice", "-c3"], ["chrt", "-o", "0"], ["strace", "-f", "-o", "/dev/null"]):
            if not shutil.which(starter[0]):
                continue
            with self.subTest(starter=starter):
                self.bench_run(f"--csv={self.csv}", "--", *starter, PLAIN, ONE_TEST)
                self.assertEqual(self.getppids(), {"WithFixture.One": 14})
                os.remove(self.csv)

    def test_a_test_sees_its_own_environment_and_our_options(self):
        def seen(done):
            return set(re.findall(r"^variable (.*)$", done.out, re.MULTILINE))
        for program in filter(os.path.exists, (PLAIN, MANY, STATIC_SHAPES)):
            for asan in ("", "detect_leaks=0", "verify_asan_link_order=1:a=b"):
                with self.subTest(program=program, asan=asan):
                    if program == STATIC_SHAPES:
                        self.needs_static_programs()
                    theirs = {"SYSCOST_TEST_ENVIRONMENT": "1", **({"ASAN_OPTIONS": asan} if asan else {})}
                    alone = seen(self.run_program(program, ONE_TEST, **theirs))
                    self.assertIn("SYSCOST_TEST_ENVIRONMENT=1", alone)
                    done = self.bench_run("--tests", f"--csv={self.csv}", "--allow_lost", "--", program, ONE_TEST, **theirs)
                    more = seen(done) - alone
                    self.assertEqual(alone - seen(done), set())
                    self.assertEqual({one.split("=")[0] for one in more},
                                     {"SYSCOST_CSV", "SYSCOST_ALLOW_LOST", "SYSCOST_RUN_ID", "SYSCOST_INTERNAL_BENCH_RUNS",
                                      "SYSCOST_INTERNAL_BENCH_OUTPUT"})

    def test_an_empty_environment_stays_empty_but_for_ours(self):
        done = self.bench_run("--tests", "--csv", self.csv, "--", "env", "-i", "A=1", "env", code=1)
        names = {line.split("=", 1)[0] for line in done.out.splitlines()}
        self.assertEqual({name for name in names if "SYSCOST" not in name}, {"A", "LD_PRELOAD", "ASAN_OPTIONS"})

    def test_what_a_test_starts_is_not_measured(self):
        for program in (ODD_PLAIN, ODD):
            self.bench_run(f"--csv={self.csv}", "--", program, "--gtest_filter=Children.*")
            self.assertEqual({row["test"] for row in self.rows(kind="test", record="test")},
                             {"Children.AreTheirOwn", "Children.AreNotMeasuredEither"})
            os.remove(self.csv)


class OutOfReach(RunCase):
    def test_a_static_program_below_a_shell_is_named(self):
        line = f"{STATIC}; {STATIC}; {PLAIN} {ONE_TEST}"
        done = self.bench_run(f"--csv={self.csv}", "--", "sh", "-c", line)
        self.assertEqual(done.err.count(f"not measured: {STATIC} is linked statically"), 1)
        self.assertEqual(self.getppids(), {"WithFixture.One": 14})

    def test_it_is_named_where_nothing_else_was_measured(self):
        done = self.bench_run("--", "sh", "-c", f"env -i {STATIC}; true", code=1)
        self.assertIn(f"not measured: {STATIC} is linked statically", done.err)
        self.assertIn("no program below sh reported a test", done.err)

    def test_it_is_found_in_path(self):
        shutil.copy(STATIC, os.path.join(self.folder, "my_static_tests"))
        done = self.bench_run("--", "env", "my_static_tests", code=1, PATH=f"/none:{self.folder}:{os.environ['PATH']}")
        self.assertIn("my_static_tests is linked statically", done.err)

    @unittest.skipUnless(os.path.exists(STATIC_SHAPES), "not built: GoogleTest's library is none that links statically")
    def test_a_program_that_is_executed_by_a_descriptor_is_measured_or_named(self):
        script = ("import ctypes, os, sys\n"
                  "fd = os.memfd_create('my_tests', int(sys.argv[2]))\n"
                  "with open(fd, 'wb', closefd=False) as file: file.write(open(sys.argv[3], 'rb').read())\n"
                  "arguments = ['my_tests', sys.argv[4]]\n"
                  "if sys.argv[1] == 'path': os.execve(f'/proc/self/fd/{fd}', arguments, os.environ)\n"
                  "if sys.argv[1] == 'fexecve': os.execve(fd, arguments, os.environ)\n"
                  "texts = (ctypes.c_char_p * 3)(*(one.encode() for one in arguments), None)\n"
                  "environ = (ctypes.c_char_p * (len(os.environ) + 1))(*(f'{k}={v}'.encode() for k, v in os.environ.items()), None)\n"
                  "ctypes.CDLL(None).execveat(fd, b'', texts, environ, 0x1000)\n")
        for way in ("path", "fexecve", "execveat"):
            for flags in (0, os.MFD_CLOEXEC):
                with self.subTest(way=way, flags=flags):
                    command = (f"--csv={self.csv}", "--tests", "--", sys.executable, "-c", script, way, str(flags), STATIC_SHAPES, ONE_TEST)
                    if flags:
                        done = self.bench_run(*command, code=1)
                        self.assertIn("not measured: /memfd:my_tests (deleted) is linked statically and executed by a descriptor", done.err)
                    else:
                        done = self.run_below(["/memfd:my_tests (deleted)"], *command)
                        self.assertEqual(self.getppids(), {"WithFixture.One": 14})
                        os.remove(self.csv)
                    self.assertIn("[  PASSED  ] 1 test", done.out)

    def test_its_name_changes_no_terminal(self):
        program = os.path.join(self.folder, "\x1b[31mP\x1b]0;x\a\u202e")
        shutil.copy(STATIC, program)
        done = self.bench_run("--", "env", program, code=1)
        self.assertIn(r"\x1b[31mP\x1b]0;x\x07\u202e is linked statically", done.err)
        self.assertNotIn("\x1b", done.err)

    @unittest.skipUnless(NO_CAPABILITIES, "needs root, to become an ordinary user")
    def test_a_set_uid_program_is_named(self):
        program = self.copy_of(PLAIN)
        os.chmod(program, 0o4755)
        done = self.run_program(*NO_CAPABILITIES, "-c", f"{os.path.join(BIN, 'bench')} run -- sh -c '{program} {ONE_TEST}; true'",
                                code=1)
        self.assertIn("set-uid", done.err)

    def test_nothing_is_left(self):
        self.bench_run(f"--csv={self.csv}", "--", "sh", "-c", f"{STATIC}; {PLAIN} {ONE_TEST}", TMPDIR=self.folder)
        # A folder that no other user can write to stays, so that no other user can make one of its name.
        own = os.path.join(self.folder, f"syscost-{os.geteuid()}")
        left = os.listdir(own) if os.path.exists(own) else []
        self.assertEqual((sorted(set(os.listdir(self.folder)) - {os.path.basename(own)}), left), (["out.csv"], []))


class Odd(RunCase):
    def test_unusual_tests_have_the_rows_of_the_linked_program(self):
        self.compare_with_linked(ODD_PLAIN, "--gtest_filter=-Children.AreNotMeasuredEither", linked=ODD)

    def test_also_where_set_ups_and_constructors_fail(self):
        self.compare_with_linked(ODD_PLAIN, "--gtest_filter=SetUpFails.*:Throws*", linked=ODD, code=1, SYSCOST_TEST_FAIL="1")

    @unittest.skipUnless(shutil.which("strip"), "needs strip (Debian: binutils)")
    def test_shards_and_repetitions(self):
        program = self.copy_of(PLAIN, "strip")
        self.compare_with_linked(program, CALM, "--gtest_repeat=2", GTEST_TOTAL_SHARDS="3", GTEST_SHARD_INDEX="1")

    def test_a_program_below_the_limit_of_locked_memory_may_lock_all_of_it(self):
        only = "--gtest_filter=Locks.AllMemory"
        alone = self.run_program(ODD_PLAIN, only, code=None, SYSCOST_TEST_LOCKS="1")
        if "[  PASSED  ] 1 test" not in alone.out:
            self.skipTest("the program alone may not lock its memory here")
        for backend in ("dispatch", "dispatch-trap", "seccomp", "ebpf"):
            for program in (ODD_PLAIN, ODD):
                with self.subTest(backend=backend, program=program):
                    self.needs(backend)
                    run = (f"--backend={backend}", f"--csv={self.csv}", "--", program, only)
                    if backend.startswith("dispatch"):
                        self.assertNotIn("void", self.bench_run(*run, SYSCOST_TEST_LOCKS="1").err)
                    else:
                        done = self.bench_run(*run, code=1, SYSCOST_TEST_LOCKS="1")
                        self.assertIn("the counts of test Locks.AllMemory are void: mlockall() failed because of syscost's memory", done.err)

    def test_a_list_of_tests_is_as_alone(self):
        alone = self.run_program(PLAIN, "--gtest_list_tests")
        done = self.bench_run("--csv", self.csv, "--", PLAIN, "--gtest_list_tests", code=None)
        self.assertEqual(done.out, alone.out)

    def test_a_text_of_googletest_does_not_make_a_test_program(self):
        library = os.path.join(self.folder, "libtext.so")
        with open(os.path.join(self.folder, "text.c"), "w", encoding="utf-8") as file:
            file.write('#include <stdio.h>\nint main(void) { puts("[ RUN      ] A.B"); return 3; }\n')
        if not shutil.which("cc"):
            self.skipTest("needs a C compiler")
        subprocess.run(["cc", "-o", library, os.path.join(self.folder, "text.c")], check=True)
        done = self.bench_run("--csv", self.csv, "--", library, code=3)
        self.assertEqual(done.out, "[ RUN      ] A.B\n")
        self.assertIn("reported a test", done.err)


if __name__ == "__main__":
    main(MANY)
