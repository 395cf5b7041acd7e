#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`bench export`, sent to a receiver of our own: otlp_test.py BENCH DATA [unittest options]"""
import csv
import glob
import gzip
import json
import os
import shutil
import socket
import ssl
import stat
import subprocess
import sys
import tempfile
import threading
import unittest

from receiver import Answer, Receiver

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
# pylint: disable=wrong-import-position
from make_traces import Trace

BENCH, DATA = sys.argv.pop(1), sys.argv.pop(1)
MAIN = os.path.join(DATA, "main.csv")
LOOPS = os.path.join(DATA, "loops.csv")
TRACED = os.path.join(DATA, "traces", "run.csv")
BPFTRACE = os.path.join(DATA, "bpftrace.csv")
MEBIBYTE = 1 << 20


def export(*arguments, env=None, timeout=600):
    """Runs `bench export`, in an environment without variables of OpenTelemetry and of proxies."""
    own = {name: value for name, value in os.environ.items()
           if not name.startswith("OTEL_") and not name.lower().endswith("_proxy")}
    own.update(env or {})
    return subprocess.run([BENCH, "export", *arguments], env=own, capture_output=True, text=True, timeout=timeout,
                          check=False)


def lines_of(*arguments):
    done = export(*arguments, "--otlp", "-")
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def values(attributes):
    return {one["key"]: one["value"].get("stringValue", one["value"].get("intValue")) for one in attributes}


def spans_of(messages):
    """(resource, span) of each span, their attributes as dictionaries."""
    for message in messages:
        for resource in message.get("resourceSpans", []):
            for scope in resource["scopeSpans"]:
                for span in scope["spans"]:
                    yield values(resource["resource"]["attributes"]), dict(span, attributes=values(span["attributes"]))


def points_of(messages, metric):
    """(resource, point) of each data point of a metric."""
    for message in messages:
        for resource in message.get("resourceMetrics", []):
            for scope in resource["scopeMetrics"]:
                for one in scope["metrics"]:
                    if one["name"] != metric:
                        continue
                    data = one.get("gauge") or one.get("histogram")
                    for point in data["dataPoints"]:
                        yield (values(resource["resource"]["attributes"]),
                               dict(point, attributes=values(point["attributes"])))


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def unused_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="syscost-export-")
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def send(self, receiver, *arguments, env=None):
        return export(MAIN, "--otlp", receiver.url, *arguments, env=env)

    def check(self, done, code, *parts):
        """The exit code, and texts that stderr holds."""
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        for part in parts:
            self.assertIn(part, done.stderr)


class Content(Case):
    def test_each_span_is_of_a_row_and_has_its_numbers(self):
        rows = [row for row in rows_of(MAIN) if row["record"] == "test"]
        spans = list(spans_of(lines_of(MAIN)))
        windows = [span for _, span in spans if span["attributes"]["syscost.kind"] != "program"]
        self.assertEqual(len(windows), len(rows))
        for row in rows:
            [span] = [one for one in windows
                      if all(one["attributes"].get("syscost." + name, "") == row[name]
                             for name in ("kind", "test", "window", "parent", "repetition"))]
            for name in ("outcome", "iterations", "counted_iterations", "wall_ns", "user_ns", "system_ns", "cpu_ns",
                         "overhead_estimate_ns", "total_entries", "total_calls", "total_errors", "total_kernel_ns",
                         "late", "lost", "backend"):
                self.assertEqual(span["attributes"].get("syscost." + name, ""), row[name], (row["test"], name))
            if row["wall_ns"]:
                self.assertEqual(int(span["endTimeUnixNano"]) - int(span["startTimeUnixNano"]), int(row["wall_ns"]))

    def test_starts_are_derived_and_said_to_be(self):
        for resource, span in spans_of(lines_of(LOOPS)):
            is_program = span["attributes"]["syscost.kind"] == "program"
            self.assertEqual(span["attributes"]["syscost.start"], "measured" if is_program else "derived")
            if is_program:
                self.assertEqual(resource["syscost.started_at"], "2026-11-21T01:52:31.123456Z")
                self.assertEqual(span["startTimeUnixNano"], "1795225951123456000")

    def test_windows_of_a_process_do_not_overlap(self):
        ends = 0
        spans = [span for _, span in spans_of(lines_of(LOOPS)) if span["attributes"]["syscost.kind"] != "program"]
        for span in sorted(spans, key=lambda one: int(one["startTimeUnixNano"])):
            self.assertGreaterEqual(int(span["startTimeUnixNano"]), ends, span["name"])
            ends = int(span["endTimeUnixNano"])

    def test_a_loop_is_below_its_test_and_a_test_below_its_program(self):
        spans = [span for _, span in spans_of(lines_of(LOOPS))]
        by_id = {span["spanId"]: span for span in spans}
        self.assertEqual(len(by_id), len(spans))
        parents = {span["name"]: by_id.get(span.get("parentSpanId", ""), {}).get("name") for span in spans}
        self.assertEqual(parents["Log.Loops, loop flush"], "Log.Loops")
        self.assertEqual(parents["suite Log, set-up, loop warm"], "suite Log, set-up")
        program = parents["Log.Loops"]
        self.assertIsNone(parents[program])
        self.assertEqual(parents["Log.Stays"], program)

    def test_all_calls_and_errors_and_latencies_are_there_once(self):
        for path in (MAIN, LOOPS, BPFTRACE):
            messages = lines_of(path)
            for origin in ("syscost", "bpftrace"):
                rows = [row for row in rows_of(path) if row["record"] == "syscall" and row["origin"] == origin]
                for metric, column in (("syscost.calls", "calls"), ("syscost.entries", "entries"),
                                       ("syscost.errors", "errors"), ("syscost.kernel_time", "latency_sum_ns")):
                    points = [int(point["asInt"]) for _, point in points_of(messages, metric)
                              if point["attributes"]["syscost.origin"] == origin]
                    self.assertEqual(sum(points), sum(int(row[column] or 0) for row in rows), (path, metric))
                latencies = [point for _, point in points_of(messages, "syscost.latency")
                             if point["attributes"]["syscost.origin"] == origin]
                self.assertEqual(sum(int(point["count"]) for point in latencies),
                                 sum(int(row["latency_count"] or 0) for row in rows))

    def test_errors_have_their_errno(self):
        expected = {}
        for row in rows_of(MAIN):
            for one in (row["errnos"] or "").split():
                name, count = one.split(":")
                expected[name] = expected.get(name, 0) + int(count)
        self.assertTrue(expected)
        found = {}
        for _, point in points_of(lines_of(MAIN), "syscost.errors"):
            if int(point["asInt"]) > 0:
                name = point["attributes"]["error.type"]
                found[name] = found.get(name, 0) + int(point["asInt"])
        self.assertEqual(found, expected)

    def test_a_bucket_holds_what_was_counted_in_its_range(self):
        rows = {(row["test"], row["kind"], row["window"], row["repetition"], row["syscall"], row["detail"]): row
                for row in rows_of(MAIN) if row["record"] == "syscall"}
        for arguments in ([], ["--fine"]):
            points = list(points_of(lines_of(MAIN, *arguments), "syscost.latency"))
            self.assertTrue(points)
            for _, point in points:
                its = point["attributes"]
                row = rows[tuple(its.get("syscost." + name, "")
                                 for name in ("test", "kind", "window", "repetition", "syscall", "detail"))]
                bounds, counts = point["explicitBounds"], [int(count) for count in point["bucketCounts"]]
                self.assertEqual(len(counts), len(bounds) + 1)
                self.assertEqual(bounds, sorted(set(bounds)))
                # A bucket of OTLP goes up to and including its bound.
                for i, count in enumerate(counts):
                    low = -1 if i == 0 else bounds[i - 1]
                    high = float("inf") if i == len(bounds) else bounds[i]
                    ours = sum(int(pair.split(":")[1]) for pair in row["histogram"].split()
                               if low < int(pair.split(":")[0]) <= high)
                    self.assertEqual(count, ours, (its, low, high))
                self.assertEqual([point["sum"], point["min"], point["max"]],
                                 [float(row["latency_" + name]) for name in ("sum_ns", "min_ns", "max_ns")])

    def test_what_was_not_measured_is_left_out(self):
        path = self.path("uncounted.csv")
        rows = rows_of(MAIN)
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, rows[0].keys())
            writer.writeheader()
            for row in rows:
                if row["record"] != "test":
                    continue
                for name in row:
                    if name.startswith("total_") or name in ("late", "lost", "user_ns", "wall_ns"):
                        row[name] = ""
                writer.writerow(row)
        messages = lines_of(path)
        for metric in ("syscost.calls", "syscost.total_calls", "syscost.lost", "syscost.wall_time"):
            self.assertEqual(list(points_of(messages, metric)), [])
        for _, span in spans_of(messages):
            self.assertNotIn("syscost.total_calls", span["attributes"])
            if span["attributes"]["syscost.kind"] != "program":
                self.assertEqual(span["attributes"]["syscost.duration"], "not measured")
                self.assertEqual(span["startTimeUnixNano"], span["endTimeUnixNano"])

    def test_a_second_export_is_the_same(self):
        first, second = export(MAIN, "--otlp", "-"), export(MAIN, "--otlp", "-")
        self.assertEqual(first.stdout, second.stdout)

    def test_ids_differ_between_runs_and_spans(self):
        ids = [(span["traceId"], span["spanId"]) for path in (MAIN, os.path.join(DATA, "pr.csv"))
               for _, span in spans_of(lines_of(path))]
        self.assertEqual(len(set(ids)), len(ids))
        for trace, span in ids:
            self.assertRegex(trace, "^[0-9a-f]{32}$")
            self.assertRegex(span, "^[0-9a-f]{16}$")

    def test_only_chosen_tests_and_signals_are_exported(self):
        tests = {row["test"] for row in rows_of(MAIN) if row["kind"] == "test"}
        one = sorted(tests)[0]
        messages = lines_of(MAIN, "--test", one, "--only", "traces")
        self.assertTrue(all("resourceSpans" in message for message in messages))
        found = {span["attributes"].get("syscost.test") for _, span in spans_of(messages)}
        self.assertEqual(found - {None}, {one})


class Files(Case):
    def test_a_file_holds_a_message_on_each_line(self):
        done = export(MAIN, "--otlp", self.path("run.jsonl"))
        self.check(done, 0)
        with open(self.path("run.jsonl"), encoding="ascii") as file:
            written = [json.loads(line) for line in file]
        self.assertEqual(written, lines_of(MAIN))
        self.assertEqual(os.listdir(self.folder), ["run.jsonl"])

    def test_an_earlier_export_is_replaced(self):
        for _ in range(2):
            self.check(export(MAIN, "--otlp", self.path("run.jsonl")), 0)

    def test_any_other_file_is_left_as_it_is(self):
        path = self.path("copy.csv")
        shutil.copy(MAIN, path)
        with open(path, "rb") as file:
            before = file.read()
        self.check(export(MAIN, "--otlp", path), 2, "is no file that bench exported")
        with open(path, "rb") as file:
            self.assertEqual(file.read(), before)
        os.symlink(path, self.path("link.jsonl"))
        self.check(export(MAIN, "--otlp", self.path("link.jsonl")), 2, "is a link, and bench writes through none")
        self.assertEqual(sorted(os.listdir(self.folder)), ["copy.csv", "link.jsonl"])

    def test_a_file_that_cannot_be_written_is_named(self):
        self.check(export(MAIN, "--otlp", self.path("nowhere/run.jsonl")), 2, "cannot be written: No such file")

    def test_a_failed_write_leaves_the_earlier_export(self):
        path = self.path("run.jsonl")
        self.check(export(MAIN, "--otlp", path), 0)
        size = os.stat(path).st_size
        done = subprocess.run(["sh", "-c", 'trap "" XFSZ; ulimit -f 0; exec "$@"', "sh", BENCH, "export", MAIN, "--otlp",
                               path], capture_output=True, text=True, check=False)
        self.check(done, 2, "File too large")
        self.assertEqual(os.stat(path).st_size, size)
        self.assertEqual(os.listdir(self.folder), ["run.jsonl"])

    def test_a_file_has_the_usual_permissions(self):
        path = self.path("run.jsonl")
        old = os.umask(0o027)
        try:
            self.check(export(MAIN, "--otlp", path), 0)
        finally:
            os.umask(old)
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o640)

    def test_a_dry_run_sends_and_writes_nothing(self):
        with Receiver() as receiver:
            done = self.send(receiver, "--dry-run", env={"OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer%20s3cret"})
            self.check(done, 0)
            self.assertIn(receiver.url + "/v1/traces, with the headers authorization", done.stdout)
            self.assertIn("nothing was sent", done.stdout)
            self.assertNotIn("s3cret", done.stdout + done.stderr)
            self.assertEqual(receiver.requests, [])
        self.check(export(MAIN, "--otlp", self.path("run.jsonl"), "--dry-run"), 0)
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_traced_call_is_a_span_below_its_test(self):
        spans = [span for _, span in spans_of(lines_of(TRACED))]
        (test,) = [one for one in spans if one["attributes"]["syscost.kind"] == "test"]
        calls = [one for one in spans if one["attributes"]["syscost.kind"] == "call"]
        self.assertEqual([one["name"] for one in calls],
                         ["openat", "write", "write", "write", "newfstatat", "futex", "rt_sigreturn", "close"])
        self.assertEqual(len({one["spanId"] for one in spans}), len(spans))
        start = int(test["startTimeUnixNano"])
        self.assertEqual([int(one["startTimeUnixNano"]) - start for one in calls][:3], [8_973, 22_000, 23_200])
        for one in calls:
            self.assertEqual(one["parentSpanId"], test["spanId"])
            self.assertEqual(one["traceId"], test["traceId"])
            self.assertLessEqual(int(one["endTimeUnixNano"]), int(test["endTimeUnixNano"]))
        failed = calls[4]
        self.assertEqual(int(failed["endTimeUnixNano"]) - int(failed["startTimeUnixNano"]), 2_180)
        self.assertEqual(failed["attributes"], {
            "syscost.kind": "call", "syscost.test": "Log.WritesABatch", "syscost.syscall": "newfstatat",
            "syscost.class": "file", "syscost.arguments": 'AT_FDCWD, "/none", 0x7fff94356420, 0',
            "syscost.result": "-1 ENOENT (No such file or directory)", "error.type": "ENOENT", "thread.id": "17",
            "syscost.start": "derived", "syscost.duration": "measured"})
        self.assertNotIn("status", failed, "a call that fails is no failure of the test")

    def test_calls_without_a_span_are_counted_and_said(self):
        # The row has 11 calls, and the trace 8.
        done = export(TRACED, "--otlp", "-")
        (test,) = [span for _, span in spans_of(map(json.loads, done.stdout.splitlines()))
                   if span["attributes"]["syscost.kind"] == "test"]
        self.assertEqual(test["droppedEventsCount"], 3)
        self.assertEqual(test["attributes"]["syscost.calls_without_span"], "3")
        self.check(done, 0, "3 traced calls of 1 window have no span")
        done = export(TRACED, "--otlp", "-", "--only", "windows")
        spans = [span for _, span in spans_of(map(json.loads, done.stdout.splitlines()))]
        self.assertEqual([span for span in spans if span["attributes"]["syscost.kind"] == "call"
                          or "droppedEventsCount" in span], [])
        self.assertTrue(list(points_of(map(json.loads, done.stdout.splitlines()), "syscost.calls")))
        self.assertEqual(done.stderr, "")

    def test_a_window_has_at_most_a_thousand_spans_of_calls(self):
        folder = self.path("many")
        shutil.copytree(os.path.dirname(TRACED), folder)
        trace = Trace()
        for i in range(1234):
            trace.call(17, 5_000 + 20 * i, 10, "getppid", [], [], "1")
        trace.slice("test Log.WritesABatch", "window", 4_000, 97_000)
        (path,) = glob.glob(os.path.join(folder, "syscost_artifacts", "*", "*", "Log.WritesABatch", "trace.pftrace"))
        with open(path, "wb") as file:
            file.write(trace.data)
        rows = rows_of(TRACED)
        with open(os.path.join(folder, "run.csv"), "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, rows[0].keys())
            writer.writeheader()
            writer.writerows({**row, "total_calls": "1300" if row["total_calls"] else ""} for row in rows)
        done = export(os.path.join(folder, "run.csv"), "--otlp", "-", "--only", "traces")
        spans = [span for _, span in spans_of(map(json.loads, done.stdout.splitlines()))]
        self.assertEqual(len([one for one in spans if one["attributes"]["syscost.kind"] == "call"]), 1000)
        self.assertEqual([one["droppedEventsCount"] for one in spans if "droppedEventsCount" in one], [300])
        self.check(done, 0, "300 traced calls of 1 window have no span")

    def test_a_trace_of_another_run_or_window_is_not_taken(self):
        rows = rows_of(TRACED)
        for name, value in (("pid", "18"), ("wall_ns", "97001"), ("test", "Log.Other"), ("run_id", "other")):
            folder = self.path(name)
            shutil.copytree(os.path.dirname(TRACED), folder)
            with open(os.path.join(folder, "run.csv"), "w", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, rows[0].keys())
                writer.writeheader()
                writer.writerows({**row, name: value if row[name] else ""} for row in rows)
            spans = [span for _, span in spans_of(lines_of(os.path.join(folder, "run.csv")))]
            self.assertEqual([one["name"] for one in spans if one["attributes"]["syscost.kind"] == "call"], [], name)

    def test_a_run_without_a_start_is_refused(self):
        path = self.path("no_start.csv")
        rows = rows_of(MAIN)
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, rows[0].keys())
            writer.writeheader()
            writer.writerows(dict(row, started_at="") for row in rows)
        self.check(export(path, "--otlp", "-"), 2, "have no start time", "nothing to export")


class Sending(Case):
    def test_a_receiver_gets_what_a_file_holds(self):
        with Receiver() as receiver:
            done = self.send(receiver)
            self.check(done, 0)
            self.assertEqual([one.json for one in receiver.of("/v1/traces") + receiver.of("/v1/metrics")],
                             lines_of(MAIN))
            for one in receiver.requests:
                self.assertEqual(one.headers["content-type"], "application/json")
                self.assertEqual(one.headers["content-encoding"], "gzip")
                self.assertEqual(gzip.decompress(one.body).decode(), one.text)
        self.assertRegex(done.stdout, r"^sent \d+ spans and \d+ data points to ")
        self.assertEqual(done.stderr, "")

    def test_failures_that_pass_are_tried_again(self):
        for status in (429, 502, 503, 504):
            with self.subTest(status=status), Receiver([Answer(status), Answer(status)]) as receiver:
                self.check(self.send(receiver), 0, f"it answered {status}; bench tries again")
                self.assertEqual(len(receiver.of("/v1/traces")), 3)
                self.assertEqual(len({one.text for one in receiver.of("/v1/traces")}), 1)
                self.assertEqual(len(receiver.of("/v1/metrics")), 1)

    def test_a_wait_that_the_receiver_asks_for_is_kept(self):
        with Receiver([Answer(503, headers={"Retry-After": "1"})]) as receiver:
            self.check(self.send(receiver), 0)
            self.assertEqual(len(receiver.of("/v1/traces")), 2)

    def test_a_wait_beyond_the_limit_ends_at_once(self):
        with Receiver([Answer(503, headers={"Retry-After": "3600"})]) as receiver:
            self.check(self.send(receiver), 2, "asks to wait 3600 s", "--timeout", "nothing was sent")
            self.assertEqual(len(receiver.requests), 1)

    def test_other_refusals_are_not_tried_again(self):
        for status, part in ((400, "bad things"), (401, "OTEL_EXPORTER_OTLP_HEADERS"), (404, "base address"),
                             (413, "status 413"), (500, "status 500")):
            with self.subTest(status=status):
                with Receiver([Answer(status, b'{"code":3,"message":"bad things"}')]) as receiver:
                    self.check(self.send(receiver), 2, f"status {status}: bad things", part, "nothing was sent")
                    self.assertEqual(len(receiver.requests), 1)

    def test_a_refusal_after_a_success_says_what_was_sent(self):
        with Receiver([Answer(), Answer(400)]) as receiver:
            self.check(self.send(receiver), 2, "were sent before; another export sends them again, with the same ids")

    def test_a_partial_success_is_no_success(self):
        for rejected in ('"3"', "3"):
            body = b'{"partialSuccess":{"rejectedSpans":' + rejected.encode() + b',"errorMessage":"too old\\u001b[31m"}}'
            with self.subTest(rejected=rejected), Receiver([Answer(body=body)]) as receiver:
                done = self.send(receiver)
                self.check(done, 2, "refused 3 of", "too old\\x1b[31m")
                self.assertIn("which refused 3 of them", done.stdout)
                self.assertEqual(len(receiver.of("/v1/metrics")), 1)
        body = b'{"partialSuccess":{"rejectedDataPoints":"2"}}'
        with Receiver([Answer(), Answer(body=body)]) as receiver:
            self.check(self.send(receiver), 2, "refused 2 of", "data points: it gives no reason")

    def test_a_warning_with_nothing_rejected_is_shown(self):
        with Receiver([Answer(body=b'{"partialSuccess":{"errorMessage":"use gRPC"}}')]) as receiver:
            self.check(self.send(receiver), 0, "took all, and says: use gRPC")

    def test_an_empty_answer_is_a_success(self):
        with Receiver([Answer(body=b""), Answer(204, body=b"")]) as receiver:
            self.check(self.send(receiver), 0)

    def test_a_page_of_another_server_is_no_success(self):
        with Receiver([Answer(body=b"<html>It works!</html>")]) as receiver:
            self.check(self.send(receiver), 2, "no OTLP receiver sends", "It works!")

    def test_a_redirection_is_not_followed(self):
        with Receiver() as other:
            for status in (301, 302, 307, 308):
                answer = Answer(status, headers={"Location": other.url + "/v1/traces?key=s3cret"})
                with self.subTest(status=status), Receiver([answer]) as receiver:
                    done = self.send(receiver, env={"OTEL_EXPORTER_OTLP_HEADERS": "x-key=s3cret"})
                    self.check(done, 2, f"go to {other.url}/v1/traces", "does not follow")
                    self.assertNotIn("s3cret", done.stderr)
            self.assertEqual(other.requests, [])

    def test_a_closed_connection_is_tried_again(self):
        with Receiver([Answer(hang_up=True)]) as receiver:
            self.check(self.send(receiver), 0, "bench tries again")
            self.assertEqual(len(receiver.of("/v1/traces")), 2)

    def test_a_receiver_that_does_not_answer_ends_at_the_limit(self):
        event = threading.Event()
        with Receiver([Answer(wait=event)]) as receiver:
            try:
                self.check(self.send(receiver, "--timeout", "1"), 2, "timed out", "--timeout")
            finally:
                event.set()

    def test_if_nothing_listens_the_cause_and_the_way_out_are_named(self):
        url = f"http://127.0.0.1:{unused_port()}"
        done = export(MAIN, "--otlp", url, "--timeout", "0.3")
        self.check(done, 2, url, "Connection refused", "Does a collector listen there?", "comes from --otlp",
                   "`--otlp FILE`", "nothing was sent")
        self.assertEqual(done.stdout, "")

    def test_a_large_run_is_sent_in_pieces(self):
        rows = rows_of(MAIN)
        window = [row for row in rows if row["kind"] == "test" and row["test"] == rows[0]["test"]] or rows[:5]
        path = self.path("large.csv")
        count = 2000
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, rows[0].keys())
            writer.writeheader()
            for i in range(count):
                writer.writerows(dict(row, test=f"Large.Test{i}") for row in window)
        with Receiver() as receiver:
            # A build with sanitizers may take minutes.
            self.check(export(path, "--otlp", receiver.url, "--timeout", "600"), 0)
            self.assertGreater(len(receiver.of("/v1/metrics")), 3)
            for one in receiver.requests:
                self.assertLess(len(one.text), MEBIBYTE + 100_000)
            spans = list(spans_of(one.json for one in receiver.of("/v1/traces")))
            repetitions = len([row for row in window if row["record"] == "test"])
            self.assertEqual(len({span["spanId"] for _, span in spans}), count * repetitions + 1)
            calls = sum(int(point["asInt"]) for _, point in
                        points_of([one.json for one in receiver.of("/v1/metrics")], "syscost.calls"))
            self.assertEqual(calls, count * sum(int(row["calls"] or 0) for row in window if row["record"] == "syscall"))


class Settings(Case):
    def test_the_environment_names_the_receiver_and_its_headers(self):
        with Receiver() as receiver:
            env = {"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url + "/base",
                   "OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer%20s3cret, x-scope = a%2Cb"}
            done = export(MAIN, env=env)
            self.check(done, 0)
            self.assertEqual({one.path for one in receiver.requests}, {"/base/v1/traces", "/base/v1/metrics"})
            for one in receiver.requests:
                self.assertEqual(one.headers["authorization"], "Bearer s3cret")
                self.assertEqual(one.headers["x-scope"], "a,b")
            self.assertNotIn("s3cret", done.stdout + done.stderr)

    def test_a_variable_of_one_signal_goes_before_the_common_one(self):
        with Receiver() as common, Receiver() as traces:
            env = {"OTEL_EXPORTER_OTLP_ENDPOINT": common.url,
                   "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": traces.url + "/custom?key=s3cret",
                   "OTEL_EXPORTER_OTLP_TRACES_HEADERS": "x-of=traces"}
            done = export(MAIN, env=env)
            self.check(done, 0)
            self.assertEqual([one.path for one in traces.requests], ["/custom?key=s3cret"])
            self.assertEqual(traces.requests[0].headers["x-of"], "traces")
            self.assertEqual([one.path for one in common.requests], ["/v1/metrics"])
            self.assertNotIn("s3cret", done.stdout + done.stderr)

    def test_the_argument_goes_before_the_environment(self):
        with Receiver() as receiver:
            env = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1",
                   "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:1"}
            self.check(self.send(receiver, env=env), 0)
            self.assertEqual(len(receiver.of("/v1/traces")), 1)

    def test_a_receiver_that_repeats_a_secret_does_not_get_it_printed(self):
        env = {"OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer%20s3cret"}
        for answer in (Answer(403, b'{"message":"s3cret is not known"}'), Answer(403, b"Bearer s3cret?"),
                       Answer(200, b'{"partialSuccess":{"rejectedSpans":"1","errorMessage":"no s3cret"}}'),
                       Answer(200, b"s3cret")):
            with Receiver([answer]) as receiver:
                done = self.send(receiver, env=env)
                self.check(done, 2, "***")
                self.assertNotIn("s3cret", done.stdout + done.stderr)

    def test_packing_can_be_switched_off(self):
        with Receiver() as receiver:
            self.check(self.send(receiver, env={"OTEL_EXPORTER_OTLP_COMPRESSION": "none"}), 0)
            self.assertNotIn("content-encoding", receiver.requests[0].headers)

    def test_settings_that_cannot_be_right_are_refused(self):
        self.check(export(MAIN), 2, "there is nowhere to export to", "OTEL_EXPORTER_OTLP_ENDPOINT")
        for url, part in (("ftp://host", "http:// or https://"), ("http://", "names no host"),
                          ("http://:4318", "names no host"), ("http://a b", "blank"),
                          ("http://you:s3cret@host", "password"), ("http://host/?key=s3cret", "base address"),
                          ("http://host/v1/traces", "base address")):
            done = export(MAIN, "--otlp", url)
            self.check(done, 2, part)
            self.assertNotIn("s3cret", done.stderr)
        for variable, value, part in (
                ("HEADERS", "s3cret", "entry 1 is not NAME=VALUE"), ("HEADERS", "a=b,c d=s3cret", "entry 2"),
                ("HEADERS", "a=s3cret%0d%0ab:c", "control character"), ("HEADERS", "a=s3cret%2", "hexadecimal"),
                ("HEADERS", "Content-Type=s3cret", "set by bench"), ("COMPRESSION", "zstd", "gzip or none")):
            done = export(MAIN, "--otlp", "http://127.0.0.1:1", env={"OTEL_EXPORTER_OTLP_" + variable: value})
            self.check(done, 2, "OTEL_EXPORTER_OTLP_" + variable, part)
            self.assertNotIn("s3cret", done.stderr)

    def test_without_libcurl_a_file_is_written_and_an_address_is_refused(self):
        for name in ("libcurl.so.4", "libcurl-gnutls.so.4"):
            with open(self.path(name), "w", encoding="ascii") as file:
                file.write("no library")
        env = {"LD_LIBRARY_PATH": self.folder}
        self.check(export(MAIN, "--otlp", "http://127.0.0.1:1", env=env), 2, "libcurl.so.4 cannot be loaded",
                   "apt-get install libcurl4", "--otlp FILE", "nothing was sent")
        self.check(export(MAIN, "--otlp", self.path("run.jsonl"), env=env), 0)

    @unittest.skipUnless(shutil.which("openssl"), "there is no openssl to make a certificate with (Debian: openssl)")
    def test_a_certificate_must_be_of_someone_who_is_trusted(self):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
                        "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", self.path("key.pem"), "-out",
                        self.path("cert.pem")], check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.path("cert.pem"), self.path("key.pem"))
        with Receiver(context=context) as receiver:
            self.check(self.send(receiver), 2, "cannot be reached", "certificate", "nothing was sent")
            self.assertEqual(receiver.requests, [])
            self.check(self.send(receiver, env={"OTEL_EXPORTER_OTLP_CERTIFICATE": self.path("cert.pem")}), 0)
            self.assertEqual(len(receiver.of("/v1/traces")), 1)


if __name__ == "__main__":
    unittest.main()
