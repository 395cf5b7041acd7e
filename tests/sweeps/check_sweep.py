#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Sweeps truth_test, of which each outcome is known: check_sweep.py BENCH TRUTH_TEST

Then kills a sweep in the middle, and goes on with its state file: the results must be the same, and neither time may leave
a process or a file.
"""
import csv
import io
import os
import shutil
import signal
import subprocess
import sys
import tempfile

# test, syscall, errno -> outcome and detail ("*": any).
TRUTH = {
    "Reports": {"openat EMFILE": "reported", "openat EACCES": "reported", "write ENOSPC": "reported", "write EIO": "reported",
                "fsync EIO": "reported"},  # close() after fsync has nothing to report
    "Ignores": {"openat EMFILE": "reported", "openat EACCES": "reported", "write ENOSPC": "ignored?", "write EIO": "ignored?",
                "fsync EIO": "ignored?"},
    "NoticesAtTheEnd": {"openat EMFILE": "reported", "openat EACCES": "reported", "write ENOSPC": "reported", "write EIO": "reported",
                        "close EIO": "reported"},
    "WritesOnce": {"openat EMFILE": "reported", "openat EACCES": "reported", "write ENOSPC": "reported", "write EIO": "reported",
                   "close EIO": "reported"},
    "WritesAll": {"openat EMFILE": "reported", "openat EACCES": "reported", "write ENOSPC": "survived", "write EIO": "survived",
                  "close EIO": "reported"},
    "UsesAPipe": {"write ENOSPC": "reported", "write EIO": "reported", "read EIO": "reported"},
    "Survives": {"openat EMFILE": "reported", "openat EACCES": "reported", "write ENOSPC": "survived", "write EIO": "survived",
                 "close EIO": "reported"},
    # A write to descriptor -1 fails: it leaves nothing.
    "Leaks": {"openat EMFILE": "survived", "openat EACCES": "survived", "write ENOSPC": "leaked", "write EIO": "leaked",
              "close EIO": "ignored?"},
    "Crashes": {"openat EMFILE": "crashed SIGSEGV", "openat EACCES": "crashed SIGSEGV"},
    "Aborts": {"openat EMFILE": "crashed SIGABRT", "openat EACCES": "crashed SIGABRT"},
    "Hangs": {"openat EMFILE": "hung", "openat EACCES": "hung"},
    "Exits": {"openat EMFILE": "exited exit code 3 inside the test", "openat EACCES": "exited exit code 3 inside the test"},
    "ExitsWithZero": {"openat EMFILE": "exited exit code 0 inside the test",
                      "openat EACCES": "exited exit code 0 inside the test"},
    "ExitsWithTwo": {"openat EMFILE": "exited exit code 2 inside the test", "openat EACCES": "exited exit code 2 inside the test"},
    "ExitsAtOnce": {"openat EMFILE": "exited exit code 0 inside the test", "openat EACCES": "exited exit code 0 inside the test"},
    "PrintsWhatOthersPrint": {"openat EMFILE": "exited exit code 2 inside the test",
                              "openat EACCES": "exited exit code 2 inside the test"},
    "EndsWith137": {"openat EMFILE": "reported", "openat EACCES": "reported"},
    "IsKilled": {"openat EMFILE": "crashed SIGKILL, which a process sent, or the kernel for want of memory",
                 "openat EACCES": "crashed SIGKILL, which a process sent, or the kernel for want of memory"},
    "ChildCrashes": {"openat EMFILE": "survived, but a child crashed: SIGSEGV",
                     "openat EACCES": "survived, but a child crashed: SIGSEGV"},
    "ChildCrashesAlways": {"openat EMFILE": "survived", "openat EACCES": "survived"},
    "Skips": {"openat EMFILE": "skipped", "openat EACCES": "skipped"},
}


def wanted():
    return sorted((f"Truth.{test}", call, outcome) for test, calls in TRUTH.items() for call, outcome in calls.items())


def found(text):
    rows = csv.DictReader(io.StringIO(text))
    return sorted((row["test"], f"{row['syscall']} {row['errno']}", outcome_of(row)) for row in rows)


def outcome_of(row):
    if row["child"]:
        return f"{row['outcome']}, but a child crashed: {row['child']}"
    return (row["outcome"] + " " + row["detail"]).strip() if row["outcome"] in ("crashed", "exited") else row["outcome"]


def processes_of(folder):
    """Processes that have the environment of a run in `folder`."""
    left = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                if os.fsencode(folder) in file.read():
                    left.append(pid)
        except OSError:
            pass
    return left


def check(is_right, text, *rest):
    if not is_right:
        print(f"check_sweep: {text}", *rest, sep="\n", file=sys.stderr)
        sys.exit(1)


def check_nothing_left(temporary, working, files):
    check(os.listdir(temporary) == [], f"left in TMPDIR: {os.listdir(temporary)}")
    check(sorted(os.listdir(working)) == sorted(files), f"left in the working directory: {os.listdir(working)}")
    left = processes_of(temporary)
    check(left == [], f"processes that still run: {left}")


def main():
    bench, program = (os.path.abspath(path) for path in sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        temporary, working = os.path.join(folder, "tmp"), os.path.join(folder, "here")
        os.mkdir(temporary)
        os.mkdir(working)
        environment = dict(os.environ, TMPDIR=temporary)
        for name in ("SYSCOST_BACKEND", "SYSCOST_CSV"):
            environment.pop(name, None)

        trial = subprocess.run([bench, "run", "--tests", "--backend=dispatch", "--csv", os.path.join(folder, "trial.csv"), "--", program,
                                "--gtest_filter=Truth.MakesNoCalls"], cwd=working, env=environment, capture_output=True, check=False)
        if trial.returncode == 2:
            print("skipped: dispatch cannot be used here", trial.stderr, file=sys.stderr)
            sys.exit(77)

        def sweep(*options):
            tests = () if "--test" in options else ("--test", "Truth.*")
            jobs = () if "--jobs" in options else ("--jobs", "2")
            return [bench, "faults", "--timeout", "3", *jobs, *tests, *options, "--", program]

        def run(*options):
            return subprocess.run(sweep(*options), cwd=working, env=environment, text=True, capture_output=True, check=False)
        whole = run("--format", "csv", "--fail-on", "hung")
        check(whole.returncode == 1, f"exit code {whole.returncode}", whole.stdout, whole.stderr)
        check(found(whole.stdout) == wanted(), "outcomes differ",
              "wanted: %s" % sorted(set(wanted()) - set(found(whole.stdout))),
              "found: %s" % sorted(set(found(whole.stdout)) - set(wanted())))
        check_nothing_left(temporary, working, [])

        # Short writes, and errors that last.
        of_writes = ("--test", "*.Writes*", "--calls", "write", "--format", "csv")
        short = run(*of_writes, "--errnos", "SHORT")
        check(found(short.stdout) == [("Truth.WritesAll", "write SHORT", "survived"), ("Truth.WritesOnce", "write SHORT", "ignored?")],
              "short writes", short.stdout, short.stderr)
        lasting = run(*of_writes, "--lasting", "--errnos", "ENOSPC")
        check(found(lasting.stdout) == [("Truth.WritesAll", "write ENOSPC+", "hung"), ("Truth.WritesOnce", "write ENOSPC+", "reported")],
              "errors that last", lasting.stdout, lasting.stderr)
        check_nothing_left(temporary, working, [])

        # A sweep that fails no call is no success, and names that do not exist are refused before anything runs.
        for options, words in ((("--calls", "fsnyc"), "--calls: 'fsnyc' is not a known syscall. Did you mean 'fsync'?"),
                               (("--errnos", "EFOO"), '--errnos: "EFOO" names no errno'),
                               (("--test", "Nope*"), "no test matches --test Nope*"),
                               (("--test", "*.Reports", "--calls", "%network", "--fail-on", "any"), "no test makes a call of those")):
            none = run(*options)
            check(none.returncode == 2 and words in none.stderr, f"{options}: exit code {none.returncode}", none.stdout, none.stderr)
        check_nothing_left(temporary, working, [])

        # A refused command leaves no state file, so the right command may have the name.
        of_one = os.path.join(folder, "state-of-one")
        refused = run("--state", of_one, "--test", "Nope*")
        check(refused.returncode == 2 and not os.path.exists(of_one), "a refused --test has left its state file", refused.stderr)
        right = run("--state", of_one, "--test", "*.WritesOnce", "--format", "csv")
        check(right.returncode == 0 and os.path.exists(of_one), f"exit code {right.returncode}", right.stderr)
        with open(of_one, "rb") as file:
            before = file.read()
        check(run("--state", of_one, "--test", "Nope*").returncode == 2, "another --test goes on with the state file")
        with open(of_one, "rb") as file:
            check(file.read() == before, "a refused --test has changed the state file")
        check_runner_that_does_not_start(bench, program, folder, environment)
        check_nothing_left(temporary, working, [])

        check_fail_on(run)
        check_names(run)
        check_parts(run)
        check_sanitizer(run, environment)
        check_folder(run, working, environment)
        check_nothing_left(temporary, working, [])

        # Killed when two lines of results are there, whatever runs then.
        for how in (signal.SIGKILL, signal.SIGINT):
            state = os.path.join(folder, f"state-{how.name}")
            process = subprocess.Popen(sweep("--state", state), cwd=working, env=environment, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE)
            wait_for_results(state, 2, process)
            process.send_signal(how)
            # The pipes end when no process of the sweep is left but those that watch over what is removed.
            process.communicate()
            check(process.returncode == (-signal.SIGKILL if how == signal.SIGKILL else 3), f"exit code {process.returncode}")
            if how == signal.SIGINT:
                check_nothing_left(temporary, working, [])
            done = count_results(state)
            check(2 <= done < len(wanted()), f"{done} results before the sweep goes on")
            # At once: the next sweep need not wait until the killed one is gone.
            rest = run("--state", state, "--format", "csv")
            check(rest.returncode == 0, f"exit code {rest.returncode}", rest.stderr)
            check(found(rest.stdout) == wanted(), "outcomes differ after the interrupted sweep has gone on")
            wait_for_empty(temporary)
            check_nothing_left(temporary, working, [])
        other = run("--state", state, "--errnos", "EIO")
        check(other.returncode == 2 and "is of another sweep" in other.stderr, other.stderr)
    print(f"{len(wanted())} failures with their outcomes, three times")


def check_fail_on(run):
    """A failure that ends a test by exit(2) is no refusal: a sweep with it is not green."""
    for test, words in (("ExitsWithTwo", "1 exited"), ("ExitsAtOnce", "1 exited"),
                        ("ChildCrashes", "survived, but a child of the test crashed: SIGSEGV")):
        red = run("--test", f"*.{test}", "--calls", "openat", "--errnos", "EMFILE", "--fail-on", "any")
        check(red.returncode == 1 and words in red.stdout, f"{test}: exit code {red.returncode}", red.stdout, red.stderr)


def check_names(run):
    """Signs of GoogleTest's filter in a name: swept if another filter selects it alone, else not, with the reason."""
    named = run("--test", "Named.*", "--calls", "openat", "--errnos", "EMFILE")
    check(named.returncode == 0 and "2 tests, 2 failures: 2 reported" in named.stdout, f"exit code {named.returncode}", named.stdout,
          named.stderr)
    check("--gtest_filter=Named.twin?1 selects Named.twin_1, too: Named.twin-1" in named.stdout, "no reason", named.stdout)
    found_rows = found(run("--test", "Named.*", "--calls", "openat", "--errnos", "EMFILE", "--format", "csv").stdout)
    check(found_rows == [("Named.a-b:c", "openat EMFILE", "reported"), ("Named.twin_1", "openat EMFILE", "reported")], found_rows)


def check_parts(run):
    parts = run("--test", "Fixture.*:Truth.Reports", "--calls", "openat")
    check("4 of 4 failures that a test met were reported or survived (100 %): 2 of 2 in the bodies of tests, "
          "2 of 2 in what sets them up and tears them down" in parts.stdout.replace("\n  ", " "), parts.stdout, parts.stderr)


def state_of(folder):
    """Names, modes, times and contents."""
    state = {}
    for here, folders, files in os.walk(folder):
        for name in folders + files:
            path = os.path.join(here, name)
            status = os.lstat(path)
            contents = open(path, "rb").read() if name in files else b""
            state[path] = (status.st_mode, status.st_mtime_ns if name in files else 0, contents)
    return state


def check_folder(run, working, environment):
    """A test that writes into the user's folders: they stay as they are, or the sweep names what has changed and is not green."""
    environment["SWEEPS_FOLDER"] = working
    os.mkdir(os.path.join(working, "data"))
    with open(os.path.join(working, "data", "log"), "wb") as file:
        file.write(b"before")
    before = state_of(working)
    of_folder = ("--test", "Folder.IsMadeAndRemoved", "--calls", "mkdir,rmdir,openat", "--errnos", "EIO")
    for cwd in ((), ("--cwd", "copy")):
        kept = run(*of_folder, *cwd)
        check(kept.returncode == 0 and state_of(working) == before, f"{cwd}: exit code {kept.returncode}", kept.stdout, kept.stderr)
    check("3 failures: 3 reported" in kept.stdout, kept.stdout)
    for options, name in (((*of_folder, "--cwd", "links", "--jobs", "1"), "data/x/"),
                          (("--test", "Folder.GetsAFileByItsWholeName", "--calls", "write", "--errnos", "EIO"), "data/new")):
        told = run(*options)
        check(told.returncode == 2 and f"  made: {name}\n" in told.stderr and "another program" in told.stderr and
              "changed: data/log\n" not in told.stderr, f"{options}: exit code {told.returncode}", told.stdout, told.stderr)
        path = os.path.join(working, name)
        (os.rmdir if name.endswith("/") else os.unlink)(path)

    # What changes without a failure, too, is none of the sweep, also not of one that goes on after its learning.
    state = os.path.join(os.path.dirname(working), "state-of-folder")
    always = ("--test", "Folder.IsNamedWhole", "--calls", "write", "--errnos", "EIO", "--state", state)
    for _ in range(2):
        quiet = run(*always)
        check(quiet.returncode == 0 and quiet.stderr == "" and
              "while no call failed: changed: data/log, made: data/of-" in quiet.stdout, f"exit code {quiet.returncode}", quiet.stdout,
              quiet.stderr)
        forget_results(state)

    # What an earlier part of a sweep did is in the report, and the part that goes on is judged alone.
    state = os.path.join(os.path.dirname(working), "state-of-harm")
    harms = ("--test", "Folder.GetsAFileByItsWholeName", "--calls", "write", "--errnos", "EIO", "--state", state)
    check(run(*harms).returncode == 2, "the first part is quiet")
    later = run(*harms)
    check(later.returncode == 0 and later.stderr == "" and "made: data/new" in later.stdout, f"exit code {later.returncode}",
          later.stdout, later.stderr)
    here = run("--test", "Folder.IsNamedWhole", "--calls", "write", "--errnos", "EIO", "--cwd", "here")
    check(here.returncode == 0 and "changed: data/log" in here.stdout, f"exit code {here.returncode}", here.stdout, here.stderr)
    shutil.rmtree(os.path.join(working, "data"))


def forget_results(state):
    """As if the sweep had been killed before its first failure."""
    with open(state, encoding="utf-8") as file:
        lines = file.readlines()
    with open(state, "w", encoding="utf-8") as file:
        file.writelines(line for line in lines if not line.startswith('{"failure"'))


def check_sanitizer(run, environment):
    """A test that fails if sanitizers write to a file is swept without one; a file that the user has named stays."""
    of_report = ("--test", "Sanitizer.ReportIsInTheOutput", "--calls", "openat", "--errnos", "EMFILE")
    swept = run(*of_report)
    check(swept.returncode == 0 and "1 test, 1 failure: 1 reported" in swept.stdout, f"exit code {swept.returncode}", swept.stdout,
          swept.stderr)
    named = os.path.join(environment["TMPDIR"], "named")
    environment["LSAN_OPTIONS"] = f"log_path={named}"
    kept = run(*of_report)
    del environment["LSAN_OPTIONS"]
    check(kept.returncode == 2 and "alone it is failed" in kept.stderr, f"exit code {kept.returncode}", kept.stdout, kept.stderr)
    os.unlink(named + ".1")


def check_runner_that_does_not_start(bench, program, folder, environment):
    """A bench beside a syscost-run that lacks a library."""
    copy = os.path.join(folder, "half", "bin", "bench")
    runner = os.path.join(folder, "half", "libexec", "syscost", "syscost-run")
    os.makedirs(os.path.dirname(copy))
    os.makedirs(os.path.dirname(runner))
    shutil.copy(bench, copy)
    with open(runner, "w", encoding="utf-8") as file:
        file.write('#!/bin/sh\necho "$0: error while loading shared libraries: libsyscost.so.0: not found" >&2\nexit 127\n')
    os.chmod(runner, 0o755)
    state = os.path.join(folder, "state-of-half")
    done = subprocess.run([copy, "faults", "--state", state, "--", program], env=environment, text=True, capture_output=True, check=False)
    check(done.returncode == 2 and "libsyscost.so.0: not found\n`bench faults` needs the whole of syscost." in done.stderr,
          f"exit code {done.returncode}", done.stdout, done.stderr)
    check(not os.path.exists(state), "the sweep that could not begin has left its state file")


def count_results(state):
    with open(state, encoding="utf-8") as file:
        return sum(line.startswith('{"failure"') for line in file)


def wait_for_results(state, count, process):
    """Returns when `count` results are in the file."""
    while process.poll() is None:
        if os.path.exists(state) and count_results(state) >= count:
            return
        pause()
    check(False, "the sweep ended before it could be interrupted", process.communicate())


def wait_for_empty(folder):
    """The last one to remove something after SIGKILL is no child of this process."""
    while os.listdir(folder):
        pause()


def pause():
    signal.sigtimedwait([], 0.02)


if __name__ == "__main__":
    main()
