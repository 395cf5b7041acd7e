// SPDX-License-Identifier: MIT
//
// The stand-ins of what adapters call, and of Cost and Count, which they read.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "late/absent.h"
#include "libc/symbols.h"

#define syscost syscost_absent
#include "core/count.cc"  // NOLINT(bugprone-suspicious-include): the library's own
#undef syscost

namespace syscost_absent {

Unavailable why() {
  const syscost::late::Absence absence = syscost::late::absence();
  return {std::string("libsyscost.so.0 cannot be loaded into this program: ") + absence.why, absence.remedy};
}

Scope::Scope(Reach, adapter::OfAdapter) : cost_(why()) {}
Scope::~Scope() = default;
Cost Scope::stop() {
  return cost_;
}

Cost::Cost(Unavailable why) : why_(std::make_shared<const Unavailable>(std::move(why))) {}
bool Cost::available() const {
  return false;
}
const Unavailable* Cost::unavailable() const {
  return why_.get();
}
Count Cost::calls(std::string_view) const {
  return Count(why_);
}
Count Cost::entries(std::string_view) const {
  return Count(why_);
}
Count Cost::errors(std::string_view) const {
  return Count(why_);
}
Count Cost::errors(std::string_view, int) const {
  return Count(why_);
}
Count Cost::kernel_ns(std::string_view) const {
  return Count(why_);
}
Count Cost::bytes(std::string_view) const {
  return Count(why_);
}
Count Cost::bytes_released(std::string_view) const {
  return Count(why_);
}
Count Cost::short_calls(std::string_view) const {
  return Count(why_);
}
Count Cost::lost() const {
  return Count(why_);
}
std::vector<SyscallCost> Cost::syscalls() const {
  return {};
}
std::string Cost::to_string() const {
  return std::string("n/a (").append(without_stop(why_->reason)).append(")");
}

namespace adapter {
void expect_faults() {}
void open_for_faults() {}
void without_faults(const std::function<void()>& work) {
  work();
}
void conclude_test() {}

// ---- asked whether or not there is a request ------------------------------------------------------------------------

/// Without the library it is not known which arguments are ours.
bool take_options(int* argc, char** argv) {
  for (int i = 1; i < *argc; ++i) {
    if (argv[i][0] == '-') syscost::late::refuse();
  }
  return true;
}
void take_prefixed_options(int*, char**) {}  // `--syscost...` is a request, which the library's absence refuses
bool requested() {
  return false;
}
const char* variable(const char* name) {
  return SYSCOST_LIBC(secure_getenv)(name);
}
bool is_fork_child() {
  return false;
}
bool is_counting_process() {
  return false;
}
bool wants_tools() {
  return false;
}
bool wants_counts() {
  return false;
}
bool prints_lines() {
  return false;
}
std::string problem() {
  return "";
}
bool skips_unavailable(const Unavailable&) {
  const char* const ci = variable("CI");
  return ci == nullptr || *ci == '\0' || SYSCOST_LIBC(strcmp)(ci, "false") == 0 || SYSCOST_LIBC(strcmp)(ci, "0") == 0;
}
std::vector<std::string> started_with() {
  std::vector<std::string> arguments;
  const int file = SYSCOST_LIBC(open)("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  if (file < 0) return arguments;
  std::string argument;
  char bytes[4096];
  for (ssize_t count = 0; (count = SYSCOST_LIBC(read)(file, bytes, sizeof bytes)) > 0;) {
    for (const char* at = bytes; at != bytes + count; ++at) {
      if (*at != '\0') {
        argument += *at;
        continue;
      }
      arguments.push_back(argument);
      argument.clear();
    }
  }
  if (!argument.empty()) arguments.push_back(argument);
  SYSCOST_LIBC(close)(file);
  return arguments;
}
std::uint64_t wanted_cycles(std::uint64_t fallback) {
  return fallback;
}
SharedAdapterState& shared_adapter_state() {
  static SharedAdapterState its;
  return its;
}

// ---- a run without a request ----------------------------------------------------------------------------------------

void check_report_or_exit(std::string_view, std::string_view) {}
void start_or_exit(const Framework&) {}
void begin_tests(std::string_view) {}
void open_window(const WindowName&) {}
Report close_window(std::string_view, int) {
  return {Cost(why()), 0, {}};
}
Report close_unsettled(std::string_view outcome, int framework_writes) {
  return close_window(outcome, framework_writes);
}
void settle_outcome(std::string_view) {}
void do_unseen(const std::function<void()>& work) {
  work();
}
void pause_window() {}
void resume_window() {}
void finish() {}
void finish_tests(std::string_view) {}
void note_verdict() {}
void say_if_nothing_ran() {}

void start_timing_or_exit(const Framework&) {}
void set_counted_by_or_exit(const CountingStart&, const Framework&) {}
void begin_timing() {}
void end_timing() {}
void write_rows(const std::vector<TimedRepetition>&) {}
void write_traced(const std::vector<TracedPass>&) {}

CountingStart start_counting(const Framework&) {
  return {{}, {}, why()};
}
CountingStart start_tracing(const Framework&) {
  return {{}, {}, why()};
}
CountingEnd run_counting_process(const std::string&, const std::function<void(std::string_view)>&,
                                 const std::function<void(int)>&) {
  return {false, "was not started", why().reason};
}
std::string counting_request() {
  return "";
}
bool attach_tools() {
  return false;
}
void arm_tools() noexcept {}
void disarm_tools() noexcept {}
std::string detach_tools(std::string_view, const Cost*) {
  return "";
}
void send_line(std::string_view) {}
void end_counting() {
  for (;;) SYSCOST_LIBC(exit)(0);
}
std::string to_text(const Cost&) {
  return "";
}
Cost cost_from_text(std::string_view) {
  return Cost(why());
}
Cost sum(const std::vector<Cost>&) {
  return Cost(why());
}
/// The library knows more: which part of it does not grow with the iterations.
Figure figure_of(const std::vector<std::uint64_t>& iterations, const std::vector<std::uint64_t>& counts) {
  return {static_cast<double>(counts.back()) / static_cast<double>(iterations.back()), std::nullopt};
}

// ---- messages -------------------------------------------------------------------------------------------------------

void say(std::string_view text) {
  SYSCOST_LIBC(fprintf)(stderr, "syscost: %.*s\n", static_cast<int>(text.size()), text.data());
}
void note_problem(const Unavailable& what) {
  SYSCOST_LIBC(fprintf)(stderr, "syscost: %s\n  %s\n", what.reason.c_str(), what.how_to_fix.c_str());
}
void note_missing_counts(const Unavailable& what) {
  note_problem(what);
}
void refuse(const Unavailable& what) {
  note_problem(what);
  for (;;) SYSCOST_LIBC(exit)(2);
}

}  // namespace adapter
}  // namespace syscost_absent
