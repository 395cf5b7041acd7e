# SPDX-License-Identifier: MIT
"""Adds up bytes from `strace -f`: one half of an oracle (oracle.py). It shares no code with syscost. With strace's -yy also by the kind of
file."""
import bisect
import collections
import os
import re
import stat

READS = {"read": 2, "pread64": 2, "recvfrom": 2, "getrandom": 1, "readv": None, "preadv": None, "preadv2": None, "recvmsg": None,
         "process_vm_readv": None}
WRITES = {"write": 2, "pwrite64": 2, "sendto": 2, "writev": None, "pwritev": None, "pwritev2": None, "sendmsg": None, "vmsplice": None,
          "process_vm_writev": None}
BOTH = {"sendfile": 3, "sendfile64": 3, "splice": 4, "tee": 2, "copy_file_range": 4}
MOVES = {**READS, **WRITES, **BOTH}  # the syscall -> which argument is the size, from 0
MAPS = {"mmap", "mmap2", "munmap", "mremap", "brk"}
UNKNOWN = {"sendmmsg", "recvmmsg", "recvmmsg_time64", "io_uring_enter", "io_submit", "socketcall"}
STARTS = {"clone", "clone3"}
TRACED = sorted(set(MOVES) | MAPS | UNKNOWN | STARTS)

# The descriptors that data goes through: from, to.
FILES = {name: (0, None) for name in (set(READS) | set(WRITES)) - {"getrandom", "process_vm_readv", "process_vm_writev"}}
FILES.update(sendfile=(1, 0), sendfile64=(1, 0), tee=(0, 1), splice=(0, 2), copy_file_range=(0, 2))

CALL = re.compile(r"(?P<name>\w+)\((?P<rest>.*)$")
RESULT = re.compile(r"^(?P<arguments>.*)\)\s+= (?P<result>\S+)(?: .*)?$")


class Call:
    def __init__(self, thread, name, text, line):
        self.thread, self.name, self.text, self.entered = thread, name, text, line
        self.result = self.returned = None
        self.is_restarted = False  # by a signal: the kernel makes it again, and the program sees one call

    def end(self, text, line):
        found = RESULT.match(self.text + text)
        if found is None:
            raise SystemExit(f"line {line} of strace's log is not understood: {text}")
        self.text, self.returned = found["arguments"].rstrip(), line  # a call in two halves has a blank between them
        result = found["result"]
        self.is_restarted = result == "?" and "ERESTART" in text
        if result != "?" and not result.startswith("-"):
            self.result = int(result, 8 if re.match(r"0\d", result) else 0)  # umask's is octal


def read_calls(path):
    """All calls, in the order of their entries."""
    calls, unfinished = [], {}
    with open(path, encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            thread, text = line.rstrip("\n").split(None, 1)
            resumed = re.match(r"<\.\.\. \w+ resumed>(.*)", text)
            if resumed:
                unfinished.pop(thread).end(resumed[1], number)
                continue
            found = CALL.match(text)
            if found is None or text.startswith(("---", "+++", "[ ")):
                continue
            rest = found["rest"]
            is_whole = not rest.endswith("<unfinished ...>")
            call = Call(int(thread), found["name"], "" if is_whole else rest.removesuffix("<unfinished ...>"), number)
            calls.append(call)
            if is_whole:
                call.end(rest, number)
            else:
                unfinished[thread] = call
    return calls


def arguments(text):
    """At the commas outside of brackets and strings."""
    text = re.sub(r'"(\\.|[^"\\])*"', '""', text)
    while (flat := re.sub(r"[\[({][^\[\](){}]*[\])}]", "@", text)) != text:
        text = flat
    return [one.strip() for one in text.split(",")]


TERMINALS = {4, 5, *range(136, 144), 166, 188, 204, 229}


def kind_of_path(path):
    """strace shows a FIFO, and a folder, by its path alone. It may be gone by now; then it is taken for a file."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return "file"
    return "pipe" if stat.S_ISFIFO(mode) else "directory" if stat.S_ISDIR(mode) else "file"


def kind(descriptor):
    """Of `3<pipe:[17]>`, `0</dev/null<char 1:3>>`, `4<TCP:[...]>`, `5</tmp/log>(deleted)`."""
    shown = re.match(r"\d+<(.*)>(\(deleted\)|@)?$", descriptor, re.DOTALL)
    if shown is None:
        return "bad descriptor"
    device = re.search(r"<(char|block) (\d+):\d+>$", shown[1])
    if device:
        return "block device" if device[1] == "block" else "terminal" if int(device[2]) in TERMINALS else "character device"
    if shown[1].startswith("/"):
        return kind_of_path(shown[1])
    of_kernel = shown[1].partition(":")[0]
    return {"pipe": "pipe", "anon_inode": "other"}.get(of_kernel, "socket")


def files(name, given):
    """The detail of a row: `pipe`, `file to socket`; empty for a call that takes no file."""
    if name not in FILES:
        return ""
    return " to ".join(kind(given[at]) for at in FILES[name] if at is not None)


def number(text):
    try:
        return int(text, 0)
    except ValueError:
        return 0


def pages(size):
    return (size + 4095) // 4096 * 4096


def lengths(name, given, brk_before, brk_after):
    """Of the memory that a call is about, before and after it."""
    if name == "brk":
        return brk_before, brk_after
    if name == "munmap":
        return number(given[1]), 0
    if name == "mremap":
        return 0 if "MREMAP_DONTUNMAP" in given[3] else number(given[1]), number(given[2])
    return 0, number(given[1])


def is_of_syscost(call, process):
    """The calls that syscost makes between its markers and counts nowhere: it reads what its BPF programs missed, how much memory is mapped
    (/proc/self/statm) and, in programs that are not linked with it, the names and results of tests from the program's memory. dispatch lets
    the kernel copy arguments: it names the process by the thread."""
    reads_itself = call.name in ("process_vm_readv", "process_vm_writev") and call.text.startswith((f"{process}, ", f"{call.thread}, "))
    reads_status = call.name == "pread64" and re.search(r'"pos:\\t|,\s+"[0-9]+ [0-9]+ [0-9]+ [0-9]+ 0 [0-9]+ 0\\n", 160, 0$', call.text)
    return reads_itself or bool(reads_status)


def processes(calls):
    """Thread -> the first thread of its process, for threads that others started."""
    starters = {call.result: call.thread for call in calls
                if call.name in STARTS and call.result and "CLONE_THREAD" in call.text}

    def first_of(thread):
        while thread in starters:
            thread = starters[thread]
        return thread
    return {call.thread: first_of(call.thread) for call in calls}


class Mappings:
    """The address space of a process, as its calls change it: which stretches are mapped, and how many bytes that is."""

    def __init__(self, stretches):
        self.stretches = sorted(stretches)  # [begin, end), none of which overlap
        self.bytes = self.at_begin = self.most = sum(end - begin for begin, end in stretches)

    def unmap(self, begin, end):
        kept = []
        for one, its_end in self.stretches:
            if its_end <= begin or one >= end:
                kept.append((one, its_end))
                continue
            self.bytes -= min(its_end, end) - max(one, begin)
            kept += [part for part in ((one, begin), (end, its_end)) if part[0] < part[1]]
        self.stretches = kept

    def map(self, begin, size):
        end = begin + pages(size)
        self.unmap(begin, end)
        bisect.insort(self.stretches, (begin, end))
        self.bytes += end - begin
        self.most = max(self.most, self.bytes)

    def take(self, name, given, brk_before, result):
        """A call that succeeded."""
        if name == "munmap":
            self.unmap(number(given[0]), number(given[0]) + pages(number(given[1])))
        elif name == "brk":
            begin, end = pages(brk_before), pages(result)
            if begin and end > begin:
                self.map(begin, end - begin)
            elif begin:
                self.unmap(end, begin)
        elif name == "mremap":
            old = number(given[0])
            if "MREMAP_DONTUNMAP" not in given[3] and number(given[1]) > 0:
                self.unmap(old, old + pages(number(given[1])))
            self.map(result, number(given[2]))
        else:
            self.map(result, number(given[1]))


class Sums:
    """Of one window: syscall -> bytes, released bytes, short calls; and how many of its calls say nothing of their bytes."""

    def __init__(self):
        self.bytes, self.released, self.short, self.by_kind = (collections.Counter() for _ in range(4))
        self.unknown = 0
        self.mappings = None

    def add(self, call, brk_before):
        if call.result is None:
            return
        given = arguments(call.text)
        if call.name in UNKNOWN:
            self.unknown += 1
        elif call.name in MOVES:
            size = MOVES[call.name]
            self.bytes[call.name] += call.result
            self.by_kind[call.name, files(call.name, given)] += call.result
            self.short[call.name] += size is not None and call.result < number(given[size])
        elif call.name in MAPS:
            old, new = lengths(call.name, given, brk_before, call.result)
            self.bytes[call.name] += max(pages(new) - pages(old), 0)
            self.released[call.name] += max(pages(old) - pages(new), 0)
            if self.mappings:
                self.mappings.take(call.name, given, brk_before, call.result)

    def totals(self):
        """As the columns of a test's row; None = some call says nothing of its bytes."""
        moved = {"total_bytes_read": {**READS, **BOTH}, "total_bytes_written": {**WRITES, **BOTH}}
        sums = {column: None if self.unknown else sum(self.bytes[name] for name in names) for column, names in moved.items()}
        sums["total_bytes_mapped"] = sum(self.bytes[name] for name in MAPS)
        sums["total_bytes_unmapped"] = sum(self.released[name] for name in MAPS)
        return sums


def windows(path, stretches=None):
    """(name of a window, how many of that name came before) -> Sums, for each pair of markers of one process. `stretches`: by the same key,
    what was mapped when the window began."""
    calls = read_calls(path)
    process_of = processes(calls)
    marker = re.compile(r'-1, "syscost-(begin|end) (.*)", \d+$')
    open_since, found, seen = {}, {}, collections.Counter()
    for call in calls:
        mark = marker.match(call.text) if call.name == "write" else None
        process = process_of[call.thread]
        if mark is None:
            continue
        if mark[1] == "begin":
            open_since[process] = call
        elif process in open_since:
            begin, end = open_since.pop(process), call
            key = (process, mark[2], seen[process, mark[2]])
            seen[process, mark[2]] += 1
            found[key] = (begin.returned, end.entered)
    sums = {key: Sums() for key in found}
    for key, its in (stretches or {}).items():
        if key in sums:
            sums[key].mappings = Mappings(its)
    by_process = collections.defaultdict(list)
    for key, (begin, end) in found.items():
        by_process[key[0]].append((begin, end, sums[key]))
    breaks = {}
    for call in sorted((call for call in calls if call.returned), key=lambda call: call.returned):
        process = process_of[call.thread]
        for begin, end, into in by_process[process]:
            if begin < call.entered and call.returned < end and not is_of_syscost(call, process):
                into.add(call, breaks.get(process, 0))
        if call.name == "brk" and call.result is not None:
            breaks[process] = call.result
    return sums
