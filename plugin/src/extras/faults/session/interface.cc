// SPDX-License-Identifier: MIT
//
// The functions of syscost/faults.h and syscost/failures.h over the process's session.

#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <utility>

#include "extras/faults/session/faults.h"
#include "os/errors.h"
#include "session/backends/open_backend.h"
#include "session/session.h"
#include "syscost/adapter.h"
#include "syscost/failures.h"
#include "syscost/faults.h"

namespace syscost {

void adapter::expect_faults() {
  session::expect_faults();
}

void adapter::open_for_faults() {
  const Result<session::ParsedOptions>& parsed = session::process_options();
  if (parsed.ok() && session::would_open_dispatch(parsed.value().options)) session::started_session();
}

namespace {

constexpr unsigned kKindBits = 12;  // of st_mode, below the kind

unsigned mode_of(FileType kind) {
  switch (kind) {
    case FileType::folder:
      return S_IFDIR;
    case FileType::pipe:
      return S_IFIFO;
    case FileType::socket:
      return S_IFSOCK;
    case FileType::character_device:
      return S_IFCHR;
    case FileType::block_device:
      return S_IFBLK;
    case FileType::regular:
      break;
  }
  return S_IFREG;
}

FaultRule rule_of(const When& when, Reach reach) {
  FaultRule rule;
  rule.is_process_wide = rule.promises_all_threads = reach == Reach::process;
  rule.first = when.first;
  rule.last = when.last;
  rule.step = when.step;
  rule.is_per_thread = when.is_per_thread && reach == Reach::process;
  rule.probability = when.probability;
  rule.seed = when.seed;
  rule.after_bytes = when.after_bytes;
  rule.descriptor = when.descriptor;
  rule.path = when.path;
  rule.is_path_below = when.is_below;
  if (when.kind.has_value()) rule.kinds = 1U << (mode_of(*when.kind) >> kKindBits);
  return rule;
}

/// For people who read both parts in a line.
Unavailable as_sentences(Unavailable why) {
  if (!why.reason.empty() && why.reason.back() != '.') why.reason += '.';
  std::string& fix = why.how_to_fix;
  if (!fix.empty() && fix[0] >= 'a' && fix[0] <= 'z') fix[0] = static_cast<char>(fix[0] - 'a' + 'A');
  if (!fix.empty() && fix.back() != '.') fix += '.';
  return why;
}

/// Null, and the test heard why, if there can be none. errno stays as it is, also where the test ends.
session::OpenFault* open_fault(std::string_view selector, const FaultRule& rule, const adapter::SourceLine& at) {
  Unavailable why;
  {
    const KeptErrno kept;
    // A program that is linked with the library itself, and has no stubs.
    session::expect_faults();
    const Result<session::OpenFault*> opened = session::started_session().part<session::Faults>().open(selector, rule);
    if (opened.ok()) {
      if (opened.value() != nullptr) opened.value()->at = at;
      return opened.value();
    }
    why = opened.failure();
  }
  adapter::end_test(as_sentences(why), at);
  return nullptr;
}

/// False, and the test heard why, if it is no errno.
bool is_errno(int error, const adapter::SourceLine& at) {
  if (error >= 1 && error <= FaultRule::kMostErrno) return true;
  // A fork child has no faults, and would not have heard of it.
  if (session::process_session().is_fork_child()) return false;
  const bool has_sign = error < 0 && error >= -FaultRule::kMostErrno;
  adapter::end_test(as_sentences({std::to_string(error) + " is no errno: one is from 1 to 4095",
                                  has_sign ? "give it without the sign" : "give ENOSPC, for example"}),
                    at);
  return false;
}

session::Faults& faults() {
  return session::process_session().part<session::Faults>();
}

}  // namespace

Fault::Fault(std::string_view selector, int error, const When& when, Reach reach, const char* file, int line) {
  if (!is_errno(error, {file, line})) return;
  FaultRule rule = rule_of(when, reach);
  rule.result = -std::int64_t{error};
  open_ = open_fault(selector, rule, {file, line});
}

Fault::Fault(std::string_view selector, const Effect& effect, const When& when, Reach reach, const char* file,
             int line) {
  FaultRule rule = rule_of(when, reach);
  rule.result = effect.result;
  rule.most_bytes = effect.most_bytes;
  // A negative one becomes longer than any that is allowed.
  rule.delay_enter_ns = static_cast<std::uint64_t>(effect.delay_enter.count());
  rule.delay_exit_ns = static_cast<std::uint64_t>(effect.delay_exit.count());
  open_ = open_fault(selector, rule, {file, line});
}

Fault::~Fault() {
  const KeptErrno kept;
  if (open_ != nullptr) faults().close(open_);
}

std::uint64_t Fault::hits() const {
  return open_ != nullptr ? faults().counts(*open_).hits : 0;
}

std::uint64_t Fault::matches() const {
  return open_ != nullptr ? faults().counts(*open_).matches : 0;
}

failure_detail::ChildRun failure_detail::run_in_child(const std::function<std::string()>& body,
                                                      std::chrono::nanoseconds limit) {
  const KeptErrno kept;
  session::expect_faults();
  ChildRun run = session::started_session().part<session::Faults>().run_in_child(body, limit);
  if (run.has_failed_test) {
    adapter::fail_test("an assertion failed in a sweep's body, in a child process, which printed it above");
  }
  return run;
}

Forbid::Forbid(std::string_view selector, Reach reach, const char* file, int line) {
  FaultRule rule = rule_of(each(), reach);
  rule.is_watch = rule.keeps_hits = true;
  open_ = open_fault(selector, rule, {file, line});
}

Forbid::~Forbid() {
  if (open_ == nullptr) return;
  {
    // First: a call that another thread makes from now on is not forbidden, so it is not missing in the report.
    const KeptErrno kept;
    faults().stop(*open_);
  }
  const std::string report = take_report();
  const adapter::SourceLine at = open_->at;
  {
    const KeptErrno kept;
    faults().close(open_);
  }
  if (!report.empty()) adapter::fail_test(report, at);
}

void Forbid::deny(int error) {
  if (open_ == nullptr || !is_errno(error, open_->at)) return;
  FaultRule rule = open_->rule;
  rule.result = -std::int64_t{error};
  Result<void> replaced;
  {
    const KeptErrno kept;
    replaced = faults().replace(*open_, rule);
  }
  if (!replaced.ok()) adapter::end_test(as_sentences(replaced.failure()), open_->at);
}

std::uint64_t Forbid::hits() const {
  return open_ != nullptr ? faults().counts(*open_).hits : 0;
}

std::vector<ForbiddenCall> Forbid::calls() const {
  std::vector<ForbiddenCall> found;
  if (open_ == nullptr) return found;
  const KeptErrno kept;
  for (session::Faults::Call& call : faults().calls(*open_)) {
    found.push_back({std::move(call.text), std::move(call.line), std::move(call.frames), call.thread});
  }
  return found;
}

std::string Forbid::take_report() {
  if (open_ == nullptr || open_->is_reported) return {};
  const KeptErrno kept;
  std::string report = faults().report(*open_);
  open_->is_reported = !report.empty();
  return report;
}

}  // namespace syscost
