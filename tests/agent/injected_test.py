# SPDX-License-Identifier: MIT
"""`bench run` with programs into which nothing can be preloaded: static ones have the rows of the linked program, and see
nothing of syscost in their process."""
import os
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "adapters"))
from adapter_case import BIN, DENY, NO_CAPABILITIES, main, why_not  # noqa: E402
from run_case import BENCH, STATIC_SHAPES, RunCase  # noqa: E402

STATIC, PIE = STATIC_SHAPES, os.path.join(BIN, "agent_static_pie_shapes")
INJECTED = os.path.join(BIN, "agent_injected")
ONE_TEST = "--gtest_filter=WithFixture.One"


@unittest.skipUnless(os.path.exists(STATIC), "not built: it needs x86-64, and static libraries of C, C++ and GoogleTest")
class InjectedCase(RunCase):
    pass


class Rows(InjectedCase):
    def compare(self, *programs, backends=("ebpf", "dispatch", "dispatch-trap", "seccomp")):
        for program in programs:
            for backend in backends:
                with self.subTest(program=program, backend=backend):
                    self.needs_static_programs()
                    self.needs(backend)
                    self.compare_with_linked(program, SYSCOST_BACKEND=backend)
                    os.remove(self.csv)

    def test_a_static_program_has_the_rows_of_the_linked_one(self):
        self.compare(STATIC)

    def test_also_where_it_may_lie_anywhere(self):
        self.compare(PIE, backends=("ebpf", "dispatch"))

    @unittest.skipUnless(shutil.which("strip"), "needs strip (Debian: binutils)")
    def test_also_stripped(self):
        for program in (STATIC, PIE):
            self.compare(self.copy_of(program, "strip"), backends=("dispatch",))

    @unittest.skipUnless(NO_CAPABILITIES, "needs root, to become an ordinary user")
    def test_also_for_an_ordinary_user(self):
        self.needs_static_programs()
        self.check_as_ordinary_user(STATIC)

    def test_the_run_says_the_programs_own_name_and_build(self):
        self.needs_static_programs()
        self.bench_run(f"--csv={self.csv}", "--", STATIC, ONE_TEST)
        [run] = self.rows(kind="run", window="begin")
        self.assertEqual(run["program"], "agent_static_shapes")
        if shutil.which("readelf"):
            notes = subprocess.run(["readelf", "-n", STATIC], capture_output=True, text=True, check=True).stdout
            self.assertIn(run["build_id"], notes)

    def test_the_output_and_the_verdict_are_the_programs_own(self):
        self.needs_static_programs()
        self.check_output_and_verdict(STATIC, SYSCOST_TEST_FAIL="1")


class Starts(InjectedCase):
    def test_below_ctest_and_shells_and_without_an_environment(self):
        self.check_below_ctest(f"{STATIC} --gtest_filter=Shapes.CallsThreeTimes", f'sh -c "env -i {PIE} {ONE_TEST}"',
                               static=(STATIC, PIE))

    def test_each_way_to_execute_it(self):
        for way in "execve execvp execl posix_spawn posix_spawnp vfork null nofollow empty folder".split():
            with self.subTest(way=way):
                # No helper has to start for these.
                backend, column = ("seccomp", "entries") if why_not("dispatch") else ("dispatch", "calls")
                self.run_below([STATIC], "--tests", f"--backend={backend}", f"--csv={self.csv}", "--",
                               os.path.join(BIN, "agent_executes"), way, STATIC, ONE_TEST)
                self.assertEqual(self.getppids(column=column), {"WithFixture.One": 14})
                os.remove(self.csv)

    def test_it_is_found_in_path(self):
        shutil.copy(STATIC, os.path.join(self.folder, "my_static_tests"))
        os.makedirs(os.path.join(self.folder, "a_folder", "my_static_tests"))
        path = f"/none:{self.folder}/a_folder:{self.folder}:{os.environ['PATH']}"
        for command in (["my_static_tests", ONE_TEST], ["env", "my_static_tests", ONE_TEST]):
            with self.subTest(command):
                if command[0] == "env":
                    self.run_below([os.path.join(self.folder, "my_static_tests")], f"--csv={self.csv}", "--", *command, PATH=path)
                else:
                    self.needs_static_programs()
                    self.bench_run(f"--csv={self.csv}", "--", *command, PATH=path)
                self.assertEqual(self.getppids(), {"WithFixture.One": 14})
                os.remove(self.csv)


class Process(InjectedCase):
    def test_sees_nothing_of_us(self):
        alone = self.run_program(INJECTED)
        for backend in ("ebpf", "dispatch", "seccomp"):
            with self.subTest(backend=backend):
                self.needs_static_programs()
                self.needs(backend)
                done = self.bench_run(f"--csv={self.csv}", "--backend", backend, "--", INJECTED)
                self.assertEqual(done.out.count("[       OK ]"), alone.out.count("[       OK ]"))
                calls = {row["test"]: int(row["calls"] or row["entries"])
                         for row in self.rows(kind="test", record="syscall", syscall="getppid")}
                self.assertEqual(calls, {"Tests.ThreadsMakeResults": 8, "Tests.AChildEndsByItself": 11})
                self.assertEqual(self.rows(kind="test", record="syscall", syscall="rt_sigprocmask", test="Tests.AListenerMayThrow"), [])
                os.remove(self.csv)

    def test_a_test_that_ends_the_process_has_a_row(self):
        self.needs_static_programs()
        done = self.bench_run(f"--csv={self.csv}", "--", INJECTED, "--gtest_also_run_disabled_tests", "--gtest_filter=*EndsTheProcess",
                              code=4)
        self.assertEqual(self.getppids(), {"Tests.DISABLED_EndsTheProcess": 9})
        self.assertIn("was ended by the end of the process", done.err)


class Denied(InjectedCase):
    def test_a_traced_command_is_refused_before_it_runs(self):
        if not shutil.which("strace"):
            self.skipTest("needs strace")
        done = self.run_program("strace", "-f", "-qq", "-o", "/dev/null", BENCH, "run", "--", STATIC, ONE_TEST, code=2)
        self.assertEqual(done.out, "")
        self.needs_static_programs()  # where they cannot be measured anyway, another reason is told
        self.assertIn("a process has one tracer", done.err)

    @unittest.skipUnless(os.path.exists(DENY), "not built: it needs libseccomp")
    def test_a_filter_that_denies_it(self):
        done = self.run_program(DENY, "EPERM", "ptrace", BENCH, "run", "--", STATIC, ONE_TEST, code=2)
        self.assertEqual(done.out, "")
        self.needs_static_programs()
        self.assertIn("a seccomp filter denies ptrace", done.err)

    def test_below_a_shell_it_runs_and_is_named(self):
        if not shutil.which("strace"):
            self.skipTest("needs strace")
        done = self.run_program("strace", "-f", "-qq", "-o", "/dev/null", BENCH, "run", "--", "sh", "-c", f"{STATIC} {ONE_TEST}; true",
                                code=1)
        self.assertIn("[  PASSED  ] 1 test.", done.out)
        self.assertIn(f"not measured: {STATIC}", done.err)

    def test_a_program_below_a_debugger_runs_and_is_named(self):
        if not shutil.which("gdb"):
            self.skipTest("needs gdb")
        done = self.bench_run("--", "gdb", "-batch", "-nx", "-ex", "run", "--args", STATIC, ONE_TEST, code=1)
        self.assertIn("[  PASSED  ] 1 test.", done.out)
        self.assertIn(f"not measured: {STATIC}", done.err)
        self.needs_static_programs()
        self.assertIn("a debugger or strace traces it", done.err)

    def test_a_set_uid_program_is_refused(self):
        self.assertIn("set-uid", self.bench_run("--", self.set_uid_copy_of(STATIC), code=2).err)


if __name__ == "__main__":
    main()
