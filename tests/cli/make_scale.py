# SPDX-License-Identifier: MIT
"""Runs with families of tests: counts and times that grow with the sizes in the names of tests, by laws that are known."""

SIZES = [1, 100, 4095, 4096, 4097, 65536, 65537, 1000000]


def make_scale(save, save_json, call, window, benchmark):
    up = lambda n, block: -(-n // block)

    def counted(name, classes, count, per_run=None, **cells):
        """A syscall row of `count` calls of 100 ns each; of a benchmark, `per_run` of them are made once per run."""
        values = dict(call(name, classes, [100]), entries=count, calls=count, latency_count=count,
                      latency_sum_ns=100 * count, histogram=f"96:{count}", **cells)
        if per_run is not None:
            values.update(per_run_calls=per_run, per_run_errors=0)
        return values

    def append(n, writes, futexes):
        """A benchmark in 10 counted iterations; it opens its file once."""
        calls = [counted("write", "desc", 10 * writes, 0, bytes=10 * n, per_run_bytes=0), counted("openat", "file", 1, 1),
                 counted("ioctl", "desc", 140, 0, detail="TCGETS"), counted("ioctl", "desc", 20, 0, detail="FIONREAD")]
        if futexes:
            calls.append(counted("futex", "wait;volatile", 10 * futexes, 0))
        return window(f"BM_Append/bytes:{n}", calls, 1000 * (2000 + n // 4), dict(iterations=1000, counted_iterations=10),
                      kind="benchmark")

    def run(writes_of):
        lines = []
        for n, futexes in zip(SIZES, [3, 0, 5, 1, 0, 2, 9, 4]):
            lines += append(n, writes_of(n), futexes)
        # A parameterised test of GoogleTest, and one that has no names.
        for n in [16, 64, 256, 1024]:
            lines += window(f"Sizes/Load.Reads/{n}", [counted("read", "desc", 2 * n + 3), counted("close", "desc", 1)],
                            500 * n)
            lines += window(f"Sizes/Load.Copies/{n}", [counted("read", "desc", 2 * n + (n == 256))], 500 * n,
                            dict(outcome="failed" if n == 16 else "passed"))
        for i in range(4):
            lines += window(f"All/Load.Formats/{i}", [counted("read", "desc", i + 1)], 900)
        # Two sizes: so many files of so many bytes.
        for files, size in [(1, 100), (2, 4096), (3, 4097), (5, 10000), (8, 65536), (4, 65537), (9, 100000)]:
            lines += window(f"BM_Load/files:{files}/bytes:{size}/real_time",
                            [counted("openat", "file", 10 * files, 0),
                             counted("read", "desc", 10 * files * (up(size, 4096) + 1), 0)],
                            1000 * 50 * files, dict(iterations=1000, counted_iterations=10), kind="benchmark")
        return lines
    other = lambda line: line.replace("1795225951-17", "1795229999-23")
    save("scale_old.csv", run(lambda n: up(n, 4096)))
    save("scale_new.csv", [other(line) for line in run(lambda n: n)])
    # A program that takes its size from elsewhere, once for each size; one of the sizes twice.
    labelled = []
    for i, n in enumerate([64, 64, 128, 512, 4096]):
        labelled += window("Log.Writes", [counted("write", "desc", 99 if i == 0 else n // 16)], 10 * n,
                           run_id=f"1795225951-{40 + i}", started_at=f"2026-11-{10 + i}T03:00:00.000Z",
                           label=f"size={n}")
    save("scale_labels.csv", labelled)
    save_json("google_scale.json", [one for n in (8, 64, 512, 4096) for one in
                                    benchmark(f"BM_Sort/{n}", [2.0 * n * (n.bit_length() - 1)])])
