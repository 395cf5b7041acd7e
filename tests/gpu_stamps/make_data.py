#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the stamp files of tests/gpu_stamps/data: launches made up to show one thing each, broken files, and what
kernelretsnoop's page printed (data/kernelretsnoop.txt) as a stamp file.

The files are committed; `./dev update data` writes them anew after a change of the format. With an argument they are
written into that folder: a test compares them with the committed ones.
Column names come from plugin/include/syscost/gpu/stamp_schema.h, so that the two cannot disagree.
"""
import argparse
import os
import random
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ARGUMENTS = argparse.ArgumentParser(description="Writes the files of tests/gpu_stamps/data.")
ARGUMENTS.add_argument("folder", nargs="?", default=os.path.join(HERE, "data"), help="write into this folder instead")
DATA = ARGUMENTS.parse_args().folder
SCHEMA = open(os.path.join(HERE, "../../plugin/include/syscost/gpu/stamp_schema.h")).read()
COLUMNS = re.findall(r'X\(k\w+,\s*"(\w+)"\)', SCHEMA)
HEADER = ",".join(COLUMNS)
VERSION = int(re.search(r"kStampsVersion = (\d+);", SCHEMA)[1])
START = 1749147474550000000  # of the same kind as real ones: ns that do not fit a double


def row(**cells):
    values = dict(stamps_version=VERSION, run_id="1795225951-17", test="Sum.Tree", gpu_kernel="sum_tree", launch=0, end="end")
    values.update(cells)
    assert not set(values) - set(COLUMNS), set(values) - set(COLUMNS)
    return ",".join(str(values.get(column, "")) for column in COLUMNS)


def place(name, xyz):
    return {f"{name}_{axis}": value for axis, value in zip("xyz", xyz)}


def launch(level, grid, block, **cells):
    values = dict(record="launch", device="Synthetic GPU", level=level, sm_count=4, blocks_per_sm=2, timer_step_ns=32,
                  overflowed=0, **place("grid", grid), **place("block", block))
    values.update(cells)
    return row(**values)


def step(ns, by=32):
    return ns // by * by


def block_place(number, grid):
    return (number % grid[0], number // grid[0] % grid[1], number // (grid[0] * grid[1]))


def schedule(blocks, durations, sms=4, at_once=2):
    """Hands blocks to the SM that has room first, as a GPU's scheduler does: (sm, begin) of each."""
    free = sorted((slot * 8, slot % sms) for slot in range(sms * at_once))
    placed = []
    for number in range(blocks):
        begin, sm = free.pop(0)
        placed.append((sm, begin))
        free = sorted(free + [(begin + durations[number], sm)])
    return placed


def warps(name, slow=None, grid=(24, 1, 1), work=True, overflow=0, **cells):
    """A launch stamped by warp: 24 blocks of 4 warps in three waves, one straggling warp in block `slow`."""
    rng = random.Random(7)
    blocks, per_block = grid[0] * grid[1] * grid[2], 4
    took = [[2000 + rng.randrange(0, 160) for _ in range(per_block)] for _ in range(blocks)]
    if slow is not None:
        took[slow][2] = 5600
    placed = schedule(blocks, [max(one) + 200 for one in took])
    lines = [launch("warp", grid, (128, 1, 1), overflowed=overflow, **cells)]
    for number, (sm, begin) in enumerate(placed):
        for warp in range(per_block):
            entry = START + begin + 10 * warp
            leave = entry + took[number][warp]
            first = leave - (1500 if number == slow and warp == 2 else 20)
            counted = dict(work=900 if warp == 3 else 3200, work_max=100) if work else {}
            if number >= blocks - overflow // per_block:
                continue
            lines.append(row(record="scope", warp=warp, sm=sm, entry_ns=step(entry), first_exit_ns=step(first),
                             exit_ns=step(leave), entry_cycles=begin + 17 * warp,
                             first_exit_cycles=begin + 17 * warp + (first - entry),
                             exit_cycles=begin + 17 * warp + (leave - entry), **counted,
                             **place("block_idx", block_place(number, grid)),
                             **place("thread_idx", (32 * warp, 0, 0))))
            if work and warp == 3:
                lines.append(row(record="mark", warp=warp, sm=sm, mark=1, times=2, entry_ns=step(entry + 300),
                                 exit_ns=step(entry + 900), **place("block_idx", block_place(number, grid)),
                                 **place("thread_idx", (32 * warp, 0, 0))))
    save(name, lines)


def threads(name, late, timer=32, block=(16, 8, 1), **cells):
    """A launch stamped by thread: `late(lane)` ns after its warp's first."""
    lines = [launch("thread", (2, 1, 1), block, timer_step_ns=timer, **cells)]
    for number in range(2):
        for thread in range(block[0] * block[1]):
            entry = START + 40 * number
            leave = entry + 3000 + late(thread % 32)
            lines.append(row(record="scope", sm=number, warp=thread // 32, entry_ns=step(entry, timer or 1),
                             exit_ns=step(leave, timer or 1), work=100 - late(thread % 32) // 100,
                             **place("block_idx", (number, 0, 0)),
                             **place("thread_idx", (thread % block[0], thread // block[0], 0))))
    save(name, lines)


def page():
    """What kernelretsnoop printed: a thread's place and its exit, no block, no GPU kernel, no timer."""
    lines = []
    for number, part in enumerate(open(os.path.join(DATA, "kernelretsnoop.txt")).read().split("\n\n")):
        test, rest = part.split("\n", 1)
        cells = dict(run_id="kernelretsnoop", test=test.lstrip("# "), gpu_kernel="vectorAdd", launch=number, record="scope")
        for x, y, z, exit_ns in re.findall(r"Thread \((\d+), (\d+), (\d+)\) timestamp: (\d+)", rest):
            lines.append(row(exit_ns=exit_ns, **place("thread_idx", (x, y, z)), **cells))
        for warp, exit_ns in re.findall(r"Warp (\d+) .*timestamp (\d+)", rest):
            lines.append(row(exit_ns=exit_ns, warp=warp, **cells))
    save("kernelretsnoop.csv", lines)


def runs():
    """Runs with stamped GPU kernels: the rows that a process writes for ten launches, before and after a change."""
    sys.path.insert(0, os.path.join(HERE, "../cli"))
    import make_data as cli  # pylint: disable=import-outside-toplevel
    uncounted = dict(outcome="", iterations=1, total_entries="", total_calls="", total_errors="", total_kernel_ns="",
                     user_ns="", system_ns="", overhead_estimate_ns="", voluntary_switches="", involuntary_switches="",
                     minor_faults="", major_faults="", late="", lost="")
    for name, span, spread in ("run_old.csv", 9120, 1472), ("run_new.csv", 6912, 32):
        lines = cli.window("Sum.Tree", [cli.call("ioctl", "desc", [900] * 3)], 90000)
        for i in range(10):
            for figure, ns in ("span", span + 32 * (i % 3)), ("exit spread max", spread + 32 * (i % 2)):
                lines += cli.window("Sum.Tree", [], ns, uncounted, kind="gpu_kernel", window=f"sum_tree {figure}",
                                    repetition=i)
        save(name, lines, cli.HEADER)


def save(name, lines, header=HEADER, end="\n"):
    with open(os.path.join(DATA, name), "w", newline="") as file:
        file.write("\n".join(([header] if header is not None else []) + lines) + end)


def main():
    os.makedirs(DATA, exist_ok=True)
    warps("warps.csv", slow=5, gpu_anchor_ns=START - 1000, host_anchor_ns=5000000, anchor_error_ns=700, plain_ns=10000,
          stamped_ns=10300)
    warps("even.csv", work=False)
    warps("overflowed.csv", slow=5, overflow=32)
    threads("early_return.csv", lambda lane: 2400 if lane == 31 else 0)
    threads("every_eighth.csv", lambda lane: 800 if lane % 8 == 3 else 10 * (lane % 3))
    threads("coarse.csv", lambda lane: 800 if lane % 8 == 3 else 0, timer=1024)
    blocks = [launch("block", (3, 2, 1), (64, 1, 1), sm_count=3, blocks_per_sm=1)]
    for number, (sm, begin) in enumerate(schedule(6, [3000, 3000, 9000, 3000, 3000, 3000], sms=3, at_once=1)):
        took = 9000 if number == 2 else 3000
        blocks.append(row(record="scope", sm=sm, entry_ns=step(START + begin), exit_ns=step(START + begin + took),
                          **place("block_idx", block_place(number, (3, 2, 1))), **place("thread_idx", (0, 0, 0))))
    save("blocks.csv", blocks)
    page()
    runs()
    two = [launch("block", (1, 1, 1), (32, 1, 1), launch=i) + "\n" +
           row(record="scope", launch=i, sm=0, entry_ns=START, exit_ns=START + 4096 * (i + 1)) for i in range(2)]
    old = [line.replace("1795225951-17", "older") for line in two]
    save("launches.csv", old + two)

    good = row(record="scope", warp=0, sm=0, entry_ns=START, exit_ns=START + 640)
    save("empty.csv", [], header=None, end="")
    save("header_only.csv", [])
    save("other_header.csv", [good], header=HEADER.replace("launch", "start"))
    save("torn.csv", [good, good[:-4], good])
    save("bad_cells.csv", [
        row(record="scope", entry_ns="12ms"), row(record="scope", entry_ns=-1),
        row(record="scope", entry_ns=START, exit_ns=START - 32), row(record="scope", exit_ns=START, first_exit_ns=START + 32),
        row(record="scope", block_idx_x=1), row(record="scope", plain_ns=1), row(record="mark", entry_ns=START),
        row(record="scope", mark=1), row(record="kernel"), row(record="launch", level="lane"),
        row(record="launch", grid_x=0, grid_y=1, grid_z=1), row(record="scope", launch=""),
        good, launch("warp", (1, 1, 1), (32, 1, 1)),
        launch("warp", (1, 1, 1), (32, 1, 1), launch=7), launch("warp", (1, 1, 1), (32, 1, 1), launch=7),
        row(record="scope", launch=7, warp=0, exit_ns=START, **place("block_idx", (1, 0, 0)))])
    save("other_version.csv", [good.replace(f"{VERSION},", f"{VERSION + 1},", 1)] * 2)
    save("controls.csv", [good.replace("sum_tree", "sum\x1b[31m_tree")])


if __name__ == "__main__":
    main()
