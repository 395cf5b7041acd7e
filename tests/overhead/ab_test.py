# SPDX-License-Identifier: MIT
"""bench ab with a Google Benchmark that is linked with syscost and the same one that is not.

docs/performance.md measures with it what linking costs; here nothing asserts on time, only that the two pair and that
no sample is lost or made up. Usage: ab_test.py BIN; BIN is the folder of the programs.
"""
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

BIN = os.path.abspath(sys.argv[1])
BENCH = os.path.join(BIN, "bench")
BARE = os.path.join(BIN, "overhead_benchmark_bare")
LINKED = os.path.join(BIN, "overhead_benchmark_linked")
ROUNDS = 3
FLAGS = ["--benchmark_min_time=0.001", "--benchmark_repetitions=2"]


class LinkedAndUnlinked(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="syscost-ab-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.kept = os.path.join(self.folder, "kept")

    def run_ab(self, a, b, backend):
        """Runs `bench ab` and returns what its JSON says of the one benchmark."""
        variables = {k: v for k, v in os.environ.items() if not k.startswith(("SYSCOST_", "BENCHMARK_"))}
        command = [BENCH, "ab", "--rounds", str(ROUNDS), "--budget", "600", "--gate", "none", "--format", "json",
                   "--threshold", "1000000", "--keep", self.kept, "--", a, *FLAGS, "--", b, *FLAGS]
        done = subprocess.run(command, env={**variables, "SYSCOST_BACKEND": backend}, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        tests = json.loads(done.stdout)["tests"]
        self.assertEqual([test["test"] for test in tests], ["benchmark BM_Getppid"])
        return tests[0]

    def files(self, side):
        return sorted(os.listdir(os.path.join(self.kept, side)))

    def rounds(self):
        """The rounds that ran: doubled while a time is undecided, so at least ROUNDS."""
        rounds = len(self.files("a"))
        self.assertGreaterEqual(rounds, ROUNDS)
        return rounds

    def check(self, test, rounds):
        time = test["time"]
        self.assertEqual(time["sample"], "process", "however often it repeats")
        for side in ("old", "new"):
            self.assertEqual(len(self.files("a" if side == "old" else "b")), rounds)
            self.assertEqual(test[side]["repetitions"], 2 * rounds)
            self.assertEqual(test[side]["wall_ns"]["n"], 2 * rounds)
            self.assertGreater(time[f"{side}_ns"]["median"], 0)
        self.assertNotEqual(time["verdict"], "incomparable")

    def test_rows_pair_and_every_process_is_a_sample(self):
        test = self.run_ab(BARE, LINKED, "none")
        rounds = self.rounds()
        self.check(test, rounds)
        self.assertEqual(self.files("a"), [f"{i:06}.json" for i in range(1, rounds + 1)])
        self.assertEqual(self.files("b"), [f"{i:06}.csv" for i in range(1, rounds + 1)])

    def test_the_linked_side_may_be_either(self):
        test = self.run_ab(LINKED, BARE, "none")
        self.check(test, self.rounds())
        self.assertTrue(all(name.endswith(".csv") for name in self.files("a")))
        self.assertTrue(all(name.endswith(".json") for name in self.files("b")))

    def test_only_the_linked_side_has_counts(self):
        doctor = subprocess.run([LINKED, "--syscost_csv", os.path.join(self.folder, "probe.csv"),
                                 "--benchmark_min_time=0.001"], capture_output=True, text=True)
        if doctor.returncode != 0:
            self.skipTest("nothing can count here: " + doctor.stderr.strip())
        with open(os.path.join(self.folder, "probe.csv"), newline="", encoding="utf-8") as file:
            if next(csv.DictReader(file))["backend"] == "seccomp":
                self.skipTest("no backend here sees how calls end")
        test = self.run_ab(BARE, LINKED, "auto")
        self.check(test, self.rounds())
        self.assertIsNone(test["old"]["calls"])
        self.assertEqual(test["new"]["calls"], {"n": 2 * self.rounds(), "median": 1, "min": 1, "max": 1})
        self.assertEqual(test["verdict"], "incomparable", "of counts: one side has none, which is not 0")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
