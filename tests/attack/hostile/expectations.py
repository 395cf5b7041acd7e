# SPDX-License-Identifier: MIT
"""What each hostile case must come to, where that is not `=`, and why; and the page that shows it.

A reason that begins with `open:` names a finding that is being repaired: such an entry goes with the repair. W, C and V
without that word need a reason that the documents give to the user."""
import collections

# From good to bad. `?` is a case that fails bare.
RANK = {"-": 0, "=": 0, "R": 1, "V": 2, "W": 3, "C": 4, "?": 5}

Known = collections.namedtuple("Known", "letter backends cases reason")

EBPF, SECCOMP = ("ebpf",), ("seccomp",)
DISPATCH = ("dispatch", "dispatch-trap")
ALL = EBPF + DISPATCH + SECCOMP

KNOWN = [
    Known("R", DISPATCH, ("sigsys_by_signalfd",), "a program that reads SIGSYS from a signalfd is not counted by it"),
    Known("R", DISPATCH, ("gs_base_on_main_thread", "gs_selector_on_main_thread", "gs_base_and_back", "gs_base_nowhere",
                          "gs_base_into_a_copy", "gs_base_on_a_thread", "gs_selector_on_a_thread"),
          "a program that uses gs itself is not counted by it"),
    Known("R", DISPATCH, ("gs_base_by_syscall",), "a program that uses gs itself is not counted by it"),
    Known("R", DISPATCH, ("prctl_answers_eperm", "thread_of_a_static_initialiser"), "a thread that is not seen is one event that is lost"),
    Known("W", ALL, ("becomes_a_daemon", "child_takes_over", "parent_waits_for_successor"),
          "a forked child that goes on with the tests is not measured: a message says so, and the exit code is the program's own"),
    Known("R", ALL, ("more_syscalls_than_there_is_room",), "a run has room for 128 different syscalls; others are lost"),
    Known("R", ALL, ("locks_the_csv", "child_keeps_the_csv_locked"), "rows cannot be written while somebody locks the file"),
    Known("R", EBPF, ("gettid_answers_eperm", "own_calls_answer_eperm", "writing_answers_enospc",
                      "loops_under_a_narrow_filter"), "the filter denies what syscost calls between windows"),
    Known("R", DISPATCH + SECCOMP, ("own_calls_answer_eperm", "loops_under_a_narrow_filter"),
          "the filter denies what syscost calls between windows"),
    Known("R", EBPF, ("child_closes_our_descriptors", "closes_everything", "takes_every_number", "puts_sockets_in_our_place"),
          "the instrument hangs on descriptors; it is put back for the next window"),
    Known("R", ALL, ("file_size_0", "start_with_files_of_0_bytes", "csv_becomes_a_pipe"), "rows cannot be written"),
    Known("R", EBPF, ("start_with_8_descriptors", "start_with_10_descriptors"), "the programs need more descriptors"),
    Known("R", EBPF, ("start_with_20_descriptors", "start_with_memfd_denied"), "libbpf 1.5 (Debian 13) needs more descriptors, and memfd_create"),
    Known("R", EBPF, ("start_as_nobody", "start_as_nobody_without_processes", "start_in_a_user_namespace", "start_in_a_user_namespace_unmapped",
                      "start_in_all_namespaces"), "eBPF needs CAP_BPF and CAP_PERFMON outside of user namespaces"),
    Known("R", DISPATCH + SECCOMP, ("start_as_nobody_without_processes",), "a backend is tried in a child first"),
    Known("R", EBPF, ("start_with_sockets_denied",), "the helper is reached by a socket"),
    Known("R", EBPF, ("start_with_gettid_denied",), "the filter denies what syscost calls between windows"),
    Known("R", SECCOMP, ("start_with_gettid_denied", "start_with_pidfd_denied"),
          "the supervisor cannot be started without"),
    Known("R", ALL, ("start_without_proc",), "where a relative path starts is read from /proc"),
]


def expected(case, backend):
    """(letter, reason)"""
    worst = Known("=", (), (), "")
    for known in KNOWN:
        if case in known.cases and backend in known.backends and RANK[known.letter] > RANK[worst.letter]:
            worst = known
    return worst.letter, worst.reason


INTRODUCTION = """# Hostile tests

What becomes of a test run when a test does something awkward. This page is generated from `tests/attack/hostile` by
`tests/attack/hostile/hostile_test.py build/release/bin --table`; a test holds it against the suite.

Each case is a GoogleTest test that makes a known number of `getppid` calls around something odd. It runs between two ordinary
tests, bare, with syscost linked and no flag given, and under each backend. Verdicts and exit codes must be those of the bare run,
and the numbers of all three tests, and of a loop where the case has one, must be exact.

| letter | meaning |
|---|---|
| `=` | the verdicts and the exit code of the bare run, and each number exact |
| `R` | refused: what could not be counted has no number, or says how many calls were lost; a message says why; the run ends non-zero, and no verdict changes |
| `W` | a wrong number, or one that is missing from a run that ends with 0 |
| `C` | a crash or a hang that the bare run does not have |
| `V` | a verdict or an exit code changed |

A case may do better than this page says, on another kernel for example. A test that ends its process itself, by `exit_group` or
`execve`, leaves no row; rows of the tests before it are there.

Run it with `ctest -L attack` in a build folder. As root it runs everything; what cannot run is left out, with the reason.
"""


def page(cases, backends):
    """docs/hostile.md"""
    reasons = []
    lines = [INTRODUCTION, "| case | the test | " + " | ".join(backends) + " |", "|---" * (2 + len(backends)) + "|"]
    for case in cases:
        cells = []
        for backend in backends:
            letter, reason = expected(case.name, backend)
            if case.of_children is not None and backend not in ("ebpf", "seccomp"):
                letter = "-"
            if reason and reason not in reasons:
                reasons.append(reason)
            cells.append(f"{letter} ({reasons.index(reason) + 1})" if reason else letter)
        lines.append(f"| `{case.name}` | {case.summary} | " + " | ".join(cells) + " |")
    lines.append("")
    lines += [f"{number}. {reason}" for number, reason in enumerate(reasons, 1)]
    return "\n".join(lines) + "\n"
