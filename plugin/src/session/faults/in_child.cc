// SPDX-License-Identifier: MIT
//
// A body in a fork child of its own, in which calls can fail: what the body does to the process ends with the child.
#include <cstddef>
#include <functional>
#include <string>
#include <utility>

#include "os/loaded_function.h"
#include "os/open_things.h"
#include "session/faults/faults.h"
#include "session/process/contained_child.h"
#include "session/windows/own_calls.h"
#include "syscost/adapter.h"

namespace syscost::session {
namespace {

/// What a child says is one of these, and a text.
constexpr char kSaid = '=';
constexpr char kCannot = '!';

}  // namespace

failure_detail::ChildRun Faults::run_in_child(const std::function<std::string()>& body,
                                              std::chrono::nanoseconds limit) {
  const auto refuse = [](std::string why) {
    failure_detail::ChildRun run;
    run.why_none = std::move(why);
    return run;
  };
  OpenBackend* const opened = shared_.backend.current();
  FaultInjector* const injector = opened != nullptr ? opened->backend->faults() : nullptr;
  if (shared_.is_fork_child()) return refuse("this is a fork child");
  if (injector == nullptr) return refuse("the backend makes no calls");
  if (!injector->begins_in_fork_children()) {
    return refuse("backend " + std::string(opened->backend->name()) + " makes no calls in a fork child");
  }
  if (!adapter::test_has_failed().has_value()) {
    return refuse("this test framework does not say whether an assertion failed in a child");
  }
  // The body has met it in the run that learned its calls, and would not meet it in a child.
  if (open_.size() > of_test_.size()) return refuse("a Fault or a Forbid is open, and ends in a fork child");
  const OwnCalls own(opened);
  const Result<OpenThings> now = OpenThings::now();
  if (!now.ok()) return refuse(now.failure().reason);
  // ThreadSanitizer's runtime has one of its own, and makes it anew in the child.
  const std::size_t own_threads = loaded_function("__tsan_init") != nullptr ? 2 : 1;
  if (now.value().threads.size() > own_threads) {
    return refuse("other threads run, and a fork child would have none of them");
  }
  const auto in_child = [&]() -> std::string {
    shared_.child_with_faults.emplace();
    if (const Result<void> begun = injector->begin_in_fork_child(); !begun.ok()) {
      return kCannot + begun.failure().reason;
    }
    try {
      return kSaid + body();
    } catch (...) {
      return std::string(1, kCannot) + "prepare, promise or invariant ended by an exception";
    }
  };
  ContainedRun run = run_contained(in_child, limit);
  if (!run.has_said) return run;
  if (run.said.front() == kCannot) return refuse(run.said.substr(1));
  run.said.erase(0, 1);
  return run;
}

}  // namespace syscost::session
