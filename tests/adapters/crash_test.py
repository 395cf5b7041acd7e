# SPDX-License-Identifier: MIT
"""syscost::for_each_crash in GoogleTest."""
import os
import unittest

from adapter_case import BIN, Case, main

CRASHES = os.path.join(BIN, "adapter_crashes")
SQLITE = os.path.join(BIN, "adapter_crashes_sqlite")


class Crashes(Case):
    def setUp(self):
        super().setUp()
        self.needs("dispatch")

    def test_all_hold_without_any_request(self):
        done = self.run_program(CRASHES, "--gtest_filter=Crashes.*")
        self.assertIn("[  PASSED  ] 18 tests.", done.out)

    def test_all_hold_under_each_way_to_dispatch_and_with_lines(self):
        for flag in ("--syscost_backend=dispatch-trap", "--syscost_where", f"--syscost_csv={self.csv}"):
            with self.subTest(flag):
                done = self.run_program(CRASHES, "--gtest_filter=Crashes.*", "--syscost_quick", flag)
                self.assertIn("[  PASSED  ] 18 tests.", done.out)

    def test_a_failure_names_the_state_that_lost_least(self):
        done = self.run_program(CRASHES, "--gtest_filter=Unsafe.*", code=1)
        self.assertIn("power cut after `rename t -> f`; not on the disk: the data of `write t, 3 bytes at 0`", done.out)
        self.assertIn("it holds 3 bytes", done.out)
        self.assertIn("2 of 7 states failed (all that a power cut can leave; 3 operations)", done.out)
        self.assertIn("the check: it returned false", done.out)
        self.assertIn("[  FAILED  ] 2 tests", done.out)

    @unittest.skipUnless(os.path.exists(SQLITE), "built without SQLite")
    def test_sqlite_fails_where_its_documentation_says_so(self):
        self.run_program(SQLITE, SQLITE_STATES="300", TMPDIR=self.folder_in_memory())

    @staticmethod
    def folder_in_memory():
        """Checks sync files, which takes long on a disk."""
        return "/dev/shm" if os.access("/dev/shm", os.W_OK) else "/tmp"

    def test_with_where_the_line_is_named(self):
        done = self.run_program(CRASHES, "--gtest_filter=Unsafe.ByAnAssertionOfTheCheck", "--syscost_where", code=1)
        self.assertRegex(done.out, r"power cut after `rename t -> f \(at \S*crash_test.cc:\d+ .*\)`; not on the disk")

    def test_a_backend_that_cannot_record_skips_or_fails_the_test(self):
        for backend in ("ebpf", "none"):
            with self.subTest(backend):
                if backend == "ebpf":
                    self.needs("ebpf")
                command = (CRASHES, "--gtest_filter=Unsafe.ByFalseInAChild", f"--syscost_backend={backend}")
                skipped = self.run_program(*command)
                self.assertIn("[  SKIPPED ] 1 test", skipped.out)
                failed = self.run_program(*command, code=1, CI="1")
                self.assertIn("[  FAILED  ] 1 test", failed.out)
                if backend == "ebpf":
                    self.assertIn("ebpf only counts calls, and does not see what they write", failed.out)


if __name__ == "__main__":
    main()
