// SPDX-License-Identifier: MIT
#include "extras/scheduler/session/scheduler_files.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "core/syscall_table.h"
#include "extras/profilers/session/profiler_session.h"
#include "session/process/messages.h"
#include "session/windows/recorder.h"

namespace syscost::session {
namespace {

SchedulerTrace* scheduler_of(const OpenBackend* opened) {
  return opened != nullptr ? opened->backend->extension<SchedulerTrace>() : nullptr;
}

}  // namespace

Result<void> SchedulerFiles::start() {
  if (!shared_.options.scheduler.wanted || artifacts_.has_value()) return {};
  Result<Artifacts> opened = open_artifacts(shared_.options, shared_.run);
  if (!opened.ok()) return opened.failure();
  artifacts_.emplace(std::move(opened.value()));
  return {};
}

void SchedulerFiles::prepare(OpenWindow& window) {
  SchedulerTrace* const scheduler = scheduler_of(window.opened);
  if (scheduler != nullptr) scheduler->clear();
}

void SchedulerFiles::conclude(ClosedWindow& closed) {
  OpenWindow& window = closed.window;
  SchedulerTrace* const scheduler = scheduler_of(window.opened);
  if (!shared_.options.scheduler.wanted || scheduler == nullptr || !artifacts_.has_value()) return;
  shared_.recorder.enter_file();
  const std::string spoken(closed.spoken);
  has_window_ = true;
  const bool has_calls = closed.cost != nullptr && !is_empty(closed.cost->table);
  if (closed.cost == nullptr || !(has_calls || window.kind == adapter::Kind::test)) return;
  if (!window.excluded.empty()) {
    if (!std::exchange(has_told_of_loop_, true)) {
      say("there is no sched.csv of " + spoken + ": its time without its loops is not one stretch");
    }
    return;
  }
  std::array<char, 16> name{};
  prctl(PR_GET_NAME, name.data());
  SchedulerText text(static_cast<std::uint32_t>(gettid()), name.data(), window.opened_ns, closed.end_ns);
  const std::uint64_t lost = scheduler->take(text);
  text.finish(lost);
  if (!text.text().is_whole()) {
    shared_.recorder.note_problem({"there was no memory to write the scheduler's events of " + spoken,
                                   "keep fewer events: --syscost_sched=events=N"});
    return;
  }
  if (lost > 0) {
    say("no room for " + std::to_string(lost) + " of the scheduler's events of " + spoken +
        ": --syscost_sched=events=N makes room for N (now " + std::to_string(shared_.options.scheduler.events) + ")");
  }
  const Result<std::string> folder = artifacts_->folder_of(window);
  const Result<void> written =
      folder.ok() ? artifacts_->write(folder.value(), "sched.csv", text.text().view()) : folder.failure();
  if (!written.ok()) shared_.recorder.note_problem(written.failure());
}

void SchedulerFiles::end_process() {
  if (shared_.options.scheduler.wanted && scheduler_of(shared_.backend.current()) != nullptr && !has_window_) {
    say("--syscost_sched wrote nothing: there was no test");
  }
}

// ---- the file -------------------------------------------------------------------------------------------------------

namespace {

std::string_view word(SchedulerEvent::Kind kind) {
  switch (kind) {
    case SchedulerEvent::Kind::runs:
      return "runs";
    case SchedulerEvent::Kind::preempted:
      return "preempted";
    case SchedulerEvent::Kind::blocks:
      return "blocks";
    case SchedulerEvent::Kind::ends:
      return "ends";
    case SchedulerEvent::Kind::woken:
      return "woken";
    case SchedulerEvent::Kind::created:
      return "created";
  }
  return {};
}

std::string_view word(SchedulerEvent::Waker waker) {
  switch (waker) {
    case SchedulerEvent::Waker::unknown:
      return "unknown";
    case SchedulerEvent::Waker::thread:
      return "thread";
    case SchedulerEvent::Waker::other_process:
      return "other_process";
    case SchedulerEvent::Waker::kernel_thread:
      return "kernel_thread";
    case SchedulerEvent::Waker::interrupt:
      return "interrupt";
  }
  return {};
}

/// A thread may have any name.
std::string cell_of(std::string_view name) {
  std::string cell(name);
  std::replace_if(
      cell.begin(), cell.end(),
      [](char c) { return std::isprint(static_cast<unsigned char>(c)) == 0 || c == ',' || c == '"'; }, '_');
  return cell;
}

std::string call_name(const std::optional<SyscallId>& call) {
  return call.has_value() ? syscall_name(*call) : std::string();
}

}  // namespace

SchedulerText::SchedulerText(std::uint32_t thread, std::string_view name, std::uint64_t begin_ns, std::uint64_t end_ns)
    : thread_(thread), name_(cell_of(name)), begin_ns_(begin_ns), end_ns_(end_ns), last_ns_(begin_ns) {
  text_.append("at_ns,event,thread,name,call,waker,waker_thread,waker_call,count\n");
  add_edge("begin", begin_ns);
}

void SchedulerText::add_edge(std::string_view what, std::uint64_t at_ns) {
  text_.append(std::to_string(at_ns - begin_ns_) + "," + std::string(what) + "," + std::to_string(thread_) + "," +
               name_ + ",,,,,\n");
}

void SchedulerText::add(const SchedulerEvent& event) {
  // A thread without a number ended, and did nothing else in the window.
  if (event.at_ns < begin_ns_ || event.at_ns > end_ns_ || event.thread == 0) return;
  const bool has_waker = event.kind == SchedulerEvent::Kind::woken || event.kind == SchedulerEvent::Kind::created;
  const bool is_thread = has_waker && event.waker == SchedulerEvent::Waker::thread;
  last_ns_ = event.at_ns;
  text_.append(std::to_string(event.at_ns - begin_ns_) + "," + std::string(word(event.kind)) + "," +
               std::to_string(event.thread) + "," + cell_of(event.name) + "," + call_name(event.call) + "," +
               (has_waker ? std::string(word(event.waker)) : std::string()) + "," +
               (is_thread ? std::to_string(event.waker_thread) + "," + call_name(event.waker_call) : std::string(",")) +
               ",\n");
}

void SchedulerText::finish(std::uint64_t lost) {
  if (lost > 0) text_.append(std::to_string(last_ns_ - begin_ns_) + ",lost,,,,,,," + std::to_string(lost) + "\n");
  add_edge("end", end_ns_);
}

}  // namespace syscost::session
