# SPDX-License-Identifier: MIT
"""What the tests of `bench run` share: running it, and comparing rows with those of a linked program."""
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "adapters"))
from adapter_case import BIN, MANY, Case  # noqa: E402
from counted import counted  # noqa: E402

BENCH = os.path.join(BIN, "bench")
# Tests of many_shapes that end well: the others are killed, or close what the harness needs.
CALM = "--gtest_filter=-Hostile.*:Forks.*"


class RunCase(Case):
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

    def copy_of(self, program, *strip):
        copy = os.path.join(self.folder, "my_tests")
        if strip:
            subprocess.run([*strip, "-o", copy, program], check=True)
        else:
            shutil.copy(program, copy)
        return copy
