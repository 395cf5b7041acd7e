#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `bench` says of changes that people made: directions_test.py BIN BACKEND

The program gate_directions has a test for each change, most of them from a pull request of a public project, in the form
before it and in the form after it. Each form runs three times. The verdicts are those of EXPECTED, in each single pair
of runs and in all runs together, and two runs of one form are the same.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

BIN, BACKEND = os.path.abspath(sys.argv[1]), sys.argv[2]
PROGRAM, BENCH = os.path.join(BIN, "gate_directions"), os.path.join(BIN, "bench")
RUNS = (1, 2, 3)

# {test: (verdict, what its reason begins with)}
EXPECTED = {
    "Writing.ManyLinesTogether": ("exchanged", ""),
    "Writing.LinesWithoutFlush": ("improved", ""),
    "Writing.LinesWithFlush": ("regressed", ""),
    "Writing.LogThatStaysOpen": ("improved", ""),
    "Reading.LargerPieces": ("improved", ""),
    "Reading.PositionInTheCall": ("exchanged", ""),
    "Reading.PositionBeforeTheCall": ("regressed", ""),
    "Reading.MapOfAFile": ("exchanged", ""),
    "Reading.CopyInTheKernel": ("exchanged", ""),
    "Reading.AdviceOnTheOrder": ("exchanged", ""),
    "Reading.RandomBytesWithoutAFile": ("exchanged", ""),
    "Reading.StatusFileThatStaysOpen": ("in doubt", ""),
    "Durability.NoSync": ("regressed", "fewer syncs: 20 -> 0"),
    "Durability.SyncOfDataAlone": ("exchanged", ""),
    "Durability.SyncThatWasMissing": ("regressed", "more syncs: 0 -> 1"),
    "Durability.SyncOfTheFolder": ("regressed", "more syncs: 1 -> 2"),
    "Durability.OneSyncAtTheEnd": ("regressed", "other syncs: O_SYNC 1 -> 0"),
    "Durability.FlagThatSyncedIsGone": ("regressed", "fewer syncs: 1 -> 0"),
    "Durability.NoSyncOfAPipe": ("improved", ""),
    "Durability.ReplacedAsAWhole": ("regressed", ""),
    "Durability.SpaceIsReserved": ("exchanged", ""),
    "Files.OpenWithoutLookUp": ("exchanged", ""),
    "Files.LookUpBeforeOpen": ("regressed", ""),
    "Files.TypesFromTheFolder": ("improved", ""),
    "Files.PathFromOneLink": ("improved", ""),
    "Descriptors.CloseForgotten": ("in doubt", "2 more stay open: close 20 -> 18"),
    "Descriptors.ClosedAfterAFailure": ("improved", ""),
    "Descriptors.ClosedTwice": ("regressed", ""),
    "Descriptors.FlagsWithAccept": ("exchanged", ""),
    "Descriptors.FlagSetTwice": ("regressed", ""),
    "Descriptors.OptionOfTheListener": ("improved", ""),
    "Descriptors.OptionOfEachConnection": ("exchanged", ""),
    "Descriptors.AddressUsedAgain": ("exchanged", ""),
    "Descriptors.CounterInThePlaceOfAPipe": ("exchanged", ""),
    "Descriptors.WakeUpsAreNotRead": ("improved", ""),
    "Descriptors.EventsAreSetOnce": ("improved", ""),
    "Descriptors.PollInThePlaceOfSelect": ("exchanged", "a wait that OLD never made: 10 poll"),
    "Descriptors.DatagramsTogether": ("exchanged", ""),
    "Memory.AdviceOnPages": ("exchanged", ""),
    "Memory.UnmappedAtLast": ("improved", ""),
    "Memory.UnmapForgotten": ("in doubt", "6 more may stay mapped: munmap 6 -> 0"),
    "Processes.SpawnInThePlaceOfFork": ("exchanged", ""),
    "Processes.NumberOfTheThreadIsKept": ("improved", ""),
    "Waits.ThatGrow": ("regressed", ""),
    "Waits.AgainAfterASignal": ("exchanged", ""),
    "Threads.PollInThePlaceOfACondition": ("same", "a wait that OLD never made: "),
    "Threads.ConditionInThePlaceOfAPoll": ("same", ""),
    "Threads.PoolInThePlaceOfThreads": ("in doubt", "other threads made calls"),
}
# With a list of what each test leaves open.
WITH_LEAKS = {**EXPECTED, "Descriptors.CloseForgotten": ("regressed", "2 more stay open: close 20 -> 18"),
              "Memory.UnmapForgotten": ("regressed", "6 more may stay mapped: munmap 6 -> 0")}
# What is in doubt, once both forms ran again.
DECIDED = {
    "Threads.PollInThePlaceOfACondition": ("regressed", "a wait that OLD never made: "),
    "Threads.ConditionInThePlaceOfAPoll": ("same", ""),
    "Threads.PoolInThePlaceOfThreads": ("improved", ""),
}


def is_threaded(test):
    return test.startswith("Threads.")


class Directions(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="syscost-directions-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        for run in RUNS:
            cls.run_both("", run)
        cls.run_both("leaks", 1, SYSCOST_LEAKS="1")

    @classmethod
    def environment(cls, **variables):
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("SYSCOST_", "GTEST_", "DIRECTIONS_")) and k != "CI"}
        return {**kept, "SYSCOST_BACKEND": BACKEND, **variables}

    @classmethod
    def run_both(cls, name, run, **variables):
        """Runs both forms. Threads leave the heap as chance has it, so the tests of threads have a process and a file of their own."""
        for form in ("old", "new"):
            for part in ("-Threads.*", "Threads.*"):
                done = subprocess.run([PROGRAM, f"--gtest_filter={part}"], capture_output=True, text=True, env=cls.environment(
                    DIRECTIONS_FORM=form, SYSCOST_CSV=cls.file(name, form, is_threaded(part)), SYSCOST_RUN_ID=f"{form}-{run}",
                    **variables))
                if done.returncode == 2:
                    print(f"skipped: {BACKEND} cannot count here\n{done.stderr}")
                    sys.exit(77)
                if done.returncode != 0:
                    raise AssertionError(done.stdout + done.stderr)

    @classmethod
    def file(cls, name, form, threads):
        return os.path.join(cls.folder, f"{name}{'threads-' if threads else ''}{form}.csv")

    def compare(self, *arguments):
        """{test: (verdict, reason)} without tests that all runs have."""
        done = subprocess.run([BENCH, "compare", "--format", "json", *arguments], capture_output=True, text=True, cwd=self.folder,
                              env=self.environment())
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return {row["test"]: (row["verdict"], row["reason"]) for row in json.loads(done.stdout)["tests"] if "." in row["test"]}

    def compare_forms(self, name, *arguments):
        return {**self.compare(self.file(name, "old", False), self.file(name, "new", False), *arguments),
                **self.compare(self.file(name, "old", True), self.file(name, "new", True), *arguments)}

    def expect(self, expected, found):
        self.assertEqual(sorted(expected), sorted(found))
        for test, (verdict, reason) in expected.items():
            with self.subTest(test):
                self.assertEqual(found[test][0], verdict, found[test])
                self.assertTrue(found[test][1].startswith(reason), found[test])

    def test_single_runs_tell(self):
        for run in RUNS:
            self.expect(EXPECTED, self.compare_forms("", "--run", f"old-{run}", "--run", f"new-{run}"))

    def test_runs_together_tell_the_same(self):
        found = self.compare_forms("", "--all-runs")
        self.expect({test: one for test, one in EXPECTED.items() if not is_threaded(test)},
                    {test: one for test, one in found.items() if not is_threaded(test)})

    def test_runs_of_one_form_are_the_same(self):
        for form in ("old", "new"):
            one = self.file("", form, False)
            for run in RUNS[1:]:
                found = self.compare(one, one, "--run", f"{form}-1", "--run", f"{form}-{run}")
                self.assertEqual({test: verdict for test, (verdict, _) in found.items() if verdict != "same"}, {})

    def test_descriptors_that_stay_open_are_red_if_they_were_listed(self):
        self.expect(WITH_LEAKS, self.compare_forms("leaks"))

    def test_a_container_that_denies_clone3_changes_no_verdict(self):
        test, deny = "Processes.SpawnInThePlaceOfFork", os.path.join(BIN, "adapter_deny")
        for form in ("old", "new"):
            subprocess.run([deny, "ENOSYS", "clone3", PROGRAM, f"--gtest_filter={test}"], stdout=subprocess.DEVNULL, check=True,
                           env=self.environment(DIRECTIONS_FORM=form, SYSCOST_CSV=self.file("denied", form, False)))
        found = self.compare(self.file("denied", "old", False), self.file("denied", "new", False))
        self.expect({test: EXPECTED[test]}, found)

    def test_further_runs_decide(self):
        commands = [f"--{form}=DIRECTIONS_FORM={form} '{PROGRAM}' --gtest_filter='Threads.*'" for form in ("old", "new")]
        found = self.compare(self.file("", "old", True), self.file("", "new", True), "--gate-waits", *commands)
        self.expect(DECIDED, found)


if __name__ == "__main__":
    result = unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2, exit=False).result
    sys.exit(0 if result.wasSuccessful() else 1)
