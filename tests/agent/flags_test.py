# SPDX-License-Identifier: MIT
"""Messages name flags as they were typed: `--backend` for `bench run --backend`, `--syscost_backend` for a linked program."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "adapters"))
from adapter_case import BIN, LIMITS, MANY, PLAIN, main  # noqa: E402
from run_case import RunCase  # noqa: E402

PREFIXED = re.compile(r"--syscost_\w+")
LOSES = "--gtest_filter=Limits.MoreDistinctSyscallsThanSlots"


class FlagsInMessages(RunCase):
    def names_in(self, *arguments, code, **variables):
        """The flags that `bench run` names, and what it says."""
        said = self.bench_run(*arguments, code=code, **variables).err
        self.assertEqual(PREFIXED.findall(said), [], said)
        return set(re.findall(r"--[a-z_]+", said)), said

    def flags(self):
        """{name: what its value is}, of all flags that a test program has, too."""
        text = self.run_program(os.path.join(BIN, "bench"), "run", "--help").out
        found = dict(re.findall(r"^  --(\w+)(?: (\w+))?", text, re.MULTILINE))
        self.assertGreater(len(found), 15)
        return {name: value for name, value in found.items() if name not in ("tests", "process", "live", "interval", "help")}

    def test_of_each_flag_with_a_bad_value(self):
        refused = 0
        for name in self.flags():
            with self.subTest(name):
                names, said = self.names_in(f"--{name}=", "--", PLAIN, "--gtest_filter=none", code=None)
                if "bad value" not in said:
                    continue  # an empty word is a name, or a number of another option
                refused += 1
                self.assertIn(f"--{name}", names)
        self.assertGreater(refused, 10)

    def test_of_flags_that_do_not_go_together(self):
        for flags in (("--where", "--detail=ioctl"), ("--where", "--children"), ("--trace", "--children"), ("--sched", "--where"),
                      ("--backend=none", "--where"), ("--backend=none", "--children"), ("--label=x",), ("--bpf=syslat",),
                      ("--bpf_sudo",), ("--artifacts=x",), ("--backend=none", "--inject=read:EIO:1"), ("--backend=none", "--forbid=read"),
                      ("--profile=cupti", "--children")):
            for program in (PLAIN, "true"):
                with self.subTest(flags=flags, program=program):
                    names, said = self.names_in(*flags, "--", program, code=2)
                    self.assertTrue({flag.split("=")[0] for flag in flags} <= names, said)

    def test_of_flags_that_a_backend_has_not(self):
        for flags in (("--backend=ebpf", "--trace"), ("--backend=ebpf", "--where"), ("--backend=seccomp", "--trace"),
                      ("--backend=seccomp", "--detail=ioctl"), ("--backend=dispatch", "--sched")):
            with self.subTest(flags):
                names, said = self.names_in(*flags, f"--csv={self.csv}", "--", PLAIN, code=2)
                self.assertTrue({flag.split("=")[0] for flag in flags} <= names, said)

    def test_of_rows_that_are_not_exact_also_below_other_programs(self):
        self.needs("dispatch")
        for command in ((LIMITS, LOSES), ("sh", "-c", f"{LIMITS} {LOSES}")):
            with self.subTest(command):
                names, said = self.names_in("--backend=dispatch", f"--csv={self.csv}", "--", *command, code=1)
                self.assertTrue({"--backend", "--filter", "--allow_lost"} <= names, said)

    def test_of_a_linked_program_keep_their_prefix_if_it_got_them_itself(self):
        self.needs("dispatch")
        flags = (LOSES, "--syscost_backend=dispatch")
        for done in (self.run_program(LIMITS, *flags, f"--syscost_csv={self.csv}", code=1),
                     self.bench_run(f"--csv={self.csv}", "--", LIMITS, *flags, code=1)):
            self.assertTrue({"--syscost_backend", "--syscost_filter", "--syscost_allow_lost"} <= set(PREFIXED.findall(done.err)), done.err)

    def test_of_the_doctor(self):
        for done, name in ((self.bench_run("--doctor", code=None), "--backend"),
                           (self.run_program(MANY, "--syscost_doctor", code=None), "--syscost_backend")):
            self.assertRegex(done.out, rf"(?m)^{name} auto would take|^Nothing can count here: ")

    def test_that_is_misspelled_has_a_suggestion(self):
        for typed, meant in (("--allow-lost", "--allow_lost"), ("--cvs=a", "--csv"), ("--backened=ebpf", "--backend")):
            with self.subTest(typed):
                self.assertIn(f"did you mean {meant}?", self.names_in(typed, "--", PLAIN, code=2)[1])


if __name__ == "__main__":
    main()
