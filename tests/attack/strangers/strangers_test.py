#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Strangers: another user of the machine attacks the eBPF helper, its socket, and the files of a run.

The victim is a test of 5000 known calls (and a loop where that matters) of attack_hostile. Whatever the stranger does, the victim's
numbers are exact, or it refuses with a reason; and it ends. The test lives in a network and a mount namespace of its own:
strangers_test.py BIN HELPER LIBRARY.
"""
import os
import re
import shutil
import socket
import subprocess
import tempfile

import stage
from stage import HELPER, LIMIT_S, OTHER, PYTHON, ROGUE, STRANGER, as_user, environment, names

# Executes a command as before Linux 6.16: the socket option SO_PASSRIGHTS (83) is unknown, by a seccomp filter.
WITHOUT_PASSRIGHTS = """
import ctypes, os, struct, sys
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
SETSOCKOPT, GETSOCKOPT, PASSRIGHTS, NUMBER, OPTION, ENOPROTOOPT, ALLOWED = 54, 55, 83, 0, 32, 0x50000 | 92, 0x7fff0000
program = [(LOAD, 0, 0, NUMBER), (EQUAL, 1, 0, SETSOCKOPT), (EQUAL, 0, 2, GETSOCKOPT), (LOAD, 0, 0, OPTION),
           (EQUAL, 1, 0, PASSRIGHTS), (RETURN, 0, 0, ALLOWED), (RETURN, 0, 0, ENOPROTOOPT)]
code = b"".join(struct.pack("HBBI", *one) for one in program)
buffer = ctypes.create_string_buffer(code)
filter = struct.pack("HxxxxxxQ", len(program), ctypes.addressof(buffer))
libc = ctypes.CDLL(None)
libc.prctl.argtypes = [ctypes.c_int] + [ctypes.c_void_p] * 4
assert libc.prctl(38, 1, None, None, None) == 0 and libc.prctl(22, 2, filter, None, None) == 0
os.execv(sys.argv[1], sys.argv[1:])
"""


class Strangers(stage.Stage):
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

    # --- programs that they execute ---

    def watched(self, *program):
        """What a stranger learns who makes a window last beyond its execve."""
        return subprocess.run([ROGUE, "watch", "40417", *program], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=LIMIT_S, env=environment(SYSCOST_BACKEND="ebpf"), **as_user(STRANGER), check=False)

    def test_a_program_that_a_measured_process_executes_is_not_counted_for_it(self):
        self.serve_everyone()
        itself = self.watched()
        self.assertRegex(itself.stdout, r"^[1-9][0-9]* words$", itself.stderr)  # so what follows can fail
        executed = self.watched(ROGUE)
        self.assertEqual(executed.stdout, f"as {STRANGER}, 0 words", executed.stderr)

    def test_a_set_uid_program_of_root_that_a_stranger_executes_is_not_counted_for_it(self):
        folder = tempfile.mkdtemp(prefix="syscost-strangers-")
        self.addCleanup(shutil.rmtree, folder)
        os.chmod(folder, 0o755)
        program = shutil.copy(ROGUE, folder)
        os.chmod(program, 0o4755)
        self.serve_everyone()
        executed = self.watched(program)
        if executed.stdout.startswith(f"as {STRANGER}, "):
            self.skipTest(f"no program is set-uid in {folder} (mount option nosuid, or no_new_privs)")
        self.assertEqual(executed.stdout, "as 0, 0 words", executed.stderr)

    # --- descriptors that they send ---

    def send_what_closes_late(self):
        """As STRANGER hands the helper for everyone the last references to sockets that take an hour to close."""
        (address,) = names()
        code = f"""
import signal, socket, struct, sys
listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen(16)
kept = []
for way in ("message", "behind nonsense", "and leaves"):
    helper = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    helper.connect({address!r})
    late = socket.socket()
    late.connect(listener.getsockname())
    kept += [listener.accept()[0], helper]
    late.setblocking(False)
    try:
        while True:
            late.send(bytes(65536))
    except BlockingIOError:
        pass
    late.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 3600))
    try:
        if way == "behind nonsense":
            helper.send(b"x")
        socket.send_fds(helper, [b"x"], [late.fileno()])
    except OSError as error:
        sys.stderr.write(str(error.errno) + " ")
        late.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    if way == "and leaves":
        helper.close()
    late.close()
sys.stdout.write("r"); sys.stdout.flush()
signal.pause()  # until the test kills it
"""
        process = subprocess.Popen([PYTHON, "-c", code], stdout=subprocess.PIPE,  # pylint: disable=consider-using-with
                                   stderr=subprocess.PIPE, **as_user(STRANGER))
        self.running.append(process)
        return process

    def assert_that_no_one_waits_for(self, sender):
        for user in (OTHER, 0):
            self.assert_sound(self.victim(user=user, test="Loops"), exact=True)
        self.assertIsNone(sender.poll(), "it is still at it")

    def test_who_sends_what_closes_late_keeps_no_one_waiting(self):
        self.serve_everyone()
        sender = self.send_what_closes_late()
        if sender.stdout.read(1) != b"r":
            self.fail(sender.stderr.read().decode())
        self.assert_that_no_one_waits_for(sender)

    def test_who_sends_it_on_a_kernel_that_passes_descriptors_keeps_no_one_waiting(self):
        self.serve_everyone(before=(PYTHON, "-c", WITHOUT_PASSRIGHTS))
        # It may wait for itself: its own copies may be the last.
        sender = self.send_what_closes_late()
        self.assert_that_no_one_waits_for(sender)

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
        self.assert_sound(self.victim(backend="auto"), exact=True)
        with self.subTest("dispatch"):
            self.needs("dispatch")
            self.assert_sound(self.victim(backend="dispatch"), exact=True)

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

    def test_what_a_helper_with_capabilities_does_not_serve_says_so(self):
        def run(flag):
            return subprocess.run([stage.VICTIM, flag, "--gtest_filter=None", "--syscost_csv=/dev/null"], capture_output=True, text=True, check=False,
                                  env=environment(LD_LIBRARY_PATH=library), timeout=LIMIT_S, **as_user(STRANGER))
        library = self.library_with()
        self.assertIn("--syscost_children need CAP_BPF and CAP_PERFMON in the test itself", run("--syscost_doctor").stdout)
        for flag in ("--syscost_sched", "--syscost_detail=ioctl"):
            done = run(flag)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(flag.split("=", maxsplit=1)[0] + " needs the capabilities in the test itself", done.stderr)

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


if __name__ == "__main__":
    stage.main()
