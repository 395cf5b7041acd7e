# SPDX-License-Identifier: MIT
"""What the tests of the adapters share: their programs, a folder for each case, and the rows they wrote.

The programs make known numbers of getppid calls, which nothing else in them makes. Each test file takes the folder of the
programs and the classes to run: FILE BIN [CLASS...]; it ends with 77 (skipped, to ctest) where nothing can count, and
where all its tests were skipped.
"""
import collections
import csv
import ctypes
import errno
import functools
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from backends import AUTOMATIC, BACKENDS, COUNT_CALLS, COUNT_CHILDREN, COUNT_ENTRIES  # pylint: disable=wrong-import-position,unused-import
from rights import FILTER_REASON, MAY_HAVE_NETWORKS, UNDER_A_FILTER, can_unshare  # pylint: disable=wrong-import-position,unused-import

BIN = os.path.abspath(sys.argv[1])
MANY = os.path.join(BIN, "adapter_many_shapes")        # with syscost::gtest and GTest::gtest_main
PLAIN = os.path.join(BIN, "adapter_many_shapes_plain")  # the same without us
OUR_MAIN = os.path.join(BIN, "adapter_our_main")        # with syscost::gtest_main
USER_MAIN = os.path.join(BIN, "adapter_user_main")
PLAIN_MAIN = os.path.join(BIN, "adapter_plain_main")
ASSERTIONS = os.path.join(BIN, "adapter_assertions")
PROPERTIES = os.path.join(BIN, "adapter_properties")
EARLY = os.path.join(BIN, "adapter_early")              # measures before main()
FIRST_USES = os.path.join(BIN, "adapter_first_uses")
FORKING_MAIN = os.path.join(BIN, "adapter_forking_main")
SCOPES = os.path.join(BIN, "adapter_scopes")
LIMITS = os.path.join(BIN, "adapter_limits")
DETAILS = os.path.join(BIN, "adapter_details")
LOOPS = os.path.join(BIN, "adapter_loops")
DENY = os.path.join(BIN, "adapter_deny")                # runs a program under a seccomp profile
NO_CAPABILITIES = ["capsh", "--drop=all", "--user=nobody", "--"] if os.geteuid() == 0 else None
# Under this command no backend can count.
NO_BACKEND = [DENY, "EPERM", "dispatch,seccomp", *NO_CAPABILITIES] if NO_CAPABILITIES else None

Done = collections.namedtuple("Done", "code out err")


def environment(**variables):
    """This process's environment without what would change the programs' behaviour, plus `variables`."""
    kept = {k: v for k, v in os.environ.items()
            if not k.startswith(("SYSCOST_", "GTEST_", "BENCHMARK_")) and k not in ("CI", "NO_COLOR")}
    return {**kept, **variables}


def clone3_is_denied():
    """Docker's seccomp profile answers it with ENOSYS; without an argument the kernel would with EINVAL."""
    libc = ctypes.CDLL(None, use_errno=True)
    return libc.syscall(435, None, 0) < 0 and ctypes.get_errno() != errno.EINVAL


@functools.lru_cache(maxsize=None)
def why_not(backend):
    """Why `backend` cannot count here, and what changes that; empty if it can."""
    done = subprocess.run([MANY, f"--syscost_backend={backend}", "--gtest_filter=None"], env=environment(),
                          capture_output=True, text=True)
    if done.returncode not in (0, 2):
        raise AssertionError(f"backend {backend}: exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
    return "" if done.returncode == 0 else done.stderr.strip()


def automatic(*without):
    """What `auto` takes where the backends of `without` do not work: automatic("ebpf") for an ordinary user."""
    return next((backend for backend in AUTOMATIC if backend not in without and not why_not(backend)), None)


@functools.lru_cache(maxsize=None)
def sees_only_entries():
    """True where `auto` takes a backend that does not see how a call ends: for an ordinary user whose processor has no
    FSGSBASE, for one."""
    return automatic() not in COUNT_CALLS


def needs_results(test):
    """For a test that names no backend: skips it there."""
    @functools.wraps(test)
    def or_skipped(self):
        if sees_only_entries():
            self.skipTest("no backend here sees how calls end")
        test(self)
    return or_skipped


class Case(unittest.TestCase):
    maxDiff = None

    def needs(self, backend):
        """Skips the test, or the subtest, where `backend` cannot count. A test that names no backend gets what `auto` takes:
        `automatic()`, and for an ordinary user `automatic("ebpf")`."""
        if reason := why_not(backend):
            self.skipTest(reason)

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="syscost-adapter-")
        os.chmod(self.folder, 0o777)
        self.addCleanup(shutil.rmtree, self.folder)
        self.csv = os.path.join(self.folder, "out.csv")

    def run_program(self, *command, code=0, stdin=None, **variables):
        done = subprocess.run(command, env=environment(**variables), cwd=self.folder, capture_output=True, text=True, input=stdin)
        if code is not None:
            self.assertEqual(done.returncode, code, f"{command}\n{done.stdout}\n{done.stderr}")
        return Done(done.returncode, done.stdout, done.stderr)

    def rows(self, kind=None, as_written=False, **equal):
        """Of tests and of what they make, unless kind="run" asks for what the run says of itself, or "between" for the rest.
        Where sees_only_entries(), entries stand for calls, unless `as_written`."""
        with open(self.csv, newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        if sees_only_entries() and not as_written:
            rows = [{**row, **{column: row[column] or row[column.replace("calls", "entries")] for column in ("calls", "total_calls")}}
                    for row in rows]
        self.assertTrue(all(row["end"] == "end" for row in rows))
        return [row for row in rows if (row["kind"] not in ("run", "between") if kind is None else row["kind"] == kind)
                and all(row[k] == v for k, v in equal.items())]

    def names_of_tests(self):
        return [row["test"] for row in self.rows(kind="test", record="test")]

    def getppids(self, kind="test", column="calls"):
        """{test, or test and window: calls of getppid}, 0 where the window has no such row."""
        def name(row):
            return row["test"] if kind == "test" else (row["test"] + " " + row["window"]).strip()
        counts = {name(row): 0 for row in self.rows(kind=kind, record="test")}
        for row in self.rows(kind=kind, record="syscall", syscall="getppid"):
            counts[name(row)] += int(row[column])
        return counts


def main(program=MANY):
    """Runs the classes that were asked for; `program` says whether anything can count."""
    doctor = subprocess.run([program, "--syscost_doctor"], env=environment(), capture_output=True, text=True)
    if doctor.returncode != 0:
        print("skipped: nothing can count syscalls here\n" + doctor.stdout)
        sys.exit(77)
    result = unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2, exit=False).result
    if not result.wasSuccessful():
        sys.exit(1)
    # A test of which only some subtests were skipped ran.
    skipped = [test for test, _ in result.skipped if isinstance(test, unittest.TestCase) and not hasattr(test, "test_case")]
    sys.exit(77 if skipped and len(skipped) == result.testsRun else 0)
