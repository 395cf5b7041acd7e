#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A room of extras can be deleted: rooms_test.py SOURCE WORK [ROOM]...

For each ROOM, by default each that can be: copies the tree into WORK, deletes the room and the lines that name it in the
lists beside the rooms (docs/architecture.md, "The rooms of extras"), builds libsyscost and a demo, and runs the demo. It
must refuse the room's flag then.

Tests of the room, and public headers that it alone defines, would have to go, too. A room can be deleted if no source outside of it includes one of its files; BPF sources do not count, because the object
is committed. Rooms that could be deleted once (EXPECTED) must stay so.
"""
import os
import re
import shutil
import subprocess
import sys

EXPECTED = {"children", "crash", "leaks", "scheduler"}
FLAGS = {"children": "children", "leaks": "leaks", "scheduler": "sched"}  # go with their room
EXTRAS = "plugin/src/extras"
WORD = re.compile(r"[A-Za-z_]\w*")
NO_CODE = re.compile(r'//[^\n]*|"(?:[^"\\\n]|\\.)*"')


def sources(tree, folder):
    for at, _, names in os.walk(os.path.join(tree, folder)):
        for name in names:
            if name.endswith((".cc", ".h")) and not name.endswith(".bpf.h"):
                yield os.path.join(at, name)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def words(text):
    return set(WORD.findall(NO_CODE.sub(" ", text)))


def lists(tree):
    """The options of extras are members of one class, which keeps those of a room that is gone."""
    folder = os.path.join(tree, EXTRAS)
    return [os.path.join(folder, name) for name in sorted(os.listdir(folder))
            if name.endswith((".cc", ".h")) and name != "extra_options.h"]


def is_deletable(tree, room):
    inside = os.path.join(tree, EXTRAS, room) + os.sep
    beside = set(lists(tree))
    return not any(f'"extras/{room}/' in read(path) for path in sources(tree, "plugin/src")
                   if not path.startswith(inside) and path not in beside)


def delete(tree, room):
    """Deletes the room, and in the lists each line with a name that only the room and the lists have."""
    inside = os.path.join(tree, EXTRAS, room) + os.sep
    beside = lists(tree)
    own, other = set(), set()
    for path in sources(tree, "plugin"):
        if path not in beside:
            (own if path.startswith(inside) else other).update(words(read(path)))
    only = own - other
    shutil.rmtree(inside)
    for path in beside:
        kept = [line for line in read(path).splitlines(keepends=True)
                if f'"extras/{room}/' not in line and not only & words(line)]
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(kept)


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"rooms_test: {' '.join(command)}: exit code {done.returncode}\n{done.stdout[-6000:]}")
    return done.stdout


def try_without(source, work, room):
    tree = os.path.join(work, room)
    shutil.rmtree(tree, ignore_errors=True)
    os.makedirs(tree)
    names = subprocess.run(["git", "-c", f"safe.directory={source}", "-C", source, "ls-files", "-z", "--", ".", ":!docs",
                            ":!tests"], capture_output=True, check=True).stdout.decode().split("\0")
    for name in names:
        if not os.path.isfile(os.path.join(source, name)) and not os.path.islink(os.path.join(source, name)):
            continue
        target = os.path.join(tree, name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy2(os.path.join(source, name), target, follow_symlinks=False)
    delete(tree, room)
    build = os.path.join(tree, "build")
    run("cmake", "-S", tree, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=None", "-DCMAKE_CXX_FLAGS=-O0",
        "-DSYSCOST_BUILD_TESTS=OFF", "-DCMAKE_UNITY_BUILD=ON")
    run("cmake", "--build", build, "--target", "demo_batched_writes", "syscost")
    rows = os.path.join(tree, "rows.csv")
    demo = os.path.join(build, "bin/demo_batched_writes")
    run(demo, "--cycles", "1", "--repeats", "1", f"--syscost_csv={rows}")
    if ",write," not in read(rows):
        sys.exit(f"rooms_test: without {room}, the demo's rows have no write")
    if flag := FLAGS.get(room):
        refused = subprocess.run([demo, "--cycles", "1", f"--syscost_{flag}"], capture_output=True, text=True, check=False)
        if refused.returncode != 2 or f"syscost_{flag}" not in refused.stderr:
            sys.exit(f"rooms_test: without {room}, --syscost_{flag} is not refused: exit code {refused.returncode}\n"
                     f"{refused.stderr}")
    print(f"without {room}: builds, and counts", flush=True)
    shutil.rmtree(tree)


def main():
    source, work, chosen = sys.argv[1], sys.argv[2], sys.argv[3:]
    folder = os.path.join(source, EXTRAS)
    rooms = sorted(name for name in os.listdir(folder) if os.path.isdir(os.path.join(folder, name)))
    deletable = {room for room in rooms if is_deletable(source, room)}
    print("can be deleted: " + ", ".join(sorted(deletable)) + "; others use: " + ", ".join(sorted(set(rooms) - deletable)))
    if missing := EXPECTED - deletable:
        sys.exit(f"rooms_test: sources outside of these rooms include their files now: {', '.join(sorted(missing))}")
    for room in chosen or sorted(deletable):
        try_without(source, work, room)


if __name__ == "__main__":
    main()
