// SPDX-License-Identifier: MIT
//
// What a session does for a loop: the running test is not charged with it, and the instrument comes off and on.
#include <utility>

#include "os/quiet_memory.h"
#include "session/process/messages.h"
#include "session/windows/session.h"

namespace syscost::session {

bool Session::enter_loop(std::string_view name) {
  bool expected = false;
  if (!in_loop_.compare_exchange_strong(expected, true)) {
    static std::atomic<bool> has_said{false};
    if (!has_said.exchange(true)) {
      say("loop " + std::string(name) +
          " runs while another loop runs: it is not measured, and its body runs once each time");
    }
    return false;
  }
  suspend_test();
  return true;
}

bool Session::set_test_aside() {
  bool expected = false;
  if (!in_loop_.compare_exchange_strong(expected, true)) return false;
  suspend_test();
  return true;
}

void Session::suspend_test() {
  if (!window_.has_value()) return;
  OpenWindow& window = *window_;
  if (window.is_traced) tracer_.tools().disarm();
  if (window.handle != nullptr) {
    window.opened->book.suspend(window.handle);
    // What only a syscall shows of the test so far must not be charged to the loop. When the instrument is gone,
    // closing the window finds that out once more.
    if (backend_.current() == window.opened) static_cast<void>(backend_.check(*window.opened));
  }
  window.loop_start_ns = monotonic_ns();
  window.loop_usage = Usage::now();
  suspend_trace(window);
}

void Session::leave_loop(std::string_view name, const std::vector<std::string>& lines) {
  {
    const std::unique_lock guard = wait_for_rows(nullptr);
    writing_.enter_file();
    recorder_.write("loop " + std::string(name));
    static_cast<void>(top_up_quiet_memory());
  }
  if (!lines.empty() && prints_lines()) {
    std::string start = "loop " + std::string(name) + ": ";
    for (const std::string& line : lines) {
      const std::string text = std::exchange(start, {}) + line;
      if (window_.has_value()) {
        window_->loop_lines.push_back(text);
      } else {
        say(text);
      }
    }
  }
  resume_test(name);
}

void Session::take_test_back(std::string_view name) {
  {
    const std::unique_lock guard = wait_for_rows(nullptr);
    writing_.enter_file();
    recorder_.write(name);
    static_cast<void>(top_up_quiet_memory());
  }
  const bool is_said = window_.has_value() && window_->excluded.size() >= name.size() &&
                       std::string_view(window_->excluded).substr(window_->excluded.size() - name.size()) == name;
  resume_test(is_said ? std::string_view() : name);
}

void Session::resume_test(std::string_view excluded) {
  if (window_.has_value()) {
    OpenWindow& window = *window_;
    resume_trace(window);
    if (!excluded.empty()) {
      window.excluded.append(window.excluded.empty() ? "excludes loop " : ", ").append(excluded);
    }
    window.usage_before.add(Usage::now(), window.loop_usage);
    window.start_ns += monotonic_ns() - window.loop_start_ns;
  }
  in_loop_.store(false);
  if (window_.has_value() && window_->handle != nullptr) window_->opened->book.resume(window_->handle);
  if (window_.has_value() && window_->is_traced) tracer_.tools().arm();
}

Result<void> Session::detach_backend(OpenBackend& opened) {
  // Whoever opens a scope counts it first and then looks whether the instrument is there.
  is_taken_off_.store(true);
  if (scopes_.open_count() > 0) {
    is_taken_off_.store(false);
    return Failure{"a scope is open around it or on another thread, and would miss calls while the backend is off",
                   "end the scope before the loop"};
  }
  Result<void> off = opened.backend->detach();
  if (!off.ok()) is_taken_off_.store(false);
  return off;
}

bool Session::attach_backend(OpenBackend& opened) {
  Result<void> on = opened.backend->attach();
  is_taken_off_.store(false);
  if (on.ok()) return true;
  opened.is_intact.store(false, std::memory_order_release);
  recorder_.note_problem(on.failure());
  return false;
}

WindowBook::Window* Session::open_loop_window(OpenBackend& opened) {
  static_cast<void>(top_up_quiet_memory());
  WindowBook::Window* window = opened.book.open(Reach::process);
  SYSCOST_CHECK(window != nullptr);  // only thread windows can be refused
  return window;
}

std::shared_ptr<detail::CostData> Session::close_loop_window(OpenBackend& opened, WindowBook::Window* window) {
  std::shared_ptr<detail::CostData> cost = opened.new_cost();
  opened.book.close(window, *cost);
  if (!opened.is_intact.load(std::memory_order_acquire)) return nullptr;
  const std::uint64_t hidden_before = opened.hidden_losses(Reach::process);
  Result<void> checked = backend_.check(opened);
  if (checked.ok()) {
    cost->lost += opened.hidden_losses(Reach::process) - hidden_before;
    return cost;
  }
  recorder_.note_problem(checked.failure());
  return nullptr;
}

std::uint64_t Session::take_loop_repetitions(std::string_view name, std::size_t count) {
  std::tuple<std::string, std::string, std::string> key{"", "", name};
  if (window_.has_value()) {
    std::get<0>(key) = window_->test;
    std::get<1>(key) = window_->name;
  }
  std::uint64_t& next = loop_repetitions_[std::move(key)];
  return std::exchange(next, next + count);
}

void Session::add_loop_row(csv::WindowColumns columns, const detail::CostData* cost, const Capabilities& can) {
  if (window_.has_value()) {
    columns.test = window_->test;
    columns.parent = window_->name;
  }
  recorder_.add(columns, cost, can);
}

}  // namespace syscost::session
