#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of what ./dev kernels makes of its answers, without a virtual machine: a difference is never lost."""

import gzip
import json
import os
import tempfile
import unittest
from unittest import mock

import checks
import kernels
import machine


def answer(kernel, rows, counts=None):
    return {"kernel": kernel, "counts": counts or {},
            "rows": [{"of": of, "is": text, "good": good, "why": []} for of, text, good in rows]}


class Kernels(unittest.TestCase):
    def test_counts_that_differ_from_the_first_kernels_are_not_as_documented(self):
        here = answer("6.18", [("demo: ebpf", "3 calls", True)], {"ebpf": {"write": 2, "read": 1}})
        same = answer("6.12", [("demo: ebpf", "3 calls", True)], {"ebpf": {"write": 2, "read": 1}})
        less = answer("6.1", [("demo: ebpf", "2 calls", True)], {"ebpf": {"write": 2}})
        kernels.compare_counts([here, same, less])
        self.assertTrue(same["rows"][0]["good"])
        self.assertFalse(less["rows"][0]["good"])
        self.assertEqual(less["rows"][0]["why"], ["read: 0, under 6.18 1"])

    def test_the_table_marks_what_is_wrong_and_what_was_not_asked(self):
        lines = kernels.table([answer("6.18", [("a", "works", True)]), answer("6.1", [("b", "refused", False)])])
        self.assertEqual(lines.splitlines(), ["| | 6.18 | 6.1 |", "|---|---|---|", "| a | works | - |",
                                              "| b | - | refused (!) |"])

    def test_a_backend_may_be_refused_by_kernels_that_are_too_old_only(self):
        said = ("  ebpf     does not work: the verifier refuses\n  dispatch works: opened, and counted 64 of 64 known calls\n"
                "  seccomp  works: opened, and counted 64 of 64 known calls\n--syscost_backend auto would take dispatch.\n")
        for release, good in (("5.12.1-x", True), ("5.13.0", False), ("6.1.0-50-amd64", False)):
            asked = checks.Answers("", "", "", [])
            with mock.patch.object(checks, "release", lambda release=release: release), \
                    mock.patch.object(asked, "run", lambda *_: mock.Mock(stdout=said)), \
                    mock.patch.object(asked, "write"), mock.patch("builtins.print"):
                checks.doctor(asked)
            self.assertEqual([row["good"] for row in asked.rows], [good, True, True, good], release)

    def asked_till_done(self, machines):
        """What ask_till_done() finds if each machine has done so many of three checks before it dies, and what each was asked."""
        asked = []

        def ask(names):
            asked.append(list(names))
            done = names[:machines[len(asked) - 1]]
            code = 0 if len(done) == len(names) else None
            return code, {**answer("6.1", [(name, "well", True) for name in done]), "done": done}, ["console: int3"]

        with mock.patch("builtins.print"):
            found = kernels.ask_till_done(ask, ["a", "b", "c"], lambda: len(asked) < 9)
        return asked, [(row["of"], row["is"]) for row in found["rows"]]

    def test_a_machine_that_dies_takes_no_answer_with_it(self):
        well = [("a", "well"), ("b", "well"), ("c", "well")]
        self.assertEqual(self.asked_till_done([3]), ([["a", "b", "c"]], well))
        self.assertEqual(self.asked_till_done([1, 2]), ([["a", "b", "c"], ["b", "c"]], well))
        self.assertEqual(self.asked_till_done([1, 0, 1]), ([["a", "b", "c"], ["b", "c"], ["c"]],
                                                           [well[0], ("the machine, in b", "ended twice"), well[2]]))
        self.assertEqual(self.asked_till_done([0, 0, 0, 0, 0, 0])[1], [(f"the machine, in {name}", "ended twice") for name in "abc"])

    def test_a_critical_path_has_a_known_waker_for_each_wake_up_or_the_kernel_is_too_old(self):
        def asked(release, code, err, wakers=(), took=100):
            answers = checks.Answers("", "", "", [])

            def run(program, *_, folder=None, **__):
                if program == "bench":
                    path = {"wall_ns": 100, "missing_at": 0, "critical_path": [{"took_ns": took}]}
                    return mock.Mock(returncode=0, stdout=json.dumps(path), stderr="")
                place = os.path.join(folder, "run/Pipeline.WaitsInOneOrder")
                os.makedirs(place)
                with open(os.path.join(place, "sched.csv"), "w", encoding="utf-8") as file:
                    file.write("event,waker\n" + "".join(f"woken,{waker}\n" for waker in wakers) + "runs,\n")
                return mock.Mock(returncode=code, stdout="", stderr=err)

            with mock.patch.object(checks, "release", lambda: release), mock.patch.object(answers, "run", run), \
                    mock.patch.object(answers, "write"), mock.patch("builtins.print"):
                checks.scheduler(answers)
            [row] = answers.rows
            return row["is"], row["good"]

        old = "syscost: the kernel is too old to show what its scheduler does"
        self.assertEqual(asked("5.14.2", 2, old), ("refused", True))
        self.assertEqual(asked("5.15.1", 2, old), ("refused", False))
        self.assertEqual(asked("5.14.2", 2, "syscost: the verifier refuses"), ("refused", False))
        self.assertEqual(asked("6.1.0", 0, "", ("thread", "interrupt")), ("exact, 0 of 2 wakers unknown", True))
        self.assertEqual(asked("6.1.0", 0, "", ("thread", "unknown")), ("exact, 1 of 2 wakers unknown", False))
        self.assertEqual(asked("6.1.0", 0, "", ("thread",), took=99), ("INEXACT, 0 of 1 wakers unknown", False))
        self.assertFalse(asked("6.1.0", 0, "")[1])

    def test_a_case_that_fails_twice_failed(self):
        wrong = {"failures": [{"failure": "wrong"}, {"failure": "and worse"}]}
        for second, good in (({}, True), (wrong, False)):
            asked = checks.Answers("", "", "*_bare", [])
            reports = [{"a": {}, "b": {"result": "SKIPPED"}, "c": wrong}, {"c": second}]
            filters = []

            def run(_program, *arguments, reports=reports, filters=filters, **variables):
                self.assertEqual(variables, {"GTEST_TOTAL_SHARDS": "1", "GTEST_SHARD_INDEX": "0"})
                named = dict(one.removeprefix("--gtest_").split("=", 1) for one in arguments)
                filters.append(named["filter"])
                is_of_ebpf = named["filter"].startswith("conformance_ebpf.")
                cases = [{"name": name, "result": "COMPLETED", **case}
                         for name, case in (reports.pop(0) if is_of_ebpf else {}).items()]
                with open(named["output"].removeprefix("json:"), "w", encoding="utf-8") as file:
                    json.dump({"testsuites": [{"name": "conformance_ebpf", "testsuite": cases}]}, file)
                return mock.Mock(stdout="", stderr="")

            with mock.patch.object(asked, "run", run), mock.patch.object(asked, "write"), mock.patch("builtins.print"), \
                    mock.patch("os.cpu_count", lambda: 1):
                checks.conformance(asked)
            self.assertEqual(filters[:3], ["conformance_oracle.*_bare", "conformance_ebpf.*_bare", "conformance_ebpf.c"])
            self.assertIn("conformance_dispatch?trap.*_bare", filters)
            self.assertEqual([row["good"] for row in asked.rows], [good])
            self.assertEqual(asked.rows[0]["is"], "2 exact, 1 skipped" if good else "1 exact, 1 skipped, 1 FAILED")

    def test_each_processor_has_its_share_of_the_cases(self):
        asked = []

        def cases_of(_answers, chosen, shard, shards):
            asked.append((chosen, shard, shards))
            return 10 + shard, [("a", "wrong")] * shard, 1

        with mock.patch.object(checks, "cases_of", cases_of), mock.patch("os.cpu_count", lambda: 2):
            self.assertEqual(checks.cases_on_all_processors(None, "*"), (21, [("a", "wrong")], 2))
        self.assertEqual(sorted(asked), [("*", 0, 2), ("*", 1, 2)])

    def test_where_a_share_dies_the_cases_run_once_more_together(self):
        def cases_of(_answers, chosen, shard=0, shards=1):
            return (0, [(chosen, "no report")], 0) if shard == 1 else (10 if shards > 1 else 20, [], 0)

        with mock.patch.object(checks, "cases_of", cases_of), mock.patch("os.cpu_count", lambda: 2):
            self.assertEqual(checks.cases_on_all_processors(None, "*"), (20, [], 0))

    def test_the_initial_files_are_an_archive_as_the_kernel_reads_it(self):
        with tempfile.TemporaryDirectory() as folder:
            first = os.path.join(folder, "first")
            with open(first, "wb") as file:
                file.write(b"program")
            archive = gzip.decompress(machine.initial_files(first, [("9p.ko", b"module")]))
        found, at = {}, 0
        while at < len(archive):
            self.assertEqual(archive[at:at + 6], b"070701")
            fields = [int(archive[at + 6 + 8 * i:at + 14 + 8 * i], 16) for i in range(13)]
            name = archive[at + 110:at + 110 + fields[11] - 1].decode()
            content = at + (110 + fields[11] + 3) // 4 * 4
            found[name] = archive[content:content + fields[6]]
            at = (content + fields[6] + 3) // 4 * 4
        self.assertEqual((found["init"], found["modules/9p.ko"]), (b"program", b"module"))
        self.assertEqual(found["modules/order"], b"/modules/9p.ko\n")
        self.assertEqual(list(found)[-1], "TRAILER!!!")


if __name__ == "__main__":
    unittest.main()
