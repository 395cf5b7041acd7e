# SPDX-License-Identifier: MIT
"""Who made a test's calls: its thread, threads that it started, or older ones (columns by_started_threads and by_older_threads)."""
import os

from adapter_case import BACKENDS, BIN, COUNT_CALLS, Case, main

PROGRAM = os.path.join(BIN, "adapter_makers")
# {test: (calls of getppid, of them by started threads, of them by older ones)}, with all tests in one process.
ALL = {
    "Makers.AreThree": (40, 31, 5),
    "Makers.Again": (36, 19, 17),
    "Makers.HaveScopesOfTheirOwn": (23, 8, 9),
    "Makers.AnOlderOneEndsAndANewOneBegins": (56, 10, 46),
}


class Makers(Case):
    def makers(self, kind="test"):
        return {row["test"] + row["window"]: tuple(int(row[column]) if row[column] else None for column in
                                                   (self.counted, "by_started_threads", "by_older_threads"))
                for row in self.rows(kind=kind, record="syscall", syscall="getppid")}

    def run_under(self, backend, *flags):
        self.needs(backend)
        self.counted = "calls" if backend in COUNT_CALLS else "entries"
        if os.path.exists(self.csv):
            os.remove(self.csv)
        self.run_program(PROGRAM, f"--syscost_backend={backend}", f"--syscost_csv={self.csv}", *flags)

    def test_they_are_told_apart(self):
        for backend in BACKENDS:
            with self.subTest(backend):
                self.run_under(backend)
                self.assertEqual(self.makers(), ALL)

    def test_rows_of_one_thread_do_not_say_it(self):
        for backend in BACKENDS:
            with self.subTest(backend):
                self.run_under(backend, "--gtest_filter=*Scopes*")
                of_scopes = self.makers("scope")
                self.assertEqual(of_scopes["Makers.HaveScopesOfTheirOwnof a thread"][1:], (None, None))
                self.assertEqual(of_scopes["Makers.HaveScopesOfTheirOwnof the process"], (8, 8, 0))

    def test_seccomp_does_not_know_it_where_it_does_not_see_all_calls(self):
        for backend in BACKENDS:
            with self.subTest(backend):
                self.run_under(backend, "--syscost_filter=getppid")
                expected = {test: (one[0], None, None) for test, one in ALL.items()} if backend == "seccomp" else ALL
                self.assertEqual(self.makers(), expected)


if __name__ == "__main__":
    main()
