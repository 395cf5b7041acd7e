# SPDX-License-Identifier: MIT
"""syscost::for_each_failure in GoogleTest."""
import os

from adapter_case import BIN, Case, main

FAILURES = os.path.join(BIN, "adapter_failures")


class Failures(Case):
    def setUp(self):
        super().setUp()
        self.needs("dispatch")

    def test_each_outcome_is_the_known_one(self):
        for flag in ("--syscost_quick", "--syscost_backend=dispatch-trap", f"--syscost_csv={self.csv}"):
            with self.subTest(flag):
                done = self.run_program(FAILURES, "--gtest_filter=Failures.*", flag)
                self.assertIn("[  PASSED  ] 13 tests.", done.out)

    def test_what_is_not_handled_fails_with_its_call(self):
        done = self.run_program(FAILURES, "--gtest_filter=Unhandled.*", code=1)
        self.assertIn("[  FAILED  ] 2 tests", done.out)
        self.assertIn("Value of: write_fails()", done.out)
        self.assertIn("an assertion failed in a sweep's body, in a child process", done.out)
        self.assertRegex(done.out, r"leaked: call 1 of write fails with ENOSPC: descriptor \d+ \(file ")
        self.assertIn("by: leaking()", done.out)

    def test_without_dispatch_nothing_passes(self):
        done = self.run_program(FAILURES, "--gtest_filter=Failures.HandledIsClean", "--syscost_backend=none", code=1, CI="1")
        self.assertIn("[  FAILED  ] 1 test", done.out)


if __name__ == "__main__":
    main()
