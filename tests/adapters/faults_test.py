# SPDX-License-Identifier: MIT
"""syscost::Fault and syscost::Forbid in GoogleTest."""
import os

from adapter_case import BIN, Case, main

FAULTS = os.path.join(BIN, "adapter_faults")


class Faults(Case):
    def setUp(self):
        super().setUp()
        self.needs("dispatch")

    def test_all_hold_without_any_request(self):
        done = self.run_program(FAULTS, "--gtest_filter=Faults.*")
        self.assertIn("[  PASSED  ] 13 tests.", done.out)

    def test_all_hold_under_each_way_to_dispatch_and_with_lines(self):
        for flag in ("--syscost_backend=auto", "--syscost_backend=dispatch", "--syscost_backend=dispatch-trap", "--syscost_where",
                     f"--syscost_csv={self.csv}"):
            with self.subTest(flag):
                done = self.run_program(FAULTS, "--gtest_filter=Faults.*", "--syscost_quick", flag)
                self.assertIn("[  PASSED  ] 13 tests.", done.out)

    def test_auto_takes_dispatch(self):
        done = self.run_program(FAULTS, "--gtest_filter=Faults.Nest", "--syscost_backend=auto")
        self.assertIn("backend dispatch", done.err)

    def test_a_forbidden_call_is_a_failure_of_its_test(self):
        done = self.run_program(FAULTS, "--gtest_filter=Forbidden.*", code=1)
        self.assertIn('"lseek" is forbidden, and 2 calls were made:', done.out)
        self.assertRegex(done.out, r"lseek\(\d+, 5, SEEK_SET\)\n  lseek\(\d+, 6, SEEK_SET\)\n")
        self.assertRegex(done.out, r"lseek\(\d+, 7, SEEK_CUR\)")
        self.assertRegex(done.out, r"lseek\(\d+, 8, SEEK_CUR\)")
        self.assertIn("by: lseek(null_, 7, ", done.out)
        self.assertIn("[  FAILED  ] 3 tests", done.out)

    def test_with_where_the_line_is_named(self):
        done = self.run_program(FAULTS, "--gtest_filter=Forbidden.ByAScope", "--syscost_where", code=1)
        self.assertRegex(done.out, r"lseek\(\d+, 5, SEEK_SET\) at \S*faults_test.cc:\d+ ")

    def test_mistakes_fail_everywhere(self):
        done = self.run_program(FAULTS, "--gtest_filter=Refused.*", code=1)
        self.assertIn("[  FAILED  ] 5 tests", done.out)
        for reason in ("names exit_group, which cannot fail", "wriet", "is no errno", "numbered from 1 on", "shortened to 0 bytes"):
            self.assertIn(reason, done.out)

    def test_a_backend_that_cannot_refuse_skips_or_fails_the_test_and_ends_it(self):
        for backend in ("ebpf", "none"):
            with self.subTest(backend):
                if backend == "ebpf":
                    self.needs("ebpf")
                command = (FAULTS, "--gtest_filter=Faults.FailTheThirdWrite", f"--syscost_backend={backend}")
                skipped = self.run_program(*command)
                self.assertIn("[  SKIPPED ] 1 test", skipped.out)
                failed = self.run_program(*command, code=1, CI="1")
                self.assertIn("[  FAILED  ] 1 test", failed.out)
                if backend == "ebpf":
                    self.assertIn("backend ebpf only counts calls, and cannot make one fail or forbid it", failed.out)
                    self.assertIn("--syscost_backend dispatch", failed.out)
                # It did not go on: its expectations would have failed.
                self.assertNotIn("fault.matches()", skipped.out + failed.out)


if __name__ == "__main__":
    main()
