// SPDX-License-Identifier: MIT
//
// The values of --syscost_inject and --syscost_forbid, in strace's words.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/fault_rule.h"
#include "os/result.h"

namespace syscost::session {

/// One `SELECTOR:error=ERRNO:when=EXPRESSION`.
struct InjectRequest {
  std::string text;        ///< As given.
  std::string selector;    ///< Checked.
  FaultRule rule;          ///< Without its numbers; for all threads.
  std::size_t faults = 1;  ///< How many are open for it: one for each syscall, if the rule counts calls.

  bool operator==(const InjectRequest& other) const { return text == other.text; }
};

/// Reads one or several, with semicolons between:
///
///     SELECTOR:WORD:WORD...
///
/// A word is `error=ENOSPC` (or a number), `retval=7`, `when=FIRST[..LAST][+[STEP]]`, `delay_enter=TIME`,
/// `delay_exit=TIME` (microseconds, or with a unit: `5ms`), all as in strace; `nth=` like `when=`, but of all threads
/// together; `shorten=BYTES`, `after=BYTES`, `chance=P` (from 0 to 1) and `seed=N`; `fd=N`, `path=PATH`, `below=FOLDER`
/// and `kind=file` (or folder, pipe, socket, char, block), which choose calls by their file. An errno and a `when` may
/// stand without their name: `write:ENOSPC:3`.
Result<std::vector<InjectRequest>> parse_inject(std::string_view text);

/// Why the selector of --syscost_forbid cannot be used; empty if it can.
std::string fault_of_forbidden(std::string_view selector);

}  // namespace syscost::session
