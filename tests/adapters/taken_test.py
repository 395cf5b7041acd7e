# SPDX-License-Identifier: MIT
"""Where syscost may stand in a program's way: a file of the program in the place of standard error, and limits of memory."""
import os
import resource
import subprocess
import unittest

from adapter_case import BACKENDS, BIN, UNDER_A_FILTER, FILTER_REASON, Case, Done, environment, main

LINKED = os.path.join(BIN, "adapter_taken")
PLAIN = os.path.join(BIN, "adapter_taken_plain")
BENCH = os.path.join(BIN, "bench")
MIB = 1 << 20


class Taken(Case):
    def words(self, program, backend, *flags):
        if program == PLAIN:
            return [BENCH, "run", "--tests", f"--backend={backend}", f"--csv={self.csv}", "--", PLAIN, *flags]
        return [LINKED, f"--syscost_backend={backend}", f"--syscost_csv={self.csv}", *flags]

    def each(self, check):
        for backend in BACKENDS:
            for program in (LINKED, PLAIN):
                with self.subTest(backend=backend, program=program):
                    self.needs(backend)
                    check(backend, program)

    def test_messages_are_not_written_into_a_file_in_the_place_of_standard_error(self):
        def check(backend, program):
            for numbers in ("2", "12", "012"):
                # GoogleTest prints into a file in the place of standard output.
                code = None if "1" in numbers else 0
                done = self.run_program(*self.words(program, backend, "--gtest_filter=Data.*"), code=code, TEST_CLOSES=numbers)
                if numbers == "2":
                    self.assertIn("syscost: backend ", done.out + done.err)
                with open(os.path.join(self.folder, "data"), "rb") as file:
                    text = file.read()
                if code == 0:
                    self.assertEqual(text, b"data")
                self.assertNotIn(b"syscost: ", text)
        self.each(check)

    @unittest.skipIf(UNDER_A_FILTER, FILTER_REASON)
    def test_nor_is_a_message_of_a_test_that_closes_all_others(self):
        def check(backend, program):
            self.run_program(*self.words(program, backend, "--gtest_filter=Data.*"), code=None, TEST_CLOSES="2", TEST_CLOSES_ALL="1")
            with open(os.path.join(self.folder, "data"), "rb") as file:
                self.assertEqual(file.read(), b"data")
        self.each(check)

    def limited(self, words, limit, size):
        done = subprocess.run(words, env=environment(), cwd=self.folder, capture_output=True, text=True,
                              preexec_fn=lambda: resource.setrlimit(limit, (size, resource.RLIM_INFINITY)))
        return Done(done.returncode, done.stdout, done.stderr)

    @unittest.skipIf(UNDER_A_FILTER, FILTER_REASON)
    def test_a_thread_begins_as_alone_or_syscost_refuses(self):
        filter_of = "--gtest_filter=Thread.Begins"
        for limit, sizes in ((resource.RLIMIT_AS, range(28, 125, 8)), (resource.RLIMIT_DATA, range(8, 97, 8))):
            for size in sizes:
                if self.limited([PLAIN, filter_of], limit, size * MIB).code != 0:
                    continue
                def check(backend, program, limit=limit, size=size):
                    done = self.limited(self.words(program, backend, filter_of), limit, size * MIB)
                    # The helper of ebpf may end for its own lack of memory: then counts are void, which is told, and no verdict changes.
                    self.assertNotIn("[  FAILED  ] Thread.Begins", done.out, f"{limit} {size} MiB\n{done.out}\n{done.err}")
                    self.assertTrue(done.code in (0, 2) or "has ended" in done.err, f"{limit} {size} MiB\n{done.out}\n{done.err}")
                self.each(check)


if __name__ == "__main__":
    main()
