# SPDX-License-Identifier: MIT
"""Which backend `auto` takes where, and what is said about the others: as root, as an ordinary user, with capabilities of a
file and ambient ones, under seccomp profiles, under strace and gdb, in a PID namespace."""
import os
import re
import shutil
import subprocess
import unittest

from adapter_case import ASSERTIONS, BIN, DENY, MANY, NO_CAPABILITIES, Case, environment, main

TEST = "--gtest_filter=Shapes.CallsThreeTimes"
ROOT = unittest.skipUnless(os.geteuid() == 0, "needs root, to become somebody else")
ORDINARY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all"]


def needs(program):
    return unittest.skipUnless(shutil.which(program), f"needs {program}")


class Surroundings(Case):
    def entries(self, *before, code=0, backend=None, program=MANY):
        """Runs the test that calls getppid three times; (backend, entries or calls of getppid, header line)."""
        if os.path.exists(self.csv):
            os.remove(self.csv)
        flags = [f"--syscost_csv={self.csv}", TEST] + ([f"--syscost_backend={backend}"] if backend else [])
        done = self.run_program(*before, program, *flags, code=code)
        if code != 0:
            return done.err
        [row] = self.rows(kind="test", record="syscall", syscall="getppid")
        return row["backend"], int(row["entries"] or row["calls"]), re.search("syscost: backend.*", done.err).group()

    def doctor(self, *before):
        out = self.run_program(*before, MANY, "--syscost_doctor", code=None).out
        return {name: (state == "works") for name, state in
                re.findall(r"^  (\w+) +(works|does not work):", out, re.MULTILINE)}, out

    @ROOT
    def test_root_gets_ebpf_and_nothing_is_passed_over(self):
        backend, count, header = self.entries()
        self.assertEqual((backend, count), ("ebpf", 3))
        self.assertNotIn(", not ", header)

    @ROOT
    @needs("setpriv")
    def test_an_ordinary_user_gets_a_backend_that_needs_nothing_and_the_header_says_why(self):
        backend, count, header = self.entries(*ORDINARY)
        self.assertNotEqual(backend, "ebpf")
        self.assertEqual(count, 3)
        self.assertIn("not ebpf: eBPF needs CAP_BPF and CAP_PERFMON", header)
        self.assertIn("(fix: run as root", header)
        works, out = self.doctor(*ORDINARY)
        self.assertFalse(works["ebpf"])
        self.assertTrue(works["seccomp"])
        self.assertIn("fix: run as root", out)

    @ROOT
    @needs("setpriv")
    def test_a_named_backend_that_cannot_work_is_an_error(self):
        error = self.entries(*ORDINARY, code=2, backend="ebpf")
        self.assertIn("CAP_BPF", error)
        self.assertIn("fix: ", error)

    @ROOT
    @needs("setpriv")
    def test_ambient_capabilities_are_enough_for_ebpf(self):
        ambient = ORDINARY[:-1] + ["--inh-caps=+bpf,+perfmon", "--ambient-caps=+bpf,+perfmon"]
        self.assertEqual(self.entries(*ambient)[:2], ("ebpf", 3))

    @ROOT
    @needs("setcap")
    @needs("setpriv")
    def test_file_capabilities_are_enough_for_ebpf(self):
        capped = os.path.join(self.folder, "capped")
        shutil.copy(MANY, capped)
        if subprocess.run(["setcap", "cap_bpf,cap_perfmon+ep", capped], check=False).returncode != 0:
            self.skipTest("the file system of the temporary folder keeps no capabilities")
        works, _ = self.doctor(*ORDINARY)
        self.assertFalse(works["ebpf"])
        self.assertEqual(self.entries(*ORDINARY, program=capped)[:2], ("ebpf", 3))

    def test_seccomp_counts_whoever_we_are(self):
        backend, count, _ = self.entries(backend="seccomp")
        self.assertEqual((backend, count), ("seccomp", 3))
        [row] = self.rows(kind="test", record="syscall", syscall="getppid")
        for column in ("calls", "restarts", "in_flight", "no_return", "carried_in", "denied", "errors", "errnos",
                       "latency_count", "latency_sum_ns", "histogram"):
            self.assertEqual(row[column], "", column)

    @ROOT
    def test_a_profile_that_denies_bpf_leaves_the_others(self):
        for answer in ("EPERM", "ENOSYS"):
            with self.subTest(answer=answer):
                backend, count, header = self.entries(DENY, answer, "bpf")
                self.assertNotEqual(backend, "ebpf")
                self.assertEqual(count, 3)
                self.assertIn("not ebpf: ", header)

    def test_a_profile_that_denies_seccomp_says_so(self):
        for answer in ("EPERM", "ENOSYS"):
            with self.subTest(answer=answer):
                works, out = self.doctor(DENY, answer, "seccomp")
                self.assertFalse(works["seccomp"])
                self.assertRegex(out, "seccomp +does not work: .*profile")
                self.assertIn("let the container's seccomp profile pass seccomp", out)
                error = self.entries(DENY, answer, "seccomp", code=2, backend="seccomp")
                self.assertIn("profile", error)

    def test_a_profile_that_denies_prctl_and_seccomp_and_bpf_leaves_nothing_and_every_reason_is_told(self):
        for answer in ("EPERM", "ENOSYS"):
            with self.subTest(answer=answer):
                error = self.entries(DENY, answer, "bpf,prctl,seccomp", code=2)
                self.assertRegex(error, "no backend can count here; ebpf: .*; seccomp: ")
                self.assertRegex(error, "fix: ebpf: .*; seccomp: ")

    @needs("strace")
    def test_under_strace(self):
        for backend in ("seccomp", None):
            with self.subTest(backend=backend):
                self.assertEqual(self.entries("strace", "-f", "-o", "/dev/null", backend=backend)[1], 3)

    @needs("gdb")
    def test_under_gdb(self):
        for backend in ("seccomp", None):
            with self.subTest(backend=backend):
                gdb = ["gdb", "-nx", "-batch", "-return-child-result", "-ex", "run", "--args"]
                self.assertEqual(self.entries(*gdb, backend=backend)[1], 3)

    @ROOT
    @needs("unshare")
    def test_in_a_pid_namespace_as_its_first_process(self):
        for backend in ("seccomp", None):
            with self.subTest(backend=backend):
                self.assertEqual(self.entries("unshare", "--fork", "--pid", "--mount-proc", backend=backend)[1], 3)

    @ROOT
    @needs("capsh")
    def test_assertions_on_what_the_backend_cannot_measure_skip_here_and_fail_in_ci(self):
        flags = ["--gtest_filter=Assertions.ReadAValueFirst", "--syscost_backend=seccomp"]
        skipped = self.run_program(ASSERTIONS, *flags)
        self.assertIn("does not measure calls", skipped.out)
        self.assertIn("SKIPPED", skipped.out)
        failed = self.run_program(ASSERTIONS, *flags, code=1, CI="true")
        self.assertIn("does not measure calls", failed.out)


if __name__ == "__main__":
    main()
