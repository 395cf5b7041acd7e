# SPDX-License-Identifier: MIT
"""A program with more rights than its caller (docs/security.md): the caller gets none of them through syscost.

The programs are copies with file capabilities or the setuid bit, and an ordinary user starts them."""
import os
import shutil
import subprocess
import sys
import unittest

from adapter_case import BIN, MANY, Case

EVIL = os.path.join(BIN, "libadapter_evil.so")
USER = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all"]
TEST = "--gtest_filter=Shapes.CallsThreeTimes"


class Secure(Case):
    def setUp(self):
        super().setUp()
        self.mark = os.path.join(self.folder, "mark")
        done = subprocess.run([*USER, MANY, TEST], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            self.skipTest("an ordinary user cannot run the test programs here: " + done.stderr)

    def copy(self, capabilities=None, mode=0o755):
        path = os.path.join(self.folder, "program")
        if os.path.exists(path):
            os.remove(path)  # a process of the last one may still be there: ETXTBSY
        shutil.copyfile(MANY, path)
        os.chmod(path, mode)
        if capabilities and subprocess.run(["setcap", capabilities, path], check=False).returncode != 0:
            self.skipTest("the file system of the temporary folder keeps no capabilities")
        return path

    def run_as_user(self, program, *flags, code=0, **variables):
        return self.run_program(*USER, program, TEST, *flags, code=code, SYSCOST_TEST_MARK=self.mark, **variables)

    def marks(self):
        if not os.path.exists(self.mark):
            return ""
        with open(self.mark, encoding="ascii") as file:
            text = file.read()
        os.remove(self.mark)
        return text

    def test_no_library_of_the_callers_is_loaded(self):
        folder = os.path.join(self.folder, "cuda", "extras", "CUPTI", "lib64")
        os.makedirs(folder)
        shutil.copyfile(EVIL, os.path.join(folder, "libcupti.so"))
        ways = ({"SYSCOST_CUPTI": EVIL}, {"CUDA_HOME": os.path.join(self.folder, "cuda")},
                {"CUDA_PATH": os.path.join(self.folder, "cuda")})
        for way in ways:
            done = self.run_as_user(self.copy(), "--syscost_profile=cupti", code=2, **way)
            if "built without" in done.err:
                self.skipTest("built without CUPTI")
            control = self.marks()
            if "SYSCOST_CUPTI" in way:  # the others are looked at where the system has no CUPTI
                self.assertEqual(control, "with the caller's\n", "the control loads it")
            done = self.run_as_user(self.copy("cap_bpf,cap_perfmon+ep"), "--syscost_profile=cupti", code=2, **way)
            self.assertEqual(self.marks(), "", way)
            self.assertIn("rights that its caller lacks", done.err)

    def test_no_tool_of_the_callers_is_started(self):
        for name in ("perf", "bpftrace", "sudo"):
            tool = os.path.join(self.folder, name)
            with open(tool, "w", encoding="ascii") as file:
                file.write('#!/bin/sh\necho started >>"' + self.mark + '"\nexit 1\n')
            os.chmod(tool, 0o755)
        flags = ["--syscost_profile=perf", "--syscost_bpf_sudo", "--syscost_backend=none"]
        path = self.folder + ":" + os.environ["PATH"]
        done = self.run_as_user(self.copy(), *flags, code=None, PATH=path)
        if "built without" in done.err:
            self.skipTest("built without profilers")
        self.assertIn("started", self.marks(), "the control starts it\n" + done.err)
        self.run_as_user(self.copy("cap_bpf,cap_perfmon+ep"), *flags, code=None, PATH=path)
        self.assertEqual(self.marks(), "")

    def test_the_caller_decides_no_result_of_a_call(self):
        self.needs("dispatch")
        program = self.copy("cap_bpf,cap_perfmon+ep")
        for name, value in (("inject", "capset:retval=0"), ("forbid", "getppid")):
            for way in ((), {f"SYSCOST_{name.upper()}": value}), ((f"--syscost_{name}={value}",), {}):
                done = self.run_as_user(program, *way[0], code=2, **way[1])
                self.assertIn(f"--syscost_{name} decides what happens inside this program", done.err)
        self.run_as_user(self.copy(), "--syscost_inject=capset:retval=0")  # the control

    def test_a_program_that_may_do_more_with_files_opens_none(self):
        folder = os.path.join(self.folder, "roots")
        os.mkdir(folder, 0o700)
        csv = os.path.join(folder, "out.csv")
        for way in ({"mode": 0o4755}, {"mode": 0o2755}, {"capabilities": "cap_dac_override+ep"},
                    {"capabilities": "cap_fowner+ep"}):
            program = self.copy(**way)
            done = self.run_as_user(program, code=2, SYSCOST_CSV=csv)
            self.assertIn("may do more with files than the user who starts it", done.err)
            self.assertIn("fix: ", done.err)
            self.assertNotIn("[ RUN ", done.out)
            self.assertEqual(os.listdir(folder), [])
            self.assertEqual(self.run_as_user(program).err, "", "asked for nothing, it runs")

    def test_the_documented_capabilities_count_into_the_callers_file(self):
        done = self.run_as_user(self.copy("cap_bpf,cap_perfmon+ep"), SYSCOST_CSV=self.csv, SYSCOST_LABEL="mine")
        [row] = self.rows(kind="test", record="test")
        self.assertEqual((row["label"], os.stat(self.csv).st_uid), ("mine", 65534), done.err)

    def test_what_the_caller_set_is_no_part_of_the_surroundings(self):
        set_by_caller = {"LC_ALL": "marked", "TZ": "marked", "LD_PRELOAD": "/marked.so", "GLIBC_TUNABLES": "marked"}
        for capabilities, times in ((None, 4), ("cap_bpf,cap_perfmon+ep", 0)):
            if os.path.exists(self.csv):
                os.remove(self.csv)
            self.run_as_user(self.copy(capabilities), SYSCOST_CSV=self.csv, **set_by_caller)
            [row] = self.rows(kind="run", window="begin")
            self.assertEqual(row["detail"].count("marked"), times, row["detail"])


if __name__ == "__main__":
    if os.geteuid() != 0 or not shutil.which("setcap") or not shutil.which("setpriv"):
        print("skipped: needs root, setcap and setpriv, to give a program rights that its caller lacks")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
