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
        ("backends/ebpf/bpf/syscost.bpf.c", "enter.bpf.h", "the kernel calls the programs at sys_enter and sys_exit"),
        ("backends/ebpf/bpf/enter.bpf.h", "cell->entries", "counts an entry"),
        ("backends/ebpf/bpf/ends.bpf.h", "count_latency", "counts the call, its errno and its latency"),
        ("adapters/gtest/listener.cc", "close_window", "the test ends"),
        ("session/adapter.cc", "close_window", "from the adapter to the process's session"),
        ("session/windows/windows.cc", "recorder.add", "closes the window and makes a row of it"),
        ("core/window_book.cc", "read_segment", "adds the segment that ended to each window that holds it"),
        ("backends/ebpf/ebpf_backend.cc", "EbpfBackend::read(", "hands over what the programs counted"),
        ("backends/ebpf/segments.cc", "drain_bits", "reads the cells that were touched"),
        ("session/windows/recorder.cc", "sink_->append", "collects rows until no window is open"),
        ("csv/window_rows.cc", "append_syscalls", "the columns of each syscall"),
        ("csv/sink.cc", "append_locked", "one write under a lock"),
    ]),
    ("`--syscost_filter`, from argv to its effect", 5, [
        ("session/options/options.cc", "take_value(*known, parsed.options", "takes the flags out of argv"),
        ("session/options/option_table.cc", ".target = take_filter", "the table of flags: where the value goes"),
        ("session/options/option_values.cc", "Filter::parse", "checks and parses the value"),
        ("session/windows/backend_holder.cc", "select(*filter_)", "opens the backend with it"),
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
