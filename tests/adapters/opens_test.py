# SPDX-License-Identifier: MIT
"""Which opens name a file below /proc or /sys, which the kernel writes anew each time (column kernel_files),
and which open a file whose writes are synced (column sync_opens)."""
import os

from adapter_case import BACKENDS, BIN, Case, main

PROGRAM = os.path.join(BIN, "adapter_opens")
# {(test, syscall): (its successful calls, of them with a file of the kernel, of them with O_SYNC)}
ALL = {
    ("Opens.OfFilesOfTheKernel", "open"): (1, 1, 0),
    ("Opens.OfFilesOfTheKernel", "openat"): (4, 4, 0),
    ("Opens.OfFilesOfTheKernel", "openat2"): (1, 1, 0),
    ("Opens.OfOtherFiles", "openat"): (4, 0, 0),
    ("Opens.ThatSyncEachWrite", "open"): (1, 0, 1),
    ("Opens.ThatSyncEachWrite", "openat"): (3, 0, 1),
    ("Opens.ThatSyncEachWrite", "openat2"): (2, 0, 2),
    ("Opens.OfAPathThatEndsWithItsMemory", "openat"): (3, 1, 0),
    ("Opens.OfAPathOnTwoPages", "openat"): (10, 5, 0),
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
                for key, (calls, of_the_kernel, sync) in ALL.items():
                    row = rows[key]
                    # seccomp sees no path and no result; openat2's flags are in memory, where dispatch does not look.
                    sees_flags = backend == "ebpf" or (backend != "seccomp" and key[1] != "openat2")
                    self.assertEqual(row["sync_opens"], str(sync) if sees_flags else "", key)
                    self.assertEqual(row["kernel_files"], "" if backend == "seccomp" else str(of_the_kernel), key)
                    if backend != "seccomp":
                        self.assertEqual(int(row["calls"]) - int(row["errors"]), calls, key)

    def test_other_rows_have_no_such_number(self):
        self.run_program(PROGRAM, f"--syscost_csv={self.csv}")
        others = {(row["kernel_files"], row["sync_opens"]) for row in self.rows(record="syscall")
                  if not row["syscall"].startswith("open")}
        self.assertEqual(others, {("", "")})


if __name__ == "__main__":
    main()
