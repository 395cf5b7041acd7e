#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which sources may open, create, write, rename or remove files by themselves: check_files.py SOURCE [--print]

Names that others may have chosen, and links, FIFOs and folders that they put there, are the business of a few files:
plugin/src/os/files.h opens and replaces files, temporary_folder.h removes folders, and bench's render/output_file.h decides which files it
may replace. A call that goes around them is a fault, unless the table below has it with its reason. A line of the table that nothing
uses is a fault, too. --print writes the calls that were found.
"""
import os
import re
import sys

TREES = ("plugin/src", "bench_tool/src")
HELPERS = ("plugin/src/os/files.", "plugin/src/os/temporary_folder.")

# What is searched for, by the word that stands in the table.
CALLS = {
    "stream": r"\bstd::(?:basic_)?[io]?fstream\b|\bf(?:re)?open(?:64)?\s*\(",
    "create": r"\bO_CREAT\b|\bO_TMPFILE\b|\bcreat(?:64)?\s*\(",
    "temporary": r"\bmko?s?temps?(?:64)?\s*\(|\bmkdtemp\s*\(|\btmpfile\s*\(|\bte?mpnam(?:_r)?\s*\(",
    "folder": r"\bmkdir(?:at)?\s*\(|\bcreate_director(?:y|ies)\s*\(",
    "rename": r"\brename(?:at2?)?\s*\(",
    "remove": r"\b(?:fs|filesystem)::remove(?:_all)?\s*\(|\bunlink(?:at)?\s*\(|\brmdir\s*\(|\bstd::remove\s*\(\s*\w+\.c_str",
    "link": r"\bsymlink(?:at)?\s*\(|\blink(?:at)?\s*\(|\bcreate_(?:hard_|directory_)?(?:sym)?link\s*\(",
    "copy": r"\bcopy_(?:file|symlink)\s*\(|\b(?:fs|filesystem)::copy\s*\(",
    # By descriptor, bytes and size; and all others, but for messages.
    "write": r"(?<![\w.>:])(?:::)?write\s*\((?:[^(),;]|\([^()]*\))+,(?:[^(),;]|\([^()]*\))+,(?:[^(),;]|\([^()]*\))+\)"
             r"|(?<![\w.>])(?:pwrite(?:64|v2?)?|writev|copy_file_range|sendfile|v?dprintf)\s*\("
             r"|(?<![\w.>])(?:std::)?(?:fwrite|fputs|f?putc|fputc|v?fprintf)\s*\((?![^;]*\bstd(?:err|out)\b)",
    "cut": r"(?<!f)\btruncate(?:64)?\s*\(|\bresize_file\s*\(",
}
# A file, what it does by itself, and why.
ALLOWED = {
    # They look at calls of the program, and make none.
    "plugin/src/arguments/call_text.cc": ["create"],
    "plugin/src/backends/dispatch/stub/call_files.cc": ["create"],
    "plugin/src/extras/crash/states/journal.cc": ["link", "rename"],
    "plugin/src/extras/where/symbols/helper/confine.cc": ["create"],
    # Streams read files of /proc and /sys, which the kernel writes.
    "plugin/src/agent/inject/permission.cc": ["stream"],
    # The folder that the user named for artifacts.
    # They read a file of their own folder.
    "plugin/src/bench_run/programs.cc": ["create", "stream"],
    "plugin/src/bench_run/row_file.cc": ["stream"],
    # What is appended to is not replaced: the CSV, under a lock.
    "plugin/src/csv/sink.cc": ["create", "write"],
    # Below a folder of which the owner was looked at, by its descriptor, and without links.
    "plugin/src/extras/profilers/session/artifacts.cc": ["create", "folder", "remove"],
    "plugin/src/extras/profilers/session/profiler_session.cc": ["remove"],
    "plugin/src/extras/gpu/stamps/record.cc": ["create"],
    # Folders that only this user can enter.
    "plugin/src/extras/crash/states/trials.cc": ["remove"],
    # The states of a directory, in such a folder.
    "plugin/src/extras/crash/states/image.cc": ["create", "folder", "link"],
    # To pipes, and to files that the kernel reads.
    "plugin/src/bench_run/command.cc": ["write"],
    "plugin/src/extras/gpu/cupti/library.cc": ["write"],
    "plugin/src/extras/profilers/launcher/main.cc": ["write"],
    "plugin/src/extras/profilers/launcher/tool.cc": ["write"],
    "plugin/src/session/two_process/counting_process.cc": ["write"],
    # To no file: strace shows it.
    "plugin/src/session/windows/measurement.h": ["write"],
    # They hold SIGXFSZ themselves: the two without os/files.cc, and messages.
    "plugin/src/agent/exec/passing_on.cc": ["write"],
    "plugin/src/agent/inject/main.cc": ["write"],
    "plugin/src/os/errors.cc": ["write"],
    "plugin/src/os/message_output.cc": ["write"],
    # A function of their own.
    "bench_tool/src/commands/compare/compare_ci.cc": ["write"],
    "bench_tool/src/commands/report/report.cc": ["write"],
    # The helper's socket and lock, in a folder that only root can write to.
    "plugin/src/backends/ebpf/helper/main.cc": ["create", "folder", "remove"],
    # The CSV that a program of ours writes.
    "bench_tool/src/commands/watch/watch.cc": ["stream"],
    # In a folder that only this user can enter, or that the user named and that was empty.
    "bench_tool/src/commands/shared/command_runs.cc": ["folder"],
    "bench_tool/src/commands/ab/ab.cc": ["remove"],
    # The folder of one run of `bench faults`, in one that only this user can enter.
    "bench_tool/src/faults/contained.cc": ["temporary"],
    "bench_tool/src/faults/keeper.cc": ["folder", "stream", "write"],
    "bench_tool/src/faults/run_folder.cc": ["copy", "folder", "link"],
    "bench_tool/src/faults/sweep.cc": ["remove"],
    # What is appended to is not replaced: the state of a sweep, under a lock, by its owner alone.
    "bench_tool/src/faults/state_file.cc": ["create", "remove"],
}
# The rule is tried both ways: what it must find, and what it must not.
SAMPLES = [
    ("pwrite(file, bytes.data(), bytes.size(), 0);", "write"), ("writev(file, parts, 2);", "write"), ("dprintf(file, text);", "write"),
    ("std::fwrite(rows.data(), 1, rows.size(), file);", "write"), ("std::fputs(text.c_str(), stderr);", ""),
    ('std::fprintf(\n stderr, "bench: %s\\n", why.c_str());', ""), ("process_vm_writev(process, &local, 1, &remote, 1, 0);", ""),
    ("std::ofstream out(path);", "stream"), ("  FILE* f = ::fopen(path, mode);", "stream"), ("if (!std::fopen(p, m)) {", "stream"),
    ("int fd = ::open(path, O_WRONLY | O_CREAT, 0600);", "create"), ("  return mkstemp(name);", "temporary"),
    ("if (::mkdtemp(name.data()) == nullptr)", "temporary"), ("fs::create_directories(path, error);", "folder"),
    ("std::filesystem::remove_all(path);", "remove"), ("  unlink(path.c_str());", "remove"), ("std::remove(path.c_str());", "remove"),
    ("if (std::rename(a, b) != 0)", "rename"), ("fs::copy_file(a, b);", "copy"), ("truncate(path, 0);", "cut"),
    ("fs::create_symlink(a, b);", "link"), ("\"// \"; unlink(p);", "remove"), ("char c = '\"'; unlink(p);", "remove"),
    ("// unlink(p);", ""), ("say(\"unlink(2)\");", ""), ("tree.unlink(name);", ""), ("void unlink(Name name) {", ""),
    ("  const ssize_t n = ::write(fd, text, size);", "write"), ("if (write(fd, &byte, 1) != 1)", "write"), ("sink.write(rows);", ""),
    ("ftruncate(fd, 0);", ""), ("v.erase(std::remove(v.begin(), v.end(), 1));", ""), ("case SYS_unlink:", ""),
]
# Comments and texts, which only speak of such calls. A quote in a character is none.
OTHER_TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|' + r"'(?:\\.|[^'\\\n])'", re.DOTALL)
# Functions of ours with such a name: declared, defined, or of an object.
OURS = re.compile(r"(?:\b\w+(?:<[^;<>]*>)?[&*]?\s+|\.|->|\b\w+::)$")
LIBC = re.compile(r"(?:\b(?:return|if|else|while|do)\s+|(?:^|[^\w])(?:std|fs|filesystem)::|(?:^|[^\w:])::)$")


def calls(text):
    """The words of CALLS that `text` uses, with the line of the first of each."""
    code = OTHER_TEXT.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)
    used = {}
    for word, pattern in CALLS.items():
        for found in re.finditer(pattern, code):
            before = code[max(0, found.start() - 80):found.start()]
            if OURS.search(before) and not LIBC.search(before):
                continue
            used.setdefault(word, code.count("\n", 0, found.start()) + 1)
            break
    return used


# A path in the folder that all tests have, to the end of its statement.
IN_COMMON_FOLDER = re.compile(r'(?:TempDir\(\)\s*\+|temp_directory_path\(\)\s*/)\s*\(?\s*"(?:\\.|[^"\\])*"[^;]*;')
NAME_SAMPLES = [
    ('path = TempDir() + "rows.csv";', 1), ('path = fs::temp_directory_path() / "a.json";', 1), ('x = TempDir() +\n   "rows.csv";', 1),
    ('p = TempDir() + "a.XXXXXX";', 0), ('p = TempDir() + "a." + std::to_string(::getpid()); q = TempDir() + name;', 0),
    ('p = temp_directory_path() / ("a." +\n std::to_string(::getpid()));', 0),
]


def fixed_names(text):
    """The lines of paths in the folder of all tests that another test may have, too."""
    return [text.count("\n", 0, found.start()) + 1 for found in IN_COMMON_FOLDER.finditer(text)
            if not re.search(r"XXXXXX|getpid", found.group())]


def main():
    source = sys.argv[1]
    faults = [f"the sample {sample} has {len(fixed_names(sample))} fixed names" for sample, number in NAME_SAMPLES
              if len(fixed_names(sample)) != number]
    faults += [f"the sample {sample} is taken for {sorted(calls(sample))}, not for \"{word}\""
              for sample, word in SAMPLES if sorted(calls(sample)) != ([word] if word else [])]
    seen = set()
    for tree in TREES:
        for folder, _, names in sorted(os.walk(os.path.join(source, tree))):
            for name in sorted(names):
                path = os.path.relpath(os.path.join(folder, name), source)
                if not name.endswith((".cc", ".h")) or path.startswith(HELPERS):
                    continue
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    used = calls(file.read())
                for word, line in sorted(used.items()):
                    seen.add((path, word))
                    if "--print" in sys.argv:
                        print(f"{path}:{line}: {word}")
                    if word not in ALLOWED.get(path, []):
                        faults.append(f"{path}:{line}: goes around os/files.h, os/temporary_folder.h and render/output_file.h ({word})")
    # Tests run in parallel, of several builds too: two that write to one path read each other's file.
    for folder, _, names in sorted(os.walk(os.path.join(source, "tests"))):
        for name in sorted(name for name in names if name.endswith((".cc", ".h"))):
            path = os.path.join(folder, name)
            with open(path, encoding="utf-8") as file:
                faults += [f"{os.path.relpath(path, source)}:{line}: a fixed name in the folder of all tests: add XXXXXX or getpid()"
                           for line in fixed_names(file.read())]
    # A file may be missing, if its folder may be deleted.
    faults += [f"{path} has no call of the kind \"{word}\" any more: take that out of the table"
               for path, words in ALLOWED.items() for word in words
               if (path, word) not in seen and os.path.isdir(os.path.join(source, os.path.dirname(path)))]
    for fault in faults:
        print(f"check_files: {fault}", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
