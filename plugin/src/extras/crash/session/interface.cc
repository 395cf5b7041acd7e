// SPDX-License-Identifier: MIT
//
// The functions of syscost/crash.h over the process's session.

#include <cmath>
#include <functional>
#include <ostream>
#include <string>

#include "extras/crash/session/power_cuts.h"
#include "os/errors.h"
#include "session/backends/open_backend.h"
#include "session/session.h"
#include "syscost/crash.h"

namespace syscost {
namespace {

/// `3 of 17 states failed`
std::string counted(const CrashReport& report) {
  const std::string states = std::to_string(report.states) + (report.states == 1 ? " state" : " states");
  if (report.failed_states == 0) return states + ", all passed";
  return std::to_string(report.failed_states) + " of " + states + " failed";
}

/// How many there are, as far as that is known.
std::string coverage(const CrashReport& report) {
  const std::string operations =
      std::to_string(report.operations) + (report.operations == 1 ? " operation" : " operations");
  if (report.is_complete) return "all that a power cut can leave; " + operations;
  constexpr double kExact = 40;
  const std::string most = report.combinations_log2 < kExact
                               ? std::to_string(std::llround(std::exp2(report.combinations_log2)))
                               : "2^" + std::to_string(static_cast<int>(std::ceil(report.combinations_log2)));
  return "a sample of at most " + most + " sets of changes; " + operations;
}

}  // namespace

std::string to_string(const CrashReport& report) {
  if (report.why != nullptr) return "n/a (" + report.why->reason + " " + report.why->how_to_fix + ")";
  std::string text = counted(report) + " (" + coverage(report) + ")";
  if (report.failed.empty()) return text;
  const CrashFailure& first = report.failed.front();
  text += "\n  " + first.state;
  if (!first.message.empty()) text += "\n  the check: " + first.message;
  return text;
}

std::ostream& operator<<(std::ostream& out, const CrashReport& report) {
  return out << to_string(report);
}

void crash_mark(std::string_view name) {
  const KeptErrno kept;
  session::process_session().part<session::PowerCuts>().mark(name);
}

CrashReport crash_detail::run(const std::string& directory, const std::function<void()>& body,
                              const std::function<Verdict(const CrashPoint&)>& check, const CrashOptions& options) {
  // A program that is linked with the library itself has no stubs.
  adapter::expect_faults();
  return session::started_session().part<session::PowerCuts>().run(directory, body, check, options);
}

}  // namespace syscost
