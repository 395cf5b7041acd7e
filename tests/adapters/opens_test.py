# SPDX-License-Identifier: MIT
"""Which opens name a file below /proc or /sys, which the kernel writes anew each time (column kernel_files)."""
import os

from adapter_case import BACKENDS, BIN, Case, main

PROGRAM = os.path.join(BIN, "adapter_opens")
# {(test, syscall): (its successful calls, of them with a file of the kernel)}
ALL = {
    ("Opens.OfFilesOfTheKernel", "open"): (1, 1),
    ("Opens.OfFilesOfTheKernel", "openat"): (4, 4),
    ("Opens.OfFilesOfTheKernel", "openat2"): (1, 1),
    ("Opens.OfOtherFiles", "openat"): (4, 0),
    ("Opens.OfAPathThatEndsWithItsMemory", "openat"): (3, 1),
    ("Opens.OfAPathOnTwoPages", "openat"): (10, 5),
}


class Opens(Case):
    def test_they_are_told_apart(self):
        for backend in BACKENDS:
            with self.subTest(backend):
                self.needs(backend)
                self.run_program(PROGRAM, f"--syscost_backend={backend}", f"--syscost_csv={self.csv}")
                rows = {(row["test"], row["syscall"]): row for row in self.rows(kind="test", record="syscall")
                        if row["syscall"].startswith("open")}
                os.remove(self.csv)
                self.assertEqual(set(rows), set(ALL))
                for key, (calls, of_the_kernel) in ALL.items():
                    row = rows[key]
                    # seccomp sees no path.
                    self.assertEqual(row["kernel_files"], "" if backend == "seccomp" else str(of_the_kernel), key)
                    if backend != "seccomp":
                        self.assertEqual(int(row["calls"]) - int(row["errors"]), calls, key)

    def test_other_rows_have_no_such_number(self):
        self.run_program(PROGRAM, f"--syscost_csv={self.csv}")
        others = {row["kernel_files"] for row in self.rows(record="syscall") if not row["syscall"].startswith("open")}
        self.assertEqual(others, {""})


if __name__ == "__main__":
    main()
