# SPDX-License-Identifier: MIT
"""--syscost_sched and bench trace --critical-path: the path of threads that wait in a known order, and what is refused."""
import glob
import json
import os
import subprocess
import unittest

from adapter_case import BIN, NO_CAPABILITIES, PLAIN, Case, can_unshare, environment, main

PIPELINE = os.path.join(BIN, "adapter_pipeline")
BENCH = os.path.join(BIN, "bench")
ORDER = "--gtest_filter=Pipeline.WaitsInOneOrder"


def why_not():
    """Why there are no events of the scheduler here; empty if there are."""
    done = subprocess.run([PIPELINE, "--syscost_backend=ebpf", "--gtest_filter=None"], env=environment(),
                          capture_output=True, text=True)
    return "" if done.returncode == 0 else done.stdout + done.stderr


WHY_NOT = why_not()
IN_THE_FUTURE = ["unshare", "--time", "--fork", "--monotonic", "1000"]


@unittest.skipIf(WHY_NOT, "eBPF is not possible here: " + WHY_NOT)
class CriticalPath(Case):
    def trace(self, *flags, **more):
        return self.run_program(PIPELINE, f"--syscost_csv={self.csv}", *flags, **more)

    def path(self, test, *flags):
        done = self.run_program(BENCH, "trace", test, self.csv, "--critical-path", "--format=json", *flags)
        return json.loads(done.out)

    def test_fills_the_wall_time_once_and_names_who_woke_whom(self):
        # A kernel may leave out events of its scheduler, and bench then says so.
        for _ in range(10):
            self.trace("--syscost_sched", ORDER)
            path = self.path("Pipeline.WaitsInOneOrder")
            if path["missing_at"] == 0:
                break
            os.remove(self.csv)
        end = 0
        for step in path["critical_path"]:
            self.assertEqual(step["at_ns"], end)
            self.assertGreater(step["took_ns"], 0)
            end += step["took_ns"]
        self.assertEqual(end, path["wall_ns"])
        self.assertEqual(path["events_lost"], 0)
        [row] = self.rows(kind="test", record="test")
        self.assertEqual(path["wall_ns"], int(row["wall_ns"]))

        seen = []
        for step in path["critical_path"]:
            woken = step["woken_by"]
            if woken and not woken["created"]:
                seen.append((woken["name"], woken["syscall"], step["name"], woken["from_syscall"]))
            if step["what"] == "blocked":
                seen.append((step["name"], step["syscall"], step["ended_by"]))
        # Between these there may be more, such as a wait for memory of the process.
        rest = iter(seen)
        for expected in (("writer", "write", "reader", "read"), ("reader", "clock_nanosleep", "interrupt"),
                         ("reader", "futex", "adapter_pipelin", "futex"),
                         ("adapter_pipelin", "recvfrom", "other_process")):
            self.assertIn(expected, rest, f"missing, or not in this order, in {seen}")

    def test_is_printed_so_that_it_adds_up(self):
        self.trace("--syscost_sched", ORDER)
        lines = self.run_program(BENCH, "trace", "Pipeline.WaitsInOneOrder", self.csv, "--critical-path").out.split("\n")
        heads = [i for i, line in enumerate(lines) if line.lstrip().startswith(("time us", "at us"))]
        tables = [[line.split() for line in lines[head + 1:lines.index("", head)]] for head in heads]

        def nanoseconds(text):
            return int(text.replace(".", ""))

        sums, steps = tables
        wall = nanoseconds(sums[-1][0])
        self.assertEqual(sum(nanoseconds(row[0]) for row in sums[:-1]), wall)
        self.assertEqual(sum(nanoseconds(row[1]) for row in steps), wall)

    def test_is_there_for_a_test_that_makes_no_call(self):
        self.trace("--syscost_sched", "--gtest_filter=Pipeline.HasNoWait")
        path = self.path("HasNoWait")
        self.assertEqual(sum(step["took_ns"] for step in path["critical_path"]), path["wall_ns"])

    def test_counts_stay_as_they_are(self):
        def counts():
            return {(row["syscall"]): row["calls"] for row in self.rows(kind="test", record="syscall")
                    if row["syscall"] in ("write", "recvfrom", "clock_nanosleep", "fork", "wait4", "pipe", "socketpair")}
        self.trace(ORDER, "--syscost_backend=ebpf")
        without = counts()
        os.remove(self.csv)
        self.trace(ORDER, "--syscost_sched")
        self.assertEqual(counts(), without)

    def test_without_the_flag_writes_nothing(self):
        self.trace(ORDER)
        self.assertEqual(glob.glob(os.path.join(self.folder, "**", "sched.csv"), recursive=True), [])

    def test_a_test_with_a_loop_has_none_and_it_says_so(self):
        done = self.trace("--syscost_sched", "--gtest_filter=Pipeline.HasALoop", "--syscost_quick")
        self.assertIn("there is no sched.csv of test Pipeline.HasALoop", done.out + done.err)
        self.assertEqual(glob.glob(os.path.join(self.folder, "**", "*HasALoop*", "sched.csv"), recursive=True), [])

    def test_what_does_not_go_together_is_refused(self):
        for flags, why in ((("--syscost_backend=dispatch",), "another --syscost_backend"),
                           (("--syscost_backend=seccomp",), "another --syscost_backend"),
                           (("--syscost_backend=none",), "another --syscost_backend"),
                           (("--syscost_trace",), "--syscost_trace, which only dispatch has"),
                           (("--syscost_where",), "--syscost_where, which only dispatch has"),
                           (("--syscost_children",), "--syscost_children: it shows the threads of one process")):
            done = self.run_program(PIPELINE, "--syscost_sched", *flags, code=2)
            self.assertIn(f"--syscost_sched needs the backend ebpf, and does not work together with {why}\n"
                          "  fix: leave one of them out, or make two runs\n", done.err)
        done = self.run_program(PIPELINE, "--syscost_sched=events=999", code=2)
        self.assertIn("is not a whole number from 1000 to 10000000", done.err)

    def test_a_variable_is_refused_as_a_flag_is(self):
        done = self.run_program(PIPELINE, "--syscost_where", code=2, SYSCOST_SCHED="1")
        self.assertIn("does not work together with --syscost_where", done.err)

    def test_a_command_as_a_whole_is_refused_by_what_was_written(self):
        for what in (["--process", "--", PIPELINE], ["--", "true"]):
            done = self.run_program(BENCH, "run", "--sched", f"--csv={self.csv}", *what, code=2)
            self.assertIn("a command measured as a whole is seen from outside; the scheduler's events are those of one process "
                          "(--sched)\n  fix: measure its tests: bench run --tests --sched -- COMMAND; or leave --sched out\n",
                          done.err)
            self.assertNotIn("children", done.err)

    def test_of_a_program_that_is_not_linked_the_tests_have_a_file(self):
        self.run_program(BENCH, "run", "--sched", f"--csv={self.csv}", "--", PLAIN, "--gtest_filter=*.*", "--gtest_brief=1",
                         code=None)
        self.assertTrue(glob.glob(os.path.join(self.folder, "**", "sched.csv"), recursive=True))

    def test_a_program_without_a_test_is_told_so(self):
        done = self.run_program(PIPELINE, "--syscost_sched", f"--syscost_csv={self.csv}", "--gtest_filter=None")
        self.assertIn("--syscost_sched wrote nothing: there was no test", done.err)

    @unittest.skipUnless(can_unshare(*IN_THE_FUTURE[1:]), "no time namespace can be made here")
    def test_another_clock_is_refused(self):
        done = self.run_program(*IN_THE_FUTURE, PIPELINE, "--syscost_sched", f"--syscost_csv={self.csv}", code=2)
        self.assertIn("the scheduler's events have another clock than this process: it is in a time namespace\n"
                      "  fix: leave --syscost_sched out, or run it outside of the namespace\n", done.err)

    @unittest.skipUnless(NO_CAPABILITIES, "needs root, to give up rights")
    def test_without_the_rights_says_which_and_how_to_get_them(self):
        command = [*NO_CAPABILITIES, "-c", f"{PIPELINE} --syscost_sched --syscost_csv={self.csv}"]
        done = subprocess.run(command, env=environment(), cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn("--syscost_sched needs the capabilities in the test itself, also where syscost's helper has them: eBPF needs "
                      "CAP_BPF and CAP_PERFMON", done.stdout + done.stderr)
        self.assertRegex(done.stdout + done.stderr, "fix: .*(--ambient-caps|run as root|cap_add)")
        self.assertNotIn("setcap", done.stdout + done.stderr)
        self.assertFalse(os.path.exists(self.csv))


if __name__ == "__main__":
    main(PIPELINE)
