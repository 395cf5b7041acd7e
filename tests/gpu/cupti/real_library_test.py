# SPDX-License-Identifier: MIT
"""NVIDIA's own libcupti where it is installed and no driver is: opened, and refused with a cause. PROGRAM"""
import os
import subprocess
import sys

done = subprocess.run([os.path.abspath(sys.argv[1]), "--syscost_profile", "cupti", "--gtest_filter=None.*"],
                      env={k: v for k, v in os.environ.items() if not k.startswith("SYSCOST_")},
                      capture_output=True, text=True, timeout=120, check=False)
if "CUPTI was not found" in done.stderr:
    print("skipped: CUPTI is not installed")
    sys.exit(77)
if done.returncode == 0:
    print("skipped: CUPTI records here")
    sys.exit(77)
print(done.stderr)
assert done.returncode == 2, done.returncode
assert "fix:" in done.stderr
EXPECTED = ("no NVIDIA driver", "sees no GPU", "does not start", "stub", "refuses", "cannot be opened", "too old",
            "knows where records")
assert any(cause in done.stderr for cause in EXPECTED), done.stderr
