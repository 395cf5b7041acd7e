// SPDX-License-Identifier: MIT
#include "extras/crash/session/power_cuts.h"

#include <chrono>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <memory_resource>
#include <optional>
#include <set>
#include <vector>

#include "extras/crash/core/file_calls.h"
#include "extras/crash/states/image.h"
#include "extras/crash/states/journal.h"
#include "extras/crash/states/trials.h"
#include "extras/where/core/call_stack.h"
#include "extras/where/session/call_sites.h"
#include "os/memory.h"
#include "session/process/contained_child.h"
#include "session/process/messages.h"
#include "session/windows/backend_holder.h"
#include "syscost/adapter.h"

namespace syscost::session {
namespace {

/// All files below the directory together: each state is a copy of them.
constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 20;
constexpr std::size_t kMostFailures = 100;

std::string last_name(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  const std::size_t slash = path.rfind('/');
  std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  return name.empty() || name == "." || name == ".." ? "directory" : name;
}

/// A scope is open while one of these exists: loops keep the backend.
class OpenScope {
 public:
  explicit OpenScope(ScopeRecords& scopes) : scopes_(scopes), record_(scopes.begin({})) {}
  ~OpenScope() { scopes_.end(record_, false, nullptr, 0); }
  OpenScope(const OpenScope&) = delete;
  OpenScope& operator=(const OpenScope&) = delete;

 private:
  ScopeRecords& scopes_;
  ScopeRecord* record_;
};

}  // namespace

void PowerCuts::mark(std::string_view name) {
  OpenBackend* const opened = shared_.is_fork_child() ? nullptr : shared_.backend.current();
  FileRecorder* const recorder = opened != nullptr ? opened->backend->extension<FileRecorder>() : nullptr;
  if (recorder != nullptr) recorder->mark(name);
}

CrashReport PowerCuts::run(const std::string& directory, const std::function<void()>& body, const Check& check,
                           const CrashOptions& options) {
  const auto refuse = [](const Failure& why) {
    CrashReport report;
    report.why = std::make_shared<const Unavailable>(why);
    return report;
  };
  if (shared_.is_fork_child()) return refuse({"This is a fork child.", "Call for_each_crash() in the test's process."});
  if (Result<void> checked = crash::check_options(options); !checked.ok()) return refuse(checked.failure());
  const OpenScope scope(shared_.scopes);
  Result<crash::Recording> recording = record(directory, body, options);
  if (!recording.ok()) return refuse(recording.failure());
  std::optional<crash::Trials> trials;
  CrashReport report;
  {
    const OwnCalls own(shared_.backend.current());
    trials.emplace(std::move(recording.value()), options);
    report = trials->report();
  }
  assertions_failed_ = 0;
  const Result<void> tried = try_states(*trials, directory, check, options, report);
  // After the last state: an assertion is seen only in a test that had not failed.
  if (assertions_failed_ > 0) {
    adapter::fail_test("an assertion failed in the check of " + std::to_string(assertions_failed_) +
                       (assertions_failed_ == 1 ? " state" : " states") +
                       ", in a child process, which printed it above");
  }
  if (!tried.ok()) return refuse(tried.failure());
  return report;
}

// ---- recording ------------------------------------------------------------------------------------------------------

Result<FileRecorder*> PowerCuts::find_recorder() {
  OpenBackend* const opened = shared_.backend.current();
  if (opened == nullptr) return *shared_.backend.why_not();
  FileRecorder* const recorder = opened->backend->extension<FileRecorder>();
  if (recorder == nullptr) {
    return Failure{
        "Backend " + std::string(opened->backend->name()) + " only counts calls, and does not see what they write.",
        "Use --syscost_backend dispatch, which needs no privilege (--syscost_doctor says why it cannot be "
        "used here).",
        /*is_beyond_backend=*/true};
  }
  if (shared_.is_backend_detached.load() && !attach_backend_()) {
    return Failure{"This is a timed pass of a syscost::loop, and this thread cannot attach the backend.",
                   "Call for_each_crash() before the loop."};
  }
  return recorder;
}

Result<crash::Recording> PowerCuts::record(const std::string& directory, const std::function<void()>& body,
                                           const CrashOptions& options) {
  const Result<FileRecorder*> recorder = find_recorder();
  if (!recorder.ok()) return recorder.failure();
  std::optional<Result<crash::Snapshot>> before;
  {
    const OwnCalls own(shared_.backend.current());
    before.emplace(crash::read_files(directory, kMostBytes));
    if (!before->ok()) return before->failure();
    std::vector<FileKey> files;
    for (const auto& [key, node] : before->value().nodes) files.push_back(key);
    if (Result<void> started = recorder.value()->start(files); !started.ok()) return started.failure();
  }
  try {
    body();
  } catch (...) {
    static_cast<void>(recorder.value()->stop());
    throw;
  }
  const OwnCalls own(shared_.backend.current());
  const Result<std::vector<FileCall>> calls = recorder.value()->stop();
  if (!calls.ok()) return calls.failure();
  const std::map<std::uint32_t, std::string> lines = lines_of(calls.value());
  Result<crash::Recording> recording =
      crash::make_recording(std::move(before->value()), calls.value(), [&](std::uint32_t stack) {
        const auto line = lines.find(stack);
        return line != lines.end() ? line->second : std::string();
      });
  if (!recording.ok()) return recording;
  const Result<crash::Snapshot> after = crash::read_files(directory, kMostBytes);
  if (!after.ok()) return after.failure();
  Result<void> checked = crash::check_end(recording.value(), after.value().image, options.may_be_mapped);
  if (!checked.ok()) return checked.failure();
  return recording;
}

std::map<std::uint32_t, std::string> PowerCuts::lines_of(std::span<const FileCall> calls) {
  std::map<std::uint32_t, std::string> lines;
  const StackSource* const stacks = shared_.backend.current()->backend->extension<StackSource>();
  std::pmr::set<std::uint32_t> wanted(&mapped_memory());
  for (const FileCall& call : calls) wanted.insert(call.stack);
  wanted.erase(0);
  if (stacks == nullptr || wanted.empty()) return lines;
  const Recorder::Lock guard = shared_.recorder.take_lock_inside_window();
  shared_.recorder.enter_file();
  call_sites_of(shared_).look_up(*stacks, wanted);
  for (const std::uint32_t stack : wanted) lines[stack] = call_sites_of(shared_).site_of(*stacks, stack);
  return lines;
}

// ---- trying ---------------------------------------------------------------------------------------------------------

Result<void> PowerCuts::try_states(const crash::Trials& trials, const std::string& directory, const Check& check,
                                   const CrashOptions& options, CrashReport& report) {
  std::optional<Result<crash::ScratchFolder>> scratch;
  {
    const OwnCalls own(shared_.backend.current());
    scratch.emplace(crash::ScratchFolder::make([](const std::string& line) { say(line); }));
    if (!scratch->ok()) return scratch->failure();
  }
  const auto clear = [&] {
    const OwnCalls own(shared_.backend.current());
    scratch->value().clear();
  };
  const std::string path = scratch->value().path() + "/" + last_name(directory);
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const CrashPoint point = trials.point(i, path);
    {
      const OwnCalls own(shared_.backend.current());
      if (Result<void> made = trials.make_files(i, path); !made.ok()) return made;
    }
    crash_detail::Verdict verdict = options.in_child ? verdict_of_child(check, point) : check(point);
    ++report.states;
    if (!verdict.is_good) {
      ++report.failed_states;
      if (report.failed.size() < kMostFailures)
        report.failed.push_back({point.description, std::move(verdict.message)});
    }
    clear();
  }
  const OwnCalls own(shared_.backend.current());
  scratch.reset();
  return {};
}

crash_detail::Verdict PowerCuts::verdict_of_child(const Check& check, const CrashPoint& point) {
  constexpr char kGood = '+';
  constexpr char kBad = '-';
  constexpr std::chrono::seconds kLimit{60};
  const OwnCalls own(shared_.backend.current());
  const ContainedRun run = run_contained(
      [&] {
        crash_detail::Verdict verdict = check(point);
        if (verdict.is_good && !verdict.has_result && !adapter::test_has_failed().has_value()) {
          verdict = {false, "this test framework does not say whether an assertion failed in a child: return a result"};
        }
        return (verdict.is_good ? kGood : kBad) + verdict.message;
      },
      kLimit);
  if (!run.why_none.empty()) return {false, "no child for the check: " + run.why_none};
  if (run.is_timed_out) return {false, "the check did not end within 60 s"};
  if (run.signal != 0) return {false, std::string("the check was ended by: ") + strsignal(run.signal)};
  if (!run.has_said) return {false, "the check ended the process"};
  crash_detail::Verdict verdict = {run.said.front() == kGood, run.said.substr(1)};
  if (run.has_failed_test) {
    ++assertions_failed_;
    if (verdict.is_good) verdict = {false, "an assertion failed in the child process, which printed it above"};
  }
  return verdict;
}

}  // namespace syscost::session
