// SPDX-License-Identifier: MIT
#include "extras/trace/session/traces.h"

#include <unistd.h>

#include <algorithm>
#include <array>
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

}  // namespace

Result<void> Traces::start() {
  const bool has_files = shared_.options.trace.wanted || shared_.options.writes_stack_files();
  if (shared_.options.writes_stack_files()) shared_.recorder.set_stack_files(*this);
  if (!has_files || artifacts_.has_value()) return {};
  Result<Artifacts> opened = open_artifacts(shared_.options, shared_.run);
  if (!opened.ok()) return opened.failure();
  artifacts_.emplace(std::move(opened.value()));
  return {};
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

void Traces::conclude(ClosedWindow& closed) {
  if (!shared_.options.trace.wanted) return;
  shared_.recorder.enter_file();
  const std::string spoken(closed.spoken);
  conclude_trace(closed.window, spoken, closed.end_ns, closed.cost);
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
    const Result<std::string> folder = artifacts_->folder_of(window);
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
  const Result<std::string> folder = artifacts_->folder_of(closed.window);
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
  const Result<std::string> parent =
      is_inside_test ? artifacts_->folder_of(*shared_.window) : Result<std::string>(std::string());
  const Result<std::string> folder = parent.ok() ? artifacts_->make_folder(parent.value(), own_name) : parent;
  const Result<void> written =
      folder.ok() ? artifacts_->write(folder.value(), "stacks.folded", text) : folder.failure();
  if (!written.ok()) shared_.recorder.note_problem(written.failure());
}

void Traces::end_process() {
  OpenBackend* opened = shared_.backend.current();
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

}  // namespace syscost::session
