# SPDX-License-Identifier: MIT
"""What the tests of `bench run` share: running it, and comparing rows with those of a linked program."""
import functools
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "adapters"))
from adapter_case import BIN, COUNT_CALLS, MANY, NO_CAPABILITIES, Case, automatic, environment  # noqa: E402
from counted import counted  # noqa: E402

BENCH = os.path.join(BIN, "bench")
STATIC_SHAPES = os.path.join(BIN, "agent_static_shapes")  # many_shapes, linked statically
# Tests of many_shapes that end well: the others are killed, or close what the harness needs.
CALM = "--gtest_filter=-Hostile.*:Forks.*"


@functools.lru_cache(maxsize=None)
def why_no_static_programs():
    """Why `bench run` can measure no static program here, and what changes that; empty if it can."""
    done = subprocess.run([BENCH, "run", "--backend=none", "--", STATIC_SHAPES, "--gtest_filter=WithFixture.One"],
                          env=environment(), capture_output=True, text=True)
    if done.returncode != 0 and (done.returncode != 2 or "what is done instead cannot be done: " not in done.stderr):
        raise AssertionError(f"a static program: exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
    return "" if done.returncode == 0 else done.stderr.strip()


def calls_for_ordinary_users():
    """The column with the number of calls that an ordinary user gets who names no backend."""
    return "calls" if automatic("ebpf") in COUNT_CALLS else "entries"


class RunCase(Case):
    def needs_static_programs(self):
        """Skips the test, or the subtest, where `bench run` can measure no static program."""
        if reason := why_no_static_programs():
            self.skipTest(reason)

    def run_below(self, static, *arguments, passes="[  PASSED  ] 1 test", program=(BENCH, "run"), **variables):
        """`bench run` with a command that executes the programs `static`, and no other with tests. Where they cannot be measured,
        they run as they do alone, each is named, and the test is skipped."""
        done = self.run_program(*program, *arguments, code=1 if static and why_no_static_programs() else 0, **variables)
        if static and why_no_static_programs():
            self.assertIn(passes, done.out)
            for name in static:
                self.assertIn(f"bench: not measured: {name}: nothing can be preloaded into it", done.err)
            if os.path.exists(self.csv):
                os.remove(self.csv)
            self.needs_static_programs()
        return done

    def bench_run(self, *arguments, code=0, **variables):
        return self.run_program(BENCH, "run", *arguments, code=code, **variables)

    def counted(self):
        return counted(self.csv)

    def compare_with_linked(self, program, *flags, linked=MANY, code=0, **variables):
        """Both run with `flags`, or with those that leave out the tests that end badly."""
        flags = flags or (CALM,)
        self.run_program(linked, f"--syscost_csv={self.csv}", *flags, code=code, **variables)
        expected = self.counted()
        os.remove(self.csv)
        done = self.bench_run(f"--csv={self.csv}", "--", program, *flags, code=code, **variables)
        self.assertEqual(self.counted(), expected)
        return done

    def check_output_and_verdict(self, program, **variables):
        """They are the same with and without `bench run`."""
        flags = (CALM, "--gtest_shuffle", "--gtest_random_seed=5", "--gtest_repeat=2")
        alone = self.run_program(program, *flags, code=None, **variables)
        measured = self.bench_run(f"--csv={self.csv}", "--", program, *flags, code=alone.code, **variables)
        times = re.compile(r"\(\d+ ms( total)?\)")
        self.assertEqual(times.sub("", measured.out), times.sub("", alone.out))

    def check_as_ordinary_user(self, program):
        self.run_program(*NO_CAPABILITIES, "-c", f"{BENCH} run --csv={self.csv} -- {program} --gtest_filter=WithFixture.*")
        column = calls_for_ordinary_users()
        self.assertEqual(self.getppids(column=column), {"WithFixture.One": 14, "WithFixture.Two": 24})
        self.assertEqual(self.getppids("suite", column), {"WithFixture set-up": 7, "WithFixture tear-down": 8})

    def check_below_ctest(self, *commands, static=()):
        """ctest runs Shapes.CallsThreeTimes and WithFixture.One, by a command each. They are one run. `static`: as in run_below()."""
        with open(os.path.join(self.folder, "CTestTestfile.cmake"), "w", encoding="utf-8") as file:
            file.writelines(f"add_test(number_{number} {command})\n" for number, command in enumerate(commands))
        self.run_below(static, f"--csv={self.csv}", "--", "ctest", "-j2", passes="100% tests passed")
        self.assertEqual(self.getppids(), {"Shapes.CallsThreeTimes": 3, "WithFixture.One": 14})
        self.assertEqual(len({row["run_id"] for row in self.rows()}), 1)

    def copy_of(self, program, *strip):
        copy = os.path.join(self.folder, "my_tests")
        if strip:
            subprocess.run([*strip, "-o", copy, program], check=True)
        else:
            shutil.copy(program, copy)
        return copy

    def set_uid_copy_of(self, program):
        """It runs as another user than this process."""
        if os.geteuid() != 0:
            self.skipTest("needs root, to give a program to another user")
        copy = self.copy_of(program)
        os.chown(copy, 1, 1)
        os.chmod(copy, 0o4755)
        return copy
