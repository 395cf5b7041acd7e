# SPDX-License-Identifier: MIT
"""`bench run` for an ordinary user without capabilities: the rows are those of the linked program, by dispatch and by seccomp."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "adapters"))
from adapter_case import BIN, MANY, PLAIN, automatic, main  # noqa: E402
from surroundings_test import ORDINARY, ROOT, needs  # noqa: E402
from run_case import BENCH, CALM, STATIC_SHAPES, RunCase, calls_for_ordinary_users  # noqa: E402

PROGRAMS = {PLAIN: (MANY, CALM),
            STATIC_SHAPES: (MANY, CALM),
            os.path.join(BIN, "agent_catch2_tests"): (os.path.join(BIN, "agent_catch2_tests_linked"), "--success"),
            os.path.join(BIN, "agent_doctest_tests"): (os.path.join(BIN, "agent_doctest_tests_linked"), "--success")}


@ROOT
@needs("setpriv")
class OrdinaryUser(RunCase):
    def as_user(self, *command, code=0, **variables):
        return self.run_program(*ORDINARY, "--bounding-set=-all", "--no-new-privs", *command, code=code, **variables)

    def rows_and_backends(self):
        counted = self.counted()
        backends = {row["backend"] for row in self.rows()}
        os.remove(self.csv)
        return counted, backends

    def test_each_framework_has_the_rows_of_the_linked_program(self):
        for program, (linked, flag) in PROGRAMS.items():
            if not os.path.exists(program):
                continue
            for backend in ("dispatch", "seccomp"):
                with self.subTest(program=program, backend=backend):
                    self.needs(backend)
                    if program == STATIC_SHAPES:
                        self.needs_static_programs()
                    failed = self.as_user(program, flag, code=None).code
                    self.as_user(linked, flag, code=failed, SYSCOST_CSV=self.csv, SYSCOST_BACKEND=backend)
                    expected = self.rows_and_backends()
                    self.as_user(BENCH, "run", "--csv", self.csv, "--backend", backend, "--", program, flag, code=failed)
                    self.assertEqual(self.rows_and_backends(), expected)
                    self.assertEqual(expected[1], {backend})

    def test_without_a_backend_named_it_takes_the_first_that_works_and_says_why_not_ebpf(self):
        done = self.as_user(BENCH, "run", "--csv", self.csv, "--", PLAIN, "--gtest_filter=WithFixture.One")
        self.assertEqual(self.getppids(column=calls_for_ordinary_users()), {"WithFixture.One": 14})
        self.assertEqual({row["backend"] for row in self.rows()}, {automatic("ebpf")})
        self.assertIn("not ebpf", done.err)

    def test_below_a_runner_that_clears_the_environment(self):
        self.as_user(BENCH, "run", "--csv", self.csv, "--", "sh", "-c", f"env -i {PLAIN} --gtest_filter=WithFixture.One")
        self.assertEqual(self.getppids(column=calls_for_ordinary_users()), {"WithFixture.One": 14})

    def test_a_command_as_a_whole_has_its_entries(self):
        self.as_user(BENCH, "run", "--process", "--csv", self.csv, "--", PLAIN, "--gtest_filter=WithFixture.One")
        [row] = self.rows(kind="process", record="syscall", syscall="getppid")
        self.assertEqual(row["backend"], "seccomp")
        self.assertGreaterEqual(int(row["entries"]), 14)


if __name__ == "__main__":
    main()
