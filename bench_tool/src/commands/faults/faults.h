// SPDX-License-Identifier: MIT
//
// bench faults: fails each syscall of each test, and says what the tests made of it.
#pragma once

#include <array>
#include <cstddef>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options.h"
#include "faults/outcome.h"
#include "faults/state_file.h"
#include "model/test_locations.h"
#include "render/ci_report.h"
#include "render/terminal.h"

namespace syscost::bench::commands {

/// Returns the exit code.
int faults_command(const cli::Options& options, const render::Paint& paint, std::ostream& out, std::ostream& err);

/// How many failures had each outcome, in the order of faults::Outcome.
using OutcomeCounts = std::array<std::size_t, faults::kOutcomes>;

/// The failures of one call site with one error, added up over all tests.
struct SweptSite {
  std::string site;  ///< Empty: not known.
  std::string syscall;
  std::string error;
  OutcomeCounts counts{};
  std::size_t failures = 0;
};

/// Failures with the same outcome, call site and error, in one or more tests.
struct AlikeFailures {
  faults::Outcome outcome{};
  std::string detail;
  std::string child;  ///< faults::Result::child
  std::string site;
  std::string syscall;
  std::string error;
  std::vector<const faults::Done*> all;  ///< In the order of the plan.
};

/// A sweep, put in the order in which it is printed.
struct SweepTable {
  OutcomeCounts counts{};
  std::size_t child_crashes = 0;     ///< Result::child, where the test itself did not crash.
  std::vector<SweptSite> sites;      ///< The worst first.
  std::vector<AlikeFailures> alike;  ///< Those that need a look, the worst first.
};

SweepTable table_of(const faults::SweepState& state);
/// Where the failed call came from: in the run itself, else without a failure.
const std::string& site_of(const faults::Done& done);
/// `16 tests, 212 failures: 3 crashed, 1 hung, 208 reported`
std::string sweep_title(const faults::SweepState& state, const SweepTable& table);
/// The parts that were left out, and why; lines.
std::vector<std::string> sweep_remarks(const faults::SweepState& state, const SweepTable& table);
/// Why no test met a failure, although all that was planned has been done; "" if one did. Such a sweep says nothing.
std::string why_untried(const faults::SweepState& state, const SweepTable& table);
/// `crashed SIGSEGV`, `leaked (5 file /tmp/x)`
std::string outcome_text(const AlikeFailures& alike);
/// The command that runs one failure again.
std::string again(const faults::SweepState& state, const faults::Done& done);

std::string sweep_text(const faults::SweepState& state, const cli::Options& options, const render::Paint& paint);
std::string sweep_markdown(const faults::SweepState& state, const cli::Options& options);
std::string sweep_json(const faults::SweepState& state);
std::string sweep_csv(const faults::SweepState& state);
render::CiReport sweep_ci(const faults::SweepState& state, const model::TestLocations& locations);
/// The table of calls and errors with its reasons.
std::string call_errors_text();

}  // namespace syscost::bench::commands
