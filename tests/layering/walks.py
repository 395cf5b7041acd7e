#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Walks through the sources, file by file: walks.py SOURCE [--update]

Each step is a file and the words in it that do the work and lead to the next step. A step with words that its file does
not hold is a fault, as is a walk that is longer than allowed. docs/architecture.md holds the walks between two markers;
--update writes them there, without it a page that differs is a fault. `./dev update walks` starts it.
"""
import os
import sys

# Name, folder, most files, steps.
WALKS = [
    ("A write(2), from the kernel to the CSV that `bench summary` reads", "plugin/src", 16, [
        ("backends/ebpf/bpf/syscost.bpf.c", "calls.bpf.h", "the kernel calls the programs at sys_enter and sys_exit"),
        ("backends/ebpf/bpf/state.bpf.h", "find_current", "finds the process, and the segment that is running"),
        ("backends/ebpf/bpf/calls.bpf.h", "count_latency", "counts the entry; at the exit the call, its errno and its latency"),
        ("backends/ebpf/bpf/target.bpf.h", "static", "the cell of the bank, the CPU and the syscall"),
        ("adapters/gtest/listener.cc", "adapter::close_unsettled", "the test ends"),
        ("late/late.cc", "dlopen", "the stub, which has loaded libsyscost.so"),
        ("session/adapter.cc", "windows().close", "from the adapter to the process's session"),
        ("session/windows/windows.cc", "opened.book.close", "closes the window, and makes a row of its numbers"),
        ("core/window_book.cc", "backend_.read(", "adds the segment that ended to each window that holds it"),
        ("backends/ebpf/ebpf_backend.cc", "segments_.take(", "stores the control word, which ends the segment"),
        ("backends/ebpf/segments.cc", "drain_bits", "waits for the programs that still run, and reads the cells that were touched"),
        ("session/windows/backend_holder.cc", "check", "looks whether the backend lost anything"),
        ("session/windows/recorder.cc", "sink_->append", "keeps rows until the test's outcome is settled, and takes the lock"),
        ("csv/window_rows.cc", "append_syscalls", "the columns of each syscall"),
        ("csv/row.cc", "Row::set", "the text of a row"),
        ("csv/sink.cc", "append_locked", "one write under the lock of the file"),
    ]),
    ("`--syscost_filter`, from argv to its effect", "plugin/src", 8, [
        ("session/options/options.cc", "find_option", "takes the flags out of argv, and checks the kind of each value"),
        ("session/options/option_table.cc", "Filter::parse", "the table of flags: parses the value, and puts it into the options"),
        ("session/windows/backend_holder.cc", "opener_(options_)", "opens a backend for the options, and another one if a test closes it"),
        ("session/backends/open_backend.cc", "options.filter", "chooses the backend"),
        ("core/selector.cc", "selects", "which syscalls the filter selects"),
        ("backends/ebpf/ebpf_backend.cc", "SYSCOST_NOT_SELECTED", "writes into the process's memory what not to count"),
        ("backends/ebpf/bpf/directory.bpf.h", "SYSCOST_NOT_SELECTED", "finds the mark of a syscall there"),
        ("backends/ebpf/bpf/calls.bpf.h", "count_latency", "counts nothing of it"),
    ]),
    ("`bench compare`, from argv to the table", "bench_tool/src", 30, [
        ("bench.cc", "parsed.command->run(", "parses, and runs the command"),
        ("cli/parse.cc", "command.read(", "words and options to `Options`"),
        ("commands/compare/compare_command.cc", "kCompareCommand", "the options of this command"),
        ("commands/compare/compare.cc", "int compare(", "loads, judges, prints"),
        ("commands/compare/count_rules.cc", "add_rules(", "`syscost.toml`, and accepts in commit messages"),
        ("model/loader.cc", "Dataset load(", "one side: its files"),
        ("csv/run_files.cc", "Folders", "a RUN to files"),
        ("csv/input.cc", "inflate", "the bytes of a file, packed or not"),
        ("csv/reader.cc", "read_csv_text(", "rows by fast-cpp-csv-parser"),
        ("model/row_parser.cc", "Column::kHistogram", "cells to numbers"),
        ("model/collector.cc", "Collector::take(", "rows to repetitions of windows"),
        ("model/row_store.cc", "kNumbers", "keeps the rows of syscalls"),
        ("model/dataset.cc", "group_samples(", "repetitions to tests"),
        ("stats/window_summary.cc", "WindowSummary summarize(", "the numbers of a test"),
        ("stats/repetitions.cc", "spread_of(", "over its repetitions"),
        ("judge/comparability.cc", "pair_name(", "pairs the tests of both sides; why two cannot be compared"),
        ("judge/verdict.cc", "compare_counts(", "the counts that differ, and whether chance explains them"),
        ("judge/direction.cc", "direction_of(", "families: whether the change is a growth"),
        ("judge/accept.cc", "accept_changes(", "intended changes"),
        ("judge/conclude.cc", "judge_row(", "the verdict of a test, and its rule"),
        ("judge/row_times.cc", "judge_row_times(", "the same of times"),
        ("stats/significance.cc", "rank_test(", "the rank test, intervals"),
        ("commands/shared/gate.cc", "gate_failures(", "which tests fail the gate"),
        ("commands/compare/causes.cc", "causes_text(", "tests that share a change"),
        ("commands/compare/compare_order.cc", "chosen_rows(", "which rows are shown, and in which order"),
        ("commands/compare/compare_words.cc", "verdict_line(", "what a row says of counts"),
        ("commands/compare/compare_times.cc", "time_cell(", "what it says of times"),
        ("commands/compare/compare_text.cc", "compare_text(", "the text"),
        ("render/table.cc", "Table", "columns that fit the screen"),
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
    for name, folder, most, steps in WALKS:
        lines += ["", f"{name}, below `{folder}`: {len(steps)} files.", ""]
        if len(steps) > most:
            faults.append(f"{name}: {len(steps)} files, {most} are allowed")
        for number, (file, words, what) in enumerate(steps, 1):
            path = os.path.join(source, folder, file)
            if not os.path.exists(path):
                faults.append(f"{folder}/{file} is gone")
            elif words not in text_of(path):
                faults.append(f"{folder}/{file} does not hold `{words}` any more")
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
