# SPDX-License-Identifier: MIT
"""--syscost_profile bpftrace and perf from outside: the tool counted exactly what the program called. The
adapter reports what is missing before the first test. No process of ours stays, even if one of them dies.
"""
import contextlib
import glob
import json
import os
import select
import shutil
import subprocess
import sys
import unittest

from adapter_case import BIN, PLAIN_MAIN, Case, can_unshare, clone3_is_denied, environment

PROFILED = os.path.join(BIN, "adapter_profiled")
BENCHMARKS = os.path.join(BIN, "benchmark_shapes")
COUNTS_GETPPID = """tracepoint:raw_syscalls:sys_enter /pid == $1 && args->id == 110/
{ $window = *(uint64*)uptr($2); if ($window == 1) { @syscall_entries[args->id] = count(); }
  if ($window == 0) { @syscost_unread = count(); } }
"""
TIMES = ("wall_ns", "user_ns", "system_ns", "overhead_estimate_ns", "total_kernel_ns", "minor_faults",
         "voluntary_switches", "involuntary_switches")


def why_not():
    """What keeps bpftrace from working here; found without asking what is tested."""
    if os.geteuid() != 0:
        return "bpftrace works for root only: run as root"
    if not shutil.which("bpftrace", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/bin"):
        return "bpftrace is missing: apt-get install bpftrace"
    if not os.path.exists("/sys/kernel/tracing/events/raw_syscalls"):
        return "no tracefs: mount -t tracefs nodev /sys/kernel/tracing"
    return None


class ProfileCase(Case):
    def setUp(self):
        super().setUp()
        self.temporary = os.path.join(self.folder, "tmp")
        os.mkdir(self.temporary)

    def profile(self, test, *flags, program=PROFILED, tool="bpftrace", code=0, before=(), **variables):
        return self.run_program(*before, program, f"--gtest_filter=Profiled.{test}", f"--syscost_profile={tool}",
                                f"--syscost_csv={self.csv}", *flags, code=code, TMPDIR=self.temporary, **variables)

    def private_mounts(self, *commands):
        """A command to run another in, with mounts of its own."""
        if not can_unshare("--mount"):
            self.skipTest("needs mounts of its own, which take CAP_SYS_ADMIN")
        return ["unshare", "--mount", "sh", "-ec", "; ".join(commands) + '; exec "$@"', "sh"]

    def script(self, name, source):
        """Flags that name a script of the user's."""
        with open(os.path.join(self.folder, name + ".bt"), "w", encoding="utf-8") as file:
            file.write(source)
        return (f"--syscost_bpf_path={self.folder}", f"--syscost_bpf={name}")

    def seen(self, kind="test", origin="bpftrace", **equal):
        """{syscall: entries} of rows of that origin; a call that a container's seccomp profile denied has none."""
        return {row["syscall"]: row["entries"]
                for row in self.rows(kind=kind, record="syscall", origin=origin, **equal) if row["entries"] != "0"}

    def artifacts(self, name):
        return glob.glob(os.path.join(self.folder, "syscost_artifacts", "*", "*", "**", name), recursive=True)

    def expect_nothing_left(self):
        """Waits for the end of all processes that were started with our TMPDIR."""
        for entry in os.listdir("/proc"):
            with contextlib.suppress(OSError, ValueError):
                with open(f"/proc/{int(entry)}/environ", "rb") as file:
                    if f"TMPDIR={self.temporary}".encode() not in file.read().split(b"\0"):
                        continue
                process = os.pidfd_open(int(entry))
                poller = select.poll()
                poller.register(process, select.POLLIN)
                self.assertTrue(poller.poll(60000), f"process {entry} outlives the program")
                os.close(process)
        self.assertEqual(os.listdir(self.temporary), [])


class Profile(ProfileCase):
    """What is counted."""

    def test_counts_a_test_of_a_millisecond_to_the_last_call(self):
        done = self.profile("LastsAMillisecond", "--syscost_bpf=syslat")
        self.assertEqual(self.seen(), {"getppid": "13"})
        [row] = self.rows(kind="test", record="syscall", origin="bpftrace")
        self.assertEqual((row["latency_count"], row["errors"]), ("13", "0"))
        self.assertEqual(sum(int(bucket.split(":")[1]) for bucket in row["histogram"].split()), 13)
        self.assertNotIn("differ", done.out + done.err)

    def test_counts_every_call_of_sixteen_threads(self):
        self.profile("HasSixteenThreads", "--syscost_bpf=syslat,syscount")
        self.assertEqual(self.seen()["getppid"], "16000")
        self.assertEqual(self.seen(), self.seen(origin="syscost"))

    def test_counts_the_parent_of_a_test_that_forks(self):
        self.profile("Forks", "--syscost_bpf=syslat")
        self.assertEqual(self.seen()["getppid"], "200")
        self.assertEqual(self.seen(), self.seen(origin="syscost"))

    def test_agrees_with_dispatch(self):
        if clone3_is_denied():
            self.skipTest("dispatch counts a call that a container's seccomp profile denies, bpftrace does not see it: "
                          "clone3, which makes threads, is one")
        done = self.profile("LastsAMillisecond:*SixteenThreads:*Forks", "--syscost_bpf=syslat",
                            "--syscost_backend=dispatch", code=None)
        if done.code == 2 and "dispatch" in done.err:
            self.skipTest(done.err)
        self.assertEqual(done.code, 0, done.err)
        self.assertNotIn("differ", done.out + done.err)
        for test, calls in (("LastsAMillisecond", "13"), ("HasSixteenThreads", "16000"), ("Forks", "200")):
            self.assertEqual(self.seen(test="Profiled." + test)["getppid"], calls)
        checks = self.artifacts("syslat.check.json")
        self.assertEqual(len(checks), 3)
        for path in checks:
            with open(path, encoding="utf-8") as file:
                check = json.load(file)
            self.assertTrue(check["agrees"])
            self.assertIn("getppid", [number["syscall"] for number in check["numbers"]])

    def test_the_test_sees_no_child_of_ours(self):
        self.profile("WaitsForAnyChild", "--syscost_bpf=syslat")
        self.assertEqual(self.seen()["getppid"], "1")

    def test_a_window_that_was_traced_has_no_times(self):
        self.profile("LastsAMillisecond", "--syscost_bpf=syslat")
        rows = self.rows(kind="test", record="test")
        self.assertEqual({row["origin"] for row in rows}, {"syscost", "bpftrace"})
        for row in rows:
            self.assertEqual([row[column] for column in TIMES], [""] * len(TIMES))
        for row in self.rows(kind="test", record="syscall", origin="syscost"):
            self.assertEqual(row["latency_count"], "")

    def test_the_times_of_a_loop_are_those_of_passes_without_the_tool(self):
        self.profile("Loops", "--syscost_bpf=syslat", "--syscost_cycles=50", "--syscost_repeats=2")
        ours = self.rows(kind="loop", record="test", origin="syscost")
        self.assertEqual([row["total_calls"] for row in ours], ["100", "100"])
        self.assertTrue(all(int(row["wall_ns"]) > 0 for row in ours))
        [traced] = self.rows(kind="loop", record="test", origin="bpftrace")
        self.assertEqual([traced[column] for column in TIMES], [""] * len(TIMES))
        self.assertEqual(self.seen(kind="loop"), {"getppid": "100"})

    def test_keeps_the_text_and_the_same_as_json(self):
        self.profile("LastsAMillisecond", "--syscost_bpf=syslat")
        [text] = self.artifacts("syslat.txt")
        [parsed] = self.artifacts("syslat.json")
        with open(text, encoding="utf-8") as file:
            self.assertIn("@syscall_entries[110]: 13\n", file.read())
        with open(parsed, encoding="utf-8") as file:
            [getppid] = json.load(file)["syscalls"]
        self.assertEqual((getppid["syscall"], getppid["entries"], getppid["returned"]), ("getppid", 13, 13))

    def test_a_difference_from_our_count_is_reported(self):
        done = self.profile("MakesAnotherCall:*AMillisecond", *self.script("partly", COUNTS_GETPPID.replace(
            "args->id == 110", "(args->id == 110 || (args->id == 102 && args->args[0] == 1))")), code=None)
        self.assertIn("NOT as counted: getuid entries 0 seen, 3 counted", done.out)
        self.assertIn("script partly saw nothing of test Profiled.MakesAnotherCall", done.err)
        self.assertNotEqual(done.code, 0)
        self.assertEqual(self.seen(test="Profiled.LastsAMillisecond"), {"getppid": "13"})
        self.assertEqual(self.seen(test="Profiled.MakesAnotherCall", origin="syscost"), {"getuid": "3"})

    def test_a_tool_that_misses_some_calls_keeps_the_verdict(self):
        done = self.profile("HasSixteenThreads", *self.script("partly", COUNTS_GETPPID))
        self.assertIn("script partly and our count differ in test Profiled.HasSixteenThreads: ", done.err)
        self.assertIn("; NOT as counted: ", done.out)
        self.assertEqual(self.seen(), {"getppid": "16000"})

    def test_two_programs_at_once_see_their_own_calls(self):
        running = [subprocess.Popen([PROFILED, "--gtest_filter=Profiled." + test, "--syscost_profile=bpftrace",
                                     f"--syscost_csv={self.csv}"], cwd=self.folder, stdout=subprocess.PIPE,
                                    stderr=subprocess.STDOUT, text=True, env=environment(TMPDIR=self.temporary))
                   for test in ("LastsAMillisecond", "HasSixteenThreads")]
        for process in running:
            out, _ = process.communicate()
            self.assertEqual(process.returncode, 0, out)
        self.assertEqual(self.seen(test="Profiled.LastsAMillisecond"), {"getppid": "13"})
        self.assertEqual(self.seen(test="Profiled.HasSixteenThreads")["getppid"], "16000")
        self.expect_nothing_left()

    def test_a_program_with_nothing_to_look_at_says_so(self):
        done = self.run_program(PLAIN_MAIN, "--syscost_profile=bpftrace", code=None)
        self.assertIn("bpftrace measured nothing: there was no test and no loop", done.err)


class ProfileBenchmarks(ProfileCase):
    """The same of Google Benchmark."""

    def run_benchmarks(self, *flags, code=0, **variables):
        return self.run_program(BENCHMARKS, "--syscost_profile=bpftrace", f"--syscost_csv={self.csv}",
                                "--benchmark_min_time=0.001", *flags, code=code, TMPDIR=self.temporary, **variables)

    def test_counts_a_pass_of_each_benchmark_to_the_last_call(self):
        done = self.run_benchmarks("--benchmark_filter=^BM_OneCall$|^BM_NoCall$|^BM_Fixed/", "--syscost_bpf=syslat")
        rows = {row["test"]: row for row in self.rows(record="test", origin="bpftrace")}
        self.assertEqual(rows["BM_NoCall"]["total_entries"], "0")
        for test in ("BM_OneCall", "BM_Fixed/iterations:7"):
            self.assertEqual(self.seen(kind="benchmark", test=test)["getppid"], rows[test]["counted_iterations"])
            self.assertEqual([rows[test][column] for column in TIMES], [""] * len(TIMES))
        self.assertNotIn("differ", done.out + done.err)
        self.assertEqual(done.err.count("as counted"), 3, done.err)
        self.assertEqual(len(self.artifacts("syslat.txt")), 3)
        self.expect_nothing_left()

    def test_refuses_what_cannot_be_had_before_the_first_benchmark(self):
        done = self.run_benchmarks("--syscost_bpf=sylsat", code=2)
        self.assertIn("did you mean syslat?", done.err)
        self.assertNotIn("BM_", done.out)
        done = self.run_benchmarks(*self.script("broken", "BEGIN { @a = nofunction(1) }\n"), code=2)
        self.assertIn("nofunction", done.err)
        self.assertNotIn("BM_", done.out)


class ProfileRefusals(ProfileCase):
    """What cannot be had: cause, fix and exit code 2 before the first test, and no row."""

    def refuse(self, *flags, says, before=(), **variables):
        done = self.profile("Loops", *flags, before=before, code=2, **variables)
        for words in says:
            self.assertIn(words, done.err)
        self.assertIn("\n  fix: ", done.err)
        self.assertNotIn("Profiled", done.out)
        if os.path.exists(self.csv):
            self.assertEqual(self.rows(), [])
        self.expect_nothing_left()

    def test_no_bpftrace(self):
        hidden = [path for folder in ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
                  if os.path.exists(path := os.path.join(folder, "bpftrace"))]
        self.refuse(before=self.private_mounts(*(f"mount --bind /dev/null {path}" for path in {
            os.path.realpath(path) for path in hidden})), says=["bpftrace is not installed", "apt-get install bpftrace"])

    def test_a_bpftrace_that_is_too_old(self):
        old = os.path.join(self.folder, "bpftrace")
        with open(old, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\necho bpftrace v0.16.0\n")
        os.chmod(old, 0o755)
        self.refuse(PATH=self.folder + ":" + os.environ["PATH"], says=["is version 0.16", old, "0.17 or later"])

    def test_not_root(self):
        os.chmod(self.temporary, 0o777)
        self.refuse("--syscost_backend=none", before=["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"],
                    says=["bpftrace works for root only", "--syscost_bpf_sudo"])

    def test_no_tracefs(self):
        self.refuse("--syscost_backend=none",
                    before=self.private_mounts("umount -l /sys/kernel/tracing",
                                               "umount -l /sys/kernel/debug/tracing 2>/dev/null || true",
                                               "umount -l /sys/kernel/debug 2>/dev/null || true"),
                    says=["no tracefs at /sys/kernel/tracing", "mount -t tracefs nodev /sys/kernel/tracing"])

    def test_an_unknown_script(self):
        self.refuse("--syscost_bpf=syslat,sylsat", says=["there is no script 'sylsat'", "did you mean syslat?"])

    def test_a_broken_script(self):
        self.refuse(*self.script("broken", "BEGIN { @a = nofunction(1) }\n"),
                    says=["script broken", "nofunction", os.path.join(self.folder, "broken.bt")])

    def test_a_tracepoint_that_the_kernel_does_not_have(self):
        self.refuse(*self.script("absent", "tracepoint:nope:nope /pid == $1/ { @a = count(); }\n"),
                    says=["script absent needs something that this kernel does not have", "nope", "bpftrace -l"])

    def test_a_script_that_sees_nothing_of_calls_that_are_made(self):
        self.refuse(*self.script("blind", COUNTS_GETPPID.replace("== $1", "== 0")),
                    says=["script blind counted 0 of 64 known calls", "docs/profiles.md"])

    def test_a_script_that_ends_by_itself(self):
        self.refuse(*self.script("quits", "interval:ms:1 { exit(); }\n"), says=["script quits calls exit()"])

    def test_artifacts_that_cannot_be_written(self):
        self.refuse("--syscost_artifacts=/dev/null/here", says=["/dev/null/here", "artifacts"])

    def test_sudo_that_asks_for_a_password(self):
        folder = os.path.join(self.folder, "fake")
        os.mkdir(folder)
        for name, text in (("sudo", "echo 'sudo: a password is required' >&2\nexit 1"),
                           ("bpftrace", "echo bpftrace v0.17.0")):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(f"#!/bin/sh\n{text}\n")
            os.chmod(os.path.join(folder, name), 0o755)
        os.chmod(self.temporary, 0o777)
        self.refuse("--syscost_backend=none", "--syscost_bpf_sudo", PATH=folder + ":" + os.environ["PATH"],
                    before=["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"],
                    says=["sudo did not start bpftrace", "NOPASSWD"])


class ProfileEnds(ProfileCase):
    """Programs that end in the middle."""

    def test_a_program_that_dies_in_its_window_leaves_nothing_and_ends_as_without_us(self):
        for body, code in (("abort", -6), ("kill", -9), ("exit", 5)):
            with self.subTest(body=body):
                done = self.profile("LastsAMillisecond:*Ends", "--syscost_bpf=syslat,syscount", code=code,
                                    SYSCOST_TEST_BODY=body)
                self.assertIn("[       OK ] Profiled.LastsAMillisecond", done.out)
                self.expect_nothing_left()
                self.assertEqual(self.seen(test="Profiled.LastsAMillisecond"), {"getppid": "13"})
                self.assertEqual(self.rows(test="Profiled.Ends", origin="bpftrace"), [])
                os.remove(self.csv)

    def test_a_full_disk_keeps_verdicts_and_rows_and_ends_non_zero(self):
        full = os.path.join(self.folder, "full")
        os.mkdir(full)
        done = self.profile("LastsAMillisecond:*Ends", f"--syscost_artifacts={full}", code=1,
                            before=self.private_mounts(f"mount -t tmpfs -o size=4k none {full}"))
        self.assertIn("[  PASSED  ] 2 tests", done.out)
        self.assertEqual(done.err.count("the tests continue"), 1, done.err)
        self.assertEqual(self.seen(test="Profiled.Ends"), {"getppid": "3"})
        self.expect_nothing_left()


class ProfilePerf(ProfileCase):
    def setUp(self):
        super().setUp()
        if not shutil.which("perf"):
            self.skipTest("perf is missing: apt-get install linux-perf")

    def test_perf_leaves_counters_and_stacks_and_no_row(self):
        self.profile("Loops", "--syscost_cycles=5", "--syscost_repeats=1", tool="perf")
        self.assertTrue(self.artifacts("stat.json") or self.artifacts("perf-stat.json"), self.list_artifacts())
        self.assertEqual(self.rows(origin="perf"), [])
        self.expect_nothing_left()

    def list_artifacts(self):
        return [path for path in self.artifacts("*") if os.path.isfile(path)]

    def test_a_perf_that_is_missing_is_told_before_the_first_test(self):
        perf = os.path.realpath(shutil.which("perf"))
        done = self.profile("Loops", tool="perf", code=2,
                            before=self.private_mounts(f"mount --bind /dev/null {perf}"))
        self.assertIn("perf", done.err)
        self.assertIn("apt-get install linux-perf", done.err)


def main():
    reason = why_not()
    if reason:
        print("skipped: " + reason)
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)


if __name__ == "__main__":
    main()
