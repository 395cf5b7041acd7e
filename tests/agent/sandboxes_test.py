# SPDX-License-Identifier: MIT
"""Two shards of a suite on two executors, as a service of remote execution runs them.

An executor is a sandbox of its own: namespaces for mounts, processes, network, IPC and host name, and a root folder with
the system's programs, syscost and the declared inputs. It shares no memory, no temporary folder and no socket with the
other one. Only the folder of the undeclared outputs comes back.
"""
import os
import shlex
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "adapters"))
from adapter_case import BIN, MANY, PLAIN, main  # noqa: E402
from surroundings_test import needs  # noqa: E402
from rights import MAY_HAVE_NETWORKS  # noqa: E402
from run_case import BENCH, STATIC_SHAPES, RunCase  # noqa: E402

STATIC, PIE = STATIC_SHAPES, os.path.join(BIN, "agent_static_pie_shapes")
ONE_TEST = "--gtest_filter=WithFixture.One"
TESTS = "--gtest_filter=WithFixture.*:Shapes.CallsThreeTimes"
SYSTEM = ("bin", "lib", "lib32", "lib64", "libx32", "sbin")
ENTER = """set -e
mount --make-rprivate /
mount --rbind /usr {root}/usr
mount --rbind /dev {root}/dev
mount --bind {build} {root}{build}
mount -t proc none {root}/proc
mount -t tmpfs none {root}/tmp
hostname {name}
exec chroot {root} env -i {variables} {command}
"""


@unittest.skipUnless(MAY_HAVE_NETWORKS, "needs unshare, and the rights to make namespaces")
class TwoExecutors(RunCase):
    def execute(self, shard, of, program, run_id="build7", code=0):
        """Runs one shard on an executor of its own, and returns the folder that comes back."""
        name = f"executor{shard}"
        root = os.path.join(self.folder, name)
        build = os.path.dirname(BIN)
        for folder in ("usr", "dev", "proc", "tmp", "execroot", "outputs", build.lstrip("/")):
            os.makedirs(os.path.join(root, folder))
        for folder in SYSTEM:
            if os.path.islink(f"/{folder}"):
                os.symlink(os.readlink(f"/{folder}"), os.path.join(root, folder))
        shutil.copy(program, os.path.join(root, "execroot", "tests"))
        variables = {"PATH": "/usr/bin:/bin", "TEST_UNDECLARED_OUTPUTS_DIR": "/outputs", "SYSCOST_RUN_ID": run_id,
                     "GTEST_TOTAL_SHARDS": of, "GTEST_SHARD_INDEX": shard}
        script = ENTER.format(root=root, build=build, name=name, variables=shlex.join(f"{k}={v}" for k, v in variables.items()),
                              command=shlex.join([BENCH, "run", "--", "/execroot/tests", TESTS]))
        self.run_program("unshare", "--mount", "--pid", "--net", "--ipc", "--uts", "--fork", "--kill-child", "sh", "-c", script,
                         code=code)
        back = os.path.join(self.folder, "testlogs", f"shard_{shard + 1}_of_{of}", "test.outputs")
        shutil.copytree(os.path.join(root, "outputs"), back)
        shutil.rmtree(root)
        return back

    def bench(self, *arguments, code=0):
        return self.run_program(BENCH, *arguments, code=code)

    def test_their_files_are_one_run_and_are_judged_as_one(self):
        tree = os.path.join(self.folder, "testlogs")
        for shard in range(2):
            self.assertEqual(os.listdir(self.execute(shard, 2, PLAIN)), ["syscost.csv"])
        whole = self.bench("summary", "--recursive", tree)
        self.assertIn("run build7 in 2 shards", whole.out)
        baseline = os.path.join(self.folder, "syscost.baseline")
        shutil.copy(PLAIN, os.path.join(self.folder, "tests"))
        self.bench_run("--csv", self.csv, "--", os.path.join(self.folder, "tests"), TESTS)
        self.bench("baseline", "update", self.csv, "-o", baseline)
        self.assertEqual(self.getppids(), {"Shapes.CallsThreeTimes": 3, "WithFixture.One": 14, "WithFixture.Two": 24})
        self.bench("check", "--recursive", tree, "--baseline", baseline)
        shutil.rmtree(os.path.join(tree, "shard_2_of_2"))
        part = self.bench("check", "--recursive", tree, "--baseline", baseline, code=2)
        self.assertIn("shard 2 of 2", part.err)


@needs("unshare")
class OuterProc(RunCase):
    """A PID namespace whose /proc is still the outer one: the numbers in it are not those by which a process knows itself."""

    def setUp(self):
        super().setUp()
        self.enter = ["unshare", "--pid", "--fork"] if os.geteuid() == 0 else ["unshare", "-r", "--pid", "--fork"]
        if subprocess.run([*self.enter, "true"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
            self.skipTest("a PID namespace cannot be made here")

    def test_tests_have_their_rows_outside_and_inside_of_it(self):
        programs = [PLAIN, *(program for program in (STATIC, PIE) if os.path.exists(program))]
        for backend in ("ebpf", "dispatch", "seccomp"):
            for program in programs:
                run = [BENCH, "run", "--tests", f"--backend={backend}", f"--csv={self.csv}", "--"]
                for command in ([*run, *self.enter, program, ONE_TEST], [*self.enter, *run, program, ONE_TEST]):
                    with self.subTest(backend=backend, command=command):
                        if backend == "ebpf" and os.geteuid() != 0:
                            continue
                        self.needs(backend)
                        static = [] if program == PLAIN else [program]
                        if static and command[0] != BENCH:
                            self.needs_static_programs()
                        self.run_below(static, *command, program=())
                        entries = [row["entries"] or row["calls"] for row in self.rows()
                                   if (row["kind"], row["test"], row["syscall"]) == ("test", "WithFixture.One", "getppid")]
                        self.assertEqual(entries, ["14"])
                        os.remove(self.csv)

    def test_a_command_is_counted_inside_of_it(self):
        self.needs("dispatch")
        self.run_program(*self.enter, BENCH, "run", "--process", "--backend=dispatch", f"--csv={self.csv}", "--", "sh", "-c", "true")
        self.assertEqual([row["lost"] for row in self.rows() if row["record"] == "test"], ["0"])


@needs("unshare")
class WithoutProc(RunCase):
    """Without /proc no program learns its own folder, nor which threads and descriptors it has."""

    def setUp(self):
        super().setUp()
        hidden = 'mount --make-rprivate / && mount -t tmpfs none /proc && exec "$@"'
        self.enter = ["unshare", *([] if os.geteuid() == 0 else ["-r"]), "--mount", "sh", "-c", hidden, "sh"]
        if subprocess.run([*self.enter, "true"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
            self.skipTest("a mount namespace cannot be made here")
        # What somebody puts where a relative path leads to.
        self.here = os.path.join(self.folder, "a", "bin")
        self.mark = os.path.join(self.folder, "was_executed")
        os.makedirs(self.here)
        for folder in ("libexec/syscost", "bin", "bin/libexec/syscost"):
            os.makedirs(os.path.join(self.folder, "a", folder), exist_ok=True)
            for name in ("syscost-run", "syscost-guest", "syscost-inject", "bench"):
                planted = os.path.join(self.folder, "a", folder, name)
                with open(planted, "w", encoding="utf-8") as file:
                    file.write(f"#!/bin/sh\ntouch {self.mark}\n")
                os.chmod(planted, 0o755)

    def refused(self, *command, code=2):
        done = self.run_program("env", "-C", self.here, *self.enter, *command, code=code)
        self.assertFalse(os.path.exists(self.mark), f"{command} executed a program of the working directory")
        self.assertIn("this program's own folder is not known: /proc/self/exe: No such file or directory\n  fix: mount /proc", done.err)

    def test_bench_executes_nothing_of_the_working_directory(self):
        for arguments in (("run", "--", "/bin/true"), ("run", "--live", "--", "/bin/true"), ("doctor",), ("faults", "--", "/bin/true")):
            with self.subTest(arguments):
                self.refused(BENCH, *arguments)

    def test_nor_do_its_programs(self):
        folder = os.path.join(BIN, "..", "libexec", "syscost")
        self.refused(os.path.join(folder, "syscost-run"), "--", "/bin/true")
        inject = os.path.join(folder, "syscost-inject")
        if os.path.exists(inject):
            self.refused(inject, "/bin/true", "true", code=0)

    def test_dispatch_does_not_count_threads_that_it_cannot_list(self):
        self.needs("dispatch")
        done = self.run_program(*self.enter, MANY, f"--syscost_csv={self.csv}", "--syscost_backend=dispatch", ONE_TEST, code=2)
        self.assertIn("/proc/self/task", done.err)
        self.assertIn("mount /proc", done.err)


if __name__ == "__main__":
    main()
