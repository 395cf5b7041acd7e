// SPDX-License-Identifier: MIT
//
// The rules of --syscost_inject and --syscost_forbid: read from text in strace's words, then checked and completed
// before a backend opens them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "extras/faults/core/fault_rule.h"
#include "os/errors.h"

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

std::string quoted_selector(std::string_view selector);

/// True if the calls that are hit get an error.
bool fails(const FaultRule& rule);
/// True if the rule hits some of the calls by their number.
bool counts_calls(const FaultRule& rule);

/// Fails for numbers that make no sense.
Result<void> check(const FaultRule& rule);
/// Makes the path absolute, and finds the kernel's name of it.
Result<void> find_path(FaultRule& rule);
/// The message for a rule of the process that so many threads would not meet: a test could pass that breaks it.
Failure has_unreached_threads(std::string_view backend, std::size_t threads);
/// Sets the numbers. Fails if the rule could hit no call, whatever the program does. `is_brk_refused`: the backend
/// cannot let it fail.
Result<void> find_numbers(std::string_view selector, FaultRule& rule, bool is_brk_refused);

/// The syscalls that the rule can hit of those that are selected.
std::vector<std::string> names_of(std::string_view selector, const FaultRule& rule, bool is_brk_refused);

}  // namespace syscost::session
