# SPDX-License-Identifier: MIT
"""--syscost_profile cupti from flag to file, on the stand-in.

PROGRAM BENCHMARK BENCH STANDIN STANDIN_WITHOUT_FLUSH DRIVER_FOLDER

The stand-in plays recorded activity; nothing here was measured on a GPU.
"""
import csv
import glob
import json
import os
import subprocess
import sys
import tempfile
import unittest

PROGRAM, BENCHMARK, BENCH, STANDIN, WITHOUT_FLUSH, DRIVER = (os.path.abspath(argument) for argument in sys.argv[1:7])

# The records of a sum of 1000 integers: two copies in, a GPU kernel, a copy out. The second launch belongs to a later
# test.
SUM = """\
call 100 200 1
copy 1 4000 1000 4000 1
call 4100 4200 2
kernel _ZN7gpu_sum12_GLOBAL__N_18add_treeEPKjmPj 9000 11000 2
memset
call 11100 11200 3
copy 2 4 12000 13000 3
call 1000100 1000200 4
kernel after_the_window 1000500 1000600 4
"""
TREE = "gpu_sum::(anonymous namespace)::add_tree"


class Profile(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = holder.name

    def run_program(self, play, *arguments, code=0, program=PROGRAM, library=STANDIN, driver=DRIVER, **variables):
        script = os.path.join(self.folder, "play")
        with open(script, "w", encoding="utf-8") as file:
            file.write(play)
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("SYSCOST_", "GTEST_", "LD_LIBRARY", "CI"))}
        environment = {**kept, "SYSCOST_TEST_CUPTI_PLAY": script, "SYSCOST_CUPTI": library, **variables}
        if driver:
            environment["LD_LIBRARY_PATH"] = driver
        done = subprocess.run([program, "--syscost_quick", *arguments], cwd=self.folder, env=environment,
                              capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def tree(self, play, *arguments, **keywords):
        return self.run_program(play, "--syscost_profile", "cupti", "--syscost_csv", "out.csv",
                                "--gtest_filter=Sum.Tree", *arguments, **keywords)

    def rows(self, name="out.csv", **equal):
        with open(os.path.join(self.folder, name), newline="", encoding="utf-8") as file:
            return [row for row in csv.DictReader(file) if all(row[k] == v for k, v in equal.items())]

    def refused(self, play, **keywords):
        done = self.tree(play, code=2, **keywords)
        self.assertNotIn("[ RUN", done.stdout, "no test may run")
        self.assertEqual([name for name in os.listdir(self.folder) if name != "play"], [])
        return done.stderr

    def test_each_figure_is_a_row_of_kind_gpu_kernel(self):
        self.tree(SUM)
        figures = {row["window"]: (row["iterations"], row["wall_ns"]) for row in self.rows(kind="gpu_kernel")}
        self.assertEqual(figures, {
            f"{TREE} duration (CUPTI)": ("1", "2000"),
            f"{TREE} launch latency (CUPTI)": ("1", "4900"),
            "copy to device (CUPTI)": ("1", "3000"),
            "copy to host (CUPTI)": ("1", "1000"),
            "all kernels (CUPTI)": ("1", "2000"),
            "all transfers (CUPTI)": ("1", "4000"),
        })
        self.assertEqual({row["test"] for row in self.rows(kind="gpu_kernel")}, {"Sum.Tree"})
        note = self.rows(window="all transfers (CUPTI)")[0]["detail"]
        self.assertEqual(note, "1 copy to device, 4000 bytes; 1 copy to host, 4 bytes; 2.000 times the GPU kernels' time")

    def test_a_copy_between_devices_has_a_kind_of_its_own(self):
        self.tree("call 100 200 1\npeer 4096 1000 4000 1\n" + SUM.replace("call 100 200 1\n", ""))
        row, = self.rows(window="copy between devices (CUPTI)")
        self.assertEqual(row["wall_ns"], "3000")
        note = self.rows(window="all transfers (CUPTI)")[0]["detail"]
        self.assertIn("1 copy to device, 4000 bytes; 1 copy to host, 4 bytes;", note)

    def test_the_test_has_neither_counts_nor_times(self):
        self.tree(SUM)
        test, = self.rows(kind="test", record="test")
        self.assertEqual((test["outcome"], test["total_calls"], test["wall_ns"], test["backend"]),
                         ("passed", "", "", "none"))
        self.assertEqual(self.rows(record="syscall"), [])

    def test_lines_and_a_file_say_the_same(self):
        done = self.tree(SUM)
        self.assertIn(f"cupti: 1 {TREE}, 2.00 us each, 4.90 us from launch to start", done.stdout)
        self.assertIn("cupti: transfers take 2.00 times as long as GPU kernels", done.stdout)
        path, = glob.glob(os.path.join(self.folder, "syscost_artifacts", "**", "cupti.json"), recursive=True)
        with open(path, encoding="utf-8") as file:
            self.assertEqual(json.load(file)["transfer_to_compute"], 2.0)

    def test_records_of_every_length_are_read(self):
        self.tree("length 144\nversion 13\nper_buffer 1\n" + SUM)
        self.assertEqual(self.rows(window=f"{TREE} duration (CUPTI)")[0]["wall_ns"], "2000")

    def test_losses_are_said_and_make_no_sums(self):
        done = self.tree("dropped 3\nkernel unfinished 500 0 9\n" + SUM)
        self.assertIn("4 records are missing (3 dropped by CUPTI, 1 unfinished at the end", done.stdout)
        self.assertEqual(self.rows(window="all kernels (CUPTI)"), [])
        self.assertEqual(len(self.rows(window=f"{TREE} duration (CUPTI)")), 1)

    def test_a_loop_has_one_pass_for_it_and_no_other(self):
        self.run_program(SUM, "--syscost_profile", "cupti", "--syscost_csv", "out.csv", "--gtest_filter=Sum.Loop",
                         "--syscost_cycles", "5")
        self.assertEqual(len(self.rows(kind="gpu_kernel", window=f"loop flush: {TREE} duration (CUPTI)")), 1)
        self.assertEqual(self.rows(kind="loop"), [], "nothing was timed and nothing counted")
        # The test has two parts, before the loop and after it. Their sums are added up.
        self.assertEqual([row["wall_ns"] for row in self.rows(window="all kernels (CUPTI)")], ["4000"])

    def test_a_benchmark_is_timed_without_it_and_traced_with_it(self):
        self.run_program(SUM, "--syscost_profile", "cupti", "--syscost_csv", "out.csv", program=BENCHMARK)
        duration, = self.rows(kind="gpu_kernel", window=f"{TREE} duration (CUPTI)")
        self.assertTrue(duration["test"].startswith("BM_Sum"))
        self.assertEqual(duration["wall_ns"], "2000")
        timed, = self.rows(kind="benchmark", origin="syscost")
        self.assertNotEqual(timed["wall_ns"], "", "its process has no CUPTI")
        self.assertIn("sees no GPU", self.run_program("", "--syscost_profile", "cupti", program=BENCHMARK, code=2,
                                                      SYSCOST_TEST_CUDA_DEVICES="0").stderr)

    def test_bench_shows_and_compares_the_figures(self):
        self.tree(SUM)
        summary = subprocess.run([BENCH, "summary", "out.csv"], cwd=self.folder, capture_output=True, text=True,
                                 check=False).stdout
        self.assertRegex(summary, r"add_tree duration \(CUPTI\).*wall 2\.00 us")
        self.assertIn("2.000 times the GPU kernels' time", summary)
        os.rename(os.path.join(self.folder, "out.csv"), os.path.join(self.folder, "old.csv"))
        self.tree(SUM.replace("9000 11000", "9000 10000"))
        judged = subprocess.run([BENCH, "compare", "old.csv", "out.csv", "--all", "--gate", "all"], cwd=self.folder,
                                capture_output=True, text=True, check=False).stdout
        self.assertRegex(judged, r"add_tree duration \(CUPTI\) +2\.00 us -> 1\.00 us")

    def test_without_cuptis_clock_nothing_is_left_out(self):
        self.tree("refuse timestamp 999\n" + SUM)
        self.assertEqual(len(self.rows(window=f"{TREE} duration (CUPTI)")), 1)

    def test_nothing_recorded_is_said(self):
        self.assertIn("cupti: no GPU kernel and no copy", self.tree("memset\n").stdout)

    def test_a_flush_that_fails_loses_no_verdict_and_is_no_success(self):
        done = self.tree("refuse flush 999\n" + SUM, code=1)
        self.assertIn("[  PASSED  ] 1 test.", done.stdout)
        self.assertIn("did not deliver its records: CUPTI_ERROR_UNKNOWN (999)", done.stderr)
        self.assertEqual(self.rows(kind="gpu_kernel"), [])

    def test_missing_permission_ends_with_2(self):
        text = self.refused("refuse enable 35\n")
        self.assertIn("CUPTI_ERROR_INSUFFICIENT_PRIVILEGES (35)", text)
        self.assertIn("NVreg_RestrictProfilingToAdminUsers=0", text)

    def test_another_tool_ends_with_2(self):
        self.assertIn("another tool uses CUPTI in this process", self.refused("refuse subscribe 39\n"))

    def test_too_old_and_too_new_end_with_2(self):
        self.assertIn("too old: API 12", self.refused("version 12\n"))
        self.assertIn("is of CUDA 14.0", self.refused("version 140000\n"))

    def test_a_missing_function_ends_with_2(self):
        self.assertIn("has no function cuptiActivityFlushAll", self.refused("", library=WITHOUT_FLUSH))

    def test_a_missing_library_ends_with_2(self):
        self.assertIn("SYSCOST_CUPTI names /nowhere/libcupti.so, which is not there",
                      self.refused("", library="/nowhere/libcupti.so"))

    def test_no_gpu_ends_with_2(self):
        self.assertIn("sees no GPU", self.refused("", SYSCOST_TEST_CUDA_DEVICES="0"))
        self.assertIn("CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803)", self.refused("", SYSCOST_TEST_CUDA_INIT="803"))

    def test_counting_in_the_same_run_ends_with_2(self):
        for other in (["--syscost_profile", "cupti,syscalls"], ["--syscost_profile", "cupti,bpftrace"],
                      ["--syscost_profile", "cupti", "--syscost_backend", "dispatch"],
                      ["--syscost_profile", "cupti", "--syscost_children"]):
            done = self.run_program("", *other, code=2)
            self.assertIn("run the program twice", done.stderr, other)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
