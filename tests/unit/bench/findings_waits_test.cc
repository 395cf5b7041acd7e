// SPDX-License-Identifier: MIT
//
// Rules about waiting, which need the order of calls: each on traces where it must fire, where it must only have a
// note, and where it must be silent.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "findings/rules.h"
#include "findings_in_trace.h"
#include "made_trace.h"

namespace syscost::bench::findings {
namespace {

using testing::evidence_of;
using testing::hits_of;
using testing::MadeTrace;
using testing::notes_of;
using testing::Texts;

void poll_at_once(MadeTrace& trace, int answer) {
  trace.call("poll", {{"ufds", "0x1"}, {"nfds", "1"}, {"timeout_msecs", "0"}}, answer);
}

TEST(BusyPollingInOrder, IsANoteForPollsInRows) {
  MadeTrace polls;
  polls.taking(20'000);
  for (int i = 0; i < 70; ++i) poll_at_once(polls, 0);
  poll_at_once(polls, 1);
  EXPECT_EQ(notes_of("busy-polling", polls), Texts{"70 poll in rows find nothing and do not wait, in 1.40 ms"});
  MadeTrace reads;
  reads.taking(20'000);
  for (int i = 0; i < 80; ++i) reads.call("read", {{"fd", "4"}}, "-1 EAGAIN (Resource temporarily unavailable)");
  reads.call("read", {{"fd", "4"}}, 8);
  EXPECT_EQ(notes_of("busy-polling", reads), Texts{"80 read in rows find nothing and do not wait, in 1.60 ms"});
  MadeTrace yields;
  for (int i = 0; i < 300; ++i) yields.call("sched_yield", {}, 0);
  EXPECT_EQ(notes_of("busy-polling", yields).size(), 1U);
}

TEST(BusyPollingInOrder, IsANoteForRowsThatDoNotEnd) {
  MadeTrace trace;
  trace.taking(20'000);
  for (int i = 0; i < 70; ++i) poll_at_once(trace, 0);
  EXPECT_EQ(notes_of("busy-polling", trace).size(), 1U);
  MadeTrace yields;
  for (int i = 0; i < 300; ++i) yields.call("sched_yield", {}, 0).call("getpid", {}, 17);
  EXPECT_EQ(notes_of("busy-polling", yields), Texts{});
}

TEST(BusyPollingInOrder, LeavesLoopsThatWaitAlone) {
  MadeTrace trace;
  for (int i = 0; i < 300; ++i) {
    trace.call("epoll_wait", {{"epfd", "3"}, {"events", "0x1"}, {"maxevents", "8"}, {"timeout", "-1"}}, 1);
    trace.on("read", 4, 8).call("read", {{"fd", "4"}}, "-1 EAGAIN (Resource temporarily unavailable)");
    trace.call("sched_yield", {}, 0);
  }
  EXPECT_EQ(notes_of("busy-polling", trace), Texts{});
}

TEST(ShortTimeoutsInOrder, IsANoteForWaitsThatEndByThemselves) {
  MadeTrace trace;
  trace.taking(1'000'000);
  for (int i = 0; i < 40; ++i) trace.call("poll", {{"ufds", "0x1"}, {"nfds", "1"}, {"timeout_msecs", "1"}}, 0);
  EXPECT_EQ(notes_of("short-timeouts", trace),
            Texts{"40 poll end after 1.00 ms on average, because their time is over"});
}

TEST(ShortTimeoutsInOrder, LeavesLongWaitsAndAnswersAlone) {
  MadeTrace trace;
  trace.taking(50'000'000);
  for (int i = 0; i < 40; ++i) trace.call("poll", {{"ufds", "0x1"}, {"nfds", "1"}, {"timeout_msecs", "50"}}, 0);
  trace.taking(1'000'000);
  for (int i = 0; i < 40; ++i) trace.call("poll", {{"ufds", "0x1"}, {"nfds", "1"}, {"timeout_msecs", "50"}}, 1);
  EXPECT_EQ(notes_of("short-timeouts", trace), Texts{});
}

/// Sleeps, and after each a look; only the last one finds something.
void sleep_and_look(MadeTrace& trace, int times, bool finds) {
  for (int i = 0; i < times; ++i) {
    trace.call("clock_nanosleep", {}, 0).on("close", 5).on("socket", 5);
    const bool is_last = i + 1 == times;
    trace.call("connect", {{"fd", "5"}}, is_last && finds ? "0" : "-1 ECONNREFUSED (Connection refused)");
  }
}

TEST(ShortTimeoutsInOrder, FiresForLooksBetweenSleeps) {
  MadeTrace trace;
  trace.taking(1'000'000);
  sleep_and_look(trace, 40, true);
  EXPECT_EQ(evidence_of("short-timeouts", trace),
            Texts{"40 sleeps of 1.00 ms on average in rows, with a look in between that finds nothing"});
}

TEST(SleepInTestInOrder, FiresForLooksUntilSomethingIsFound) {
  MadeTrace trace;
  trace.taking(20'000'000).at("at test/a.cc:9 TestBody+1");
  sleep_and_look(trace, 4, true);
  const std::vector<Hit> hits = hits_of("sleep-in-test", trace);
  ASSERT_EQ(hits.size(), 1U);
  EXPECT_FALSE(hits[0].is_note);
  EXPECT_EQ(hits[0].evidence, "4 sleeps take 80.0 ms in rows, with a look in between that finds nothing");
  EXPECT_EQ(hits[0].site, "test/a.cc:9 TestBody");
  MadeTrace in_vain;
  in_vain.taking(20'000'000);
  sleep_and_look(in_vain, 4, false);
  EXPECT_EQ(notes_of("sleep-in-test", in_vain), Texts{"4 sleeps take 80.0 ms"});
}

TEST(SleepInTestInOrder, FiresForASleepThatIsLongerThanTheServerNeeds) {
  const auto sleep_before_connect = [](std::uint64_t ready_ns) {
    MadeTrace trace;
    trace.taking(1'000).call("clone3", {}, 18);
    trace.taking(200'000'000).call("clock_nanosleep", {}, 0).from(ready_ns);
    trace.taking(1'000).call("listen", {{"fd", "3"}}, "0", 18).from(200'002'000);
    trace.call("socket", {{"type", "SOCK_STREAM"}}, 4).on("connect", 4);
    return evidence_of("sleep-in-test", trace);
  };
  EXPECT_EQ(sleep_before_connect(10'000'000),
            Texts{"a sleep before the connect takes 200 ms, 190 ms longer than the server needs to listen"});
  EXPECT_EQ(sleep_before_connect(190'000'000), Texts{});
}

TEST(SleepInTestInOrder, IsANoteForEachLineThatSleepsLong) {
  MadeTrace trace;
  trace.taking(60'000'000).at("at test/a.cc:9 TestBody+1").call("clock_nanosleep", {}, 0);
  trace.taking(10'000'000).at("at src/b.cc:5 poll+1").call("clock_nanosleep", {}, 0).call("clock_nanosleep", {}, 0);
  const std::vector<Hit> hits = hits_of("sleep-in-test", trace);
  ASSERT_EQ(hits.size(), 1U);
  EXPECT_TRUE(hits[0].is_note);
  EXPECT_EQ(hits[0].evidence, "1 sleep takes 60.0 ms");
  MadeTrace threads;
  threads.taking(60'000'000).call("clock_nanosleep", {}, 0, 1).call("clock_nanosleep", {}, 0, 2);
  EXPECT_EQ(notes_of("sleep-in-test", threads), Texts{"2 sleeps of 2 threads take 120 ms"});
  EXPECT_EQ(hits[0].site, "test/a.cc:9 TestBody");
}

TEST(SleepInTestInOrder, TakesPollsAndSelectsOfNothingForSleeps) {
  const auto waits = [](std::string_view name, const MadeTrace::Arguments& arguments) {
    MadeTrace trace;
    trace.taking(60'000'000).call(name, arguments, 0);
    return notes_of("sleep-in-test", trace);
  };
  const MadeTrace::Arguments nothing = {{"n", "0"}, {"inp", "NULL"}, {"outp", "NULL"}, {"exp", "NULL"}, {"tvp", "0x1"}};
  EXPECT_EQ(waits("select", nothing), Texts{"1 sleep takes 60.0 ms"});
  const MadeTrace::Arguments set = {{"n", "4"}, {"inp", "0x2"}, {"outp", "NULL"}, {"exp", "NULL"}, {"tvp", "0x1"}};
  EXPECT_EQ(waits("select", set), Texts{});
  EXPECT_EQ(waits("poll", {{"ufds", "NULL"}, {"nfds", "0"}, {"timeout_msecs", "60"}}), Texts{"1 sleep takes 60.0 ms"});
  EXPECT_EQ(waits("poll", {{"ufds", "0x1"}, {"nfds", "1"}, {"timeout_msecs", "60"}}), Texts{});
}

TEST(SleepInTestInOrder, LeavesShortSleepsAlone) {
  MadeTrace trace;
  trace.taking(1'000'000);
  for (int i = 0; i < 100; ++i) trace.call("clock_nanosleep", {}, 0);
  trace.taking(40'000'000).call("nanosleep", {}, 0);
  EXPECT_EQ(notes_of("sleep-in-test", trace), Texts{});
}

void wait_for_lock(MadeTrace& trace, const char* value, std::uint32_t thread) {
  trace.call("futex", {{"uaddr", "0x7f01"}, {"op", "FUTEX_WAIT_PRIVATE"}, {"val", value}, {"utime", "NULL"}}, "0",
             thread);
}

TEST(LockConvoy, SaysIfTheOtherThreadWritesMeanwhile) {
  MadeTrace trace;
  trace.open("app.log", 3, "O_WRONLY");
  for (std::uint64_t i = 0; i < 80; ++i) {
    const std::uint64_t begin_ns = 10'000 + i * 20'000;
    trace.taking(10'000).from(begin_ns);
    wait_for_lock(trace, "2", 18 + static_cast<std::uint32_t>(i % 2));
    trace.taking(1'000).from(begin_ns + 2'000).on("write", 3, 4096);
    trace.call("futex", {{"uaddr", "0x7f01"}, {"op", "FUTEX_WAKE_PRIVATE"}, {"val", "1"}}, 1);
  }
  EXPECT_EQ(notes_of("lock-convoy", trace),
            Texts{"2 threads wait 80 times for one lock, 10.0 us each on average; 80 times the other thread reads, "
                  "writes or sends meanwhile"});
}

TEST(LockConvoy, IsANoteForWaitsOfSeveralThreads) {
  MadeTrace trace;
  for (std::uint32_t i = 0; i < 80; ++i) wait_for_lock(trace, "2", 17 + i % 4);
  EXPECT_EQ(notes_of("lock-convoy", trace), Texts{"4 threads wait 80 times for one lock, 1.00 us each on average"});
}

TEST(LockConvoy, LeavesConditionVariablesAndOneThreadAlone) {
  MadeTrace conditions;
  for (std::uint32_t i = 0; i < 80; ++i) wait_for_lock(conditions, "0", 17 + i % 4);
  EXPECT_EQ(notes_of("lock-convoy", conditions), Texts{});
  MadeTrace one;
  for (int i = 0; i < 80; ++i) wait_for_lock(one, "2", 17);
  EXPECT_EQ(notes_of("lock-convoy", one), Texts{});
}

}  // namespace
}  // namespace syscost::bench::findings
