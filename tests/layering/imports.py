#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What our code in a measured process calls by a name that the program may define: imports.py FILE...

A program may define write(), clock_gettime() or any other function of libc, and then each call by that name goes to it. So a shared library
of ours imports none of these names (plugin/src/libc/names.inc), and an archive that programs link calls none (SYSCOST_LIBC in
plugin/src/libc/symbols.h). Each name that may be imported or called is in a list below, with the reason. The C++ library calls libc's
functions by name, too: so its files, clocks and threads must not be used either.

The headers make other names of a call, as the compiler's flags say: __read_chk of read with -D_FORTIFY_SOURCE, open64 of open with
-D_FILE_OFFSET_BITS=64. A distribution builds with such flags, we do not. So where FILE is names.inc itself, it must list these for each
name that it or the list below has.
"""
import re
import subprocess
import sys

ALLOWED = {
    "compilers and the headers of the C++ library call them by themselves: a program that defines one must do what libc does":
        "mem(chr|cmp|cpy|move|set)|str(len|cmp)",
    "the program's heap, which is meant: what one side allocates, the other side may free":
        "malloc|calloc|free|_Zn[wa](?!.*St11align_val_t).*|_Zd[la].*",
    "variables by libc's own, reserved names, beside which the linker lists their other names: a program that defines one must do what "
    "libc does":
        "__environ|_?environ|__progname|program_invocation_short_name|__libc_single_threaded",
    "variables of C: without them the program itself cannot print":
        "stdout|stderr",
    "the loader's list of modules: it is looked at before it is believed":
        "_r_debug",
    "what compilers call: reserved names, of libgcc, of the C++ runtime or of the start-up code":
        "_ITM_.*|__gmon_start__|_Unwind_.*|__cxa_.*|__gxx_personality_v0|__dynamic_cast|__(u?div|popcount)[a-z]*\\d|__tls_get_addr|"
        "__once_proxy|__dso_handle|_GLOBAL_OFFSET_TABLE_|DW\\.ref\\..*|__stack_chk_fail|_DYNAMIC",
    "functions of libsyscost and of the framework that the archive is for":
        "syscost_.*|_ZN?K?T?[VISC]*(\\d?N)?K?(7syscost|14syscost_absent|7testing|9benchmark|5Catch|7doctest).*|_ZZ?(GV)?N?K?7syscost.*|"
        "_ZGVZN7syscost.*|__real_.*",
    "a checked form of these that _FORTIFY_SOURCE makes":
        "__(mem|st[pr]n?)(cpy|move|set|cat)_chk",
    "compute, or end the program at an error of ours: only a build that is not optimised calls them":
        "atoi|ceil|floor|gnu_dev_(major|minor)|pthread_equal|__assert_fail",
    "kept by the library itself, and not by the program: the linker takes it from libc's static part, or it only reads a register":
        "atexit|pthread_atfork|pthread_self",
}
# Of the C++ library: everything but what makes system calls.
CPP = re.compile(r"_Z")
CPP_CALLS = re.compile(r"basic_[io]?fstream|basic_filebuf|__basic_file|filesystem|chrono|St6thread|random_device|condition_variable|"
                       r"this_thread|_ZS[t]?4c(out|err|log|in)|_ZSt4c(out|err|log|in)")
CPP_PATHS = re.compile(r"_ZNK?St10filesystem7__cxx114path|_ZNSt6chrono8duration|_ZTI|_ZTS")
OURS = re.compile(r"_ZN7syscost.*|syscost_.*|_GLOBAL_OFFSET_TABLE_")
# What glibc's headers make of a name, where libc has that.
FORMS = ("__{}_chk", "__{}_2", "__isoc99_{}", "__isoc23_{}", "{}64", "__{}64_chk", "__{}64_2")
SANITIZER = re.compile(r"__(asan|tsan|ubsan|msan|sanitizer)_")
ALLOWED_NAMES = re.compile("|".join(f"(?:{names})" for names in ALLOWED.values()))


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def imported(library):
    """The undefined names of a shared library."""
    for line in output("nm", "-D", "--undefined-only", library).splitlines():
        yield line.split()[-1].split("@")[0]


def called(archive):
    """The names that an archive's code calls, and does not define: by relocations that may lead through the PLT."""
    defined = {line.split()[-1] for line in output("nm", "--defined-only", archive).splitlines() if len(line.split()) == 3}
    for line in output("readelf", "--relocs", "--wide", archive).splitlines():
        parts = line.split()
        if len(parts) > 4 and parts[2] in ("R_X86_64_PLT32", "R_X86_64_PC32") and parts[4] not in defined and parts[4][0] != ".":
            yield parts[4]


def foreign(code):
    """The undefined names of an object file of the code that links nothing, but for those that it defines elsewhere."""
    for line in output("nm", "--undefined-only", code).splitlines():
        if not OURS.fullmatch(line.split()[-1]):
            yield line.split()[-1]


def is_allowed(name):
    if SANITIZER.match(name):
        return True
    if CPP.match(name) and CPP_CALLS.search(name) and not CPP_PATHS.match(name):
        return False
    return bool(ALLOWED_NAMES.fullmatch(name)) or bool(CPP.match(name))


def forms_left_out(names_file):
    """What the headers may make of the names that our code may call, and names.inc does not list."""
    with open(names_file, encoding="utf-8") as file:
        listed = set(re.findall(r"^SYSCOST_NAME\((\w+)\)", file.read(), re.MULTILINE))
    with open("/proc/self/maps", encoding="utf-8") as maps:
        libc = next((line.split()[-1] for line in maps if line.rstrip().endswith("/libc.so.6")), None)
    defined = {line.split()[-1].split("@")[0] for line in output("nm", "-D", "--defined-only", libc).splitlines()} if libc else set()
    for name in listed | {name for name in defined if is_allowed(name)}:
        yield from (form for form in (form.format(name) for form in FORMS)
                    if form in defined and form not in listed and not is_allowed(form))


def main():
    faults = 0
    for path in (path for path in sys.argv[1:] if path.endswith(".inc")):
        for name in sorted(set(forms_left_out(path))):
            faults += 1
            print(f"imports: {path} lacks {name}, which the headers may make of a name that we may call", file=sys.stderr)
    for path in (path for path in sys.argv[1:] if path.endswith(".o")):
        for name in sorted(set(foreign(path))):
            faults += 1
            print(f"imports: {path} uses {name}, and links nothing: SYSCOST_WITHOUT_LIBRARY_CHECKS is for that", file=sys.stderr)
    for path in (path for path in sys.argv[1:] if not path.endswith((".inc", ".o"))):
        for name in sorted(set((called if path.endswith(".a") else imported)(path))):
            if is_allowed(name):
                continue
            faults += 1
            remedy = ("the C++ library calls libc by names: use plugin/src/os/files.h or libc/clock_and_mutex.h" if CPP.match(name) else
                      f"write SYSCOST_LIBC({name})(...)" if path.endswith(".a") else "add it to plugin/src/libc/names.inc")
            print(f"imports: {path} calls {name}, which a program may define: {remedy}", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
