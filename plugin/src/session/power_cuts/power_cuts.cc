// SPDX-License-Identifier: MIT
#include "session/power_cuts/power_cuts.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <memory_resource>
#include <optional>
#include <set>
#include <vector>

#include "crash/final_check.h"
#include "crash/image_files.h"
#include "crash/journal.h"
#include "os/mapped_memory.h"
#include "session/windows/own_calls.h"

namespace syscost::session {
namespace {

/// Of all files below the directory: each state is a copy of them.
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
  FileRecorder* const recorder = opened != nullptr ? opened->backend->files() : nullptr;
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
  if (Result<void> tried = try_states(*trials, directory, check, options, report); !tried.ok()) {
    return refuse(tried.failure());
  }
  return report;
}

// ---- recording ------------------------------------------------------------------------------------------------------

Result<FileRecorder*> PowerCuts::find_recorder() {
  OpenBackend* const opened = shared_.backend.current();
  if (opened == nullptr) return *shared_.backend.why_not();
  FileRecorder* const recorder = opened->backend->files();
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
  const StackSource* const stacks = shared_.backend.current()->backend->stacks();
  std::pmr::set<std::uint32_t> wanted(&mapped_memory());
  for (const FileCall& call : calls) wanted.insert(call.stack);
  wanted.erase(0);
  if (stacks == nullptr || wanted.empty()) return lines;
  const Recorder::Lock guard = shared_.recorder.take_lock_inside_window();
  shared_.recorder.enter_file();
  shared_.call_sites().look_up(*stacks, wanted);
  for (const std::uint32_t stack : wanted) lines[stack] = shared_.call_sites().site_of(*stacks, stack);
  return lines;
}

// ---- trying ---------------------------------------------------------------------------------------------------------

Result<void> PowerCuts::try_states(const crash::Trials& trials, const std::string& directory, const Check& check,
                                   const CrashOptions& options, CrashReport& report) {
  std::optional<Result<crash::ScratchFolder>> scratch;
  {
    const OwnCalls own(shared_.backend.current());
    scratch.emplace(crash::ScratchFolder::make());
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

crash_detail::Verdict PowerCuts::verdict_of_child(const Check& check, const CrashPoint& point) const {
  const OwnCalls own(shared_.backend.current());
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {false, std::string("no pipe to a child: ") + std::strerror(errno)};
  const pid_t child = fork();
  if (child == 0) {
    const crash_detail::Verdict verdict = check(point);
    const std::string answer = (verdict.is_good ? "+" : "-") + verdict.message;
    for (std::size_t at = 0; at < answer.size();) {
      const ssize_t count = write(ends[1], answer.data() + at, answer.size() - at);
      if (count <= 0) break;
      at += static_cast<std::size_t>(count);
    }
    _exit(0);
  }
  const int fork_error = errno;
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    return {false, std::string("no child for the check: ") + std::strerror(fork_error)};
  }
  std::string answer;
  bool is_late = false;
  constexpr int kPatienceMs = 60'000;
  while (true) {
    pollfd waits{ends[0], POLLIN, 0};
    const int ready = poll(&waits, 1, kPatienceMs);
    if (ready < 0 && errno == EINTR) continue;
    is_late = ready == 0;
    char piece[4096];
    const ssize_t count = ready > 0 ? read(ends[0], piece, sizeof piece) : 0;
    if (count <= 0) break;
    answer.append(piece, static_cast<std::size_t>(count));
  }
  close(ends[0]);
  if (is_late) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (is_late) return {false, "the check did not end within 60 s"};
  if (WIFSIGNALED(status)) return {false, std::string("the check was ended by: ") + strsignal(WTERMSIG(status))};
  if (answer.empty()) return {false, "the check ended the process"};
  return {answer[0] == '+', answer.substr(1)};
}

}  // namespace syscost::session
