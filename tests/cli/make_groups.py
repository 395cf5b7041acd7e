# SPDX-License-Identifier: MIT
"""A run with kinds of tests that are known: files, sockets, threads, quiet tests, one that is like no other, and one
that is slow."""


def make_groups(save, call, window):
    def calls(name, classes, count, ns):
        """`count` calls, most of `ns`; each tenth takes twice as long, and each hundredth 20 times."""
        return call(name, classes, [ns * (20 if i % 100 == 99 else 2 if i % 10 == 9 else 1) + i % 7 for i in range(count)])

    lines = []
    for i in range(8):
        # The fixture opens and reads a catalogue of 40 files for each test.
        lines += window(f"Catalogue.Finds{i}", [calls("openat", "file;desc", 40 + i % 2, 2000),
                                                calls("read", "desc", 80 + 4 * i, 900),
                                                calls("close", "desc", 40 + i % 2, 300)], 900_000 + 11_000 * i)
    for i in range(6):
        lines += window(f"Client.Sends{i}", [calls("socket", "network", 1, 4000), calls("connect", "network", 1, 30000),
                                             calls("sendto", "network", 5 + i % 3, 5000),
                                             calls("recvfrom", "network", 5 + i % 3, 7000),
                                             calls("close", "desc", 1, 400),
                                             calls("poll", "wait;volatile", 3 + i, 90000)],
                        # The last one waits for an answer that never comes.
                        40_000_000 if i == 5 else 700_000 + 17_000 * i)
    for i in range(5):
        lines += window(f"Pool.Runs{i}", [calls("clone3", "process", 8, 20000), calls("rt_sigprocmask", "signal", 16, 150),
                                          calls("mmap", "memory", 9, 3000)], 800_000 + 13_000 * i)
    for i in range(4):
        lines += window(f"Parse.Numbers{i}", [calls("brk", "memory", 1 + i, 700)] if i % 2 else [], 5_000 + 100 * i)
    lines += window("Tool.RenamesFiles", [calls("rename", "file", 3, 9000), calls("unlink", "file", 3, 8000),
                                          calls("getdents64", "desc", 2, 5000)], 600_000)
    lines += window("Log.LosesCalls", [calls("write", "desc", 3, 500)], 100_000, dict(lost=2))
    save("groups.csv", lines)
