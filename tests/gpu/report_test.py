# SPDX-License-Identifier: MIT
"""The GPU report ends cleanly where there is no GPU, and its checks can fail: report_test.py BIN_FOLDER [SUITE]..."""
import contextlib
import io
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import report

BIN, SUITES = Path(sys.argv[1]), sys.argv[2:]
SCRIPT = Path(__file__).with_name("report.py")


def row(**columns):
    empty = dict.fromkeys(("kind", "test", "window", "record", "syscall", "detail", "total_calls", "total_entries",
                           "entries", "calls", "lost", "late"), "")
    return {**empty, **columns}


def scope(ioctls, lost="0"):
    """1000 launches with so many ioctls."""
    base = {"kind": "scope", "test": "GpuSum.ThousandWarmLaunches", "window": "launches"}
    rows = [row(**base, record="test", total_calls=str(ioctls), lost=lost, late="0")]
    if ioctls:
        rows.append(row(**base, record="syscall", syscall="ioctl", detail="nvidiactl RM_CONTROL", calls=str(ioctls)))
    return rows


class Checks(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.report = report.Report(BIN, Path(holder.name), "demo_gpu_sum_cuda")

    def text_of(self, title, body):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            self.report.check(title, lambda: body(self.report))
        return out.getvalue()

    def launches(self, rows):
        self.report.files["launches"] = rows
        return self.text_of("launches", report.warm_launches)

    def test_a_prediction_that_holds_says_so(self):
        self.assertIn("0 ioctls, 0 syscalls; predicted: 0 ioctls, as predicted", self.launches(scope(0)))

    def test_one_that_does_not_is_named_with_what_was_measured(self):
        text = self.launches(scope(7))
        self.assertIn("7 ioctls", text)
        self.assertIn("DOES NOT HOLD", text)
        self.assertIn("- 7 nvidiactl RM_CONTROL", text)

    def test_counts_that_are_not_whole_are_none(self):
        self.assertIn("skipped: nothing was counted, or not all", self.launches(scope(0, lost="1")))

    def self_cost(self, stamped):
        def run(_command, **variables):
            folder = Path(variables["SYSCOST_ARTIFACTS"])
            folder.mkdir()
            (folder / "stamps-x-1.csv").write_text("record,device,timer_step_ns,gpu_kernel,plain_ns,stamped_ns\n"
                                                   f"launch,Made up,32,add_tree,10000,{stamped}\n", encoding="utf-8")

        self.report.run = run
        self.report.program = str
        return self.text_of("stamps", report.self_cost)

    def test_stamps_that_slow_a_gpu_kernel_too_much_fail(self):
        self.assertIn("+4.9 %", self.self_cost(10490))
        self.assertEqual(self.report.results, {"done": 1})
        self.assertIn("FAILED: a GPU kernel is 6.0 % slower", self.self_cost(10600))
        self.assertEqual(self.report.results, {"done": 1, "failed": 1})

    def test_a_program_that_fails_fails_its_check(self):
        def body(report_):
            report_.run(["/bin/sh", "-c", "echo oh; exit 1"])

        self.assertIn("FAILED: /bin/sh -c echo oh; exit 1 ended with 1", self.text_of("x", body))

    def test_a_check_that_breaks_fails_alone_and_says_how(self):
        def body(report_):
            report_.table(("calls",), [(int("1.5"),)])

        self.assertIn("FAILED: ValueError: invalid literal", self.text_of("x", body))
        self.assertEqual(self.report.results, {"failed": 1})

    def test_what_was_found_is_kept_check_by_check(self):
        self.text_of("x", lambda report_: report_.say("a finding"))
        self.assertIn("a finding", (self.report.out / "report.md").read_text(encoding="utf-8"))

    def test_what_is_not_built_is_skipped(self):
        self.assertIn("skipped: nothing_at_all is not built",
                      self.text_of("x", lambda report_: report_.program("nothing_at_all")))


class Whole(unittest.TestCase):
    def test_every_check_is_made_or_says_why_not(self):
        for suite in SUITES:
            with self.subTest(suite), tempfile.TemporaryDirectory() as folder:
                done = subprocess.run([sys.executable, "-B", SCRIPT, BIN, folder, "--suite", suite], capture_output=True,
                                      text=True, timeout=550, check=False)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertRegex(done.stdout, r"\n[0-9]+ done, 0 failed, [0-9]+ skipped\n$")
                self.assertEqual((Path(folder) / "report.md").read_text(encoding="utf-8"), done.stdout)
                for section in done.stdout.split("\n## ")[1:]:
                    self.assertGreater(len(section.split("\n\n", 1)[1].strip()), 10, section)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
