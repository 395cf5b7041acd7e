# SPDX-License-Identifier: MIT
"""What each hostile case must come to, where that is not `=`, and why; and the page that shows it.

A reason that begins with `open:` names a finding that is being repaired: such an entry goes with the repair. W, C and V
without that word need a reason that the documents give to the user."""
import collections
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
from backends import BACKENDS  # pylint: disable=wrong-import-position

# From good to bad. `?` is a case that fails bare.
RANK = {"-": 0, "=": 0, "R": 1, "V": 2, "W": 3, "C": 4, "?": 5}

Known = collections.namedtuple("Known", "letter backends cases reason")

EBPF, SECCOMP = ("ebpf",), ("seccomp",)
DISPATCH = ("dispatch", "dispatch-trap")
ALL = BACKENDS

KNOWN = [
    Known("R", DISPATCH, ("sigsys_by_signalfd", "sigsys_kills_a_child_later"), "this backend does not count a program that reads SIGSYS from a signalfd"),
    Known("R", DISPATCH, ("gs_base_on_main_thread", "gs_selector_on_main_thread", "gs_base_and_back", "gs_base_nowhere",
                          "gs_base_into_a_copy", "gs_base_on_a_thread", "gs_selector_on_a_thread"),
          "this backend does not count a program that uses gs itself"),
    Known("R", DISPATCH, ("strict_mode_in_a_thread", "kill_filter_in_a_thread", "killed_for_sigreturn"),
          "the filter forbids calls that this backend needs: it stops counting before the filter begins"),
    Known("R", DISPATCH, ("gs_base_by_syscall",), "this backend does not count a program that uses gs itself"),
    Known("R", DISPATCH, ("sigsys_blocked_without_a_clock",), "this backend does not count a program that forbids itself the time-stamp counter"),
    Known("R", DISPATCH, ("dispatch_and_no_clock", "own_action_after_dispatch"), "this backend does not count a program that uses Syscall User Dispatch itself"),
    Known("R", DISPATCH, ("prctl_answers_eperm", "thread_of_a_static_initialiser"), "a thread that the backend does not see is one lost event"),
    Known("W", ALL, ("becomes_a_daemon", "child_takes_over", "parent_waits_for_successor"),
          "a forked child that continues the tests is not measured: a message says so, and the exit code is the program's own"),
    Known("R", ALL, ("more_syscalls_than_there_is_room",), "a run has room for 128 different syscalls; calls of further ones are lost"),
    Known("R", ALL, ("locks_the_csv", "child_keeps_the_csv_locked"), "rows cannot be written while another process locks the file"),
    Known("V", SECCOMP, ("tracer_answers_a_filter", "filter_asks_no_tracer", "hidden_filter_asks_no_tracer"),
          "of two filters the kernel takes the answer of the one that counts, and asks no tracer: a message says so, and the counts of the test are void"),
    Known("R", EBPF, ("gettid_answers_eperm", "own_calls_answer_eperm", "writing_answers_enospc",
                      "loops_under_a_narrow_filter"), "the filter denies calls that syscost makes between windows"),
    Known("R", DISPATCH + SECCOMP, ("own_calls_answer_eperm", "loops_under_a_narrow_filter"),
          "the filter denies calls that syscost makes between windows"),
    Known("R", EBPF, ("child_closes_our_descriptors", "closes_everything", "takes_every_number", "puts_sockets_in_our_place"),
          "the backend needs its descriptors; syscost opens it again for the next window"),
    Known("R", EBPF, ("raw_fork_child_shuts_sockets_down",),
          "the child shares the process's connection to the helper; syscost opens another one for the next window"),
    Known("R", ALL, ("leaves_no_number",), "rows cannot be written, because no descriptor is free"),
    Known("R", ALL, ("file_size_0", "start_with_files_of_0_bytes", "csv_becomes_a_pipe"), "rows cannot be written"),
    Known("R", ALL, ("removes_the_csv", "csv_becomes_a_link"), "rows that were in the file are gone"),
    Known("R", ALL, ("start_with_little_data",), "syscost would leave no room for a thread of the program"),
    Known("R", EBPF, ("start_with_8_descriptors", "start_with_10_descriptors"), "the BPF programs need more descriptors"),
    Known("R", EBPF, ("start_with_20_descriptors", "start_with_memfd_denied"), "libbpf 1.5 (Debian 13) needs more descriptors, and memfd_create"),
    Known("R", EBPF, ("start_as_nobody", "start_as_nobody_without_processes", "start_in_a_user_namespace", "start_in_a_user_namespace_unmapped",
                      "start_in_all_namespaces"), "eBPF needs CAP_BPF and CAP_PERFMON outside of user namespaces"),
    Known("R", DISPATCH + SECCOMP, ("start_as_nobody_without_processes",), "syscost first tests a backend in a child process"),
    Known("R", EBPF, ("start_with_sockets_denied",), "syscost reaches its helper through a socket"),
    Known("R", EBPF, ("start_with_gettid_denied",), "the filter denies calls that syscost makes between windows"),
    Known("R", SECCOMP, ("start_with_gettid_denied", "start_with_pidfd_denied"),
          "the supervisor cannot start without these calls"),
    Known("R", ALL, ("start_without_proc",), "syscost needs /proc to resolve a relative path"),
]

# Not on the page, which says what happens without a container engine's filter.
KNOWN_UNDER_A_FILTER = [
    Known("R", EBPF, ("thread_of_a_static_initialiser",),
          "the filter may have denied the call in which the thread was blocked: such an exit is one lost event"),
]


def expected(case, backend, known_here=()):
    """(letter, reason)"""
    worst = Known("=", (), (), "")
    for known in (*KNOWN, *known_here):
        if case in known.cases and backend in known.backends and RANK[known.letter] > RANK[worst.letter]:
            worst = known
    return worst.letter, worst.reason


INTRODUCTION = """# Hostile tests

Does your test change its signal stack, install a seccomp filter, close all descriptors, or fork and let the child go on? This page lists the
unusual things that change a measured run, and how the run then ends. With other things of this kind a run ends
[as without syscost](#as-in-the-bare-run).

- **Refused**: a test that could not be counted has no number, or its row says how many calls were lost. A message says why, the run ends
  non-zero, and no verdict changes.
- **Verdict**: a verdict or an exit code changes. A message says why.
- **Not measured**: a number is missing, and the run ends with the program's own code. A message says why.

Two things hold for each test. If it ends its process itself, by `exit_group` or `execve`, it has no row; the tests before it have theirs. If it
asserts that only 0, 1 and 2 are open, it fails: the CSV is open, too, and with ebpf four more ([backends](backends.md#things-to-know)).

Each item below is a case of `tests/attack/hostile`: a GoogleTest test that makes a known number of `getppid` calls and does something unusual
between them. It runs between two ordinary tests: without syscost (*bare*), with syscost linked and no flag, and under each backend. On another
kernel a case may end better than this page says. To run all cases, as root:

```sh
ctest --test-dir build/release -L attack
```

`./dev update pages` generates this page.

## Not as in the bare run

`dispatch` stands for `dispatch-trap`, too.
"""

WORDS = {"R": "Refused", "V": "Verdict", "W": "Not measured", "C": "Crash"}


def places_of(backends):
    """The backends in words."""
    if set(backends) == set(ALL):
        return "all backends"
    return ", ".join(backend for backend in backends if not (backend == "dispatch-trap" and "dispatch" in backends))


def page(cases):
    """docs/hostile.md"""
    summaries = {case.name: case.summary for case in cases}
    # (letter, reason) -> backends -> cases, in the order of the cases.
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    equal = []
    for case in cases:
        ends = {backend: expected(case.name, backend) for backend in ALL}
        for letter, reason in dict.fromkeys(ends.values()):
            if letter != "=":
                found[letter, reason][tuple(backend for backend in ALL if ends[backend] == (letter, reason))].append(case.name)
        if all(letter == "=" for letter, _ in ends.values()):
            equal.append(case.name)
    lines = [INTRODUCTION]
    for (letter, reason), places in found.items():
        for backends, names in places.items():
            lines += [f"**{WORDS[letter]}, {places_of(backends)}**: {reason}.", "",
                      *(f"- `{name}`: {summaries[name]}" for name in names), ""]
    lines += ["## As in the bare run", "",
              f"In {len(equal)} other cases, verdicts and exit codes are those of the bare run, and the numbers of all three tests are exact. They are about",
              "signals, stacks, coroutines, threads, children, filters, sandboxes, descriptors, timers, changes of libc's code, and unusual surroundings.",
              "`attack_hostile --cases` prints a sentence for each."]
    return "\n".join(lines) + "\n"
