# SPDX-License-Identifier: MIT
"""The stage of a test with strangers: victims, attackers, helpers, in a network and a mount namespace of its own.

A test file is called with BIN HELPER LIBRARY, and ends with stage.main()."""
import fcntl
import os
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../hostile"), os.path.join(HERE, "../../conformance")]
import own_namespaces  # pylint: disable=wrong-import-position
from rows import exact_or_missing, loops_of, number_of, read_rows  # pylint: disable=wrong-import-position

BIN, HELPER, LIBRARY = (os.path.abspath(path) for path in sys.argv[1:4])
VICTIM = os.path.join(BIN, "attack_hostile")
ROGUE = os.path.join(BIN, "attack_rogue")
MADE = 5000
STRANGER, OTHER = 65534, 65533  # a user without rights, and one without a name
LIMIT_S = 10  # for a victim; not a measurement, a victim that takes longer hangs
SKIPPED = 77
# One that other users may execute.
PYTHON = "/usr/bin/python3" if os.access("/usr/bin/python3", os.X_OK) else sys.executable


def environment(**more):
    return {**{k: v for k, v in os.environ.items() if not k.startswith(("SYSCOST_", "GTEST_"))}, **more}


def as_user(user):
    return {"user": user, "group": user, "extra_groups": []} if user else {}


# The files with the groups' processes, a comma, the user, then the command.
ENTER = """
import os, sys
comma = sys.argv.index(",")
for path in sys.argv[1:comma]:
    open(path, "w").write(str(os.getpid()))
user = int(sys.argv[comma + 1])
if user:
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)
os.execvp(sys.argv[comma + 2], sys.argv[comma + 2:])
"""


class Victim:
    """A measured test program: starts, says that its test runs, waits for its cue, counts. `group` are folders of
    control groups in which it does so."""

    def __init__(self, user=0, backend="ebpf", test="Counts", before=(), group=(), **more):
        if group:
            before = (PYTHON, "-c", ENTER, *(os.path.join(folder, "cgroup.procs") for folder in group), ",", str(user), *before)
            user = 0
        self.folder = tempfile.mkdtemp(prefix="syscost-strangers-")
        os.chmod(self.folder, 0o777)
        self.csv = os.path.join(self.folder, "out.csv")
        self.test = test
        self.process = subprocess.Popen(  # pylint: disable=consider-using-with
            [*before, VICTIM, f"--gtest_filter=Victim.{test}", f"--syscost_csv={self.csv}", f"--syscost_backend={backend}",
             "--syscost_cycles=10", "--syscost_repeats=2", "--syscost_warmup=0"],
            cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env=environment(**more), **as_user(user))

    def when_ready(self):
        output = self.process.stdout.fileno()
        self.said = b""
        deadline = time.monotonic() + LIMIT_S
        while b"victim: ready" not in self.said:
            left_s = max(0, deadline - time.monotonic())
            if not select.select([output], [], [], left_s)[0]:
                break
            piece = os.read(output, 65536)
            if not piece:
                break  # it ended
            self.said += piece
        return self

    def end(self):
        """(letter, why): '=' or 'R'; anything else is a defect."""
        try:
            said = (self.said + self.process.communicate(b"g", timeout=LIMIT_S)[0]).decode()
        except subprocess.TimeoutExpired:
            self.kill()
            return "C", f"no end after {LIMIT_S} s"
        rows = read_rows(self.csv)
        code = self.process.returncode
        if code < 0:
            return "C", f"killed by {-code}"
        if code == 2 and "syscost:" in said:
            return "R", said
        letter, why = exact_or_missing(*number_of(rows, f"Victim.{self.test}"), MADE)
        for number, right, lost in loops_of(rows):
            letter, why = max((letter, why), exact_or_missing(number, lost, right), key=lambda one: "=RW".index(one[0]))
        if letter == "R" and (code == 0 or "syscost:" not in said):
            return "W", f"{why}; ends with {code}: {said}"
        if letter == "=" and code != 0:
            return "V", f"ends with {code}: {said}"
        return letter, why or said

    def kill(self):
        self.process.kill()
        self.process.communicate()


class Stage(unittest.TestCase):
    def setUp(self):
        self.running = []
        self.addCleanup(self.end_all)
        for helper in helpers():  # of the test before: they stay for a further client
            os.kill(helper, signal.SIGKILL)
        self.wait_until(lambda: not names(), "a helper of the test before is still there")

    def needs(self, backend):
        """Skips the test, or the subtest, where `backend` cannot count."""
        done = subprocess.run([VICTIM, "--gtest_filter=None", f"--syscost_backend={backend}"], env=environment(),
                              text=True, capture_output=True, check=False)
        if done.returncode == 2:
            self.skipTest(done.stderr.strip())

    def end_all(self):
        while self.running:
            one = self.running.pop()
            one.kill()
            one.communicate() if isinstance(one, subprocess.Popen) else None

    def wait_until(self, condition, what):
        # Conditions are about /proc, which sends no events: only asking again shows a change.
        for _ in range(4000):
            if condition():
                return
            time.sleep(0.005)
        self.fail(what)

    def victim(self, *arguments, **options):
        victim = Victim(*arguments, **options)
        self.running.append(victim)
        self.addCleanup(shutil.rmtree, victim.folder, ignore_errors=True)
        return victim.when_ready()

    def rogue(self, role, *arguments, user=STRANGER, **more):
        process = subprocess.Popen([ROGUE, role, *arguments],  # pylint: disable=consider-using-with
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env=environment(SYSCOST_BACKEND="ebpf", **more), **as_user(user))
        self.running.append(process)
        self.assertEqual(process.stdout.read(1), b"r", "the attacker could not begin")
        return process

    def serve_everyone(self, before=(), ready=True):
        helper = subprocess.Popen([*before, HELPER, "--for-everyone"],  # pylint: disable=consider-using-with
                                  stderr=subprocess.PIPE)
        self.running.append(helper)
        if ready:
            self.wait_until(lambda: names() or helper.poll() is not None, "the helper for everyone does not listen")
            self.assertIsNone(helper.poll())
        return helper

    def assert_sound(self, victim, exact=False):
        letter, why = victim.end()
        self.assertIn(letter, "=" if exact else "=R", why)

    def library_with(self, capabilities="cap_bpf,cap_perfmon+ep"):
        """The folder of a copy of the library, whose helper has `capabilities`."""
        helper = self.helper_with_capabilities(capabilities)
        library = os.path.join(os.path.dirname(helper), "../../lib")
        os.makedirs(library)
        for name in os.listdir(os.path.dirname(LIBRARY)):
            if name.startswith("libsyscost.so"):
                shutil.copy(os.path.join(os.path.dirname(LIBRARY), name), library)
        return os.path.realpath(library)

    def helper_with_capabilities(self, capabilities="cap_bpf,cap_perfmon+ep"):
        folder = tempfile.mkdtemp(prefix="syscost-strangers-")
        self.addCleanup(shutil.rmtree, folder)
        os.chmod(folder, 0o755)
        os.makedirs(os.path.join(folder, "libexec/syscost"))
        helper = shutil.copy(HELPER, os.path.join(folder, "libexec/syscost"))
        if subprocess.run(["setcap", capabilities, helper], check=False).returncode != 0:
            self.skipTest("setcap is missing, or the file system holds no capabilities")
        return helper


def names():
    """Of sockets of ours: abstract ones begin with @."""
    with open("/proc/net/unix", encoding="ascii", errors="replace") as table:
        return {line.split()[-1] for line in table if re.search(r"[@/]\S*syscost\S*$", line.rstrip()) and " 00010000 " in line}


def helpers():
    return own_namespaces.processes_of(HELPER)


def raise_loopback():
    """The network that a namespace begins with is down."""
    up = struct.pack("16sh14x", b"lo", 0x41)  # IFF_UP, IFF_RUNNING
    with socket.socket() as one:
        fcntl.ioctl(one, 0x8914, up)  # SIOCSIFFLAGS


def main():
    if reason := "two users need root" if os.geteuid() != 0 else own_namespaces.enter():
        print(f"skipped: {reason}")
        sys.exit(SKIPPED)
    raise_loopback()
    probe = Victim().when_ready()
    verdict = probe.end()
    shutil.rmtree(probe.folder)
    if verdict[0] != "=":
        print(f"skipped: eBPF does not count here: {verdict[1]}")
        sys.exit(SKIPPED)
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
