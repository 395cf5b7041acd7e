# SPDX-License-Identifier: MIT
"""perfetto_test.py PROGRAM: trace.pftrace, decoded by protoc, holds what trace.strace says, as slices on tracks.

protoc knows the format from trace.proto, which has the names and numbers that Perfetto documents.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from strace_lines import Call
from traced_program import run_traced, skip

PROTO = pathlib.Path(__file__).resolve().parent / "trace.proto"
CLEARED, NEEDS_STATE = 1, 2


def marked_line(words):
    """The line of calls_test.cc after the comment with these words."""
    lines = pathlib.Path(__file__).with_name("calls_test.cc").read_text(encoding="utf-8").splitlines()
    (line,) = [i for i, text in enumerate(lines, 1) if f"// {words}" in text]
    return line + 1


class Message(dict):
    """Fields by name; each is a list."""

    def one(self, name, default=None):
        values = self.get(name, [])
        assert len(values) <= 1, f"{name} is there {len(values)} times"
        return values[0] if values else default


def unescaped(text):
    return re.sub(rb'\\([0-7]{3}|.)', lambda found: bytes([int(found[1], 8)]) if len(found[1]) == 3
                  else {b"n": b"\n", b"t": b"\t", b"r": b"\r"}.get(found[1], found[1]), text.encode()).decode("utf-8", "backslashreplace")


def read_text_format(lines):
    """What `protoc --decode` prints: `name: value` and `name {`."""
    message = Message()
    for line in lines:
        line = line.strip()
        if line == "}":
            return message
        name, is_message, value = re.match(r"(\w+)(?: (\{)|: (.*))$", line).groups()
        assert not name.isdigit(), f"field {name} is none of Perfetto's"
        if is_message:
            value = read_text_format(lines)
        elif value.startswith('"'):
            value = unescaped(value[1:-1])
        elif re.fullmatch(r"-?\d+", value):
            value = int(value)
        message.setdefault(name, []).append(value)
    return message


class Reader:
    """Follows the packets in their order, as a reader of Perfetto's format must."""

    def __init__(self, trace):
        self.names = {"event_categories": {}, "event_names": {}, "debug_annotation_names": {}, "function_names": {},
                      "source_paths": {}, "mapping_paths": {}, "build_ids": {}, "mappings": {}, "frames": {},
                      "callstacks": {}}
        self.stacks = {}  # by (time, track)
        self.tracks = {}
        self.events = []  # (time, track, type, name, categories, annotations)
        for i, packet in enumerate(trace["packet"]):
            assert packet.one("trusted_packet_sequence_id") == 1
            assert packet.one("sequence_flags") == (NEEDS_STATE if i else CLEARED)
            for kind, entries in packet.one("interned_data", {}).items():
                for entry in entries:
                    assert entry.one("iid") not in self.names[kind], "a number has one name"
                    self.names[kind][entry.one("iid")] = entry.one("name", entry.one("str", entry))
            track = packet.one("track_descriptor")
            if track is not None:
                assert track.one("uuid") not in self.tracks, "a track is described once"
                assert track.one("parent_uuid") is None or track.one("parent_uuid") in self.tracks
                self.tracks[track.one("uuid")] = track
            if packet.one("track_event") is not None:
                self.add(packet.one("timestamp"), packet.one("track_event"))

    def add(self, time, event):
        assert event.one("track_uuid") in self.tracks, "a track is described before its events"
        name = self.names["event_names"][event.one("name_iid")] if event.one("name_iid") else None
        categories = [self.names["event_categories"][one] for one in event.get("category_iids", [])]
        annotations = [(self.names["debug_annotation_names"][one.one("name_iid")],
                        one.one("int_value", one.one("string_value"))) for one in event.get("debug_annotations", [])]
        if event.one("callstack_iid") is not None:
            frames = self.names["callstacks"][event.one("callstack_iid")]["frame_ids"]
            self.stacks[time, event.one("track_uuid")] = [self.frame(iid) for iid in frames]
        self.events.append((time, event.one("track_uuid"), event.one("type"), name, categories, annotations))

    def frame(self, iid):
        """(function, file of the source, line, file of the code)"""
        frame = self.names["frames"][iid]
        mapping = self.names["mappings"].get(frame.one("mapping_id"), Message())
        assert (frame.one("rel_pc") is None) == (frame.one("mapping_id") is None), "an offset belongs to a file"
        if mapping:
            assert mapping.one("build_id") in self.names["build_ids"]
        return (self.names["function_names"].get(frame.one("function_name_id")),
                self.names["source_paths"].get(frame.one("source_path_iid")), frame.one("line_number"),
                "/".join(self.names["mapping_paths"][path] for path in mapping.get("path_string_ids", [])))

    def slices(self):
        """(start, end, track, name, categories, annotations); begins and ends pair as a stack on each track, by time."""
        open_on, found = {}, []
        for time, track, kind, name, categories, annotations in sorted(self.events, key=lambda event: event[0]):
            if kind == "TYPE_SLICE_BEGIN":
                open_on.setdefault(track, []).append((time, name, categories, annotations))
            elif kind == "TYPE_SLICE_END":
                start, *rest = open_on[track].pop()
                found.append((start, time, track, *rest))
            else:
                assert kind == "TYPE_INSTANT"
                found.append((time, None, track, name, categories, annotations))
        assert not any(open_on.values()), "each begin has its end"
        return found


def ns(seconds):
    whole, part = seconds.split(".")
    return int(whole) * 10 ** 9 + int(part.ljust(9, "0"))


class Perfetto(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.read = {test: cls.trace_of(test) for test in ("Calls.AreMade", "Slices.AreNested")}

    @classmethod
    def trace_of(cls, test, *flags):
        folder = pathlib.Path(cls.folder.name, "".join([test, *flags]))
        folder.mkdir()
        trace = run_traced(PROGRAM, folder, test, *flags)
        with open(trace / "trace.pftrace", "rb") as file:
            done = subprocess.run(["protoc", f"--proto_path={PROTO.parent}", "--decode=perfetto.protos.Trace", PROTO.name],
                                  stdin=file, capture_output=True, check=True)
        lines = (trace / "trace.strace").read_text(encoding="utf-8").splitlines()
        return Reader(read_text_format(iter(done.stdout.decode().splitlines()))), lines

    def test_each_line_of_the_text_is_a_slice_on_its_thread(self):
        for test, (reader, lines) in self.read.items():
            calls = {}
            for start, end, track, name, _, annotations in reader.slices():
                thread = reader.tracks[track].one("thread")
                if thread is not None:
                    calls.setdefault((thread.one("tid"), name), []).append((start, end, annotations))
            for all_of_kind in calls.values():
                all_of_kind.sort(key=lambda call: call[0])
            offsets = set()
            for line in lines:
                call = Call(line)
                start, end, annotations = calls[call.thread, call.name].pop(0)
                with self.subTest(test=test, line=line):
                    self.assertEqual([text for name, text in annotations if name != "result"], call.arguments)
                    self.assertEqual(annotations[-1], ("result", call.result))
                    offsets.add(ns(line.split()[1]) - start)
                    took = re.search(r"<(\d+\.\d+)>$", line)
                    self.assertEqual(None if took is None else ns(took[1]), None if end is None else end - start)
            self.assertEqual(len(offsets), 1, "one constant is between the two clocks")
            self.assertFalse([kind for kind, left in calls.items() if left], "each slice is a line")

    def test_a_call_has_its_stack_and_its_site(self):
        reader, lines = self.trace_of("Slices.AreNested", "--syscost_where")
        calls = [one for one in reader.slices() if "scope" not in one[4] and "window" not in one[4]]
        sites = {}
        for start, _, track, name, _, annotations in calls:
            self.assertEqual(annotations[-1][0], "site")
            site = annotations[-1][1]
            sites.setdefault((name, site), []).append(reader.stacks[start, track])
        in_text = {}
        for call in map(Call, lines):
            in_text[call.name, call.site] = in_text.get((call.name, call.site), 0) + 1
        self.assertEqual({key: len(stacks) for key, stacks in sites.items()}, in_text)
        for (name, site), stacks in sites.items():
            for stack in stacks:
                function, _, _, module = stack[0]
                # A thread begins in a function of libc's own, which has no name where libc is stripped (Debian 13).
                begins_in_libc = function is None and re.search(r"/libc\.so\.6$", module)
                self.assertTrue(begins_in_libc or function in ("_start", "clone", "__clone", "clone3", "__clone3", "start_thread"),
                                (name, stack))
                self.assertTrue(all(frame[3].startswith(("/", "[")) for frame in stack), stack)
            line = re.match(r"at (.*calls_test\.cc):(\d+) (.*?)(\+\d+)?$", site)
            if line is None:
                continue
            for stack in stacks:
                self.assertTrue(any((function, number) == (line[3], int(line[2])) and file.endswith("calls_test.cc")
                                    for function, file, number, _ in stack if file), (site, stack))
        marked = marked_line("This getppid is alone")
        self.assertEqual([len(stacks) for (name, site), stacks in sites.items()
                          if name == "getppid" and f"calls_test.cc:{marked} " in site], [1], sites.keys())

    def test_tracks_are_the_process_its_threads_and_its_scopes(self):
        reader, _ = self.read["Slices.AreNested"]
        roots = [track for track in reader.tracks.values() if track.one("parent_uuid") is None]
        self.assertEqual(len(roots), 1)
        pid = roots[0].one("process").one("pid")
        self.assertEqual(roots[0].one("process").one("process_name"), pathlib.Path(PROGRAM).name)
        threads = [track.one("thread") for track in reader.tracks.values() if track.one("thread") is not None]
        self.assertEqual({thread.one("pid") for thread in threads}, {pid})
        self.assertEqual(len({thread.one("tid") for thread in threads}), 3)
        names = [track.one("name") for track in reader.tracks.values() if track.one("name") is not None]
        self.assertEqual(sorted(names), ["all", "inner", "test Slices.AreNested"])

    def test_scopes_lie_in_their_test_and_calls_in_their_scope(self):
        reader, _ = self.read["Slices.AreNested"]
        slices = {}
        for start, end, _, name, categories, annotations in reader.slices():
            slices.setdefault(name, []).append((start, end, categories, dict(annotations)))
        (test,), (all_,), (inner,) = (slices[name] for name in ("test Slices.AreNested", "all", "inner"))
        self.assertEqual([test[2], all_[2], inner[2]], [["window"], ["scope"], ["scope"]])
        for outer, within in ((test, all_), (all_, inner), (inner, slices["getppid"][1])):
            self.assertLessEqual(outer[0], within[0])
            self.assertLessEqual(within[1], outer[1])
        for one in (test, all_, inner):
            self.assertEqual(one[3]["events"] + one[3]["trace_lost"], one[3]["calls"])
        self.assertEqual(inner[3]["calls"], 1)

    def test_a_handlers_calls_lie_in_the_call_that_it_interrupts(self):
        reader, _ = self.read["Slices.AreNested"]
        (returned,) = [one for one in reader.slices() if one[3] == "rt_sigreturn"]
        on_thread = [one for one in reader.slices() if one[2] == returned[2]]
        (wrote,) = [one for one in on_thread if one[3] == "write"]
        (read,) = [one for one in on_thread if one[3] == "read" and one[1] > returned[0] > one[0]]
        self.assertLess(read[0], wrote[0])
        self.assertLessEqual(wrote[1], returned[0])
        self.assertIsNone(returned[1])

    def test_categories_are_the_classes_of_a_call(self):
        reader, _ = self.read["Calls.AreMade"]
        categories = {name: classes for *_, name, classes, _ in reader.slices()}
        self.assertEqual(categories["openat"], ["file", "desc"])
        self.assertEqual(categories["getpid"], [])


if __name__ == "__main__":
    if shutil.which("protoc") is None:
        skip("protoc is missing (Debian: apt-get install protobuf-compiler)")
    PROGRAM = sys.argv.pop(1)
    unittest.main()
