// SPDX-License-Identifier: MIT
#include "session/trace/scheduler_text.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "core/syscall_table.h"

namespace syscost::session {
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
