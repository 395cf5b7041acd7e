# SPDX-License-Identifier: MIT
"""Lines of calls (--syscost_where) change no count, and nothing that a test can see of its process."""
import collections
import glob
import os

from adapter_case import ASSERTIONS, BIN, LOOPS, PLAIN_MAIN, Case, main

HEAP = os.path.join(BIN, "adapter_heap")


class Where(Case):
    def heap(self, **variables):
        """What each test found in the heap, and how often it made each call, added up over the lines."""
        self.needs("dispatch")
        if os.path.exists(self.csv):
            os.remove(self.csv)
        done = self.run_program(HEAP, SYSCOST_CSV=self.csv, SYSCOST_BACKEND="dispatch", **variables)
        calls, lines = collections.Counter(), collections.Counter()
        for row in self.rows(record="syscall"):
            calls[row["kind"], row["test"], row["window"], row["syscall"]] += int(row["calls"])
            lines[row["test"]] += 1
        return [line for line in done.out.splitlines() if line.startswith("heap")], calls, lines

    def test_the_heap_is_as_it_is_without_lines(self):
        heap, calls, _ = self.heap()
        self.assertEqual(len(heap), 7)
        heap_with_lines, calls_with_lines, lines = self.heap(SYSCOST_WHERE="1")
        self.assertGreater(lines["AtEachBegin/Heap.IsTheSame/3"], 150)
        self.assertEqual(heap_with_lines, heap)
        self.assertEqual(calls_with_lines, calls)

    def folded_getppids(self, folder, kind):
        """{name of the loop or scope: calls of getppid} of the files of stacks."""
        counts = {}
        for path in glob.glob(os.path.join(folder, "**", f"*{kind} *", "stacks.folded"), recursive=True):
            with open(path, encoding="utf-8") as file:
                lines = [line.rsplit(" ", 1) for line in file]
            self.assertTrue(all(";" in stack and int(count) > 0 for stack, count in lines), path)
            counts[os.path.dirname(path)] = sum(int(count) for stack, count in lines if ";getppid" in stack)
        return counts

    def assert_stacks_of(self, program, kind, *arguments):
        files = os.path.join(self.folder, "files")
        done = self.run_program(program, "--syscost_where", "--syscost_backend=dispatch", f"--syscost_artifacts={files}",
                                f"--syscost_csv={self.csv}", *arguments, code=None)
        if done.code == 2:
            self.skipTest(done.err)
        rows = collections.Counter()
        for row in self.rows(kind=kind, record="syscall", syscall="getppid"):
            if row["detail"]:
                rows[row["test"], row["window"]] += int(row["calls"])
        counts = self.folded_getppids(files, kind)
        self.assertTrue(rows)
        self.assertEqual(sorted(count for count in counts.values() if count > 0), sorted(rows.values()))
        return counts

    def test_loops_have_files_of_their_stacks(self):
        counts = self.assert_stacks_of(LOOPS, "loop", "--gtest_filter=Loop.CountsEachCallOfTheBody:Loop.SeveralInOneTest")
        # In the folder of the test.
        self.assertTrue(all(os.path.basename(os.path.dirname(path)).startswith("Loop.") for path in counts), counts)

    def test_named_scopes_have_files_of_their_stacks(self):
        [path] = self.assert_stacks_of(ASSERTIONS, "scope", "--gtest_filter=*CountScopesOfTheirOwn")
        self.assertEqual(os.path.basename(os.path.dirname(path)), "Assertions.CountScopesOfTheirOwn")

    def test_named_scopes_of_a_plain_program_have_files_of_their_stacks(self):
        self.assert_stacks_of(PLAIN_MAIN, "scope")


if __name__ == "__main__":
    main(HEAP)
