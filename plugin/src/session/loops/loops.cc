// SPDX-License-Identifier: MIT
#include "session/loops/loops.h"

#include <atomic>
#include <utility>

#include "os/memory.h"
#include "session/loops/loop_run.h"
#include "session/process/messages.h"

namespace syscost::session {

/// False if a loop runs already.
bool Loops::claim_loop() {
  bool expected = false;
  return shared_.in_loop.compare_exchange_strong(expected, true);
}

bool Loops::enter(std::string_view name, std::optional<OwnCalls>& own) {
  if (!claim_loop()) {
    static std::atomic<bool> has_said{false};
    if (!has_said.exchange(true)) {
      const OwnCalls own_message(backend());
      say("loop " + std::string(name) +
          " runs while another loop runs: it is not measured, and its body runs once each time");
    }
    return false;
  }
  windows_.stop_charging(own);
  return true;
}

void Loops::leave(std::string_view name, const std::vector<std::string>& lines) {
  shared_.recorder.write_loop("loop " + std::string(name));
  if (!lines.empty() && shared_.prints_lines()) {
    std::string start = "loop " + std::string(name) + ": ";
    for (const std::string& line : lines) {
      const std::string text = std::exchange(start, {}) + line;
      if (shared_.window.has_value()) {
        shared_.window->loop_lines.push_back(text);
      } else {
        say(text);
      }
    }
  }
  if (shared_.options.trace.wanted && shared_.window.has_value()) {
    shared_.slices.add("loop " + std::string(name), shared_.window->loop_start_ns, monotonic_ns(), nullptr);
  }
  windows_.leave_out_pause(name);
  shared_.in_loop.store(false);
  windows_.charge_again();
}

bool Loops::pause_test() {
  if (!claim_loop()) return false;
  windows_.stop_charging(own_);
  return true;
}

void Loops::resume_test(std::string_view name) {
  shared_.recorder.write_loop(name);
  const std::string_view excluded = shared_.window.has_value() ? std::string_view(shared_.window->excluded) : "";
  windows_.leave_out_pause(excluded.ends_with(name) ? std::string_view() : name);
  shared_.in_loop.store(false);
  windows_.charge_again();
  own_.reset();
}

Result<void> Loops::detach_backend(OpenBackend& opened) {
  // A thread that opens a scope first counts the scope, then checks whether the backend is attached.
  shared_.is_backend_detached.store(true);
  if (shared_.scopes.open_count() > 0) {
    shared_.is_backend_detached.store(false);
    return Failure{"a scope is open around it or on another thread, and would miss calls while the backend is off",
                   "end the scope before the loop"};
  }
  Result<void> off = opened.backend->detach();
  if (!off.ok()) shared_.is_backend_detached.store(false);
  return off;
}

bool Loops::attach_backend(OpenBackend& opened) {
  Result<void> on = opened.backend->attach();
  shared_.is_backend_detached.store(false);
  if (on.ok()) return true;
  opened.is_intact.store(false, std::memory_order_release);
  note_problem(on.failure());
  return false;
}

bool Loops::attach_for_scope() {
  // Between passes the loop's thread attaches and detaches.
  const std::lock_guard guard(running_.mutex);
  if (running_.loop != nullptr) running_.loop->stop_timing();
  return !shared_.is_backend_detached.load();
}

WindowBook::Window* Loops::open_window(OpenBackend& opened) {
  static_cast<void>(top_up_quiet_memory());
  WindowBook::Window* window = opened.book.open(Reach::process);
  SYSCOST_CHECK(window != nullptr);  // only thread windows can fail to open
  return window;
}

std::shared_ptr<detail::CostData> Loops::close_window(OpenBackend& opened, WindowBook::Window* window) {
  std::shared_ptr<detail::CostData> cost = opened.new_cost();
  opened.book.close(window, *cost);
  if (!opened.is_intact.load(std::memory_order_acquire)) return nullptr;
  const std::uint64_t hidden_before = opened.hidden_losses(Reach::process);
  Result<void> checked = shared_.backend.check(opened);
  if (checked.ok()) {
    cost->lost += opened.hidden_losses(Reach::process) - hidden_before;
    return cost;
  }
  note_problem(checked.failure());
  return nullptr;
}

bool Loops::open_traced_pass(std::string_view loop, OpenBackend* opened, WindowBook::Window*& window) {
  window = nullptr;
  if (!tools_->begin_pass(loop)) return false;
  if (opened != nullptr) window = open_window(*opened);
  tools_->arm_pass();
  return true;
}

std::shared_ptr<detail::CostData> Loops::close_traced_pass(OpenBackend* opened, WindowBook::Window* window) {
  tools_->disarm_pass();
  std::shared_ptr<detail::CostData> cost = window != nullptr ? close_window(*opened, window) : nullptr;
  return tools_->end_pass() ? cost : nullptr;
}

void Loops::add_row(csv::WindowColumns columns, const detail::CostData* cost, const Capabilities& can) {
  if (shared_.window.has_value()) {
    columns.test = shared_.window->test;
    columns.parent = shared_.window->name;
  }
  shared_.recorder.add(columns, cost, can);
}

}  // namespace syscost::session
