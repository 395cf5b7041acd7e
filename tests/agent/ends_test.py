# SPDX-License-Identifier: MIT
"""How `bench run` begins and ends: what it refuses before COMMAND starts, which signals COMMAND gets, what stays when it is
killed, and processes that outlive it."""
import ctypes
import fcntl
import os
import pty
import re
import resource
import select
import shutil
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "adapters"))
from adapter_case import BIN, DENY, MANY, PLAIN, environment, main  # noqa: E402
from run_case import BENCH, STATIC_SHAPES, RunCase  # noqa: E402

ONE_TEST = "--gtest_filter=WithFixture.One"
# Says on standard output that it runs, then waits for the signal, then for a line.
WAITS_FOR = """
import signal, sys
count = 0
def got(number, frame):
    global count
    count += 1
signal.signal(signal.{name}, got)
signal.pthread_sigmask(signal.SIG_BLOCK, {{signal.{name}}})
print("started", flush=True)
signal.sigwait({{signal.{name}}})
count = 1
signal.pthread_sigmask(signal.SIG_UNBLOCK, {{signal.{name}}})
print("waiting", flush=True)
sys.stdin.readline()
print(count, "of", "{name}", flush=True)
sys.exit(5)
"""


class EndsCase(RunCase):
    def start(self, *command, preexec_fn=None, pass_fds=(), **variables):
        """With pipes to its standard input and output."""
        process = subprocess.Popen(command, env=environment(**variables), cwd=self.folder, text=True, bufsize=1, pass_fds=pass_fds,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=preexec_fn)
        self.addCleanup(process.wait)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stdin.close)
        return process

    def temporary(self):
        """A folder that no other user can write to, so that temporary files lie in it."""
        folder = os.path.join(self.folder, "temporary")
        os.makedirs(folder, mode=0o700, exist_ok=True)
        return folder


class Beginnings(EndsCase):
    def refused(self, *arguments, **variables):
        done = self.bench_run(*arguments, code=2, **variables)
        self.assertEqual(done.out, "", "COMMAND did not start")
        return done.err

    def test_a_csv_that_cannot_be_written_is_found_before_the_command_starts(self):
        notes = os.path.join(self.folder, "notes")
        with open(notes, "w", encoding="utf-8") as file:
            file.write("my notes\n")
        for way in ("--tests", "--process"):
            for path, words in (("/none/out.csv", "/none/out.csv: No such file"), (self.folder, "Is a directory"),
                                (notes, "notes")):
                with self.subTest(way=way, path=path):
                    self.assertIn(words, self.refused(way, f"--csv={path}", "--", "sh", "-c", "echo ran"))
        self.assertEqual(os.path.getsize(notes), len("my notes\n"))

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"), "needs root, to become an ordinary user")
    def test_a_folder_where_the_user_may_not_write_is_found_too(self):
        closed = os.path.join(self.folder, "closed")
        os.mkdir(closed, mode=0o755)
        done = self.run_program("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--bounding-set=-all", BENCH, "run",
                                f"--csv={closed}/out.csv", "--tests", "--", "sh", "-c", "echo ran", code=2)
        self.assertEqual(done.out, "")
        self.assertIn("Permission denied", done.err)

    def test_a_file_that_is_not_there_yet_is_made_by_the_tests(self):
        self.bench_run(f"--csv={self.csv}", "--tests", "--", "sh", "-c", f"test ! -e {self.csv} && {PLAIN} {ONE_TEST}")
        self.assertEqual(self.getppids(), {"WithFixture.One": 14})

    @unittest.skipUnless(os.uname().machine == "x86_64", "dispatch is for x86-64")
    def test_files_of_traces_do_not_lie_in_the_temporary_folder(self):
        self.needs("dispatch")
        self.bench_run("--trace", "--backend=dispatch", "--", "sh", "-c", f"cd /; {PLAIN} {ONE_TEST}", TMPDIR=self.temporary())
        self.assertEqual((os.listdir(self.temporary()), len(os.listdir(os.path.join(self.folder, "syscost_artifacts")))), ([], 1))

    def test_what_needs_a_look_into_its_processes_is_refused_for_a_whole_command(self):
        for flag, why in (("--leaks", "; what its processes leave open is not listed"), ("--where", ", without call stacks"),
                          ("--trace", ", without a file of its calls"), ("--sched", "; the scheduler's events are those of one process")):
            with self.subTest(flag=flag):
                error = self.refused("--process", flag, f"--csv={self.csv}", "--", "sh", "-c", "echo ran")
                self.assertIn(f"a command measured as a whole is seen from outside{why} ({flag})", error)
                self.assertIn(f"bench run --tests {flag} -- COMMAND", error)
                self.assertFalse(os.path.exists(self.csv))

    def test_a_command_without_room_for_our_variables_is_told_what_to_unset(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_STACK, (1 << 20, resource.getrlimit(resource.RLIMIT_STACK)[1]))

        def run(size, *options):
            command = (BENCH, "run", f"--csv={self.csv}", *options, "--", PLAIN, ONE_TEST)
            variables = environment(A_LITTLE="one", LARGE="x" * (size // 2), OTHER="x" * (size - size // 2 - 1))
            return subprocess.run(command, env=variables, preexec_fn=limit, capture_output=True, text=True, check=False)
        starts, fails = 0, 256 << 10
        while fails - starts > 1:
            size = (starts + fails) // 2
            try:
                run(size, "--none")
                starts = size
            except OSError:
                fails = size
        for options in ([], ["--live", "--process", "--backend=dispatch"]):
            with self.subTest(options=options):
                if "--backend=dispatch" in options:
                    self.needs("dispatch")
                wordings = set()
                # The path of syscost-run is longer than that of bench, and what is executed last has the most variables.
                for size in range(starts, starts - 2000, -16):
                    try:
                        done = run(size, *options)
                    except OSError:  # more options than above
                        continue
                    if done.returncode == 0:
                        break
                    self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                    self.assertIn("Argument list too long", done.stderr)
                    self.assertRegex(done.stderr, r"fix: unset a variable .*largest is LARGE, of \d+ bytes")
                    wordings.add(re.sub(r"\d+", "N", done.stderr))
                self.assertEqual(done.returncode, 0, done.stderr)
                if not options:
                    self.assertTrue(any("of which N are for syscost's variables" in one for one in wordings), wordings)

    def test_a_folder_is_no_command(self):
        os.mkdir(os.path.join(self.folder, "programs"))
        for name in (self.folder, "./programs", "programs/"):
            error = self.refused("--", name)
            self.assertIn(f"{name} is a folder", error)
            self.assertIn("give the path of a program in it", error)

    def test_a_descriptor_is_a_command(self):
        for program in (PLAIN, STATIC_SHAPES):
            if not os.path.exists(program):
                continue
            copy = shutil.copy(program, os.path.join(self.folder, "copy"))
            fd = os.open(copy, os.O_RDONLY)
            os.unlink(copy)
            with self.subTest(program=program):
                if program == STATIC_SHAPES:
                    self.needs_static_programs()
                process = self.start(BENCH, "run", f"--csv={self.csv}", "--", f"/proc/self/fd/{fd}", ONE_TEST, pass_fds=[fd])
                out, error = process.communicate()
                self.assertEqual((process.returncode, "[  PASSED  ] 1 test" in out), (0, True), error)
                self.assertEqual(self.getppids(), {"WithFixture.One": 14})
                os.remove(self.csv)
            os.close(fd)

    def test_bench_says_that_it_could_not_print(self):
        for line in ("summary --help >&-", "summary --help >/dev/full", "doctor >&-"):
            with self.subTest(line):
                done = self.run_program("sh", "-c", f"exec {BENCH} {line}", code=2)
                self.assertIn("could not be written", done.err)

    def test_standard_descriptors_that_are_closed_stay_closed_for_the_command(self):
        seen = "import os; print([fd for fd in range(3) if os.path.exists(f'/proc/self/fd/{fd}')], file=open('seen', 'w'))"
        for closed, left in (("<&-", [1, 2]), (">&-", [0, 2]), ("2>&-", [0, 1]), ("<&- >&- 2>&-", [])):
            for options in ("", "--live --interval=100ms", f"--csv={self.csv}"):
                with self.subTest(closed=closed, options=options):
                    line = f'exec {closed}; {BENCH} run --process {options} -- python3 -c "$PROGRAM"'
                    done = self.run_program("sh", "-c", line, PROGRAM=seen)
                    with open(os.path.join(self.folder, "seen"), encoding="utf-8") as file:
                        self.assertEqual(file.read().strip(), str(left))
                    self.assertEqual(done.out, "", "the summary is on standard error or nowhere")
                    if options.startswith("--csv"):
                        self.assertEqual(len(self.rows(kind="process", record="test")), 1)
                        os.remove(self.csv)


    def test_a_relative_temporary_folder_holds_for_programs_in_other_folders(self):
        for folder in ("temporary_files", "elsewhere"):
            os.mkdir(os.path.join(self.folder, folder))
        done = self.run_program(BENCH, "run", "--", "sh", "-c", f"cd elsewhere && {PLAIN} {ONE_TEST}", TMPDIR="temporary_files")
        self.assertIn("WithFixture.One", done.err)
        self.assertEqual(os.listdir(os.path.join(self.folder, "elsewhere")), [])

    def test_words_of_a_command_that_is_measured_as_a_whole_are_its_own(self):
        done = self.run_program(BENCH, "run", "--process", "--", "echo", "--syscost_csv=x")
        self.assertEqual(done.out, "--syscost_csv=x\n")


class Signals(EndsCase):
    def test_a_signal_that_a_process_sends_is_for_the_command(self):
        for options in (["--process"], ["--process", "--live"], ["--tests"]):
            for name in ("SIGINT", "SIGQUIT", "SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGABRT", "SIGXCPU", "SIGCONT",
                         "SIGWINCH", "SIGRTMIN", "SIGRTMAX"):
                with self.subTest(options=options, name=name):
                    process = self.start(BENCH, "run", *options, "--", "python3", "-c", WAITS_FOR.format(name=name))
                    self.assertEqual(process.stdout.readline(), "started\n")
                    process.send_signal(getattr(signal, name))
                    self.assertEqual(process.stdout.readline(), "waiting\n")
                    out, error = process.communicate("\n")
                    self.assertEqual((out, process.returncode), (f"1 of {name}\n", 5), error)

    def test_a_signal_keeps_the_value_that_its_sender_gave_it(self):
        waits = ("import ctypes, signal; signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1]); print('started', flush=True);"
                 "wanted, got = ctypes.create_string_buffer(128), ctypes.create_string_buffer(128); libc = ctypes.CDLL(None);"
                 "libc.sigemptyset(wanted); libc.sigaddset(wanted, signal.SIGUSR1); libc.sigwaitinfo(wanted, got);"
                 "print(int.from_bytes(got.raw[24:32], 'little'))")
        for options in (["--process"], ["--process", "--live"]):
            with self.subTest(options=options):
                process = self.start(BENCH, "run", *options, "--", "python3", "-c", waits)
                self.assertEqual(process.stdout.readline(), "started\n")
                ctypes.CDLL(None).sigqueue(process.pid, signal.SIGUSR1, ctypes.c_void_p(4711))
                self.assertEqual(process.communicate()[0], "4711\n")

    def test_a_command_that_a_signal_ends_has_its_rows_and_the_exit_code_of_a_shell(self):
        for name in ("SIGTERM", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGRTMAX"):
            with self.subTest(name=name):
                number = getattr(signal, name)
                process = self.start(BENCH, "run", f"--csv={self.csv}", "--process", "--", "sh", "-c", "echo started; read line")
                self.assertEqual(process.stdout.readline(), "started\n")
                process.send_signal(number)  # its input stays open meanwhile
                self.assertEqual((process.wait(), process.stdout.read()), (128 + number, ""))
                self.assertEqual([row["outcome"] for row in self.rows(kind="process", record="test")], ["failed"])
                os.remove(self.csv)

    def test_a_signal_that_stops_stops_both_and_another_continues_them(self):
        def state_and_parent(process):
            with open(f"/proc/{process}/stat", encoding="utf-8") as file:
                state, parent = file.read().rpartition(")")[2].split()[:2]
            return state, int(parent)
        for options in (["--process"], ["--process", "--live"]):
            with self.subTest(options=options):
                # A group of their own, as a shell makes it for a job: the kernel stops none without a parent in its session.
                process = self.start(BENCH, "run", *options, "--", "sh", "-c", "echo $$; read line; exit 5", preexec_fn=os.setpgrp)
                command = int(process.stdout.readline())
                chain = [command]
                while chain[-1] != process.pid:
                    chain.append(state_and_parent(chain[-1])[1])
                for number, wanted in ((signal.SIGTSTP, "T"), (signal.SIGCONT, "RSD")):
                    process.send_signal(number)
                    while not all(state_and_parent(one)[0] in wanted for one in chain):
                        os.sched_yield()
                process.communicate("\n")
                self.assertEqual(process.returncode, 5)

    def test_a_terminal_sends_one_to_each(self):
        for options in ([], ["--live"]):
            child, terminal = pty.fork()
            if child == 0:
                os.chdir(self.folder)
                os.execve(BENCH, [BENCH, "run", "--process", *options, "--", "python3", "-c", WAITS_FOR.format(name="SIGINT")],
                          environment())
            with os.fdopen(terminal, "r+b", buffering=0) as file, self.subTest(options=options):
                seen = b""

                def until(words):
                    nonlocal seen
                    while words not in seen:
                        seen += file.read(1000)
                until(b"started")
                file.write(b"\x03")
                until(b"waiting")
                file.write(b"\n")
                until(b"1 of SIGINT")
                while True:  # until the last process has closed the terminal
                    try:
                        seen += file.read(1000)
                    except OSError:
                        break
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 5, seen)

    def test_the_command_finds_ignored_signals_ignored_and_others_as_they_were(self):
        asks = "import signal; print([signal.getsignal(n) == signal.SIG_IGN for n in (1, 2, 15)])"
        for ignored in ((), (1,), (1, 2, 15)):
            process = self.start(BENCH, "run", "--process", "--", "python3", "-c", asks,
                                 preexec_fn=lambda: [signal.signal(n, signal.SIG_IGN) for n in ignored])
            out, error = process.communicate()
            self.assertEqual((out, process.returncode), (f"{[n in ignored for n in (1, 2, 15)]}\n", 0), error)

    def test_a_run_that_was_killed_leaves_nothing_for_long(self):
        for options in (["--process"], ["--process", "--live"], ["--tests"]):
            with self.subTest(options=options):
                folder = self.temporary()
                process = self.start(BENCH, "run", *options, "--", "sh", "-c", "echo started; read line", TMPDIR=folder)
                self.assertEqual(process.stdout.readline(), "started\n")
                alive = os.listdir(folder)
                self.bench_run("--process", "--", "true", TMPDIR=folder)
                self.assertEqual(os.listdir(folder), alive, "a run that goes on keeps its files")
                process.kill()
                process.communicate()
                self.bench_run("--process", "--", "true", TMPDIR=folder)
                self.assertEqual(os.listdir(folder), [])

    def test_a_stranger_who_takes_the_names_that_can_be_foreseen_keeps_no_run_from_its_files(self):
        folder = self.temporary()
        os.chmod(folder, 0o777)
        taken = [f"syscost-{os.geteuid()}{more}" for more in ("", *(f"-{i}" for i in range(20)))]
        for name in taken:
            with open(os.path.join(folder, name), "w", encoding="utf-8"):
                pass
        # One that seems ours, and which others may write to.
        os.mkdir(os.path.join(folder, taken[0] + "-abcdef"))
        os.chmod(os.path.join(folder, taken[0] + "-abcdef"), 0o777)
        for options in (["--process"], ["--process", "--live"], ["--tests"]):
            self.bench_run(*options, "--", PLAIN, ONE_TEST, TMPDIR=folder)
        [own] = set(os.listdir(folder)) - {*taken, taken[0] + "-abcdef"}  # each run takes the same one
        self.assertEqual(os.stat(os.path.join(folder, own)).st_mode & 0o7777, 0o700)
        self.assertEqual(os.listdir(os.path.join(folder, own)), [])

    @unittest.skipUnless(os.path.exists(DENY), "not built: it needs libseccomp")
    def test_intervals_need_no_descriptor_of_the_process(self):
        self.run_program(DENY, "ENOSYS", "pidfd_open", BENCH, "run", f"--csv={self.csv}", "--interval=100ms", "--process", "--",
                         "sh", "-c", f"until [ $(grep -c interval {self.csv}) -ge 3 ]; do sleep 0.05; done")


class Outliving(EndsCase):
    """A program that runs on after `bench run` has ended."""

    def outlive(self, line):
        """What `line` prints to its standard output, which is a pipe that is full until `bench run` has ended. So a program
        waits there when it prints its first line."""
        read, write = os.pipe()
        fcntl.fcntl(write, fcntl.F_SETFL, os.O_NONBLOCK)
        room = 0
        try:
            while True:
                room += os.write(write, b"." * 4096)
        except BlockingIOError:
            fcntl.fcntl(write, fcntl.F_SETFL, 0)
        errors = os.path.join(self.folder, "errors")
        # The first program makes the rows of the run.
        whole = f"({line}) >&{write} 2>{errors} </dev/null & {PLAIN} --gtest_filter=Shapes.CallsThreeTimes"
        process = self.start(BENCH, "run", "--tests", "--", "sh", "-c", whole, pass_fds=[write], TMPDIR=self.temporary())
        os.close(write)
        _, error = process.communicate()
        self.assertEqual(process.returncode, 0, error)
        self.assertEqual(os.listdir(self.temporary()), [])
        with os.fdopen(read, encoding="utf-8") as file:
            printed = file.read()[room:]
        with open(errors, encoding="utf-8") as file:
            return printed, file.read()

    def test_its_verdict_stays(self):
        for program in (PLAIN, MANY, STATIC_SHAPES):
            if not os.path.exists(program):
                continue
            with self.subTest(program=program):
                printed, errors = self.outlive(f"{program} {ONE_TEST}; echo code $?")
                self.assertIn("[  PASSED  ] 1 test", printed)
                self.assertTrue(printed.endswith("code 0\n"), printed + errors)
                self.assertNotIn("fix:", errors)

    def test_also_of_a_program_that_begins_later(self):
        for program in (PLAIN, MANY):
            with self.subTest(program=program):
                printed, errors = self.outlive(f"echo wait; {program} {ONE_TEST}; echo code $?")
                self.assertIn("[  PASSED  ] 1 test", printed)
                self.assertTrue(printed.endswith("code 0\n"), printed + errors)
                self.assertNotIn("fix:", errors)
        self.assertEqual(os.listdir(self.temporary()), [])

    def test_a_command_measured_as_a_whole_may_leave_a_process(self):
        for backend in ("ebpf", "seccomp", "dispatch"):
            with self.subTest(backend=backend):
                self.needs(backend)
                read, write = os.pipe()
                process = self.start(BENCH, "run", f"--backend={backend}", "--process", "--", "sh", "-c",
                                     f"(read line; ls /; echo code $?) <&{read} >here 2>&1 & echo $!", pass_fds=[read])
                left = int(process.stdout.readline())
                _, error = process.communicate()
                os.close(read)
                self.assertEqual(process.returncode, 0, error)
                watched = os.pidfd_open(left)
                os.write(write, b"\n")
                os.close(write)
                self.wait_for(watched)
                with open(os.path.join(self.folder, "here"), encoding="utf-8") as file:
                    self.assertTrue(file.read().endswith("code 0\n"))

    @staticmethod
    def wait_for(descriptor):
        select.select([descriptor], [], [])
        os.close(descriptor)


if __name__ == "__main__":
    main()
