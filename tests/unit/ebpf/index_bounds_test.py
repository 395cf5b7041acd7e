#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of index_bounds.py: what it must find and what it must let pass, as instructions and as clang makes them."""

import shutil
import subprocess
import tempfile
import unittest
from types import SimpleNamespace

from index_bounds import complaints_of, read_object

# r0 = the element of a map, r6 = a number from memory
BEGIN = [
    (0xBF, 0x17, 0, 0),  # r7 = r1
    (0x85, 0x00, 0, 1),  # call map_lookup_elem
    (0x61, 0x76, 0, 0),  # w6 = *(u32 *)(r7 + 0)
]
END = [(0x79, 0x00, 8, 0), (0x95, 0, 0, 0)]  # r0 = *(u64 *)(r0 + 8); exit
SCALE = (0x67, 0x06, 0, 6)  # r6 <<= 6
INDEX = (0x0F, 0x60, 0, 0)  # r0 += r6


def complaints(*body):
    code = BEGIN + list(body) + END
    return complaints_of(SimpleNamespace(code={1: code}, functions=[(1, 0, "program")], symbols={}))


def clang(source):
    with tempfile.NamedTemporaryFile(suffix=".o") as output:
        subprocess.run(
            ["clang", "-g", "-O2", "-target", "bpf", "-mcpu=v3", "-x", "c", "-", "-c", "-o", output.name],
            input=source,
            text=True,
            check=True,
        )
        return read_object(output.name)


class IndexBounds(unittest.TestCase):
    def test_finds_an_index_without_a_check(self):
        (complaint,) = complaints(SCALE, INDEX)
        self.assertIn("instruction 4 of program+4 adds to a pointer may be 0x3fffffffc0", complaint)

    def test_finds_an_index_that_is_checked_in_another_register(self):
        # The code that clang 14 made of `lane > 0 && lane < 17`, and that Linux 6.1 and 6.12 refused.
        self.assertTrue(
            complaints(
                (0xBC, 0x61, 0, 0),  # w1 = w6
                (0x04, 0x01, 0, -1),  # w1 += -1
                (0x26, 0x01, 2, 15),  # if w1 > 15 goto +2
                SCALE,
                INDEX,
            )
        )

    def test_takes_a_comparison_of_the_register_that_is_used(self):
        self.assertFalse(complaints((0x25, 0x06, 2, 16), SCALE, INDEX))  # if r6 > 16 goto +2
        self.assertFalse(complaints((0xA5, 0x06, 1, 17), (0xB7, 0x06, 0, 0), SCALE, INDEX))  # if r6 < 17 goto +1; r6 = 0

    def test_takes_a_mask_of_the_register_that_is_used(self):
        self.assertFalse(complaints((0x57, 0x06, 0, 127), SCALE, INDEX))  # r6 &= 127

    def test_finds_a_comparison_of_the_lower_half_only(self):
        wide = (0x79, 0x76, 0, 0)  # r6 = *(u64 *)(r7 + 0)
        self.assertTrue(complaints(wide, (0x26, 0x06, 2, 16), SCALE, INDEX))  # if w6 > 16 goto +2
        self.assertFalse(complaints(wide, (0x25, 0x06, 2, 16), SCALE, INDEX))  # if r6 > 16 goto +2

    def test_keeps_a_bound_on_the_stack(self):
        self.assertFalse(
            complaints(
                (0x57, 0x06, 0, 127),  # r6 &= 127
                (0x7B, 0x6A, -8, 0),  # *(u64 *)(r10 - 8) = r6
                (0xB7, 0x06, 0, 0),
                (0x79, 0xA6, -8, 0),  # r6 = *(u64 *)(r10 - 8)
                SCALE,
                INDEX,
            )
        )

    def test_finds_an_index_that_grows_in_a_loop(self):
        self.assertTrue(
            complaints(
                (0xB7, 0x06, 0, 0),  # r6 = 0
                (0x07, 0x06, 0, 64),  # r6 += 64
                (0x79, 0x71, 0, 0),  # r1 = *(u64 *)(r7 + 0)
                (0x55, 0x01, -3, 0),  # if r1 != 0 goto -3
                INDEX,
            )
        )

    def test_finds_what_clang_makes_of_a_check_in_c_and_takes_bounded(self):
        if not shutil.which("clang"):
            self.skipTest("clang is missing")
        source = """
            typedef unsigned int __u32;
            typedef unsigned long long __u64;
            struct lane { __u64 words[8]; };
            #define BOUNDED(index) ({ __u64 b = (index); asm("if %%0 < 17 goto +1\\n%%0 = 0" : "+r"(b)); b; })
            __attribute__((section("tp_btf/x"), used)) long program(__u32* context) {
              struct lane* lanes = ((struct lane* (*)(void*, const void*))1)(context, context);
              if (!lanes) return 0;
              __u32 lane = context[3];
              if (lane > 0 && lane < 17) return lanes[%s].words[1];
              return 0;
            }
        """
        self.assertTrue(complaints_of(clang(source.replace("%%", "%").replace("%s", "lane"))))
        self.assertFalse(complaints_of(clang(source.replace("%%", "%").replace("%s", "BOUNDED(lane)"))))


if __name__ == "__main__":
    unittest.main()
