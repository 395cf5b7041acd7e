# SPDX-License-Identifier: MIT
"""The demo's benchmark program makes exactly the calls that its walk-through tells of."""
import os

from benchmark_case import BIN, QUICK, BenchmarkCase, main

DEMO = os.path.join(BIN, "demo_batched_writes_benchmark")
SIZES = (16, 64, 256, 1024)
BLOCK = 256


class BatchedWrites(BenchmarkCase):
    def test_each_way_makes_a_call_for_each_byte_for_each_block_or_one(self):
        self.run_program(DEMO, f"--syscost_csv={self.csv}", QUICK)
        expected = {f"BM_Buffered/bytes:{size}": -(-size // BLOCK) for size in (1, 255, 256, 257, 1024, 1025, 5000)}
        expected.update({f"BM_ByteByByte/{size}": size for size in SIZES})
        expected.update({f"BM_InOnePiece/{size}": 1 for size in SIZES})
        rows = {row["test"]: row for row in self.rows(record="test")}
        self.assertEqual(set(rows), set(expected))
        for test, calls in expected.items():
            with self.subTest(test):
                iterations = int(rows[test]["counted_iterations"])
                self.assertGreater(iterations, 0)
                self.assertEqual(self.calls(test), {"write": calls * iterations})


if __name__ == "__main__":
    main()
