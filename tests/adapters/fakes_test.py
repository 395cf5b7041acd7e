#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs that define libc's functions themselves: fakes_test.py BIN [CLASS...]

adapter_fakes (linked with syscost), adapter_fakes_plain and libadapter_fakes.so define some hundred and twenty functions under libc's names
(programs/fakes.cc). Each counts its calls. With every one of them switched on, all rows must be there and right, the exit code must be that of
the program alone, and each function must have been called as often as without us: by the tests, and by nothing of ours.
"""
import os
import re
import shutil
import signal
import subprocess

from adapter_case import AUTOMATIC, BIN, OUR_MAIN, Case, environment, main

BENCH = os.path.join(BIN, "bench")
LINKED = os.path.join(BIN, "adapter_fakes")
PLAIN = os.path.join(BIN, "adapter_fakes_plain")
# The same tests, with the fakes in a library: it is preloaded.
UNFAKED = os.path.join(BIN, "adapter_unfaked")
LIBRARY = os.path.join(BIN, "libadapter_fakes.so")
CLOCK_BACK = os.path.join(BIN, "adapter_clock_back")
ROWS = {"Before.One": 1, "Fake.One": 2, "Fake.Two": 3, "After.One": 1}
# With one of these from its start on, the program ends or says nothing by itself.
ENDS_THE_PROGRAM = {"pthread_once"}


def names():
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs", "fakes.cc")
    with open(source, encoding="utf-8") as file:
        return re.findall(r"^FAKE(?:_OF_LIBC)?\(\s*[\w *]+,\s*(\w+),", file.read(), re.MULTILINE)


def calls(output):
    return dict(re.findall(r"^called (\w+): (\d+)$", output, re.MULTILINE))


class Fakes(Case):
    """One of the ways in which a test program can be measured; the tests of a class are one for each backend."""

    def check(self, backend, command, alone, **variables):
        if os.path.exists(self.csv):
            os.remove(self.csv)
        bare = self.run_program(*alone, code=None, **variables)
        code = 128 - bare.code if bare.code < 0 and command[0] == BENCH else bare.code  # a signal, as a shell says it
        done = self.run_program(*command, code=code, **variables)
        count = "entries" if backend == "seccomp" else "calls"
        rows = self.rows(kind="test", record="syscall", syscall="getppid")
        self.assertEqual({row["test"]: int(row[count]) for row in rows}, ROWS, done.err)
        self.assertEqual(calls(done.out), calls(bare.out), "functions of libc's names, called with and without us")

    def bench_run(self, backend, program):
        return [BENCH, "run", "--backend", backend, "--csv", self.csv, "--", program]


def for_each_backend(check):
    """A class of which each test is check(self, backend, fake), for all fakes."""
    def test_of(backend):
        def test(self):
            self.needs(backend)
            for name in names():
                with self.subTest(fake=name):
                    check(self, backend, name)
        return test
    return {f"test_{backend}": test_of(backend) for backend in AUTOMATIC}


def check_linked(self, backend, name):
    # On from the start: while the library is loaded, too.
    fake = name if name in ENDS_THE_PROGRAM else f"{name}:always"
    self.check(backend, [LINKED, f"--syscost_backend={backend}", f"--syscost_csv={self.csv}"], [LINKED], FAKE=fake)


FakesLinked = type("FakesLinked", (Fakes,), for_each_backend(check_linked))
FakesNotLinked = type("FakesNotLinked", (Fakes,), for_each_backend(
    lambda self, backend, name: self.check(backend, self.bench_run(backend, PLAIN), [PLAIN], FAKE=name)))
FakesPreloaded = type("FakesPreloaded", (Fakes,), for_each_backend(
    lambda self, backend, name: self.check(backend, self.bench_run(backend, UNFAKED), [UNFAKED], FAKE=name, LD_PRELOAD=LIBRARY)))


class FakesOfClocks(Case):
    """A clock that stands still, or that jumps to another year, is the tests' only."""

    def test_times_are_those_of_the_kernel(self):
        for command in ([LINKED, f"--syscost_csv={self.csv}"], [BENCH, "run", "--csv", self.csv, "--", PLAIN]):
            with self.subTest(program=os.path.basename(command[-1])):
                if os.path.exists(self.csv):
                    os.remove(self.csv)
                self.run_program(*command, FAKE="clock_gettime:always")
                tests = [row for row in self.rows() if row["record"] == "test" and row["kind"] == "test"]
                self.assertEqual(len(tests), len(ROWS))
                for row in tests:
                    self.assertLess(int(row["wall_ns"]), 3_600_000_000_000)
                    self.assertGreater(int(row["wall_ns"]), 0)
                    self.assertNotEqual(row["started_at"][:4], "1970")
                    self.assertNotEqual(row["started_at"][:4], "2096")

    def test_a_clock_that_went_back_gives_no_time(self):
        done = self.run_program(CLOCK_BACK, f"--syscost_csv={self.csv}")
        if "[  SKIPPED ]" in done.out:
            self.skipTest("only root may enter a time namespace, and in a container perhaps not even root")
        rows = {row["test"]: row for row in self.rows(kind="test", record="test")}
        self.assertEqual(rows["Clock.GoesBack"]["wall_ns"], "")
        self.assertGreater(int(rows["Clock.GoesOn"]["wall_ns"]), 1_000_000)
        self.assertEqual(done.err.count("the clock went back during test Clock.GoesBack"), 1, done.err)


class FakesOfOthers(Case):
    """Libraries that others preload to move clocks and to let calls fail."""

    def test_a_library_in_a_file_with_a_name_of_libcs_is_not_taken_for_it(self):
        folder = os.path.join(BIN, "called_as_libc")
        libraries = [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
        self.assertEqual(len(libraries), 4)
        for backend in AUTOMATIC:
            self.needs(backend)
            for preloaded in (*libraries, ":".join(libraries)):
                for command in ([LINKED, f"--syscost_backend={backend}", f"--syscost_csv={self.csv}"],
                                [BENCH, "run", "--backend", backend, "--csv", self.csv, "--", UNFAKED],
                                [BENCH, "run", "--backend", backend, "--csv", self.csv, "--", PLAIN]):
                    with self.subTest(backend=backend, preloaded=preloaded, command=command):
                        self.run_program(*command, LD_PRELOAD=preloaded)
                        count = "entries" if backend == "seccomp" else "calls"
                        rows = self.rows(kind="test", record="syscall", syscall="getppid")
                        self.assertEqual({row["test"]: int(row[count]) for row in rows}, ROWS)
                        os.remove(self.csv)

    def test_variables_of_libcs_names_are_the_programs_own(self):
        own = os.path.join(BIN, "libadapter_own_variables.so")
        for backend in AUTOMATIC:
            self.needs(backend)
            for command in ([LINKED, f"--syscost_backend={backend}", f"--syscost_csv={self.csv}"],
                            [BENCH, "run", "--backend", backend, "--csv", self.csv, "--", "env", f"LD_PRELOAD={own}", UNFAKED]):
                with self.subTest(command=command):
                    preloaded = {"LD_PRELOAD": own} if command[0] == LINKED else {}
                    self.run_program(*command, **preloaded)
                    count = "entries" if backend == "seccomp" else "calls"
                    rows = self.rows(kind="test", record="syscall", syscall="getppid")
                    self.assertEqual({row["test"]: int(row[count]) for row in rows}, ROWS)
                    os.remove(self.csv)

    def test_a_libc_in_a_file_of_another_name_is_found(self):
        with open("/proc/self/maps", encoding="utf-8") as maps:
            libc = next((line.split()[-1] for line in maps if line.rstrip().endswith("/libc.so.6")), None)
        if libc is None:
            self.skipTest("this Python has another libc")
        copy = shutil.copy(libc, os.path.join(self.folder, "libc-of-mine.so"))
        self.run_program(LINKED, f"--syscost_csv={self.csv}", LD_PRELOAD=copy)
        self.assertEqual(self.getppids(), ROWS)

    def test_libfaketime_moves_the_tests_clock_only(self):
        if shutil.which("faketime") is None:
            self.skipTest("no libfaketime (Debian: apt-get install faketime)")
        self.run_program(BENCH, "run", "--csv", self.csv, "--", "faketime", "2030-01-01 00:00:00", UNFAKED)
        self.assertEqual({row["started_at"][:4] for row in self.rows()} & {"2029", "2030"}, set())

    def test_an_injector_of_failures_does_not_meet_our_calls(self):
        library = next((path for path in ("/usr/lib/x86_64-linux-gnu/fiu/fiu_posix_preload.so", "/usr/lib/fiu/fiu_posix_preload.so")
                        if os.path.exists(path)), None)
        if shutil.which("fiu-run") is None or library is None:
            self.skipTest("no libfiu (Debian: apt-get install fiu-utils)")
        for point in ("posix/io/rw/write", "posix/io/oc/open", "posix/mm/mmap"):
            with self.subTest(point=point):
                done = self.run_program(BENCH, "run", "--csv", self.csv, "--", "fiu-run", "-x", "-c", f"enable name={point}", UNFAKED)
                self.assertEqual(self.getppids(), ROWS, done.err)
                os.remove(self.csv)


class EndsOfTheSupervisor(Case):
    """The process that answers the calls of a program under seccomp is killed as soon as it is there, or later."""

    def kill_supervisor_of(self, program):
        """Kills the first process named syscost-guard that the child of `program` starts; False if that ended before."""
        while program.poll() is None:
            for process in (below for child in children_of(program.pid) for below in children_of(child)):
                try:
                    with open(f"/proc/{process}/comm", encoding="ascii") as file:
                        if file.read().strip() == "syscost-guard":
                            os.kill(process, signal.SIGKILL)
                            return True
                except (FileNotFoundError, ProcessLookupError):
                    pass
        return False

    def test_no_program_dies_without_a_word(self):
        self.needs("seccomp")
        for _ in range(20):
            with subprocess.Popen([OUR_MAIN, "--syscost_backend=seccomp", f"--syscost_csv={self.csv}", "--gtest_filter=Shapes.CallsThreeTimes"],
                                  env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
                self.kill_supervisor_of(program)
                _, said = program.communicate(timeout=60)
                self.assertIn(program.returncode, (0, 1, 2), said)
                if program.returncode == 2:
                    self.assertIn("was killed", said)
            if os.path.exists(self.csv):
                os.remove(self.csv)


def children_of(process):
    try:
        with open(f"/proc/{process}/task/{process}/children", encoding="ascii") as file:
            return [int(child) for child in file.read().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []


if __name__ == "__main__":
    main()
