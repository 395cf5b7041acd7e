// SPDX-License-Identifier: MIT
//
// The ends of syscost-run that are not the command's.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

#include "bench_run/end_report.h"
#include "os/printable.h"

namespace syscost::bench_run {

constexpr int kExitBadInput = 2;
constexpr int kExitNothingMeasured = 1;

/// Ends this process before the command starts.
[[noreturn]] inline void refuse(const std::string& why, const std::string& remedy) {
  std::fprintf(stderr, "bench: %s\n  fix: %s\n", printable(why).c_str(), printable_lines(remedy).c_str());
  report_refused(why);
  std::exit(kExitBadInput);
}

}  // namespace syscost::bench_run
