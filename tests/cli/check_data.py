#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_data.py FOLDER: the committed files of FOLDER/data are what FOLDER/make_data.py writes.

A new column of the CSV comes into those files only when the program runs again. No other test sees that it did not run.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

folder = pathlib.Path(sys.argv[1])
committed = folder / "data"
with tempfile.TemporaryDirectory() as work:
    written = pathlib.Path(work, "data")
    shutil.copytree(committed, written)  # it reads some files, which no program writes
    subprocess.run([sys.executable, "-B", str(folder / "make_data.py"), str(written)], check=True)
    stale = [name for name in sorted(path.relative_to(written) for path in written.rglob("*") if path.is_file())
             if not (committed / name).exists() or (committed / name).read_bytes() != (written / name).read_bytes()]
for name in stale:
    print(f"{committed / name} is not what make_data.py writes; write it anew: ./dev update data")
sys.exit(1 if stale else 0)
