// SPDX-License-Identifier: MIT
//
// The three-way comparison: the table, strace, and the backend's answer. Each difference is a sentence.
#pragma once

#include <string>
#include <vector>

#include "backends.h"
#include "case.h"
#include "measured.h"
#include "strace_log.h"

namespace conformance {

/// The backend's answer against the table, and against itself (entries = calls + restarts + in_flight + no_return).
std::vector<std::string> compare_with_table(const Window& expected, const BackendColumn& backend,
                                            const MeasuredWindow& measured);

/// The backend's entries, denied and crossing calls against strace's log of the same run.
std::vector<std::string> compare_with_strace(const BackendColumn& backend, const MeasuredWindow& measured,
                                             const StraceWindow& strace);

/// The table against strace alone: is the suite itself right?
std::vector<std::string> compare_table_with_strace(const Window& expected, const StraceWindow& strace);

}  // namespace conformance
