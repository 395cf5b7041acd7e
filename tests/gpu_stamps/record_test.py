# SPDX-License-Identifier: MIT
"""What a test with GPU stamps writes: RECORD_PROGRAM BENCH. It needs no GPU; the stamps are made up."""
import csv
import glob
import json
import os
import subprocess
import sys
import tempfile
import unittest

PROGRAM, BENCH = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])


def run(command, folder, code=0, **variables):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("SYSCOST_", "GTEST_"))}
    done = subprocess.run(command, cwd=folder, env={**kept, **variables}, capture_output=True, text=True, check=False)
    assert done.returncode == code, f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


class Record(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = holder.name

    def rows(self, name="out.csv", **equal):
        with open(os.path.join(self.folder, name), newline="", encoding="utf-8") as file:
            return [row for row in csv.DictReader(file) if all(row[k] == v for k, v in equal.items())]

    def stamp_files(self):
        return glob.glob(os.path.join(self.folder, "syscost_artifacts", "stamps-*.csv"))

    def test_does_not_charge_the_test_with_what_stamps_do(self):
        run([PROGRAM, "--syscost_csv", "out.csv"], self.folder)
        rows = self.rows(kind="test", test="Sum.Tree")
        self.assertEqual([row["calls"] or row["entries"] for row in rows if row["syscall"] == "getppid"], ["6"])
        self.assertEqual({row["syscall"] for row in rows if row["record"] == "syscall"}, {"getppid"})
        self.assertEqual([row["detail"] for row in rows if row["record"] == "test"], ["excludes loop GPU stamps"])

    def test_writes_a_row_for_each_figure_of_each_launch(self):
        run([PROGRAM, "--syscost_csv", "out.csv"], self.folder)
        spans = self.rows(kind="gpu_kernel", test="Sum.Tree", window="sum_tree span")
        self.assertEqual([row["repetition"] for row in spans], [str(i) for i in range(10)])
        self.assertEqual([row["wall_ns"] for row in spans], ["6496", "6528"] * 5)
        self.assertEqual({row["total_calls"] for row in spans}, {""})
        spread = self.rows(kind="gpu_kernel", test="Sum.Tree", window="sum_tree exit spread max")
        self.assertEqual({row["wall_ns"] for row in spread}, {"64"})

    def test_writes_a_row_for_each_time_by_events(self):
        run([PROGRAM, "--syscost_csv", "out.csv"], self.folder)
        times = self.rows(kind="gpu_kernel", test="Sum.TimedByEvents")
        self.assertEqual([(row["window"], row["repetition"], row["wall_ns"]) for row in times],
                         [("sum_tree duration (events)", str(i), ns)
                          for i, ns in enumerate(("7168", "6144", "8192", "9216"))])
        test = self.rows(kind="test", test="Sum.TimedByEvents", syscall="getppid")
        self.assertEqual([row["calls"] or row["entries"] for row in test], ["2"])

    def test_writes_through_no_link_that_someone_planted(self):
        victim = os.path.join(self.folder, "victim")
        os.mkdir(victim)
        link = os.path.join(self.folder, "syscost_artifacts")
        os.symlink(victim, link)
        if os.geteuid() != 0:
            self.skipTest("needs root, to make a link another's")
        os.lchown(link, 65534, 65534)
        done = run([PROGRAM, "--syscost_csv", "out.csv"], self.folder, code=1)
        self.assertIn("artifacts are not written through the link", done.stdout + done.stderr)
        self.assertEqual(os.listdir(victim), [])

    def test_a_launch_is_a_stretch_of_the_trace(self):
        command = [PROGRAM, "--syscost_trace", "--syscost_backend", "dispatch"]
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("SYSCOST_", "GTEST_"))}
        done = subprocess.run(command, cwd=self.folder, env=kept, capture_output=True, text=True, check=False)
        if done.returncode == 2:
            self.skipTest("dispatch does not work here: " + done.stderr)
        shown = run([BENCH, "trace", "Sum.Tree", "syscost_artifacts", "--format", "json"], self.folder)
        scopes = [one for one in json.loads(shown.stdout)["scopes"] if one["name"].startswith("GPU kernel")]
        self.assertEqual([one["name"] for one in scopes], [f"GPU kernel sum_tree, launch {i}" for i in range(10)])
        self.assertEqual([one["took_ns"] for one in scopes], [6496, 6528] * 5)
        starts = [one["at_ns"] for one in scopes]
        self.assertEqual(starts, sorted(starts))
        without = run([BENCH, "trace", "Sum.LosesStamps", "syscost_artifacts", "--format", "json"], self.folder)
        self.assertEqual(json.loads(without.stdout)["scopes"], [])

    def test_claims_nothing_of_a_launch_without_its_stamps(self):
        run([PROGRAM, "--syscost_csv", "out.csv"], self.folder)
        self.assertEqual(self.rows(kind="gpu_kernel", test="Sum.LosesStamps", window="sum_tree span"), [])

    def test_writes_the_stamps_for_show(self):
        run([PROGRAM, "--syscost_csv", "out.csv"], self.folder)
        files = self.stamp_files()
        self.assertEqual(len(files), 1)
        shown = run([BENCH, "show", files[0], "Sum.Tree, GPU kernel sum_tree, launch 9"], self.folder).stdout
        self.assertIn("stamps of 4 warps of 4", shown)

    def test_lets_compare_judge_a_faster_kernel(self):
        run([PROGRAM, "--syscost_csv", "slow.csv"], self.folder)
        run([PROGRAM, "--syscost_csv", "fast.csv"], self.folder, SPEED="3200")
        judged = run([BENCH, "compare", "slow.csv", "fast.csv", "--gate", "all"], self.folder).stdout
        self.assertRegex(judged, r"sum_tree span +6\.51 us -> 3\.31 us")
        worse = run([BENCH, "compare", "fast.csv", "slow.csv", "--gate", "time"], self.folder, code=1).stdout
        self.assertRegex(worse, r"sum_tree span")

    def test_does_nothing_without_a_request(self):
        run([PROGRAM], self.folder)
        self.assertEqual(os.listdir(self.folder), [])

    def test_says_that_the_stamps_could_not_be_written(self):
        with open(os.path.join(self.folder, "file"), "w", encoding="utf-8"):
            pass
        done = run([PROGRAM, "--syscost_csv", "out.csv"], self.folder, code=1, SYSCOST_ARTIFACTS="file")
        self.assertRegex(done.stderr, "Cannot write artifacts to .*/file: ")


if __name__ == "__main__":
    if subprocess.run([PROGRAM, "--syscost_doctor"], capture_output=True, check=False).returncode != 0:
        print("skipped: no backend can count here")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
