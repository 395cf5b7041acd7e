#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Commands that dispatch counts from inside, compared with strace: command_test.py BIN [CLASS...]"""
import collections
import csv
import os
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from run_case import BENCH, BIN, RunCase  # noqa: E402
from adapter_case import FILTER_REASON, UNDER_A_FILTER, main  # noqa: E402

CALL = re.compile(r"(\d+) +(\w+)\((.*)")
RESUMED = re.compile(r"(\d+) +<\.\.\. (\w+) resumed>(.*)")
RESULT = re.compile(r".*\)\s+= (-?\w+|\? ERESTARTNOHAND)(?: (E\w+))?.*")
# How often they come depends on timing, or on where memory lies.
BY_CHANCE = {"futex", "brk", "mmap", "munmap", "mprotect", "madvise", "sched_yield", "restart_syscall", "mremap",
             "set_robust_list", "rseq", "gettid",
             "rt_sigreturn"}  # two children that end together are one SIGCHLD
# Ordinary programs. Each line is one command of a shell, in a folder with the files that `setUp` makes.
COMMANDS = """
ls -l /usr
sort words
tar cf words.tar words
python3 -c 'import json, os; print(os.listdir("."))'
python3 -c 'import subprocess; subprocess.run(["ls"]); subprocess.run("ls | wc", shell=True)'
git -c safe.directory=* init -q repo
find /usr/share/doc -maxdepth 1 -newer /etc/passwd
make -f rules
perl -e 'system("ls"); print `wc words`'
awk '{ n += NF } END { print n }' words
sed s/a/b/ words
gzip -c words
xz -c words
bash -c 'for i in 1 2 3; do (ls | sort) >out; done; cat <out'
dd if=words of=out bs=100 status=none
cp -a words copy
md5sum words
openssl rand -hex 8
file words
gcc -c -o x.o x.c
curl -s -o page file:///etc/passwd
sqlite3 base.db 'create table t(x); insert into t values(1); select * from t'
xargs -n1 -a words echo
env -i /bin/ls
timeout 5 sleep 0.01
""".strip().splitlines()


def counts_of_strace(log):
    """Of each syscall, how often it returned and with which errors, from where each program's libraries are loaded. A log
    of `strace -f`."""
    calls, errors = collections.Counter(), collections.Counter()
    loading = {}    # process: where the loader has mapped its cache; None before that
    open_call = {}
    with open(log, encoding="utf-8", errors="replace") as file:
        for line in file:
            if match := RESUMED.match(line):
                process, name, rest = match.groups()
                rest = "(" + open_call.pop(process, "") + rest
            elif match := CALL.match(line):
                process, name, rest = match.groups()
                if "<unfinished ...>" in rest:
                    open_call[process] = rest.split("<unfinished")[0]
                    continue
            else:
                continue
            result = RESULT.match(rest)
            if result is None or result.group(1) == "?":  # exit, or a call that is made again
                continue
            if name in ("execve", "execveat") and result.group(1) == "0":
                loading[process] = None
                calls["execve"] += 1
                continue
            if process in loading:
                if name == "openat" and "ld.so.cache" in rest:
                    loading[process] = "next"
                elif name == "mmap" and loading[process] == "next":
                    loading[process] = result.group(1)
                elif name == "munmap" and loading[process] and rest.lstrip("(").startswith(loading[process]):
                    del loading[process]
                continue
            calls[name] += 1
            # strace takes what rt_sigreturn restores for its result, and shows what the kernel knows of a call that a
            # handler ended: the program gets EINTR.
            error = "EINTR" if "ERESTARTNOHAND" in result.group(1) else result.group(2)
            if error and name != "rt_sigreturn":
                errors[name, error] += 1
    return calls, errors


class Dispatch(RunCase):
    def setUp(self):
        super().setUp()
        if shutil.which("strace") is None:
            self.skipTest("strace is not installed")
        with open(os.path.join(self.folder, "words"), "w", encoding="utf-8") as file:
            file.writelines(f"a word {i}\n" for i in range(50))
        with open(os.path.join(self.folder, "x.c"), "w", encoding="utf-8") as file:
            file.write("int x;\n")
        with open(os.path.join(self.folder, "rules"), "w", encoding="utf-8") as file:
            file.write("all:\n\t@ls >out\n\t@echo done | cat\n")

    def counted_calls(self):
        calls, errors = collections.Counter(), collections.Counter()
        with open(self.csv, newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                if row["kind"] != "process" or not row["syscall"]:
                    continue
                calls[row["syscall"]] += int(row["calls"] or 0)
                for part in row["errnos"].split():
                    name, count = part.split(":")
                    errors[row["syscall"], name] += int(count)
        os.remove(self.csv)
        return calls, errors

    def compare(self, command):
        log = os.path.join(self.folder, "strace.log")
        here = os.path.join(self.folder, "here")

        def fresh():
            shutil.rmtree(here, ignore_errors=True)
            os.mkdir(here)
            for name in ("words", "x.c", "rules"):
                shutil.copy(os.path.join(self.folder, name), here)
        words = ["sh", "-c", "exec 2>/dev/null; exec " + command]
        for _ in range(2):  # the first time fills caches of the programs
            fresh()
            subprocess.run(["strace", "-f", "-o", log, *words], cwd=here, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, check=False)
        expected = counts_of_strace(log)
        fresh()
        messages = os.path.join(self.folder, "messages")
        with open(messages, "w+", encoding="utf-8") as file:
            done = subprocess.run([BENCH, "run", f"--csv={self.csv}", "--backend=dispatch", "--process", "--", *words],
                                  cwd=here, stdout=subprocess.DEVNULL, stderr=file, check=False)
            file.seek(0)
            said = file.read()
        found = self.counted_calls()
        wrong = []
        for kind, one, other in (("calls", found[0], expected[0]), ("errors", found[1], expected[1])):
            for key in sorted(set(one) | set(other), key=str):
                name = key if isinstance(key, str) else key[0]
                if name not in BY_CHANCE and one[key] != other[key]:
                    wrong.append(f"{kind} of {key}: {one[key]}, strace {other[key]}")
        return wrong, done.returncode, said, sum(found[0].values())

    def test_ordinary_programs_have_the_calls_of_strace(self):
        self.needs("dispatch")
        for command in COMMANDS:
            program = command.split()[0]
            if shutil.which(program) is None:
                continue
            with self.subTest(command=command):
                for _ in range(3):  # programs with threads or timers differ from run to run
                    wrong, code, said, count = self.compare(command)
                    if not wrong:
                        break
                print(f"{count:7d} calls, {len(wrong)} differ: {command}")
                self.assertEqual((wrong, code), ([], 0), command + "\n" + said)

    @unittest.skipIf(UNDER_A_FILTER, FILTER_REASON)  # it may deny clone3
    def test_a_child_without_handlers_lives_and_counts(self):
        self.needs("dispatch")
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs", "clears_handlers.c")
        program = os.path.join(self.folder, "clears_handlers")
        subprocess.run(["cc", "-O1", "-o", program, source], check=True)
        for way in ("shared", "copied"):
            with self.subTest(way=way):
                wrong, code, said, _ = self.compare(f"{program} {way}")
                self.assertEqual((wrong, code), ([], 0), said)

    def of_dispatch(self, *command, code=0, **variables):
        self.needs("dispatch")
        return self.bench_run("--csv", self.csv, "--backend=dispatch", "--process", *command, code=code, **variables)

    def test_a_process_that_is_killed_keeps_its_counts(self):
        self.of_dispatch("--", "python3", "-c", "import os\nfor i in range(500): os.getppid()\nos.kill(os.getpid(), 9)",
                         code=137)
        calls, _ = self.counted_calls()
        self.assertEqual(calls["getppid"], 500)

    def test_forks_count_also_where_they_end_without_exit(self):
        self.of_dispatch("--", "python3", "-c", "import os\nfor i in range(9):\n"
                         " if os.fork() == 0:\n  for k in range(100): os.getppid()\n  os._exit(0)\n"
                         "for i in range(9): os.wait()")
        calls, _ = self.counted_calls()
        self.assertEqual(calls["getppid"], 900)

    def test_threads_count_together(self):
        self.of_dispatch("--", "python3", "-c", "import os, threading\ndef work():\n"
                         " for k in range(100): os.getppid()\nall = [threading.Thread(target=work) for _ in range(9)]\n"
                         "for one in all: one.start()\nfor one in all: one.join()")
        calls, _ = self.counted_calls()
        self.assertEqual(calls["getppid"], 900)

    def test_questions_about_filters_and_refused_ones_are_no_filter(self):
        self.of_dispatch("--", "python3", "-c", "import ctypes, os\nlibc = ctypes.CDLL(None)\n"
                         "kills = ctypes.c_uint(0x80000000)\n"
                         "libc.syscall(317, 2, 0, ctypes.byref(kills))\n"  # SECCOMP_GET_ACTION_AVAIL
                         "assert libc.prctl(22, 99, 0) == -1\n"  # PR_SET_SECCOMP
                         "assert libc.prctl(22, 2, 0) == -1\n"
                         "for i in range(9):\n if os.fork() == 0:\n  for k in range(100): os.getppid()\n  os._exit(0)\n"
                         "for i in range(9): os.wait()")
        calls, _ = self.counted_calls()
        self.assertEqual(calls["getppid"], 900)

    def test_the_next_program_inherits_that_sigsys_is_blocked(self):
        asks = "import signal as s; print(s.SIGSYS in s.pthread_sigmask(s.SIG_BLOCK, []))"
        ways = {"vfork": f"import subprocess; subprocess.run(['python3', '-c', '{asks}'])",
                "fork": f"if os.fork() == 0: os.execvp('python3', ['python3', '-c', '{asks}'])\nos.wait()",
                "execve": f"os.execvp('python3', ['python3', '-c', '{asks}'])",
                "after a failed one": "try: os.execv('/nonexistent', ['x'])\nexcept OSError: pass\n"
                                      "import signal; signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGSYS})\n"
                                      "signal.signal(signal.SIGSYS, lambda *x: print(True))\nsignal.raise_signal(signal.SIGSYS)"}
        for way, code in ways.items():
            with self.subTest(way=way):
                done = self.of_dispatch("--", "python3", "-c", "import os, signal\n"
                                        "signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGSYS})\n" + code)
                self.assertEqual(done.out, "True\n")
                os.remove(self.csv)

    def test_each_program_has_its_rows(self):
        self.of_dispatch("--children", "--", "sh", "-c", "/bin/echo a; /bin/true; exit 3", code=3)
        rows = self.rows(kind="process", record="syscall", syscall="execve")
        self.assertEqual({row["window"]: row["calls"] for row in rows}, {"": "1", "echo": "1", "true": "1"})

    def test_the_command_has_the_environment_that_it_has_alone(self):
        for variables in ({}, {"LD_PRELOAD": "/none.so", "ASAN_OPTIONS": "a=1"}):
            done = self.of_dispatch("--", "env", **variables)
            alone = self.run_program("env", **variables)
            self.assertEqual(sorted(done.out.splitlines()), sorted(alone.out.splitlines()))

    def test_intervals_add_up(self):
        self.of_dispatch("--interval=100ms", "--", "sh", "-c", "for i in 1 2 3; do ls / >/dev/null; sleep 0.1; done")
        sums = collections.Counter()
        for row in self.rows(record="syscall"):
            sums[row["kind"], row["syscall"]] += int(row["calls"])
        whole = {name: count for (kind, name), count in sums.items() if kind == "process"}
        self.assertEqual({name: count for (kind, name), count in sums.items() if kind == "interval"}, whole)

    def test_what_is_not_counted_is_named_and_is_lost(self):
        static = os.path.join(BIN, "agent_static")
        done = self.of_dispatch("--", "sh", "-c", f"{static}; true", code=1)
        self.assertIn(f"not in the counts: {static}: {static} is linked statically", done.err)
        [row] = self.rows(kind="process", record="test")
        self.assertEqual(row["lost"], "1")
        os.remove(self.csv)
        self.of_dispatch("--allow_lost", "--", "sh", "-c", f"{static}; true")

    @unittest.skipUnless(shutil.which("cc"), "needs a C compiler")
    def test_a_process_with_a_strict_filter_ends_as_it_does_alone(self):
        program = os.path.join(self.folder, "filters")
        subprocess.run(["cc", "-o", program, os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs", "filters.c"),
                        "-lpthread"], check=True)
        for way, is_counted in (("strict", False), ("kills", False), ("denies", False), ("no_threads", False), ("listener", False),
                                ("usual", True)):
            with self.subTest(way=way):
                if way == "strict" and UNDER_A_FILTER:
                    self.skipTest("a process that has a filter cannot enter the strict mode")
                alone = self.run_program(program, way)
                done = self.of_dispatch("--allow_lost", "--", program, way)
                self.assertEqual(done.out, alone.out)
                self.assertEqual("seccomp filter" not in done.err, is_counted, done.err)
                [row] = self.rows(kind="process", record="test")
                self.assertEqual(row["lost"] == "0", is_counted)
                os.remove(self.csv)
                # A whole command with lost events does not end with 0.
                self.of_dispatch("--", program, way, code=0 if is_counted else 1)
                os.remove(self.csv)

    def test_programs_beyond_the_limit_are_named_and_lost_once(self):
        for i in range(66):
            shutil.copy("/bin/true", os.path.join(self.folder, f"t{i}"))
        done = self.of_dispatch("--", "sh", "-c", "for one in ./t*; do $one; done", code=1)
        self.assertEqual(done.err.count("64 other programs are counted already"), 3)  # sh is one of the 64
        [row] = self.rows(kind="process", record="test")
        self.assertEqual(row["lost"], "3")

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"), "needs root, to become another user")
    def test_a_program_of_another_user_runs_and_is_named(self):
        done = self.of_dispatch("--", "sh", "-c", "setpriv --reuid=65534 --regid=65534 --clear-groups id -u; true", code=1)
        self.assertEqual(done.out, "65534\n")
        self.assertRegex(done.err, r"not in the counts: \S*id: nothing was loaded into it: .*runs as another user")

    def test_a_static_command_is_refused(self):
        # That needs no dispatch.
        done = self.bench_run("--backend=dispatch", "--process", "--", os.path.join(BIN, "agent_static"), code=2)
        self.assertIn("is linked statically", done.err)


if __name__ == "__main__":
    csv.field_size_limit(1 << 30)
    main()
