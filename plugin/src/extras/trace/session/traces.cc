// SPDX-License-Identifier: MIT
#include "extras/trace/session/traces.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <ctime>
#include <map>
#include <memory_resource>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "arguments/call_text.h"
#include "core/syscall_table.h"
#include "extras/profilers/session/profiler_session.h"
#include "extras/scheduler/core/scheduler_trace.h"
#include "extras/trace/core/call_trace.h"
#include "extras/trace/session/mapped_text.h"
#include "extras/trace/session/perfetto.h"
#include "extras/where/core/call_stack.h"
#include "extras/where/session/call_sites.h"
#include "os/memory.h"
#include "session/process/messages.h"
#include "session/windows/recorder.h"

namespace syscost::session {
namespace {

std::uint64_t clock_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

/// A name, and the numbers that show whether each call has its event.
struct Checked {
  const Slice& slice;
  std::uint64_t events = 0;
};

std::vector<PerfettoTrace::Note> notes_of(const Checked& checked) {
  if (checked.slice.cost == nullptr) return {};
  std::uint64_t calls = 0;
  for (const auto& [id, tally] : checked.slice.cost->table) calls += tally.calls;
  const auto number = [](std::string_view name, std::uint64_t value) {
    return PerfettoTrace::Note{name, {}, static_cast<std::int64_t>(value), true};
  };
  return {number("calls", calls), number("events", checked.events), number("trace_lost", checked.slice.cost->unkept())};
}

/// The stacks of a trace's events. Each is looked up once, and before the events are written.
class EventStacks final : CallEventSink {
 public:
  /// `source`: null = the events have none.
  EventStacks(CallTrace& trace, CallSites* sites, const StackSource* source) {
    if (source == nullptr) return;
    trace.deliver(*this);
    sites->look_up(*source, numbers_);
    for (const std::uint32_t number : numbers_) {
      stacks_.try_emplace(number,
                          TracedStack{number, sites->site_of(*source, number), sites->frames_of(*source, number)});
    }
  }

  /// Null = it has none.
  const TracedStack* of(const CallEvent& event) const {
    const auto found = stacks_.find(event.id.detail.origin);
    return found != stacks_.end() ? &found->second : nullptr;
  }

 private:
  void add(const CallEvent& event) override {
    if (event.id.detail.origin != 0) numbers_.insert(event.id.detail.origin);
  }

  std::pmr::set<std::uint32_t> numbers_{&quiet_memory()};
  std::pmr::map<std::uint32_t, TracedStack> stacks_{&quiet_memory()};
};

/// Writes events as they come, and counts those of each slice.
class Writer final : public CallEventSink {
 public:
  Writer(PerfettoTrace& perfetto, MappedText& text, std::vector<Checked>& slices, const EventStacks& stacks)
      : perfetto_(perfetto), text_(text), slices_(slices), stacks_(stacks) {}

  void add(const CallEvent& event) override {
    const TracedStack* stack = stacks_.of(event);
    text_.append(strace_line(event, realtime_ns_, stack != nullptr ? stack->site : std::string_view()));
    perfetto_.add(event, stack);
    for (Checked& one : slices_) {
      if (one.slice.cost != nullptr && one.slice.cost->segments() != nullptr &&
          event.is_of(*one.slice.cost->segments())) {
        ++one.events;
      }
    }
  }

 private:
  PerfettoTrace& perfetto_;
  MappedText& text_;
  std::vector<Checked>& slices_;
  const EventStacks& stacks_;
  const std::uint64_t realtime_ns_ = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC);
};

CallTrace* trace_of(const OpenBackend* opened) {
  return opened != nullptr ? opened->backend->extension<CallTrace>() : nullptr;
}

SchedulerTrace* scheduler_of(const OpenBackend* opened) {
  return opened != nullptr ? opened->backend->extension<SchedulerTrace>() : nullptr;
}

}  // namespace

Result<void> Traces::start() {
  const bool has_files =
      shared_.options.trace.wanted || shared_.options.scheduler.wanted || shared_.options.writes_stack_files();
  if (shared_.options.writes_stack_files()) shared_.recorder.set_stack_files(*this);
  if (!has_files || artifacts_.has_value()) return {};
  const Result<std::string> root = artifacts_root(shared_.options);
  if (!root.ok()) return root.failure();
  Result<Artifacts> opened = Artifacts::open(root.value(), shared_.run.run_id, shared_.run.program);
  if (!opened.ok()) return opened.failure();
  artifacts_.emplace(std::move(opened.value()));
  return {};
}

/// That of the tools, if they have made one.
Result<std::string> Traces::folder_of(OpenWindow& window) const {
  if (!window.folder.empty()) return window.folder;
  std::string name = window.test;
  if (!window.name.empty()) name += (name.empty() ? "" : " ") + window.name;
  if (window.repetition > 0) name += "." + std::to_string(window.repetition);
  Result<std::string> made = artifacts_->make_folder({}, name);
  if (made.ok()) window.folder = made.value();
  return made;
}

void Traces::write(CallTrace& trace, const StackSource* stacks, const std::string& folder, std::string_view spoken,
                   const Slice* window) {
  MappedText text;
  MappedText bytes;
  const Slices::Waiting waiting = shared_.slices.take();
  std::vector<Checked> slices;
  if (window != nullptr) slices.push_back({*window});
  for (const Slice& slice : waiting.all) slices.push_back({slice});
  PerfettoTrace perfetto(static_cast<std::uint32_t>(getpid()), shared_.run.program, bytes);
  const EventStacks event_stacks(trace, stacks != nullptr ? &call_sites_of(shared_) : nullptr, stacks);
  Writer writer(perfetto, text, slices, event_stacks);
  trace.deliver(writer);
  if (stacks != nullptr) {
    for (const Failure& failure : call_sites_of(shared_).take_failures()) say_failure(failure);
  }
  for (const Checked& one : slices) {
    const bool is_window = window != nullptr && &one == slices.data();
    perfetto.add_slice({one.slice.name, is_window ? PerfettoTrace::kWindow : PerfettoTrace::kScope}, one.slice.start_ns,
                       one.slice.end_ns, notes_of(one));
  }
  if (!text.is_whole() || !bytes.is_whole()) {
    shared_.recorder.note_problem({"there was no memory to write the trace of " + std::string(spoken),
                                   "keep fewer events: --syscost_trace=events=N"});
    return;
  }
  for (const auto& [name, content] :
       {std::pair{"trace.strace", text.view()}, std::pair{"trace.pftrace", bytes.view()}}) {
    Result<void> written = artifacts_->write(folder, name, content);
    if (!written.ok()) shared_.recorder.note_problem(written.failure());
  }
}

void Traces::prepare(OpenWindow& window) {
  SchedulerTrace* scheduler = scheduler_of(window.opened);
  if (scheduler != nullptr) scheduler->clear();
}

void Traces::conclude(ClosedWindow& closed) {
  if (!shared_.options.trace.wanted && !shared_.options.scheduler.wanted) return;
  shared_.recorder.enter_file();
  const std::string spoken(closed.spoken);
  conclude_trace(closed.window, spoken, closed.end_ns, closed.cost);
  conclude_scheduler(closed.window, spoken, closed.end_ns, closed.cost);
}

void Traces::conclude_scheduler(OpenWindow& window, const std::string& spoken, std::uint64_t end_ns,
                                const std::shared_ptr<const detail::CostData>& cost) {
  SchedulerTrace* scheduler = scheduler_of(window.opened);
  if (scheduler == nullptr || !artifacts_.has_value()) return;
  has_scheduler_window_ = true;
  const bool has_calls = cost != nullptr && !is_empty(cost->table);
  if (cost == nullptr || !(has_calls || window.kind == adapter::Kind::test)) return;
  if (!window.excluded.empty()) {
    if (!std::exchange(has_told_of_loop_, true)) {
      say("there is no sched.csv of " + spoken + ": its time without its loops is not one stretch");
    }
    return;
  }
  std::array<char, 16> name{};
  prctl(PR_GET_NAME, name.data());
  SchedulerText text(static_cast<std::uint32_t>(gettid()), name.data(), window.opened_ns, end_ns);
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
  const Result<std::string> folder = folder_of(window);
  const Result<void> written =
      folder.ok() ? artifacts_->write(folder.value(), "sched.csv", text.text().view()) : folder.failure();
  if (!written.ok()) shared_.recorder.note_problem(written.failure());
}

void Traces::conclude_trace(OpenWindow& window, const std::string& spoken, std::uint64_t end_ns,
                            const std::shared_ptr<const detail::CostData>& cost) {
  CallTrace* trace = trace_of(window.opened);
  if (trace == nullptr || !artifacts_.has_value()) return;
  if (!window.opened->book.pause(*trace)) {
    if (!std::exchange(has_told_of_pause_, true)) {
      shared_.recorder.note_problem(
          {"the trace ends before " + spoken + ": a thread was stopped in the middle of a call",
           "leave --syscost_trace out for this program"});
    }
    return;
  }
  const bool has_calls = cost != nullptr && !is_empty(cost->table);
  if (has_calls || window.kind == adapter::Kind::test) {
    Slice own(spoken, quiet_memory());
    own.start_ns = window.opened_ns;
    own.end_ns = end_ns;
    own.cost = cost;
    const Result<std::string> folder = folder_of(window);
    if (folder.ok()) {
      write(*trace, window.opened->backend->extension<StackSource>(), folder.value(), spoken, &own);
    } else {
      shared_.recorder.note_problem(folder.failure());
    }
  }
  trace->restart();
}

void Traces::add_columns(ClosedWindow& closed) {
  if (closed.cost == nullptr || !shared_.options.writes_stack_files()) return;
  shared_.recorder.enter_file();
  if (!artifacts_.has_value()) return;
  const std::pmr::string text = call_sites_of(shared_).folded(*closed.cost);
  if (text.empty()) return;
  const Result<std::string> folder = folder_of(closed.window);
  const Result<void> written =
      folder.ok() ? artifacts_->write(folder.value(), "stacks.folded", text) : folder.failure();
  if (!written.ok()) shared_.recorder.note_problem(written.failure());
}

void Traces::write_stacks(std::string_view kind, std::string_view test, std::string_view name,
                          const detail::CostData& cost) {
  if (!artifacts_.has_value() || !shared_.options.writes_stack_files()) return;
  const std::pmr::string text = call_sites_of(shared_).folded(cost);
  if (text.empty()) return;
  std::string own_name = std::string(kind) + " " + std::string(name);
  const bool is_inside_test = shared_.window.has_value() && shared_.window->test == test;
  if (!is_inside_test && !test.empty()) own_name = std::string(test) + " " + own_name;
  const Result<std::string> parent = is_inside_test ? folder_of(*shared_.window) : Result<std::string>(std::string());
  const Result<std::string> folder = parent.ok() ? artifacts_->make_folder(parent.value(), own_name) : parent;
  const Result<void> written =
      folder.ok() ? artifacts_->write(folder.value(), "stacks.folded", text) : folder.failure();
  if (!written.ok()) shared_.recorder.note_problem(written.failure());
}

void Traces::end_process() {
  OpenBackend* opened = shared_.backend.current();
  if (shared_.options.scheduler.wanted && scheduler_of(opened) != nullptr && !has_scheduler_window_) {
    say("--syscost_sched wrote nothing: there was no test");
  }
  CallTrace* trace = trace_of(opened);
  if (trace == nullptr || !artifacts_.has_value() || shared_.has_framework || !opened->book.pause(*trace)) return;
  // For the sites. If another thread holds the lock, the events have none.
  const Recorder::Lock guard = shared_.recorder.take_lock_within_a_second();
  const StackSource* const stacks = guard.owns_lock() ? opened->backend->extension<StackSource>() : nullptr;
  const Result<std::string> folder = artifacts_->make_folder({}, "process " + std::to_string(getpid()));
  if (folder.ok()) {
    write(*trace, stacks, folder.value(), "the process", nullptr);
  } else {
    shared_.recorder.note_problem(folder.failure());
  }
}

namespace {

constexpr std::uint64_t kNsOfSecond = 1'000'000'000;

/// Seconds with nine digits after the point.
std::string seconds_text(std::uint64_t ns) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%llu.%09llu", static_cast<unsigned long long>(ns / kNsOfSecond),
                static_cast<unsigned long long>(ns % kNsOfSecond));
  return text.data();
}

}  // namespace

std::string strace_line(const CallEvent& event, std::uint64_t realtime_ns, std::string_view site) {
  std::string line = std::to_string(event.thread) + " " + seconds_text(event.start_ns + realtime_ns) + " " +
                     syscall_name(event.id) + "(";
  const char* comma = "";
  for (const ArgumentText& argument : argument_texts(event)) {
    line.append(comma).append(argument.text);
    comma = ", ";
  }
  line += ") = " + result_text(event);
  if (!site.empty()) line.append(" (").append(site).append(")");
  if (event.latency_ns.has_value()) line += " <" + seconds_text(*event.latency_ns) + ">";
  return line + "\n";
}

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
