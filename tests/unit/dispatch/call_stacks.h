// SPDX-License-Identifier: MIT
//
// The common parts of tests of call stacks: a backend that keeps stacks, and how many calls came by each stack.
#pragma once

#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <cstdint>
#include <map>

#include "extras/where/core/call_stack.h"
#include "opened.h"

namespace syscost::dispatch {

/// The call that the tests make: getppid.
constexpr std::uint32_t kNumber = SYS_getppid;

struct Counted {
  std::uint64_t calls = 0;
  std::uint64_t with_stack = 0;
  std::map<std::uint32_t, std::uint64_t> by_stack;  // of getppid
};

/// Counts calls of the process while `body` runs.
template <class Body>
Counted count_by_stack(Backend& backend, Body body, std::uint32_t number = kNumber) {
  WindowBook book(backend, quiet_memory());
  WindowBook::Window* window = book.open(Reach::process);
  body();
  detail::CostData cost(&quiet_memory());
  book.close(window, cost);
  EXPECT_EQ(cost.lost + cost.late, 0U);
  Counted counted;
  for (const auto& [id, tally] : cost.table) {
    if (id.number != number) continue;
    counted.calls += tally.calls;
    if (id.detail.origin != 0) counted.with_stack += tally.calls;
    counted.by_stack[id.detail.origin] += tally.calls;
  }
  return counted;
}

class CallStacksTest : public testing::TestWithParam<Patching> {
 protected:
  CallStacksTest() : opened_(GetParam(), 0, true) {}
  Backend& backend() const { return *opened_.backend; }
  const StackSource& source() const { return *opened_.backend->extension<StackSource>(); }
  OpenedDispatch opened_;
};

}  // namespace syscost::dispatch
