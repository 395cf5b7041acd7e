# SPDX-License-Identifier: MIT
"""Tests that share a name are tests of their own, in programs that are linked with syscost and in others."""
import os
import unittest

import run_case
from adapter_case import BIN, main

BENCH = run_case.BENCH


class Names(run_case.RunCase):
    """A program, and with `_linked` after its name the same one linked with syscost."""
    PROGRAM = None
    CALLS = None  # {test: its calls of getppid}
    ORDERS = ()   # flags that change the order, or leave tests out

    def setUp(self):
        if self.PROGRAM is None or not os.path.exists(os.path.join(BIN, self.PROGRAM)):
            self.skipTest("not built: its framework is not installed")
        super().setUp()
        self.program = os.path.join(BIN, self.PROGRAM)

    def measure(self, *flags, linked, csv=None, **variables):
        self.csv = csv or os.path.join(self.folder, "out.csv")
        if os.path.exists(self.csv):
            os.remove(self.csv)
        if linked:
            self.run_program(self.program + "_linked", f"--syscost_csv={self.csv}", *flags, **variables)
        else:
            self.bench_run(f"--csv={self.csv}", "--", self.program, *flags, **variables)

    def test_each_test_has_its_own_name_and_calls(self):
        for linked in (False, True):
            with self.subTest(linked=linked):
                self.measure(linked=linked)
                self.assertEqual(self.getppids(), self.CALLS)
                self.assertEqual({row["repetition"] for row in self.rows(kind="test")}, {"0"})

    def test_the_names_do_not_depend_on_the_order_or_on_which_tests_run(self):
        for flags, left in self.ORDERS:
            for linked in (False, True):
                with self.subTest(flags=flags, linked=linked):
                    self.measure(*flags, linked=linked)
                    self.assertEqual(self.getppids(), {name: calls for name, calls in self.CALLS.items() if left(name)})

    def test_bench_reads_the_file_and_compares_each_test_with_itself(self):
        old, new = (os.path.join(self.folder, name) for name in ("old.csv", "new.csv"))
        self.measure(linked=False, csv=old)
        self.measure(linked=True, csv=new)
        summary = self.run_program(BENCH, "summary", new, "--top=0")
        for name, calls in self.CALLS.items():
            if calls:
                self.assertIn(name.replace("\t", "\\x09").replace("\x1b", "\\x1b"), summary.out)
        same = self.run_program(BENCH, "compare", old, new, "--gate=counts", "--all")
        self.assertIn("verdict: ok", same.out)


def everything(_):
    return True


class EqualNamesOfGoogleTest(Names):
    PROGRAM = "agent_equal_names"
    CALLS = {"Open.Works": 5, "Open.Works#2": 50, "Open.Other": 0, "Open.ByHand": 7, "Open.ByHand#2": 70,
             ".InASuiteWithoutAName": 3}
    ORDERS = ((("--gtest_shuffle", "--gtest_random_seed=5"), everything),
              (("--gtest_filter=Open.Works",), lambda name: name.startswith("Open.Works")),
              (("--gtest_brief=1",), everything))

    def test_a_repetition_stays_one(self):
        for linked in (False, True):
            with self.subTest(linked=linked):
                self.measure("--gtest_repeat=2", linked=linked)
                rows = [(row["test"], row["repetition"]) for row in self.rows(kind="test", record="test")]
                self.assertEqual(sorted(rows), sorted((name, number) for name in self.CALLS for number in "01"))

    def test_shards_have_the_same_names(self):
        found = {}
        for linked in (False, True):
            for shard in "01":
                self.measure(linked=linked, GTEST_TOTAL_SHARDS="2", GTEST_SHARD_INDEX=shard)
                found.update(self.getppids())
            self.assertEqual(found, self.CALLS)

    def test_the_line_under_a_test_has_its_own_name(self):
        done = self.run_program(self.program + "_linked", "--gtest_brief=1", "--syscost_profile=syscalls")
        self.assertIn("[ SYSCOST  ] Open.Works#2: 50 getppid", done.out)


class EqualNamesOfDoctest(Names):
    PROGRAM = "agent_doctest_equal"
    # `opens#2` is another test's own name.
    CALLS = {"opens": 5, "opens#3": 50, "opens#2": 7, "a.b.c": 4, "a.b.c#2": 9, "(no name)": 2, "(no name)#2": 3,
             "save\tfile": 11, "load\tfile": 12, "one\\r\\n.\x1b[1mbold": 13, "two\\r\\n.\x1b[1mbold": 14, "caf\\xe9": 15}
    ORDERS = ((("--order-by=rand", "--rand-seed=3"), everything), (("--order-by=suite",), everything),
              (("--order-by=name",), everything), (("--first=2", "--last=2"), lambda name: name == "opens#3"))

    def test_more_calls_of_the_second_test_are_red(self):
        for linked in (False, True):
            with self.subTest(linked=linked):
                old, new = (os.path.join(self.folder, name) for name in ("old.csv", "new.csv"))
                self.measure(linked=linked, csv=old)
                self.measure(linked=linked, csv=new, SYSCOST_TEST_CALLS="5000")
                done = self.run_program(BENCH, "compare", old, new, code=1)
                self.assertIn("+4950 getppid", done.out)
                baseline = os.path.join(self.folder, "baseline.tsv")
                self.run_program(BENCH, "baseline", "update", "--output", baseline, old)
                self.run_program(BENCH, "check", "--baseline", baseline, old)
                self.run_program(BENCH, "check", "--baseline", baseline, new, code=1)

    @unittest.skipUnless(os.uname().machine == "x86_64", "--trace needs dispatch, which is for x86-64")
    def test_each_test_has_its_own_trace(self):
        self.needs("dispatch")
        self.csv = os.path.join(self.folder, "traced.csv")
        self.bench_run(f"--csv={self.csv}", "--backend=dispatch", "--trace", "--", self.program)
        for name, calls in (("opens", 5), ("opens#3", 50), ("a.b.c#2", 9)):
            done = self.run_program(BENCH, "trace", name, self.csv, "--format=csv")
            self.assertEqual(done.out.count("getppid"), calls, name)
            self.assertIn("getppid", self.run_program(BENCH, "show", self.csv, name).out)


class EqualNamesOfCatch2(Names):
    PROGRAM = "agent_catch2_equal"
    CALLS = {"opens": 5, "opens#2": 50, "closes": 4, "closes#2": 9}
    ORDERS = ((("--order=rand", "--rng-seed=2"), everything), (("[net]",), lambda name: name == "opens#2"))


if __name__ == "__main__":
    main()
