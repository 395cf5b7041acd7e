# SPDX-License-Identifier: MIT
"""A program run with --syscost_trace, and what it left."""
import os
import pathlib
import subprocess


def skip(reason):
    print(reason)
    raise SystemExit(77)


def run_traced(program, folder, test, *flags):
    """The folder of its test's trace."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("SYSCOST_")}
    done = subprocess.run([program, "--syscost_backend=dispatch", "--syscost_trace", "--gtest_brief=1", f"--gtest_filter={test}", *flags], cwd=folder,
                          env=environment, text=True, capture_output=True, check=False)
    if done.returncode == 2 and "dispatch" in done.stderr:
        skip("dispatch does not work here: " + done.stderr.strip())
    if done.returncode != 0:
        raise SystemExit(f"{program} failed: {done.stdout}{done.stderr}")
    found = list(pathlib.Path(folder).glob(f"syscost_artifacts/*/*/{test}/trace.strace"))
    if len(found) != 1:
        raise SystemExit(f"one trace expected, found {found}: {done.stderr}")
    return found[0].parent
