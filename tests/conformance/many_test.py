#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Many measured processes at once: one pair of BPF programs for all, exact counts, and nothing left of it.

Each process is conformance_case as a copy (copy.h): it opens a window, says so, waits for its cue, then makes 5000 known
calls, counts them and ends with 0 when that was exact; or it spins until it is killed. The test runs in a network and a
mount namespace of its own, so that no other process shares its helper: many_test.py CONFORMANCE_CASE HELPER LIBRARY.
"""
import array
import ctypes
import os
import pwd
import random
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

import own_namespaces

CASE, HELPER, LIBRARY = (os.path.abspath(path) for path in sys.argv[1:4])
MANY = 32
PR_SET_CHILD_SUBREAPER = 36
SYS_PIDFD_GETFD = 438
SKIPPED = 77
LIBC = ctypes.CDLL(None, use_errno=True)


def programs_in(fdinfo):
    """The kernel's numbers of the BPF programs among a process's descriptors, or a link's."""
    found = set()
    for name in os.listdir(fdinfo):
        try:
            with open(os.path.join(fdinfo, name), encoding="ascii") as info:
                found.update(int(number) for number in re.findall(r"prog_id:\s*(\d+)", info.read()))
        except FileNotFoundError:
            pass
    return found


def programs_of(pid):
    return programs_in(f"/proc/{pid}/fdinfo")


def parked_programs_of(pid):
    """Those that a process without a helper keeps in the queues of its sockets."""
    found = set()
    pidfd = os.pidfd_open(pid)
    for name in os.listdir(f"/proc/{pid}/fd"):
        try:
            if not os.readlink(f"/proc/{pid}/fd/{name}").startswith("socket:"):
                continue
        except FileNotFoundError:
            continue
        copy = LIBC.syscall(SYS_PIDFD_GETFD, pidfd, int(name), 0)
        with socket.socket(fileno=copy) as queue:
            before = set(os.listdir("/proc/self/fdinfo"))
            fds = array.array("i")
            try:
                _, control, _, _ = queue.recvmsg(1, socket.CMSG_LEN(32 * fds.itemsize),
                                                 socket.MSG_PEEK | socket.MSG_DONTWAIT)
            except OSError:
                continue
            for _, _, data in control:
                fds.frombytes(data)
            found |= programs_in("/proc/self/fdinfo") if set(os.listdir("/proc/self/fdinfo")) - before else set()
            for fd in fds:
                os.close(fd)
    os.close(pidfd)
    return found


def run_files_of(pid):
    """The open files in which the kernel tells it of skipped runs."""
    targets = (os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd"))
    return [target for target in targets if re.fullmatch(r"/proc/\d+/fdinfo/\d+", target)]


def holds_bpf(pid):
    return any(os.readlink(f"/proc/{pid}/fd/{fd}").startswith("anon_inode:bpf") for fd in os.listdir(f"/proc/{pid}/fd"))


def loaded(numbers):
    """Those of the programs that the kernel still has: BPF_PROG_GET_FD_BY_ID."""
    have = set()
    for number in numbers:
        request = (ctypes.c_uint32 * 16)(number)
        fd = LIBC.syscall(321, 13, ctypes.byref(request), ctypes.sizeof(request))
        if fd >= 0:
            os.close(fd)
            have.add(number)
        elif ctypes.get_errno() != 2:
            raise OSError(ctypes.get_errno(), "bpf")
    return have


def names_of_helpers():
    with open("/proc/net/unix", encoding="ascii") as table:
        return {line.split()[-1] for line in table if "@syscost-ebpf-" in line or "/run/syscost/" in line}


def helpers():
    return own_namespaces.processes_of(HELPER)


def attachments_of(helper):
    """What attaches its programs: links, or perf events."""
    folder = f"/proc/{helper}/fd"
    try:
        files = [os.readlink(os.path.join(folder, entry)) for entry in os.listdir(folder)]
    except OSError:
        return []  # it has ended
    return [file for file in files if "link" in file or "perf_event" in file or "raw-tracepoint" in file]


def daemons():
    """Process ids of copies that have no parent to wait for them any more."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
                parent = int(stat.read().rsplit(")", 1)[1].split()[1])
            if os.readlink(f"/proc/{pid}/exe") == CASE and parent != os.getpid() and (
                    os.readlink(f"/proc/{pid}/ns/net") == os.readlink("/proc/self/ns/net")):
                found.append(int(pid))
        except OSError:
            pass
    return found


class Copy:
    """A measured process."""

    def __init__(self, role="count", wrapper=(), **options):
        self.process = subprocess.Popen([*wrapper, CASE, "--copy", role], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE,
                                        env={**os.environ, "SYSCOST_BACKEND": "ebpf", **options.pop("env", {})}, **options)
        self.programs = set()

    def when_ready(self):
        """Returns once its window is open."""
        if self.process.stdout.read(1) != b"r":
            raise AssertionError(f"did not start: {self.process.communicate()[1].decode()}")
        if holds_bpf(self.process.pid):
            raise AssertionError("it holds a BPF program, a map or an attachment")
        self.programs = parked_programs_of(self.process.pid) or set().union(*map(programs_of, helpers()))
        return self

    def go(self):
        self.process.stdin.write(b"g")
        self.process.stdin.flush()

    def end(self):
        _, err = self.process.communicate()
        return self.process.returncode, err.decode()

    def kill(self):
        self.process.kill()
        self.end()


class Many(unittest.TestCase):
    def setUp(self):
        self.copies = []
        self.addCleanup(lambda: [copy.kill() for copy in self.copies if copy.process.returncode is None])

    def start(self, count, *arguments, **options):
        """Starts them all before it waits for the first."""
        fresh = [Copy(*arguments, **options) for _ in range(count)]
        self.copies += fresh
        return [copy.when_ready() for copy in fresh]

    def assert_one_pair(self, copies):
        self.assertEqual(len(helpers()), 1)
        self.assertEqual([parked_programs_of(copy.process.pid) for copy in copies], [set()] * len(copies))
        self.assertEqual([len(run_files_of(copy.process.pid)) for copy in copies], [3] * len(copies))
        self.assertEqual(len(copies[0].programs), 3)
        self.assertEqual(loaded(copies[0].programs), copies[0].programs)
        self.assertEqual(len(names_of_helpers()), 1)

    def assert_exact(self, copies):
        for copy in copies:
            copy.go()
        for copy in copies:
            code, err = copy.end()
            self.assertEqual(code, 0, err)

    def assert_detached(self, helper):
        """Some time after its last process has ended."""
        for _ in range(2000):
            if not attachments_of(helper):
                return
            time.sleep(0.01)
        self.fail(f"its programs stay attached: {attachments_of(helper)}")

    def assert_nothing_left(self, copies, helper_ends=False):
        """Without waiting for the end of a helper that stays for a further process, unless `helper_ends`."""
        programs = set().union(*(copy.programs for copy in copies))
        for helper in [] if helper_ends else helpers():
            self.assert_detached(helper)
            os.kill(helper, signal.SIGKILL)
        # The kernel frees them, and the helper ends, some time after the last descriptor is closed: polling.
        for _ in range(2000):
            if not (loaded(programs) or helpers() or names_of_helpers()):
                return
            time.sleep(0.01)
        self.fail(f"left: programs {loaded(programs)}, helpers {helpers()}, names {names_of_helpers()}")

    def test_32_processes_count_exactly_by_one_pair_and_leave_nothing(self):
        copies = self.start(MANY)
        self.assert_one_pair(copies)
        self.assert_exact(copies)
        self.assert_nothing_left(copies, helper_ends=True)

    def test_one_after_the_other_they_have_one_helper(self):
        copies = []
        for _ in range(3):
            copies += self.start(1)
            self.assert_one_pair(copies[-1:])
            self.assertEqual(len(attachments_of(*helpers())), 3)
            self.assert_exact(copies[-1:])
        self.assertEqual(len(set().union(*(copy.programs for copy in copies))), 3)
        self.assert_nothing_left(copies)

    def test_if_some_are_killed_in_any_order_the_others_count_exactly(self):
        copies = self.start(MANY)
        self.assert_one_pair(copies)
        order = random.Random(5)
        victims = order.sample(copies[1:], MANY // 2 - 1)
        victims.insert(order.randrange(len(victims)), copies[0])  # the process that started the helper is one of them
        for victim in victims:
            victim.kill()
        self.assert_exact([copy for copy in copies if copy not in victims])
        self.assert_nothing_left(copies)

    def test_killed_all_at_once_while_they_make_calls_they_leave_nothing(self):
        copies = self.start(MANY, "spin")
        for copy in copies:
            copy.go()
        order = random.Random(9)
        for copy in order.sample(copies, MANY):
            os.kill(copy.process.pid, signal.SIGKILL)
        for copy in copies:
            self.assertEqual(copy.end()[0], -signal.SIGKILL)
        self.assert_nothing_left(copies)

    def test_who_comes_while_the_last_one_goes_counts_exactly(self):
        everybody = []
        for _ in range(10):
            copy = self.start(1)[0]
            copy.go()
            fresh = self.start(1)[0]  # starts while the first one ends
            self.assertEqual(copy.end()[0], 0)
            self.assert_exact([fresh])
            everybody += [copy, fresh]
        self.assert_nothing_left(everybody)

    def test_a_killed_helper_costs_the_open_window_and_no_more(self):
        copies = self.start(8, "again")
        self.assert_one_pair(copies)
        (helper,) = helpers()
        ended = os.pidfd_open(helper)
        self.addCleanup(os.close, ended)
        os.kill(helper, signal.SIGKILL)
        self.assertTrue(select.select([ended], [], [], 60)[0])
        late = self.start(1)  # starts another helper
        self.assertNotEqual(late[0].programs, copies[0].programs)
        for copy in copies:
            copy.go()
        for copy in copies:
            code, err = copy.end()
            self.assertEqual(code, 1, err)  # as of every run that lacks counts
            self.assertIn("the eBPF helper, which counts for this process, has ended", err)
            self.assertIn("the window after it is exact", err)
        self.assert_one_pair(late)
        self.assert_exact(late)
        self.assert_nothing_left(copies + late)

    def test_a_helper_that_is_stopped_keeps_no_window_from_its_end(self):
        copies = self.start(2)
        (helper,) = helpers()
        os.kill(helper, signal.SIGSTOP)
        self.addCleanup(lambda: os.kill(helper, signal.SIGKILL) if helper in helpers() else None)
        self.assert_exact(copies)
        os.kill(helper, signal.SIGCONT)
        self.assert_nothing_left(copies)

    def test_the_helper_is_not_the_tests_child_and_holds_none_of_its_files(self):
        with tempfile.TemporaryFile() as precious:
            copies = self.start(2, pass_fds=[precious.fileno()])
            (helper,) = helpers()
            with open(f"/proc/{helper}/stat", encoding="ascii") as stat:
                fields = stat.read().rsplit(")", 1)[1].split()
            self.assertNotIn(int(fields[1]), [copy.process.pid for copy in copies])
            self.assertNotEqual(int(fields[3]), os.getsid(0), "a session of its own")
            targets = {os.readlink(f"/proc/{helper}/fd/{fd}") for fd in os.listdir(f"/proc/{helper}/fd")}
            # Those of /proc are its own, which it sends to a process that begins.
            own = ("socket:", "anon_inode:", "/dev/null", "pidfd:", "/memfd:libbpf", f"/proc/{helper}/fdinfo/")
            self.assertFalse([target for target in targets if not target.startswith(own)], targets)
            self.assert_exact(copies)
        self.assert_nothing_left(copies)

    def test_a_daemon_that_one_leaves_keeps_nothing_of_it(self):
        for wish in ({}, {"SYSCOST_DETAIL": "ioctl"}):
            with self.subTest(**wish):
                (copy,) = self.start(1, "daemon", env=wish)
                copy.go()
                self.assertEqual(copy.process.wait(), 0)
                self.assertEqual(len(daemons()), 1)
                self.assert_nothing_left([copy], helper_ends=True)
                for daemon in daemons():
                    os.kill(daemon, signal.SIGKILL)
                copy.end()

    def test_with_wishes_of_its_own_each_has_a_helper_of_its_own(self):
        plain = self.start(1)
        (detailed,) = self.start(1, env={"SYSCOST_DETAIL": "ioctl"})
        self.assertEqual(parked_programs_of(detailed.process.pid), set())
        self.assertEqual(sorted(len(programs_of(helper)) for helper in helpers()), [3, 3])
        self.assert_exact([*plain, detailed])
        self.assert_nothing_left([*plain, detailed])

    def test_a_process_to_which_orphans_come_gets_no_child_but_a_pair_of_its_own(self):
        copies = self.start(2, preexec_fn=lambda: LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
        self.assertEqual(helpers(), [])
        self.assertTrue(copies[0].programs.isdisjoint(copies[1].programs))
        self.assert_exact(copies)
        self.assert_nothing_left(copies)

    def test_without_the_helper_each_brings_its_own(self):
        with tempfile.TemporaryDirectory() as folder:
            library = self.copy_installation(folder, with_helper=False)
            copies = self.start(2, env={"LD_LIBRARY_PATH": library})
            self.assertTrue(copies[0].programs.isdisjoint(copies[1].programs))
            self.assert_exact(copies)
        self.assert_nothing_left(copies)

    def test_each_pid_namespace_has_a_helper_that_ends_with_it(self):
        # The first process of a namespace would become the helper's parent, and so holds its programs itself.
        first = ("unshare", "--pid", "--fork", "--kill-child", "sh", "-c", '"$@"; exit $?', "sh")
        inside = self.start(2, wrapper=first)
        outside = self.start(2)
        self.assertEqual(len(helpers()), 3)
        inside[0].kill()
        self.assert_exact([*outside, inside[1]])
        self.assert_nothing_left(outside + inside)

    def test_ordinary_users_are_served_by_a_helper_with_capabilities_of_its_file(self):
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            library = self.copy_installation(folder, with_helper=True)
            helper = os.path.join(folder, "libexec/syscost", os.path.basename(HELPER))
            if subprocess.run(["setcap", "cap_bpf,cap_perfmon+ep", helper], check=False).returncode != 0:
                self.skipTest("setcap is missing, or the file system holds no capabilities")
            copies = self.start(4, user="nobody", group="nogroup", extra_groups=[], env={"LD_LIBRARY_PATH": library})
            self.assert_one_pair(copies)
            self.assert_exact(copies)
        self.assert_nothing_left(copies)

    def test_without_any_right_one_is_refused_also_beside_others(self):
        others = self.start(1)
        refused = Copy(user="nobody", group="nogroup", extra_groups=[])
        self.copies.append(refused)
        code, err = refused.end()
        self.assertEqual(code, 2)
        self.assertIn("CAP_BPF", err)
        self.assert_exact(others)
        self.assert_nothing_left(others)

    def test_a_stranger_in_the_helpers_place_is_not_believed(self):
        first = self.start(1)
        (name,) = names_of_helpers()
        self.assert_exact(first)
        self.assert_nothing_left(first)
        stranger = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.addCleanup(stranger.close)
        stranger.bind("\0" + name[1:])
        os.seteuid(pwd.getpwnam("nobody").pw_uid)  # what others learn of a socket is who listened
        try:
            stranger.listen()
        finally:
            os.seteuid(0)
        copies = self.start(2)
        self.assertTrue(copies[0].programs.isdisjoint(copies[1].programs))
        self.assert_exact(copies)
        stranger.close()
        self.assert_nothing_left(copies)

    def test_a_stranger_with_a_full_queue_keeps_no_one_waiting(self):
        first = self.start(1)
        (name,) = names_of_helpers()
        self.assert_exact(first)
        self.assert_nothing_left(first)
        crowd = [socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in range(8)]
        self.addCleanup(lambda: [one.close() for one in crowd])
        crowd[0].bind("\0" + name[1:])
        os.seteuid(pwd.getpwnam("nobody").pw_uid)
        try:
            crowd[0].listen(1)
        finally:
            os.seteuid(0)
        for one in crowd[1:]:
            one.setblocking(False)
            try:
                one.connect("\0" + name[1:])
            except BlockingIOError:
                break
        copies = self.start(1)
        self.assertEqual(len(parked_programs_of(copies[0].process.pid)), 3, "it waited, and has programs of its own")
        self.assert_exact(copies)
        for one in crowd:
            one.close()
        self.assert_nothing_left(copies)

    def test_the_helper_serves_on_no_socket_but_its_users_own(self):
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            helper = shutil.copy(HELPER, folder)
            if subprocess.run(["setcap", "cap_bpf,cap_perfmon+ep", helper], check=False).returncode != 0:
                self.skipTest("setcap is missing, or the file system holds no capabilities")
            for sockets in self.forged_sockets():
                with subprocess.Popen([helper], user="nobody", group="nogroup", extra_groups=[], stderr=subprocess.PIPE,
                                      preexec_fn=lambda given=sockets[0]: os.dup2(given.fileno(), 3), close_fds=False) as done:
                    self.assertEqual(done.wait(timeout=20), 2)
                for end in sockets:
                    end.close()
        self.assert_nothing_left([])

    @staticmethod
    def forged_sockets():
        """A listener of another name, and a connection, by which any number of helpers could be had."""
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        listener.bind("\0syscost-ebpf-of-somebody")
        listener.listen()
        return [[listener], list(socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET))]

    def serve_everyone(self, *wrapper):
        """Starts a helper for all users, and returns it once it listens."""
        helper = subprocess.Popen([*wrapper, HELPER, "--for-everyone"])  # pylint: disable=consider-using-with
        self.addCleanup(helper.wait)
        self.addCleanup(helper.kill)
        # No event says that a process listens: polling.
        while not names_of_helpers():
            self.assertIsNone(helper.poll())
            time.sleep(0.001)
        return helper

    def test_idle_connections_keep_no_one_from_the_helper_for_everyone(self):
        self.serve_everyone("prlimit", "--nofile=600:600")
        (name,) = names_of_helpers()
        crowd = [socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in range(700)]
        self.addCleanup(lambda: [one.close() for one in crowd])
        os.seteuid(pwd.getpwnam("nobody").pw_uid)
        try:
            for one in crowd:
                one.connect(name)
        finally:
            os.seteuid(0)
        copies = self.start(2)
        self.assertEqual([parked_programs_of(copy.process.pid) for copy in copies], [set(), set()])
        self.assert_exact(copies)

    def test_no_other_user_can_take_the_place_of_the_helper_for_everyone(self):
        shutil.rmtree("/run/syscost", ignore_errors=True)  # one for everyone was there before
        os.mkdir("/run/syscost")
        self.addCleanup(shutil.rmtree, "/run/syscost")
        os.chmod("/run/syscost", 0o777)
        done = subprocess.run([HELPER, "--for-everyone"], check=False, stderr=subprocess.PIPE, timeout=20)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"only root can write to", done.stderr)

    def test_a_helper_for_everyone_serves_all_users_by_one_pair_and_stays(self):
        helper = self.serve_everyone()
        copies = self.start(2) + self.start(2, user="nobody", group="nogroup", extra_groups=[])
        self.assert_one_pair(copies)
        self.assert_exact(copies)
        self.assert_exact(self.start(1))
        self.assertEqual(subprocess.run([HELPER, "--for-everyone"], check=False, stderr=subprocess.DEVNULL).returncode, 2)
        self.assertIsNone(helper.poll())
        helper.kill()
        helper.wait()
        self.assert_nothing_left(copies)


    def copy_installation(self, folder, with_helper):
        """Puts the library, and the helper beside it, where files can be given rights; returns the library's folder."""
        library = os.path.join(folder, "lib")
        os.makedirs(library)
        for name in os.listdir(os.path.dirname(LIBRARY)):
            if name.startswith("libsyscost.so"):
                shutil.copy(os.path.join(os.path.dirname(LIBRARY), name), library)
        if with_helper:
            os.makedirs(os.path.join(folder, "libexec/syscost"))
            shutil.copy(HELPER, os.path.join(folder, "libexec/syscost"))
        return library


if __name__ == "__main__":
    try:
        loaded({1})
    except OSError:
        print("skipped: asking the kernel for BPF programs needs root")
        sys.exit(SKIPPED)
    if reason := own_namespaces.enter():
        print(f"skipped: {reason}")
        sys.exit(SKIPPED)
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
