// SPDX-License-Identifier: MIT
//
// A dispatch backend for one test, and its counts of one body.
#pragma once

#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "../sanitized.h"
#include "backends/dispatch/dispatch_backend.h"
#include "core/window_book.h"
#include "extras/trace/core/call_trace.h"
#include "extras/where/core/call_stack.h"
#include "os/memory.h"

namespace syscost::dispatch {

/// OpenBackend at construction, closed at the end. Tests ask for `backend` first.
struct OpenedDispatch {
  explicit OpenedDispatch(Patching patching = Patching::allowed, std::uint64_t trace_events = 0, bool stacks = false,
                          std::vector<RequestRule> rules = {}, bool file_kinds = false) {
    BackendRequest request;
    if (trace_events > 0) request.add(CallTraceRequest{trace_events, std::move(rules)});
    if (stacks) request.add(StackWish{});
    request.details.files = file_kinds;
    Result<std::unique_ptr<Backend>> opened = open_backend(patching, request);
    EXPECT_TRUE(opened.ok()) << opened.failure().reason;
    if (opened.ok()) backend = std::move(opened.value());
  }

  template <class Body>
  std::uint64_t count(std::uint32_t number, Body body) {
    WindowBook book(*backend, quiet_memory());
    WindowBook::Window* window = book.open(Reach::process);
    body();
    detail::CostData cost(&quiet_memory());
    book.close(window, cost);
    EXPECT_EQ(cost.lost + cost.late, 0U);
    std::uint64_t calls = 0;  // with and without a stack
    for (const auto& [id, tally] : cost.table) {
      if (id.abi == Abi::x86_64 && id.number == number) calls += tally.calls;
    }
    return calls;
  }

  std::unique_ptr<Backend> backend;
};

}  // namespace syscost::dispatch
