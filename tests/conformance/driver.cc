// SPDX-License-Identifier: MIT
#include "driver.h"

#include <optional>
#include <string>

#include "raw.h"
#include "syscost/syscost.h"

namespace conformance {
namespace {

/// A write that fails with EBADF: its only trace is its line in strace's log.
void mark(const std::string& text) {
  raw(SYS_write, -1, text.data(), text.size());
}

void run_window(const Case& one, const Window& window, const DriverOptions& options, Measured& measured) {
  const std::string begin = "syscost-begin " + marker_name(one, window);
  const std::string end = "syscost-end " + marker_name(one, window);
  if (!options.open_scopes) {
    mark(begin);
    window.body();
    mark(end);
    return;
  }
  std::optional<syscost::Cost> cost;
  // Between the markers strace sees everything. If the scope itself made a call there, strace and the backend would
  // disagree.
  mark(begin);
  {
    syscost::Scope scope(syscost::Reach::process);
    window.body();
    cost = scope.stop();
  }
  mark(end);
  measured.windows[window.name] = to_measured(*cost);
  if (window.check && cost->available()) window.check(*cost);
}

}  // namespace

std::string marker_name(const Case& one, const Window& window) {
  return one.name + "/" + window.name;
}

Measured run_case(const Case& one, const DriverOptions& options) {
  Measured measured;
  if (one.missing) measured.missing = one.missing();
  if (!measured.missing.empty()) return measured;
  if (one.early) one.early();
  // The first scope opens the backend, which takes many syscalls.
  if (options.open_scopes) syscost::measure([] {}, syscost::Reach::process);
  if (one.setup) one.setup();
  std::optional<syscost::Scope> around;
  if (options.open_scopes && options.nested) around.emplace(syscost::Reach::process);
  for (const Window& window : one.windows) run_window(one, window, options, measured);
  if (around) {
    syscost::Count lost = around->stop().lost();
    require(lost.value_or(0) == 0,
            "the window around all windows lost " + std::to_string(lost.value_or(0)) + " events");
  }
  if (one.teardown) one.teardown();
  measured.problems = problems();
  return measured;
}

}  // namespace conformance
