# SPDX-License-Identifier: MIT
"""syscost::for_each_failure in GoogleTest."""
import os
import subprocess

from adapter_case import BIN, Case, main

FAILURES = os.path.join(BIN, "adapter_failures")
CONTAINED = os.path.join(BIN, "adapter_contained")


class Failures(Case):
    def setUp(self):
        super().setUp()
        self.needs("dispatch")

    def test_each_outcome_is_the_known_one(self):
        for flag in ("--syscost_quick", "--syscost_backend=dispatch-trap", f"--syscost_csv={self.csv}"):
            with self.subTest(flag):
                done = self.run_program(FAILURES, "--gtest_filter=Failures.*", flag)
                self.assertIn("[  PASSED  ] 17 tests.", done.out)

    def test_what_is_not_handled_fails_with_its_call(self):
        done = self.run_program(FAILURES, "--gtest_filter=Unhandled.*", code=1)
        self.assertIn("[  FAILED  ] 2 tests", done.out)
        # The body ran once: GoogleTest's record of the assertion is taken for no leak.
        self.assertEqual(done.out.count("Value of: write_fails()"), 1, done.out)
        self.assertIn("an assertion failed in a sweep's body, in a child process", done.out)
        self.assertRegex(done.out, r"leaked: call 1 of write fails with ENOSPC: descriptor \d+ \(file ")
        self.assertIn("by: leaking()", done.out)

    def test_without_dispatch_nothing_passes(self):
        done = self.run_program(FAILURES, "--gtest_filter=Failures.HandledIsClean", "--syscost_backend=none", code=1, CI="1")
        self.assertIn("[  FAILED  ] 1 test", done.out)


class Contained(Case):
    """Code in children of for_each_failure and for_each_crash."""
    def setUp(self):
        super().setUp()
        self.needs("dispatch")

    def test_nothing_of_it_is_left(self):
        for flag in ("--syscost_quick", "--syscost_backend=dispatch-trap"):
            with self.subTest(flag):
                done = self.run_program(CONTAINED, "--gtest_filter=Contained.*", flag)
                self.assertIn("[  PASSED  ] 9 tests.", done.out)
                # What was buffered before is printed once.
                self.assertEqual(done.out.count("printed before"), 1, done.out)

    def test_nothing_of_it_is_left_where_proc_has_other_numbers(self):
        enter = ["unshare", *([] if os.geteuid() == 0 else ["-r"]), "--pid", "--fork"]
        if subprocess.run([*enter, "true"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
            self.skipTest("a PID namespace cannot be made here")
        done = self.run_program(*enter, CONTAINED, "--gtest_filter=Contained.*", "--syscost_quick")
        self.assertIn("[  PASSED  ] 9 tests.", done.out)

    def test_nothing_is_left_under_sanitizers(self):
        for sanitizer in ("address", "undefined", "thread"):
            program = f"{CONTAINED}_{sanitizer}"
            if os.path.exists(program):
                with self.subTest(sanitizer):
                    self.assertIn("[  PASSED  ]", self.run_program(program, "--gtest_filter=Contained.*").out)

    def test_an_assertion_in_a_check_fails_the_test(self):
        done = self.run_program(CONTAINED, "--gtest_filter=Refused.ByAnAssertionInAChild", code=1)
        self.assertIn("2 of 2 states failed", done.out)
        self.assertIn("an assertion failed in the check of 2 states, in a child process", done.out)

    def test_it_ends_with_the_test(self):
        read, write = os.pipe()
        # Each process of the body has the writing end; the last one closes it.
        test = subprocess.Popen((CONTAINED, "--gtest_filter=Endless.*"), pass_fds=(write,),
                                env={**os.environ, "HELD": str(write)}, stdout=subprocess.DEVNULL)
        os.close(write)
        with os.fdopen(read, "rb") as pipe:
            self.assertEqual(pipe.read(1), b"x")
            test.kill()
            self.assertLess(test.wait(), 0)
            self.assertEqual(pipe.read(), b"")


if __name__ == "__main__":
    main()
