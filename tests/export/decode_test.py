#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `bench export` writes is read by OpenTelemetry's own definition of the protocol: decode_test.py BENCH DATA WORK

The definition is in the npm package below. If it is not installed, npm installs it into WORK, where nothing but this test
uses it. Where that cannot be done, the test is skipped and says why.
"""
import os
import shutil
import subprocess
import sys

PACKAGE = "@opentelemetry/otlp-transformer"
VERSION = "0.57.2"
SKIPPED = 77


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def modules(node, work):
    """A folder from which node finds the package."""
    folder = os.path.join(work, "modules")
    marker = os.path.join(folder, "node_modules", PACKAGE, "package.json")
    if os.path.exists(marker):
        return os.path.join(folder, "node_modules")
    npm = shutil.which("npm")
    if not npm:
        skip(f"there is no npm to install {PACKAGE} with (Debian: npm)")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    with open(os.path.join(folder, "package.json"), "w", encoding="ascii") as file:
        file.write('{"private": true}\n')
    try:
        done = subprocess.run([npm, "install", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1",
                               f"{PACKAGE}@{VERSION}"], cwd=folder, capture_output=True, text=True, timeout=120,
                              check=False)
    except subprocess.TimeoutExpired:
        skip(f"npm did not install {PACKAGE} within two minutes")
    if done.returncode != 0 or not os.path.exists(marker):
        skip(f"npm cannot install {PACKAGE} here: {done.stderr.strip().splitlines()[-1:] or 'it gives no reason'}")
    return os.path.join(folder, "node_modules")


def main():
    bench, data, work = sys.argv[1:4]
    node = shutil.which("node")
    if not node:
        skip("there is no node to run OpenTelemetry's decoder with (Debian: nodejs)")
    os.makedirs(work, exist_ok=True)
    path = modules(node, work)
    files = []
    for name in [*sorted(os.listdir(data)), os.path.join("traces", "run.csv")]:
        if not name.endswith(".csv"):
            continue
        for options in ([], ["--fine"]):
            target = os.path.join(work, name.replace(os.sep, "_") + "".join(options) + ".jsonl")
            if os.path.exists(target):
                os.unlink(target)
            # Files with faults are exported as far as they can be read; then the exit code is 2.
            subprocess.run([bench, "export", os.path.join(data, name), "--otlp", target, *options], capture_output=True,
                           check=False)
            if os.path.exists(target):
                files.append(target)
    if len(files) < 20:
        sys.exit(f"only {len(files)} files were exported")
    here = os.path.dirname(os.path.abspath(__file__))
    done = subprocess.run([node, os.path.join(here, "decode.js"), *files], env=dict(os.environ, NODE_PATH=path),
                          check=False)
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
