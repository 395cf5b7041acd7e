// SPDX-License-Identifier: MIT
//
// The walk backwards over wake-ups, on events written by hand: which thread's time it is, and that no nanosecond is
// missing or there twice.
#include "trace/critical_path.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace syscost::bench::trace {
namespace {

using Kind = SchedEvent::Kind;

constexpr std::uint32_t kMain = 1, kReader = 2, kParser = 3;

SchedEvent at(std::uint64_t ns, Kind kind, std::uint32_t thread, std::string call = {}) {
  SchedEvent event;
  event.at_ns = ns;
  event.kind = kind;
  event.thread = thread;
  event.call = std::move(call);
  return event;
}
SchedEvent woken(std::uint64_t ns, std::uint32_t thread, std::string call, std::uint32_t by, std::string by_call) {
  SchedEvent event = at(ns, Kind::woken, thread, std::move(call));
  event.waker = Waker::thread;
  event.waker_thread = by;
  event.waker_call = std::move(by_call);
  return event;
}
SchedEvent woken(std::uint64_t ns, std::uint32_t thread, std::string call, Waker by) {
  SchedEvent event = at(ns, Kind::woken, thread, std::move(call));
  event.waker = by;
  return event;
}
SchedEvent created(std::uint64_t ns, std::uint32_t thread, std::uint32_t by) {
  SchedEvent event = woken(ns, thread, {}, by, "clone3");
  event.kind = Kind::created;
  return event;
}

SchedFile window(std::uint64_t wall_ns, std::vector<SchedEvent> events) {
  SchedFile file;
  file.wall_ns = wall_ns;
  file.thread = kMain;
  file.events = std::move(events);
  return file;
}

const char* word(PathStep::Kind kind) {
  switch (kind) {
    case PathStep::Kind::runs:
      return "runs";
    case PathStep::Kind::preempted:
      return "preempted";
    case PathStep::Kind::waits:
      return "waits";
    case PathStep::Kind::blocked:
      return "blocked";
    case PathStep::Kind::unknown:
      break;
  }
  return "unknown";
}

const char* word(Waker waker) {
  switch (waker) {
    case Waker::thread:
      return "thread";
    case Waker::other_process:
      return "other process";
    case Waker::kernel_thread:
      return "kernel";
    case Waker::interrupt:
      return "interrupt";
    case Waker::unknown:
      break;
  }
  return "?";
}

/// `0..10 1 runs`, `10..20 2 runs (woken from futex by 1 in futex)`, `0..5 1 blocked in read by ?`
std::vector<std::string> words(const SchedFile& file) {
  std::vector<std::string> all;
  for (const PathStep& step : critical_path(file).steps) {
    std::string text = std::to_string(step.from_ns) + ".." + std::to_string(step.to_ns) + " " +
                       std::to_string(step.thread) + " " + word(step.kind);
    if (step.kind == PathStep::Kind::blocked) text += " in " + step.call + " by " + word(step.ended_by);
    if (step.woken_by != 0) {
      text += " (" + (step.is_created ? "created" : "woken from " + step.woken_from) + " by " +
              std::to_string(step.woken_by) + " in " + step.waker_call + ")";
    }
    all.push_back(std::move(text));
  }
  return all;
}

using Words = std::vector<std::string>;

TEST(CriticalPath, AThreadThatIsAloneRuns) {
  EXPECT_EQ(words(window(100, {})), Words{"0..100 1 runs"});
  EXPECT_EQ(words(window(0, {})), Words{});
}

TEST(CriticalPath, PreemptionAndWaitingForACpuAreApart) {
  EXPECT_EQ(words(window(100, {at(10, Kind::preempted, kMain), at(30, Kind::runs, kMain),
                               at(40, Kind::blocks, kMain, "clock_nanosleep"),
                               woken(70, kMain, "clock_nanosleep", Waker::interrupt), at(75, Kind::runs, kMain)})),
            (Words{"0..10 1 runs", "10..30 1 preempted", "30..40 1 runs",
                   "40..70 1 blocked in clock_nanosleep by interrupt", "70..75 1 waits", "75..100 1 runs"}));
}

TEST(CriticalPath, TheTimeOfAThreadThatWaitsIsThatOfItsWaker) {
  // main waits for the parser, which waits for the reader: main's and the parser's own work beside it is on no path.
  EXPECT_EQ(words(window(100, {at(5, Kind::blocks, kMain, "futex"), at(8, Kind::blocks, kParser, "read"),
                               woken(60, kParser, "read", kReader, "write"), at(63, Kind::runs, kParser),
                               woken(90, kMain, "futex", kParser, "futex"), at(91, Kind::runs, kMain)})),
            (Words{"0..60 2 runs", "60..63 3 waits (woken from read by 2 in write)", "63..90 3 runs",
                   "90..91 1 waits (woken from futex by 3 in futex)", "91..100 1 runs"}));
}

TEST(CriticalPath, AnAnswerLeadsBackToTheThreadThatAsked) {
  EXPECT_EQ(words(window(100, {woken(10, kReader, "read", kMain, "write"), at(12, Kind::runs, kReader),
                               at(15, Kind::blocks, kMain, "read"), woken(50, kMain, "read", kReader, "write"),
                               at(51, Kind::runs, kMain)})),
            (Words{"0..10 1 runs", "10..12 2 waits (woken from read by 1 in write)", "12..50 2 runs",
                   "50..51 1 waits (woken from read by 2 in write)", "51..100 1 runs"}));
}

TEST(CriticalPath, AThreadBeginsWhereItIsCreated) {
  EXPECT_EQ(words(window(100, {created(20, kReader, kMain), at(25, Kind::runs, kReader),
                               at(30, Kind::blocks, kMain, "futex"), woken(80, kMain, "futex", kReader, "exit"),
                               at(82, Kind::runs, kMain), at(83, Kind::ends, kReader)})),
            (Words{"0..20 1 runs", "20..25 2 waits (created by 1 in clone3)", "25..80 2 runs",
                   "80..82 1 waits (woken from futex by 2 in exit)", "82..100 1 runs"}));
}

TEST(CriticalPath, OtherWakersAreNamedAndNotFollowed) {
  for (const auto& [waker, name] :
       {std::pair{Waker::other_process, "other process"}, std::pair{Waker::kernel_thread, "kernel"},
        std::pair{Waker::interrupt, "interrupt"}, std::pair{Waker::unknown, "?"}}) {
    EXPECT_EQ(words(window(100, {at(10, Kind::blocks, kMain, "recvfrom"), woken(60, kMain, "recvfrom", waker),
                                 at(70, Kind::runs, kMain)})),
              (Words{"0..10 1 runs", std::string("10..60 1 blocked in recvfrom by ") + name, "60..70 1 waits",
                     "70..100 1 runs"}));
  }
}

TEST(CriticalPath, AWakeUpThatIsMissingIsUnknown) {
  EXPECT_EQ(words(window(100, {at(10, Kind::blocks, kMain, "futex"), at(70, Kind::runs, kMain)})),
            (Words{"0..10 1 runs", "10..70 1 blocked in futex by ?", "70..100 1 runs"}));
}

TEST(CriticalPath, AThreadBlockedSinceBeforeTheWindowHasTheCallOfItsWakeUp) {
  EXPECT_EQ(words(window(100, {woken(40, kReader, "read", Waker::other_process), at(41, Kind::runs, kReader),
                               at(42, Kind::blocks, kMain, "futex"), woken(90, kMain, "futex", kReader, "futex"),
                               at(92, Kind::runs, kMain)})),
            (Words{"0..40 2 blocked in read by other process", "40..41 2 waits", "41..90 2 runs",
                   "90..92 1 waits (woken from futex by 2 in futex)", "92..100 1 runs"}));
}

TEST(CriticalPath, AWakerWithoutACpuHasLostEvents) {
  // Its events say that it was asleep at 50.
  EXPECT_EQ(
      words(window(100, {at(10, Kind::blocks, kMain, "futex"), at(20, Kind::blocks, kReader, "read"),
                         woken(50, kMain, "futex", kReader, "futex"), at(51, Kind::runs, kMain),
                         woken(80, kReader, "read", Waker::interrupt), at(81, Kind::runs, kReader)})),
      (Words{"0..20 2 runs", "20..50 2 unknown", "50..51 1 waits (woken from futex by 2 in futex)", "51..100 1 runs"}));
}

TEST(CriticalPath, PlacesWhereEventsAreMissingAreCounted) {
  const auto contradictions = [](std::vector<SchedEvent> events) {
    return critical_path(window(100, std::move(events))).contradictions;
  };
  EXPECT_EQ(contradictions({}), 0U);
  EXPECT_EQ(contradictions({at(10, Kind::blocks, kMain, "futex"), woken(30, kMain, "futex", kReader, "futex"),
                            at(31, Kind::runs, kMain), at(40, Kind::preempted, kMain), at(50, Kind::runs, kMain)}),
            0U);
  EXPECT_EQ(contradictions({at(10, Kind::blocks, kMain, "futex"), at(70, Kind::runs, kMain)}), 1U);
  EXPECT_EQ(contradictions({at(10, Kind::preempted, kMain), at(20, Kind::ends, kMain)}), 1U);
  EXPECT_EQ(contradictions({at(10, Kind::runs, kMain), at(20, Kind::runs, kMain)}), 1U);
  EXPECT_EQ(contradictions({at(10, Kind::blocks, kReader, "read"), woken(30, kMain, "futex", kReader, "futex"),
                            at(31, Kind::runs, kMain)}),
            1U);
}

TEST(CriticalPath, AWakeUpCanComeWhileTheThreadStillLeavesItsCpu) {
  EXPECT_EQ(words(window(100, {woken(19, kMain, "futex", kReader, "futex"), at(20, Kind::blocks, kMain, "futex"),
                               at(26, Kind::runs, kMain)})),
            (Words{"0..20 2 runs", "20..26 1 waits (woken from futex by 2 in futex)", "26..100 1 runs"}));
}

TEST(CriticalPath, AnEarlierCallsWakeUpEndsNoLaterWait) {
  EXPECT_EQ(words(window(100, {woken(10, kMain, "read", kReader, "write"), at(20, Kind::blocks, kMain, "futex"),
                               at(26, Kind::runs, kMain)})),
            (Words{"0..20 1 runs", "20..26 1 blocked in futex by ?", "26..100 1 runs"}));
}

TEST(CriticalPath, AWakeUpOfAThreadThatStaysAwakeEndsNothing) {
  EXPECT_EQ(words(window(100, {woken(10, kMain, "futex", kReader, "futex"), at(20, Kind::preempted, kMain),
                               at(30, Kind::runs, kMain)})),
            (Words{"0..20 1 runs", "20..30 1 preempted", "30..100 1 runs"}));
}

TEST(CriticalPath, TimeAfterLostEventsIsUnknown) {
  SchedFile file = window(100, {at(10, Kind::blocks, kMain, "futex"), woken(30, kMain, "futex", kReader, "futex"),
                                at(32, Kind::runs, kMain)});
  file.lost = 7;
  file.lost_after_ns = 40;
  EXPECT_EQ(words(file), (Words{"0..30 2 runs", "30..32 1 waits (woken from futex by 2 in futex)", "32..40 1 runs",
                                "40..100 1 unknown"}));
}

TEST(CriticalPath, EventsThatContradictEachOtherAreUnknownTime) {
  EXPECT_EQ(words(window(100, {at(10, Kind::preempted, kMain), at(20, Kind::blocks, kMain, "read"),
                               woken(30, kMain, "read", Waker::interrupt), at(40, Kind::runs, kMain)})),
            (Words{"0..10 1 runs", "10..20 1 unknown", "20..30 1 blocked in read by interrupt", "30..40 1 waits",
                   "40..100 1 runs"}));
}

TEST(CriticalPath, EventsAtOneTimeMakeNoEmptySteps) {
  EXPECT_EQ(words(window(100, {at(50, Kind::blocks, kMain, "futex"), at(50, Kind::runs, kReader),
                               woken(50, kMain, "futex", kReader, "futex"), at(50, Kind::runs, kMain)})),
            (Words{"0..50 2 waits", "50..100 1 runs (woken from futex by 2 in futex)"}));
}

TEST(CriticalPath, OfAnyEventsTheStepsFillTheWallTimeOnce) {
  std::mt19937 random(1);
  const auto below = [&](std::uint32_t end) { return static_cast<std::uint32_t>(random() % end); };
  for (int round = 0; round < 3000; ++round) {
    SchedFile file = window(1000, {});
    std::vector<std::uint64_t> times(below(40));
    for (std::uint64_t& time : times) time = below(1001);
    std::sort(times.begin(), times.end());
    for (const std::uint64_t time : times) {
      SchedEvent event = at(time, static_cast<Kind>(below(6)), 1 + below(4), "read");
      event.waker = static_cast<Waker>(below(5));
      if (event.waker == Waker::thread) event.waker_thread = below(6);
      file.events.push_back(event);
    }
    file.lost = below(2);
    file.lost_after_ns = times.empty() ? 0 : times.back();
    std::uint64_t end = 0;
    for (const PathStep& step : critical_path(file).steps) {
      ASSERT_EQ(step.from_ns, end);
      ASSERT_LT(step.from_ns, step.to_ns);
      end = step.to_ns;
    }
    ASSERT_EQ(end, file.wall_ns);
  }
}

// ---- the file -------------------------------------------------------------------------------------------------------

constexpr const char* kHeader = "at_ns,event,thread,name,call,waker,waker_thread,waker_call,count\n";

TEST(SchedFile, IsReadAsItWasWritten) {
  csv::Problems problems;
  const auto file = parse_sched_file("sched.csv",
                                     std::string(kHeader) +
                                         "0,begin,1,main,,,,,\n5,blocks,1,main,futex,,,,\n"
                                         "9,woken,1,main,futex,thread,2,write,\n9,lost,,,,,,,3\n20,end,1,main,,,,,\n",
                                     problems);
  ASSERT_TRUE(file.has_value());
  EXPECT_TRUE(problems.empty());
  EXPECT_EQ(file->wall_ns, 20U);
  EXPECT_EQ(file->thread, 1U);
  ASSERT_EQ(file->events.size(), 2U);
  EXPECT_EQ(file->events[1].waker_call, "write");
  EXPECT_EQ(file->lost, 3U);
  EXPECT_EQ(file->lost_after_ns, 9U);
  EXPECT_EQ(file->names.at(1), "main");
}

TEST(SchedFile, ABadFileIsAProblem) {
  const std::string begin = std::string(kHeader) + "0,begin,1,main,,,,,\n";
  for (const std::string& content :
       {std::string(), std::string("a,b\n"), begin, begin + "5,blocks,1\n", begin + "x,blocks,1,m,,,,,\n",
        begin + "5,dances,1,m,,,,,\n", begin + "5,woken,1,m,,ghost,,,\n", begin + "5,runs,0,m,,,,,\n",
        begin + "5,runs,1,m,,,,,\n4,end,1,m,,,,,\n", begin + "9,end,1,m,,,,,\n9,runs,1,m,,,,,\n",
        begin + "5,lost,,,,,,,0\n9,end,1,m,,,,,\n", std::string(kHeader) + "9,end,1,m,,,,,\n",
        begin + "99999999999999999999999,end,1,m,,,,,\n"}) {
    csv::Problems problems;
    EXPECT_FALSE(parse_sched_file("sched.csv", content, problems).has_value()) << content;
    EXPECT_FALSE(problems.empty()) << content;
  }
}

}  // namespace
}  // namespace syscost::bench::trace
