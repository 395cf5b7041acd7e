# SPDX-License-Identifier: MIT
"""Writes the traces of tests/cli/data/traces: small ones as --syscost_trace leaves them, and broken ones.

The numbers of the fields are those of Perfetto's trace_packet.proto; plugin/src/extras/trace/session/perfetto.cc writes them.
"""
import os

RUN = "traces/syscost_artifacts/1795225951-17/demo_tests"


def number(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def field(key, value):
    if isinstance(value, int):
        return number(key << 3) + number(value)
    data = value if isinstance(value, bytes) else value.encode()
    return number(key << 3 | 2) + number(len(data)) + data


class Trace:
    """Packets as the plugin writes them: names are interned when they are first used."""

    def __init__(self):
        self.data = b""
        self.names = {1: {}, 2: {}, 3: {}}
        self.tracks = set()
        self.stacks = {}
        self.slices = 0
        self.packet(field(60, field(1, 1) + field(3, field(1, 17) + field(6, "demo_tests"))))

    def packet(self, body):
        flags = 2 if self.data else 1
        self.data += field(1, body + field(10, 1) + field(13, flags))

    def iid(self, kind, text, fresh):
        known = self.names[kind]
        if text not in known:
            known[text] = len(known) + 1
            fresh.append(field(kind, field(1, known[text]) + field(2, text)))
        return known[text]

    def stack(self, site, fresh):
        """One frame: the function of the site."""
        if site not in self.stacks:
            iid = self.stacks[site] = len(self.stacks) + 1
            fresh.append(field(5, field(1, iid) + field(2, site.split()[-1])) + field(6, field(1, iid) + field(2, iid))
                         + field(7, field(1, iid) + field(2, iid)))
        return self.stacks[site]

    def event(self, kind, track, at, name=None, classes=(), notes=(), site=None):
        fresh = []
        body = b"".join(field(3, self.iid(1, one, fresh)) for one in classes)
        body += field(9, kind) + field(11, track)
        if name is not None:
            body += field(10, self.iid(2, name, fresh))
        for note, value in notes:
            body += field(4, field(1, self.iid(3, note, fresh)) + field(4 if isinstance(value, int) else 6, value))
        if site is not None:
            body += field(56, self.stack(site, fresh))
        self.packet(field(8, at) + field(11, body) + (field(12, b"".join(fresh)) if fresh else b""))

    def call(self, thread, at, took, name, classes, arguments, result, site=None):
        track = 1000 + thread
        if thread not in self.tracks:
            self.tracks.add(thread)
            self.packet(field(60, field(1, track) + field(5, 1) + field(4, field(1, 17) + field(2, thread))))
        notes = list(arguments) + [("result", result)] + ([] if site is None else [("site", site)])
        self.event(3 if took is None else 1, track, at, name, classes, notes, site)
        if took is not None:
            self.event(2, track, at + took)

    def slice(self, name, category, at, took, notes=()):
        track = 2 ** 40 + self.slices
        self.slices += 1
        self.packet(field(60, field(1, track) + field(5, 1) + field(2, name)))
        self.event(1, track, at, name, [category], notes)
        self.event(2, track, at + took)


def writes(trace, start):
    log = [("dfd", "AT_FDCWD"), ("filename", '"/var/lib/demo/a/long/folder/of/logs/app.log"'),
           ("flags", "O_WRONLY|O_CREAT|O_TRUNC"), ("mode", "0666")]
    trace.call(17, start + 8_973, 12_394, "openat", ["file", "desc"], log, "3")
    for i in range(3):
        trace.call(17, start + 22_000 + 1_200 * i, 1_160 - 200 * i, "write", ["desc"],
                   [("fd", "3"), ("buf", "0x55c6f5c8e400"), ("count", "64")], "64")
    trace.call(17, start + 30_100, 2_180, "newfstatat", ["file"],
               [("dfd", "AT_FDCWD"), ("filename", '"/none"'), ("statbuf", "0x7fff94356420"), ("flag", "0")],
               "-1 ENOENT (No such file or directory)")
    trace.call(18, start + 31_000, 40_500, "futex", ["wait"], [("uaddr", "0x7fc8124ed990"), ("op", "FUTEX_WAIT")], "0")
    trace.call(18, start + 50_000, None, "rt_sigreturn", ["signal"], [], "?")
    trace.call(17, start + 72_345, 4_216, "close", ["desc"], [("fd", "3")], "0")


def make_traces(save):
    whole = Trace()
    start = 5_000_000_000_000
    writes(whole, start)
    whole.slice("test Log.WritesABatch", "window", start, 97_000, [("calls", 8), ("events", 8), ("trace_lost", 0)])
    whole.slice("scope flush", "scope", start + 21_000, 5_000, [("calls", 3), ("events", 3), ("trace_lost", 0)])
    save(f"{RUN}/Log.WritesABatch/trace.pftrace", whole.data)
    # Inside the last packet, and inside the names of the first ones.
    save("traces/cut/trace.pftrace", whole.data[:-7])
    save("traces/damaged/trace.pftrace", whole.data[:300] + bytes(40) + whole.data[340:])
    save("traces/garbage/trace.pftrace", bytes(range(256)) * 4)
    save("traces/empty/trace.pftrace", b"")

    sites = Trace()
    batch, load = "at src/log.cc:17 demo::Log::batch+3", "at src/store/configuration.cc:104 demo::store::Configuration::load_all_of+12"
    written = [("fd", "3"), ("buf", "0x55c6f5c8e400"), ("count", "64")]
    sites.call(17, start + 1_000, 900, "write", ["desc"], written, "64", batch)
    sites.call(17, start + 2_000, 2_180, "openat", ["file", "desc"],
               [("dfd", "AT_FDCWD"), ("filename", '"/etc/demo/a/long/folder/settings.ini"'), ("flags", "O_RDONLY")],
               "-1 ENOENT (No such file or directory)", load)
    sites.call(17, start + 5_000, 800, "write", ["desc"], written, "64", batch)
    sites.call(17, start + 6_000, 700, "close", ["desc"], [("fd", "3")], "0")
    sites.slice("test Log.HasSites", "window", start, 9_000, [("calls", 4), ("events", 4), ("trace_lost", 0)])
    save("traces/sites/trace.pftrace", sites.data)
    save("traces/sites/trace.strace", b"")

    text = b'17 1795225951.000008973 close(3) = 0 <0.000000700>\n'
    save(f"{RUN}/Log.HasText/trace.strace", text)
    save("traces/text/trace.strace", text)

    lost = Trace()
    lost.call(17, start - 1_500, 2_000, "read", ["desc"], [("fd", "0"), ("buf", "0x1"), ("count", "1")],
              "-1 EAGAIN (Resource temporarily unavailable)")
    lost.slice("test Log.Loses/\x1b[31m1", "window", start, 97_000, [("calls", 13), ("events", 1), ("trace_lost", 12)])
    save(f"{RUN}/Log.Loses___31m1-0badcafe/trace.pftrace", lost.data)

    process = Trace()
    writes(process, start)
    process.slice("scope load", "scope", start + 8_000, 5_000, [("calls", 3), ("events", 1), ("trace_lost", 2)])
    save(f"{RUN}/process 17/trace.pftrace", process.data)


def make_folders(data):
    def save(name, content):
        path = os.path.join(data, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)

    make_traces(save)
