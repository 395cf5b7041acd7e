#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Two walks through the plugin's sources, file by file: walks.py SOURCE [--update]

Each step is a file and the words in it that do the work and lead to the next step. A step with words that its file does
not hold is a fault, as is a walk that is longer than allowed. docs/architecture.md holds the walks between two markers;
--update writes them there, without it a page that differs is a fault. `./dev update walks` starts it.
"""
import os
import sys

SRC = "plugin/src"
# Name, most files, steps.
WALKS = [
    ("A write(2), from the kernel to the CSV that `bench summary` reads", 12, [
        ("backends/ebpf/bpf/syscost.bpf.c", "calls.bpf.h", "the kernel calls the programs at sys_enter and sys_exit"),
        ("backends/ebpf/bpf/calls.bpf.h", "count_latency", "counts the entry; at the exit the call, its errno and its latency"),
        ("adapters/gtest/listener.cc", "adapter::close_unsettled", "the test ends"),
        ("session/adapter.cc", "windows().close", "from the adapter to the process's session"),
        ("session/windows/windows.cc", "opened.book.close", "closes the window, and makes a row of its numbers"),
        ("core/window_book.cc", "backend_.read(", "adds the segment that ended to each window that holds it"),
        ("backends/ebpf/ebpf_backend.cc", "segments_.take(", "waits for the programs that still run"),
        ("backends/ebpf/segments.cc", "drain_bits", "reads the cells that were touched"),
        ("session/windows/recorder.cc", "sink_->append", "keeps rows until no window is open, and takes the lock"),
        ("csv/window_rows.cc", "append_syscalls", "the columns of each syscall"),
        ("csv/row.cc", "Row::set", "the text of a row"),
        ("csv/sink.cc", "append_locked", "one write under the lock of the file"),
    ]),
    ("`--syscost_filter`, from argv to its effect", 5, [
        ("session/options/options.cc", "find_option", "takes the flags out of argv, and checks the kind of each value"),
        ("session/options/option_table.cc", "Filter::parse", "the table of flags: parses the value, and puts it into the options"),
        ("session/windows/backend_holder.cc", "opener_(options_)", "opens a backend for the options, and another one if a test closes it"),
        ("session/backends/open_backend.cc", "options.filter", "chooses the backend"),
        ("backends/ebpf/ebpf_backend.cc", "SYSCOST_NOT_SELECTED", "tells the BPF programs what not to count"),
    ]),
]
BEGIN, END = "<!-- tests/layering/walks.py: begin -->", "<!-- tests/layering/walks.py: end -->"


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def main():
    source = sys.argv[1]
    faults = []
    lines = []
    for name, most, steps in WALKS:
        lines += ["", f"{name}: {len(steps)} files.", ""]
        if len(steps) > most:
            faults.append(f"{name}: {len(steps)} files, {most} are allowed")
        for number, (file, words, what) in enumerate(steps, 1):
            path = os.path.join(source, SRC, file)
            if not os.path.exists(path):
                faults.append(f"{file} is gone")
            elif words not in text_of(path):
                faults.append(f"{file} does not hold `{words}` any more")
            lines.append(f"{number}. `{file}` {what}")
    page = os.path.join(source, "docs/architecture.md")
    old = text_of(page)
    begin, end = old.index(BEGIN) + len(BEGIN), old.index(END)
    new = old[:begin] + "\n".join(lines) + "\n\n" + old[end:]
    if "--update" in sys.argv:
        with open(page, "w", encoding="utf-8") as file:
            file.write(new)
    elif new != old:
        faults.append("docs/architecture.md is stale: ./dev update walks")
    for fault in faults:
        print(f"walks: {fault}", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
