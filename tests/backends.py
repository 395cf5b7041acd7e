# SPDX-License-Identifier: MIT
"""The backends, for tests in Python. A test that holds this list against the sources is tests/layering/recipes.py."""

# As --syscost_backend takes them and column `backend` names them. Each is counted under by the tests that try all.
BACKENDS = ("ebpf", "dispatch", "dispatch-trap", "seccomp")
# Those that `auto` tries and --syscost_doctor reports, in that order. Each has a folder in plugin/src/backends.
AUTOMATIC = ("ebpf", "dispatch", "seccomp")
# Those that fill the columns `entries` and `calls`.
COUNT_ENTRIES = ("ebpf", "seccomp")
COUNT_CALLS = ("ebpf", "dispatch", "dispatch-trap")
COUNT_CHILDREN = ("ebpf", "seccomp")
