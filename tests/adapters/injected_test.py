# SPDX-License-Identifier: MIT
"""Column `injected`: the calls of a row that a fault answered or changed."""
import collections
import os
import re
import shutil
import subprocess

from adapter_case import BIN, Case, main, why_not

INJECTED = os.path.join(BIN, "adapter_injected")
FAULTS = os.path.join(BIN, "adapter_faults")


class Injected(Case):
    def setUp(self):
        super().setUp()
        self.needs("dispatch")

    def injected(self):
        """{(test, kind, window): (calls, errors, injected)} of lseek."""
        return {(row["test"].removeprefix("Injected."), row["kind"], row["window"]): (row["calls"], row["errors"], row["injected"])
                for row in self.rows(record="syscall", syscall="lseek")}

    def run_all(self, *flags, **variables):
        if os.path.exists(self.csv):
            os.remove(self.csv)
        return self.run_program(INJECTED, f"--syscost_csv={self.csv}", "--syscost_quick", *flags, **variables)

    def test_each_kind_of_row_has_the_number(self):
        for flags in (("--syscost_backend=dispatch",), ("--syscost_backend=dispatch-trap",), ("--syscost_where",)):
            with self.subTest(flags):
                self.run_all(*flags)
                sums = collections.Counter()
                for row in self.rows(record="syscall", syscall="lseek"):
                    sums[row["test"].removeprefix("Injected."), row["kind"], row["window"]] += int(row["injected"])
                loop = sums.pop(("OfALoop", "loop", "seeks"))
                self.assertEqual(dict(sums), {
                    ("None", "test", ""): 0, ("Answered", "test", ""): 1, ("ByAResult", "test", ""): 2,
                    ("Delayed", "test", ""): 2, ("Denied", "test", ""): 2, ("OnlyForbidden", "test", ""): 0,
                    ("OfThreads", "test", ""): 10, ("OfScopes", "test", ""): 3, ("OfScopes", "scope", "outer"): 3,
                    ("OfScopes", "scope", "inner"): 1, ("OfASuite", "suite", "set-up"): 1, ("OfASuite.HasNone", "test", ""): 0})
                of_loops = self.rows(record="syscall", syscall="lseek", kind="loop")
                self.assertEqual(loop, sum(int(row["calls"]) for row in of_loops))
                self.assertGreater(loop, 0)
                self.assertEqual({row["injected"] for row in self.rows(record="test")}, {""})

    def test_it_is_empty_where_the_backend_cannot_know(self):
        for backend, number in (("ebpf", ""), ("seccomp", "0")):
            with self.subTest(backend):
                self.needs(backend)
                if os.path.exists(self.csv):
                    os.remove(self.csv)
                self.run_all(f"--syscost_backend={backend}", "--gtest_filter=Injected.None")
                self.assertEqual({row["injected"] for row in self.rows(record="syscall")}, {number})

    def test_a_flag_injects_in_every_test(self):
        self.run_all("--syscost_inject=lseek:EIO:2+2", "--gtest_filter=Injected.None:Injected.OfScopes")
        found = self.injected()
        self.assertEqual(found["None", "test", ""], ("5", "2", "2"))
        # The test's own fault is asked first: the flag numbers only the calls that it leaves.
        self.assertEqual(found["OfScopes", "test", ""], ("6", "4", "4"))

    def test_it_is_what_strace_injects(self):
        """Calls that strace marks as injected or delayed, each syscall of a list three times."""
        if shutil.which("strace") is None or subprocess.run(["strace", "-o", "/dev/null", "true"], check=False).returncode != 0:
            self.skipTest("strace cannot trace here")
        test = (FAULTS, "--gtest_filter=Oracle.EachCallThreeTimes")
        names = [line.split()[1] for line in self.run_program(*test).out.splitlines() if line.startswith("call ")]
        # Calls that start-up makes, too: strace's `when` counts from the start of the program.
        from_start = {"getppid", "getdents64", "rt_sigaction", "sigaltstack", "chdir", "lseek", "getrusage", "statfs"}
        names = [name for name in names if name not in from_start]
        log = os.path.join(self.folder, "strace.log")
        for word in ("error=EXDEV", "error=EAGAIN:when=2", "retval=5:when=1..3+2", "delay_enter=1:when=2+", "delay_exit=1:when=3"):
            with self.subTest(word):
                inject = f"{','.join(names)}:{word}"
                self.run_program("strace", "-f", "-o", log, "-e", f"inject={inject}", *test, "--syscost_backend=none")
                with open(log, encoding="utf-8") as file:
                    theirs = collections.Counter(
                        match[1] for line in file if (match := re.match(r"\d+ +(?:<\.\.\. )?(\w+)", line))
                        and re.search(r"\((INJECTED|DELAYED)\)$", line))
                for backend in ("dispatch", "seccomp"):
                    if why_not(backend) or (backend == "seccomp" and word.startswith("delay_exit")):
                        continue
                    if os.path.exists(self.csv):
                        os.remove(self.csv)
                    self.run_program(*test, f"--syscost_backend={backend}", f"--syscost_inject={inject}", f"--syscost_csv={self.csv}")
                    ours = {row["syscall"]: int(row["injected"]) for row in self.rows(kind="test", record="syscall")
                            if row["injected"] != "0"}
                    care = {"epoll_pwait", "signalfd4", "tgkill"} if word.startswith("delay_exit") else set()
                    self.assertEqual(ours, {name: count for name, count in theirs.items() if name not in care}, backend)
                    self.assertGreaterEqual(len(ours), 50)


if __name__ == "__main__":
    main()
