// SPDX-License-Identifier: MIT
//
// A trace of the dispatch backend for one test.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "../sanitized.h"
#include "extras/trace/core/call_trace.h"
#include "opened.h"

namespace syscost::dispatch {

inline constexpr std::uint64_t kRoom = 1000;

struct Events final : CallEventSink {
  void add(const CallEvent& event) override { all.push_back(event); }
  std::vector<CallEvent> of(const SegmentsHeld& window) const {
    std::vector<CallEvent> some;
    std::copy_if(all.begin(), all.end(), std::back_inserter(some),
                 [&](const CallEvent& event) { return event.is_of(window); });
    return some;
  }
  std::vector<CallEvent> all;
};

inline std::uint64_t calls_of(const detail::CostData& cost) {
  std::uint64_t calls = 0;
  for (const auto& [id, tally] : cost.table) calls += tally.calls;
  return calls;
}

class TraceTest : public testing::TestWithParam<Patching> {
 protected:
  void SetUp() override {
    if (kIsSanitized) GTEST_SKIP() << "the sanitizer makes calls of its own";
  }
  void open(std::uint64_t room = kRoom) {
    opened_.emplace(GetParam(), room);
    ASSERT_NE(opened_->backend, nullptr);
    ASSERT_NE(opened_->backend->extension<CallTrace>(), nullptr);
    book_.emplace(*opened_->backend, quiet_memory());
  }
  CallTrace& trace() { return *opened_->backend->extension<CallTrace>(); }

  /// The calls of `body` in a window, one by one.
  template <class Body>
  std::vector<CallEvent> events_of(Body body) {
    WindowBook::Window* window = book_->open(Reach::process);
    body();
    detail::CostData cost(&quiet_memory());
    book_->close(window, cost);
    lost_ = cost.unkept();
    calls_ = calls_of(cost);
    EXPECT_TRUE(book_->pause(trace()));
    Events events;
    trace().deliver(events);
    trace().restart();
    std::vector<CallEvent> own = events.of(*cost.segments());
    EXPECT_EQ(own.size() + lost_, calls_);
    return own;
  }

  std::optional<OpenedDispatch> opened_;
  std::optional<WindowBook> book_;
  std::uint64_t lost_ = 0;
  std::uint64_t calls_ = 0;
};

/// Two pages, the second unreadable.
inline char* page_before_a_hole() {
  void* pages = mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(static_cast<char*>(pages) + 4096, 4096, PROT_NONE);
  return static_cast<char*>(pages);
}

/// The first event of syscall `number`; null if there is none.
inline const CallEvent* find(const std::vector<CallEvent>& events, long number) {
  const auto found = std::find_if(events.begin(), events.end(), [&](const CallEvent& event) {
    return event.id.number == static_cast<std::uint32_t>(number);
  });
  return found == events.end() ? nullptr : &*found;
}

/// For INSTANTIATE_TEST_SUITE_P.
inline std::string way_name(const testing::TestParamInfo<Patching>& way) {
  return way.param == Patching::allowed ? "patched" : "trapped";
}

}  // namespace syscost::dispatch
