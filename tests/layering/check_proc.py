#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which sources may use /proc/self/exe, and list the files and threads of /proc/self: check_proc.py SOURCE

/proc may be missing. A path made of an empty link begins at the working directory, where others may have put files, and root would execute
them. So who needs the program's own folder uses os/program_files.h, which gives an absolute path or none. And a list that cannot be read is no
empty one. A use that is not in the tables below, with the reason why nothing goes wrong without /proc, is a fault; so is a line that nothing
needs any more.
"""
import os
import re
import sys

TREES = ("plugin/src", "bench_tool/src")
USES = {
    "program": r'"/proc/self/exe"|\bkOwnProgramLink\b',
    "list": r'"/proc/(?:self|thread-self)/(?:fd|task)"',
    "caller": r"\bAT_EXECFN\b|\bprogram_invocation_name\b",
}
ALLOWED = {
    ("plugin/src/os/program_files.h", "program"): "the helper",
    # The name alone, for rows and messages; empty where it is unknown.
    ("plugin/src/session/run/run_info.cc", "program"): "a name",
    ("plugin/src/session/outside.cc", "program"): "a name",
    ("plugin/src/extras/commands/stub/image.cc", "program"): "a name",
    # The whole link is opened, or the kernel executes it: no path is made of it.
    ("plugin/src/agent/guest/program.cc", "program"): "opened whole",
    ("plugin/src/agent/find/modules.cc", "program"): "opened whole",
    ("plugin/src/session/two_process/counting_process.cc", "program"): "executed whole",
    # A path for the symbolizer, which takes only those that begin with a slash.
    ("plugin/src/extras/where/session/call_sites.cc", "program"): "can_be_read()",
    ("plugin/src/extras/where/dispatch/call_stacks.cc", "program"): "can_be_read()",
    # Without the link, the path of the link itself.
    ("plugin/src/extras/profilers/launcher/tool.cc", "program"): "absolute either way",
    # A file that realpath() finds, or else an absolute path; not for a program with more rights than its caller.
    ("plugin/src/os/program_files.cc", "program"): "absolute either way",
    ("plugin/src/os/program_files.cc", "caller"): "absolute",
    # Of a program that the loader was given: it opened this path itself.
    ("plugin/src/agent/find/modules.cc", "caller"): "the loader's",
    # As the C library of the program has it, for functions of the program.
    ("plugin/src/agent/guest/program.cc", "caller"): "a name",
    # The error ends the work.
    ("bench_tool/src/faults/contained.cc", "list"): "no sweep without it",
    ("plugin/src/os/proc.cc", "list"): "a failure",
    ("plugin/src/extras/leaks/session/open_things.cc", "list"): "a failure",
    ("plugin/src/backends/dispatch/threads.cc", "list"): "check_requirements() refuses",
}
SAMPLES = [
    ('readlink("/proc/self/exe", path, size);', "program"), ('fs::read_symlink("/proc/self/exe", error)', "program"),
    ('opendir("/proc/self/fd")', "list"), ('names_in("/proc/thread-self/task")', "list"), ("getauxval(AT_EXECFN)", "caller"),
    ('"/proc/self/fd/" + number', ""), ("// /proc/self/exe", ""), ('"/proc/self/maps"', ""),
]
COMMENT = re.compile(r'("(?:\\.|[^"\\\n])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)


def uses(text):
    code = COMMENT.sub(lambda found: found.group(1) or re.sub(r"[^\n]", " ", found.group()), text)
    found = {use: re.search(pattern, code) for use, pattern in USES.items()}
    return {use: code.count("\n", 0, where.start()) + 1 for use, where in found.items() if where}


def main():
    source = sys.argv[1]
    faults = [f"the sample {sample} is taken for {sorted(uses(sample))}, not for \"{word}\""
              for sample, word in SAMPLES if sorted(uses(sample)) != ([word] if word else [])]
    seen = set()
    for tree in TREES:
        for folder, _, names in sorted(os.walk(os.path.join(source, tree))):
            for name in sorted(names):
                if not name.endswith((".cc", ".h", ".c", ".inc")):
                    continue
                path = os.path.relpath(os.path.join(folder, name), source)
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    used = uses(file.read())
                for use, line in sorted(used.items()):
                    seen.add((path, use))
                    if (path, use) not in ALLOWED:
                        faults.append(f"{path}:{line}: what does it do without /proc? ({use}) For a program's own folder: os/program_files.h")
    # A file may be missing, if its folder may be deleted.
    faults += [f"{path} has no use of the kind \"{use}\" any more: take that out of the table"
               for path, use in ALLOWED if (path, use) not in seen and os.path.isdir(os.path.join(source, os.path.dirname(path)))]
    for fault in faults:
        print(f"check_proc: {fault}", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
