# SPDX-License-Identifier: MIT
"""Faults of the process and threads that were there before them; and what GoogleTest prints while a fault is open."""
import os

from adapter_case import BIN, DENY, Case, main

PROGRAM = os.path.join(BIN, "adapter_older_threads")


class OlderThreads(Case):
    def setUp(self):
        super().setUp()
        self.needs("dispatch")

    def run_tests(self, tests, *flags, code=0, **variables):
        return self.run_program(PROGRAM, f"--gtest_filter={tests}", *flags, code=code, **variables)

    def test_a_thread_of_the_suite_meets_rules_of_the_process(self):
        for flags in ((), ("--syscost_backend=dispatch-trap",), (f"--syscost_csv={self.csv}",)):
            with self.subTest(flags):
                done = self.run_tests("Forbidden.*", *flags, code=1)
                self.assertIn('"write" is forbidden, and 1 call was made:', done.out)
                self.run_tests("Reached.*", *flags)
        for backend in ("dispatch-trap", "seccomp"):
            self.run_tests("Reached.*", SYSCOST_BACKEND=backend)

    def test_nothing_is_printed_and_dispatch_comes_first(self):
        done = self.run_tests("Reached.*")
        self.assertEqual(done.err, "")

    def test_seccomp_begins_with_the_first_fault(self):
        """It sees older threads, and each call of the program takes some microseconds."""
        self.needs("seccomp")
        denied = (DENY, "EPERM", "dispatch", PROGRAM)
        done = self.run_program(*denied, "--gtest_filter=Forbidden.*", code=1)
        self.assertIn('"write" is forbidden, and 1 call was made:', done.out)

    def test_a_rule_that_an_older_thread_would_not_meet_is_refused(self):
        for ci in ("", "1"):
            with self.subTest(CI=ci):
                done = self.run_tests("Older.IsForbiddenToWrite:Older.MeetsAFault", code=1, CI=ci, TEST_OLDER_THREAD="1")
                self.assertEqual(done.out.count("backend dispatch does not see the calls of 1 thread, which began while it was off"), 2)
                self.assertIn("SYSCOST_BACKEND=seccomp", done.out)
                self.assertIn("[  FAILED  ] 2 tests", done.out)
                self.assertNotIn("it went on", done.out)
        self.run_tests("Older.OneThreadMayBeTestedAllTheSame", CI="1", TEST_OLDER_THREAD="1")

    def test_seccomp_reaches_an_older_thread(self):
        self.needs("seccomp")
        seen = {"SYSCOST_BACKEND": "seccomp", "TEST_OLDER_THREAD": "1"}
        done = self.run_tests("Older.IsForbiddenToWrite", code=1, **seen)
        self.assertIn('"write" is forbidden, and 1 call was made:', done.out)
        self.run_tests("Older.MeetsAFault", **seen)

    def test_what_is_forbidden_to_each_test_is_refused_too(self):
        done = self.run_tests("Older.Writes", "--syscost_forbid=write", code=1, TEST_OLDER_THREAD="1")
        self.assertIn("does not see the calls of 1 thread", done.err)
        self.run_tests("Older.OneThreadMayBeTestedAllTheSame", "--syscost_forbid=lseek")

    def test_a_fault_of_write_does_not_hit_why_a_test_failed(self):
        for flags in ((), ("--syscost_backend=seccomp",), ("--gtest_brief=1",)):
            with self.subTest(flags):
                done = self.run_tests("Lost.WithAFaultOfWrite", *flags, code=1)
                self.assertIn("why it failed", done.out)
                self.assertNotIn("what was printed was hit", done.out)
        done = self.run_tests("Lost.WhereWriteIsForbidden", code=1)
        self.assertIn("why it failed", done.out)
        self.assertNotIn("is forbidden", done.out)
        done = self.run_tests("Lost.WhereWriteIsForbidden", "--syscost_inject=write:EIO", code=1)
        self.assertIn("why it failed", done.out)
        self.assertIn("inject write:EIO: no test made such a call", done.err)


if __name__ == "__main__":
    main()
