// SPDX-License-Identifier: MIT
//
// The columns of the conformance matrix: the backends, and what each can know.
#pragma once

#include <string>
#include <vector>

namespace conformance {

struct BackendColumn {
  std::string name;  ///< As --syscost_backend knows it; `oracle` stands for strace alone, without any backend.
  bool opens_scopes = true;
  bool knows_entries = true;  ///< entries, and with them restarts, in_flight and no_return
  bool knows_calls = true;    ///< calls and carried_in
  bool knows_errors = true;
  bool knows_denied = true;   ///< False: denied calls are among the calls, or among the entries where those are all.
  bool knows_latency = true;  ///< False: there must be none.
  bool knows_bytes = true;    ///< bytes, bytes_released, short_calls
  bool knows_i386_lengths = true;  ///< Sizes and lengths of calls of another ABI than the program's.
  bool misses_restarted = false;   ///< A call that a signal ends before the backend was told of it is not counted.
  bool keeps_stacks = false;       ///< Takes --syscost_where and --syscost_trace.
  std::string blind_to = {};       ///< A syscall that it cannot see, under whichever ABI.
  std::string missing;  ///< Why it cannot work on this machine as it is, with the remedy; empty = it must work.
};

/// The column of programs that are not linked with syscost: on each backend, they have the backend's rows.
constexpr const char* kNotLinked = "not linked";

/// Every column of a backend, with `missing` filled by looking at this process's privileges, and `knows_latency` by
/// looking at its processor.
const std::vector<BackendColumn>& backends();

/// Lacks of this kernel for a program to dispatch its syscalls to itself, with the remedy; empty = none.
std::string syscall_user_dispatch_missing();

}  // namespace conformance
