// SPDX-License-Identifier: MIT
//
// Finding: one thing that a test does and that costs more than it has to, with the figures that show it.
//
// A count says how often a syscall was called. A finding says what that means: these 1200 writes of 64 bytes can be
// one. Rules find them (rule.h). A rule that lacks data is never silent: NotChecked names it, and what it needs.
//
// A finding is a fault that the data proves. A note is a cost that may be on purpose: a test of sleeping has to sleep.
// People ask for notes; nothing fails because of one, unless they name its rule.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace syscost::bench::findings {

struct Finding {
  std::string_view rule;  ///< `tiny-writes`: as in docs/findings.md.
  std::string window;     ///< As WindowSummary::name.
  std::string syscall;    ///< `write`; empty if it is about no single one.
  std::string site;       ///< `src/log.cc:17 Log::batch`; empty if it is not known.
  std::string evidence;   ///< One sentence with figures.
  std::string remedy;     ///< One sentence, imperative.
  double cost_ns = 0;     ///< Kernel time of the calls in question, as in the window's other figures; 0: not measured.
  bool is_note = false;   ///< The data does not prove that it is a fault.
};

/// A rule that some windows do not have the data for.
struct NotChecked {
  std::string_view rule;
  std::string reason;       ///< `needs a trace (--syscost_trace)`
  std::size_t windows = 0;  ///< So many of them.
};

/// All findings of a RUN.
struct Findings {
  std::vector<Finding> found;           ///< Those that are no notes. The most expensive first.
  std::vector<Finding> notes;           ///< The most expensive first.
  std::size_t hidden_notes = 0;         ///< That a command took out of `notes`, because it does not print them.
  std::vector<NotChecked> not_checked;  ///< In the order of the rules.
  std::size_t windows = 0;              ///< That rules looked at,
  std::size_t traced = 0;               ///< and so many of them have a trace.
};

}  // namespace syscost::bench::findings
