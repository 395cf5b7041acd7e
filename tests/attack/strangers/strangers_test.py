#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Strangers: another user of the machine attacks the eBPF helper, its socket, and the files of a run.

The victim is a test of 5000 known calls (and a loop where that matters) of attack_hostile. Whatever the stranger does, the victim's
numbers are exact, or it refuses with a reason; and it ends. The test lives in a network and a mount namespace of its own:
strangers_test.py BIN HELPER LIBRARY.
"""
import os
import re
import select
import shutil
import socket
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


class Victim:
    """A measured test program: starts, says that its test runs, waits for its cue, counts."""

    def __init__(self, user=0, backend="ebpf", test="Counts", before=(), **more):
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


class Strangers(unittest.TestCase):
    def setUp(self):
        self.running = []
        self.addCleanup(self.end_all)
        # Helpers of the last test: they end with their last client.
        self.wait_until(lambda: not names(), "a helper of the test before is still there")

    def end_all(self):
        for one in self.running:
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

    # --- clients that turn against the helper ---

    def test_a_client_of_another_user_that_attaches_programs_again_spoils_no_count(self):
        self.serve_everyone()
        victim = self.victim(user=OTHER)
        self.rogue("misuse", "20")
        self.assert_sound(victim, exact=True)
        self.assert_sound(self.victim(), exact=True)
        self.assert_sound(self.victim(user=OTHER, test="Loops"), exact=True)

    def test_a_client_of_the_same_user_that_attaches_programs_again_spoils_no_count(self):
        victim = self.victim()
        self.rogue("misuse", "5", user=0)
        self.assert_sound(victim)
        self.assert_sound(self.victim(test="Loops"))

    def test_a_client_that_writes_garbage_to_its_map_spoils_no_other_count(self):
        self.serve_everyone()
        self.rogue("scribble")
        for user in (OTHER, 0):
            self.assert_sound(self.victim(user=user, test="Loops"), exact=True)

    def test_a_client_that_floods_its_socket_spoils_no_other_count(self):
        self.serve_everyone()
        victim = self.victim(user=OTHER, test="Loops")
        self.rogue("flood", "300")
        self.assert_sound(victim, exact=True)
        self.assert_sound(self.victim(user=OTHER), exact=True)

    def test_a_client_that_comes_and_goes_without_end_spoils_no_other_count(self):
        self.serve_everyone()
        victim = self.victim(user=OTHER, test="Loops")
        rogue = self.rogue("toggle")
        self.assert_sound(victim, exact=True)
        self.assert_sound(self.victim(user=OTHER, test="Loops"), exact=True)
        self.assertIsNone(rogue.poll(), "it is still at it")

    def test_who_connects_and_leaves_without_end_keeps_no_client_from_its_answers(self):
        self.serve_everyone()
        victim = self.victim(user=OTHER, test="Loops")
        self.rogue("knock", "8")
        self.assert_sound(victim, exact=True)

    def test_who_takes_places_and_leaves_without_end_keeps_no_user_from_them(self):
        self.serve_everyone()
        victim = self.victim(user=OTHER, test="Loops")
        self.rogue("join", "60")
        self.assert_sound(victim, exact=True)
        self.assert_sound(self.victim(user=OTHER, test="Loops"), exact=True)

    def test_who_enrols_with_the_secret_of_another_process_is_not_counted_there(self):
        self.serve_everyone()
        stolen = subprocess.run([ROGUE, "steal", "300"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_S,
                                env=environment(SYSCOST_BACKEND="ebpf"), **as_user(STRANGER), check=False)
        self.assertEqual(stolen.stdout, "1", stolen.stderr)  # its own, of before it was attacked

    def test_a_secret_that_is_said_by_thousands_leaves_room_for_others(self):
        self.serve_everyone()
        with subprocess.Popen([ROGUE, "steal", "6000"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              env=environment(SYSCOST_BACKEND="ebpf"), **as_user(STRANGER)) as thief:
            thief.stdout.read(1)
            for _ in range(4):
                self.assert_sound(self.victim(user=OTHER), exact=True)
            thief.stdin.close()

    # --- who sits where the helper should ---

    def squat(self, how, address):
        """As STRANGER takes an abstract name; returns what holds it."""
        code = f"""
import os, signal, socket, sys
name = {address!r}
listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
listener.bind(name)
listener.listen(0 if {how!r} == "full" else 100)
queued = []
while {how!r} == "full":
    one = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    one.setblocking(False)
    try:
        one.connect(name)
    except BlockingIOError:
        break
    queued.append(one)
sys.stdout.write("r"); sys.stdout.flush()
while {how!r} in ("full", "mute"):
    signal.pause()  # until the test kills it
while True:
    peer = listener.accept()[0]
    queued.append(peer)
    for size in (1, 100, 976, 992, 1000, 4096):
        try:
            socket.send_fds(peer, [os.urandom(size) if {how!r} == "noise" else bytes(size)], [0] * 7)
        except OSError:
            break
"""
        process = subprocess.Popen([PYTHON, "-c", code], stdout=subprocess.PIPE,  # pylint: disable=consider-using-with
                                   stderr=subprocess.PIPE, **as_user(STRANGER))
        self.running.append(process)
        if process.stdout.read(1) != b"r":
            self.fail(process.stderr.read().decode())

    def names_that_are_used(self):
        """The abstract names of the helpers of root, and for everyone where that is one."""
        victim = self.victim()
        own = names()
        self.assert_sound(victim, exact=True)
        self.wait_until(lambda: not names(), "the helper stays")
        helper = self.serve_everyone()
        own |= names()
        helper.kill()
        helper.wait()
        self.wait_until(lambda: not any(name.startswith("@") for name in names()), "the helper stays")
        return ["\0" + name[1:] for name in own if name.startswith("@")]

    def test_a_squatter_with_a_full_queue_costs_a_message(self):
        for name in self.names_that_are_used():
            self.squat("full", name)
        self.assert_sound(self.victim())
        self.assert_sound(self.victim(backend="dispatch"), exact=True)
        self.assert_sound(self.victim(backend="auto"), exact=True)

    def test_a_squatter_that_never_answers_costs_a_message(self):
        for name in self.names_that_are_used():
            self.squat("mute", name)
        self.assert_sound(self.victim())

    def test_a_squatter_that_answers_noise_is_not_believed(self):
        for name in self.names_that_are_used():
            self.squat("noise", name)
        self.assert_sound(self.victim())

    def test_a_squatter_that_answers_zeros_is_not_believed(self):
        for name in self.names_that_are_used():
            self.squat("zeros", name)
        self.assert_sound(self.victim())

    def test_a_queue_at_the_helper_for_everyone_is_named_as_the_cause(self):
        helper = self.serve_everyone()
        (path,) = names()
        helper.kill()
        helper.wait()
        os.unlink(path)
        crowd = [socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in range(8)]
        self.addCleanup(lambda: [one.close() for one in crowd])
        crowd[0].bind(path)
        os.chmod(path, 0o666)
        self.addCleanup(os.unlink, path)
        crowd[0].listen(0)
        for one in crowd[1:]:
            one.setblocking(False)
            if one.connect_ex(path) != 0:
                break
        letter, why = self.victim(user=OTHER).end()
        self.assertEqual(letter, "R")
        self.assertIn("too many waiting connections", why)

    def test_idle_connections_take_no_place(self):
        self.serve_everyone(before=("prlimit", "--nofile=512"))
        (address,) = names()
        code = f"""
import signal, socket, sys
held = []
for i in range(700):
    one = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    one.setblocking(False)
    try:
        one.connect({("chr(0) + " + repr(address[1:])) if address.startswith("@") else repr(address)})
    except OSError:
        pass
    held.append(one)
sys.stdout.write("r"); sys.stdout.flush()
signal.alarm(60)
signal.pause()  # until the test kills it; where the test itself was killed, the alarm does
"""
        process = subprocess.Popen([PYTHON, "-c", code], stdout=subprocess.PIPE,  # pylint: disable=consider-using-with
                                   **as_user(STRANGER))
        self.running.append(process)
        self.assertEqual(process.stdout.read(1), b"r")
        self.assert_sound(self.victim(user=OTHER))
        self.assert_sound(self.victim())

    def test_a_root_of_a_user_namespace_serves_no_one_and_keeps_no_one_out(self):
        fake = subprocess.Popen(["unshare", "-Ur", HELPER, "--for-everyone"],  # pylint: disable=consider-using-with
                                stderr=subprocess.PIPE, **as_user(STRANGER))
        self.running.append(fake)
        self.wait_until(lambda: names() or fake.poll() is not None, "it neither serves nor ends")
        self.assert_sound(self.victim())
        fake.kill()

    # --- the helper itself ---

    def helper_with_capabilities(self, capabilities="cap_bpf,cap_perfmon+ep"):
        folder = tempfile.mkdtemp(prefix="syscost-strangers-")
        self.addCleanup(shutil.rmtree, folder)
        os.chmod(folder, 0o755)
        os.makedirs(os.path.join(folder, "libexec/syscost"))
        helper = shutil.copy(HELPER, os.path.join(folder, "libexec/syscost"))
        if subprocess.run(["setcap", capabilities, helper], check=False).returncode != 0:
            self.skipTest("setcap is missing, or the file system holds no capabilities")
        return helper

    def begin_helper(self, helper, listener):
        def put_in_place():
            os.dup2(listener.fileno(), 3)
            os.set_inheritable(3, True)
        process = subprocess.Popen([helper], preexec_fn=put_in_place, close_fds=False,  # pylint: disable=consider-using-with
                                   stderr=subprocess.PIPE, **as_user(STRANGER))
        self.running.append(process)
        return process

    def start_helper_with(self, helper, listener):
        process = self.begin_helper(helper, listener)
        try:
            return process.wait(timeout=LIMIT_S), process.stderr.read().decode()
        except subprocess.TimeoutExpired:
            return None, ""

    def test_a_helper_with_capabilities_takes_no_other_socket(self):
        helper = self.helper_with_capabilities()
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.addCleanup(listener.close)
        listener.bind("\0a private pair of programs")
        listener.listen()
        code, said = self.start_helper_with(helper, listener)
        self.assertEqual(code, 2, said)
        self.assertIn("syscost", said)

    def test_a_helper_keeps_no_capability_that_it_has_used(self):
        helper = self.helper_with_capabilities("cap_bpf,cap_perfmon,cap_dac_read_search+ep")
        self.victim()
        (roots,) = names()
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.addCleanup(listener.close)
        listener.bind("\0" + re.sub("-0$", f"-{STRANGER}", roots[1:]))
        listener.listen()
        process = self.begin_helper(helper, listener)
        self.wait_until(lambda: process.poll() is not None or permitted(process.pid) == 1 << 38 | 1 << 39,
                        "it keeps another capability than CAP_PERFMON and CAP_BPF")
        self.assertIsNone(process.poll())

    def test_only_root_serves_everyone(self):
        helper = self.helper_with_capabilities()
        done = subprocess.run([helper, "--for-everyone"], stderr=subprocess.PIPE, text=True, timeout=LIMIT_S, **as_user(STRANGER),
                              check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("root", done.stderr)


def permitted(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return int(re.search(r"^CapPrm:\s*(\w+)$", status.read(), re.M)[1], 16)


def names():
    """Of sockets of ours: abstract ones begin with @."""
    with open("/proc/net/unix", encoding="ascii", errors="replace") as table:
        return {line.split()[-1] for line in table if re.search(r"[@/]\S*syscost\S*$", line.rstrip()) and " 00010000 " in line}


if __name__ == "__main__":
    if reason := "two users need root" if os.geteuid() != 0 else own_namespaces.enter():
        print(f"skipped: {reason}")
        sys.exit(SKIPPED)
    probe = Victim().when_ready()
    verdict = probe.end()
    shutil.rmtree(probe.folder)
    if verdict[0] != "=":
        print(f"skipped: eBPF does not count here: {verdict[1]}")
        sys.exit(SKIPPED)
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
