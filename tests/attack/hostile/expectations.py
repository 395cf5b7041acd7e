# SPDX-License-Identifier: MIT
"""What each hostile case must come to, where that is not `=`, and why; and the page that shows it.

A reason that begins with `open:` names a finding that is being repaired: such an entry goes with the repair. W, C and V
without that word need a reason that the documents give to the user."""
import collections
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
from backends import BACKENDS, COUNT_CHILDREN  # pylint: disable=wrong-import-position

# From good to bad. `?` is a case that fails bare.
RANK = {"-": 0, "=": 0, "R": 1, "V": 2, "W": 3, "C": 4, "?": 5}

Known = collections.namedtuple("Known", "letter backends cases reason")

EBPF, SECCOMP = ("ebpf",), ("seccomp",)
DISPATCH = ("dispatch", "dispatch-trap")
ALL = BACKENDS

KNOWN = [
    Known("R", DISPATCH, ("sigsys_by_signalfd",), "this backend does not count a program that reads SIGSYS from a signalfd"),
    Known("R", DISPATCH, ("gs_base_on_main_thread", "gs_selector_on_main_thread", "gs_base_and_back", "gs_base_nowhere",
                          "gs_base_into_a_copy", "gs_base_on_a_thread", "gs_selector_on_a_thread"),
          "this backend does not count a program that uses gs itself"),
    Known("R", DISPATCH, ("strict_mode_in_a_thread", "kill_filter_in_a_thread", "killed_for_sigreturn"),
          "the filter forbids calls that this backend needs: it stops counting before the filter begins"),
    Known("R", DISPATCH, ("gs_base_by_syscall",), "this backend does not count a program that uses gs itself"),
    Known("R", DISPATCH, ("prctl_answers_eperm", "thread_of_a_static_initialiser"), "a thread that the backend does not see is one lost event"),
    Known("W", ALL, ("becomes_a_daemon", "child_takes_over", "parent_waits_for_successor"),
          "a forked child that continues the tests is not measured: a message says so, and the exit code is the program's own"),
    Known("R", ALL, ("more_syscalls_than_there_is_room",), "a run has room for 128 different syscalls; calls of further ones are lost"),
    Known("R", ALL, ("locks_the_csv", "child_keeps_the_csv_locked"), "rows cannot be written while another process locks the file"),
    Known("V", SECCOMP, ("tracer_answers_a_filter", "filter_asks_no_tracer"),
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

This page says how a test run ends if one of its tests does something unusual. `./dev update pages` generates the page
from `tests/attack/hostile`; a test compares the two.

Each case is a GoogleTest test that makes a known number of `getppid` calls and does something unusual between them. It runs between two
ordinary tests, once in each of these ways: without syscost (bare), with syscost linked and no flag (column `linked`), and under each
backend. Verdicts and exit codes must be the same as in the bare run. The numbers of all three tests must be exact, and those of a
loop if the case has one.

| letter | meaning |
|---|---|
| `=` | the verdicts and the exit code of the bare run, and each number exact |
| `R` | refused: a test that could not be counted has no number, or its row says how many calls were lost. A message says why, the run ends non-zero, and no verdict changes |
| `W` | a number is wrong, or it is missing and the run ends with 0 |
| `C` | a crash or a hang that the bare run does not have |
| `V` | a verdict or an exit code changed |
| `-` | the case does not apply to the backend |

A number in brackets is the reason, below the table. A case may end better than this page says, for example on another kernel. A test
that ends its process itself, by `exit_group` or `execve`, leaves no row; the rows of the tests before it are there.

No case counts the open descriptors. A test fails if it says that only 0, 1 and 2 are open: the CSV is open, too, and with ebpf four
more ([backends](backends.md#things-to-know)).

To run all cases, type `ctest -L attack` in a build folder. Root can run every case. If a case cannot run, the test leaves it out and
says why.
"""


def page(cases, backends):
    """docs/hostile.md"""
    reasons = []
    lines = [INTRODUCTION, "| case | the test | " + " | ".join(backends) + " |", "|---" * (2 + len(backends)) + "|"]
    for case in cases:
        cells = []
        for backend in backends:
            letter, reason = expected(case.name, backend)
            if case.of_children is not None and backend not in COUNT_CHILDREN:
                letter = "-"
            if reason and reason not in reasons:
                reasons.append(reason)
            cells.append(f"{letter} ({reasons.index(reason) + 1})" if reason else letter)
        lines.append(f"| `{case.name}` | {case.summary} | " + " | ".join(cells) + " |")
    lines.append("")
    lines += [f"{number}. {reason}" for number, reason in enumerate(reasons, 1)]
    return "\n".join(lines) + "\n"
