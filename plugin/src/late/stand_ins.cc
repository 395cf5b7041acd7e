// SPDX-License-Identifier: MIT
//
// The stand-ins of what only users call: see early.cc.
#include "late/absent.h"

namespace syscost_absent {

namespace session {
class LoopRun {};
}  // namespace session

Loop::Loop(std::string_view) {}
Loop::~Loop() = default;
std::uint64_t Loop::next_pass() {
  if (has_run_) return 0;
  has_run_ = true;
  return 1;
}

Scope::Scope(std::string_view, Reach) : cost_(why()) {}

std::vector<CallSite> call_sites(const Cost&, std::string_view) {
  return {};
}

LeakCheck::LeakCheck() = default;
LeakCheck::~LeakCheck() = default;
std::string LeakCheck::left() const {
  static_cast<void>(before_);  // the library uses it
  return "n/a (" + why().reason + ")";
}

Fault::Fault(std::string_view, int, const When&, Reach, const char* file, int line) {
  adapter::end_test(why(), {file, line});
}
Fault::Fault(std::string_view, const Effect&, const When&, Reach, const char* file, int line) {
  adapter::end_test(why(), {file, line});
}
Fault::~Fault() = default;
std::uint64_t Fault::hits() const {
  return 0;
}
std::uint64_t Fault::matches() const {
  return 0;
}

Forbid::Forbid(std::string_view, Reach, const char* file, int line) {
  adapter::end_test(why(), {file, line});
}
Forbid::~Forbid() = default;
void Forbid::deny(int) {}
std::uint64_t Forbid::hits() const {
  return 0;
}
std::vector<ForbiddenCall> Forbid::calls() const {
  return {};
}
std::string Forbid::take_report() {
  return {};
}

std::string to_string(const CrashReport& report) {
  return report.why != nullptr ? report.why->reason : "no power cut was tried";
}
std::ostream& operator<<(std::ostream& out, const CrashReport& report) {
  return out << to_string(report);
}
void crash_mark(std::string_view) {}
CrashReport crash_detail::run(const std::string&, const std::function<void()>&,
                              const std::function<Verdict(const CrashPoint&)>&, const CrashOptions&) {
  CrashReport report;
  report.why = std::make_shared<const Unavailable>(why());
  return report;
}

failure_detail::ChildRun failure_detail::run_in_child(const std::function<std::string()>&, std::chrono::nanoseconds) {
  ChildRun run;
  run.why_none = why().reason;
  return run;
}
std::uint64_t failure_detail::heap_bytes() {
  return 0;
}

int cycles(int fallback) {
  return fallback;
}

Cost::Cost(std::shared_ptr<const detail::CostData> data)
    : data_(std::move(data)), why_(std::make_shared<const Unavailable>(why())) {}

std::ostream& operator<<(std::ostream& out, const Cost& cost) {
  return out << cost.to_string();
}

#if SYSCOST_HAS_GPU
namespace gpu {
Aside::Aside() {
  static_cast<void>(is_aside_);  // the library uses it
}
Aside::~Aside() = default;
std::string record(StampedLaunch) {  // NOLINT(performance-unnecessary-value-param): the library's is moved from
  return "";
}
void record_times(const std::string&, const std::vector<std::uint64_t>&) {}
}  // namespace gpu
#endif

}  // namespace syscost_absent
