# SPDX-License-Identifier: MIT
"""refusals_test.py PROGRAM: a backend that keeps no calls says so, and why; no test runs without its trace."""
import subprocess
import sys
import tempfile
import unittest


class Refusals(unittest.TestCase):
    def refusal(self, backend):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([PROGRAM, f"--syscost_backend={backend}", "--syscost_trace"], cwd=folder, text=True,
                                  capture_output=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertNotIn("[ RUN", done.stdout)
        self.assertIn("--syscost_backend dispatch", done.stderr)
        return done.stderr

    def test_ebpf_says_why_it_keeps_no_calls(self):
        self.assertIn("backend ebpf does not keep each call (--syscost_trace): in the kernel, an event costs", self.refusal("ebpf"))

    def test_seccomp_says_why_it_keeps_no_calls(self):
        self.assertIn("backend seccomp does not keep each call (--syscost_trace): it sees that", self.refusal("seccomp"))


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
