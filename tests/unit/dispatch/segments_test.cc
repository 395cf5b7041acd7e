// SPDX-License-Identifier: MIT
//
// No event is lost between a thread that records and the reader: what is under way is waited for or left for later, and
// what could not be waited for is said. The recordings here are made by hand: nothing is dispatched.
#include "backends/dispatch/segments.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

#include "backends/dispatch/memory.h"
#include "backends/dispatch/stub/arming.h"
#include "backends/dispatch/stub/record.h"

namespace syscost::dispatch {
namespace {

using signal_safe::Call;
using signal_safe::LogRecord;
using signal_safe::Thread;

constexpr std::uint64_t kOnce = 1;

struct Crossings final : CrossingSink {
  void add(const Crossing& crossing) override { latencies.push_back(crossing.latency_ns); }
  std::vector<std::uint64_t> latencies;
};

const Lanes kLanesOfNoOne(0);

class SegmentsTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(reserve_memory().ok());
    thread_ = signal_safe::take_thread(guard_);
    ASSERT_NE(thread_, nullptr);
  }
  void TearDown() override {
    syscost_state.lanes[0].control = 0;
    thread_->open = 0;
    static_cast<void>(Segments::wait_for_recordings(kOnce));
    signal_safe::give_thread_back(guard_, *thread_);
  }

  /// A call of `thread` that entered under the control of now.
  static Call call_of(Thread& thread, long number) {
    Call call{};
    call.number = static_cast<std::uint64_t>(number);
    call.thread = &thread;
    call.control = thread.lane->control;
    return call;
  }
  /// Two calls at once, the one made later first: the stack grows down.
  std::array<Call, 2> two_calls() {
    std::array<Call, 2> calls{};
    calls.fill(call_of(*thread_, SYS_getppid));
    calls[0].stack_pointer = 0x7fff'0000'1000;
    calls[1].stack_pointer = 0x7fff'0000'2000;
    return calls;
  }
  static void arm(std::uint64_t generation) {
    syscost_state.lanes[0].control = signal_safe::control_of(generation, 0, generation & 1);
  }
  /// The count of `number` in segment `generation`.
  static std::uint64_t taken(std::uint64_t generation, std::uint32_t number) {
    CallTable table(std::pmr::get_default_resource());
    Segments::take(Lane::kProcess, generation & 1, kLanesOfNoOne, table);
    return table.at({Abi::x86_64, number}).calls;
  }
  /// Claims the next place of the log, as a thread does that then loses its processor.
  static LogRecord& claim() { return syscost_state.log[syscost_state.log_produced++ % signal_safe::kLogRecords]; }
  static void write(LogRecord& record, std::uint64_t latency_ns) {
    record.latency_ns = latency_ns;
    record.has_latency = 1;
    const auto at = static_cast<std::uint64_t>(&record - syscost_state.log);
    const std::uint64_t lap = (syscost_state.log_produced - 1 - at) / signal_safe::kLogRecords;
    std::atomic_ref(record.sequence).store(lap * signal_safe::kLogRecords + at + 1);
  }

  const signal_safe::Guard guard_ = signal_safe::EntryPoint::enter();
  Thread* thread_ = nullptr;
};

// ---- crossings ------------------------------------------------------------------------------------------------------

TEST_F(SegmentsTest, DeliversACrossingThatIsBeingWrittenLater) {
  Segments segments;
  Crossings seen;
  LogRecord& slow = claim();
  write(claim(), 2);
  segments.take_crossings(kLanesOfNoOne, seen);
  EXPECT_EQ(seen.latencies, (std::vector<std::uint64_t>{2}));
  EXPECT_EQ(segments.lost(), 0U);
  write(slow, 1);
  segments.take_crossings(kLanesOfNoOne, seen);
  segments.take_crossings(kLanesOfNoOne, seen);
  EXPECT_EQ(seen.latencies, (std::vector<std::uint64_t>{2, 1}));
  EXPECT_EQ(segments.lost(), 0U);
}

TEST_F(SegmentsTest, SaysThatACrossingIsLostWhenItIsStillNotThereHalfALogLater) {
  Segments segments;
  Crossings seen;
  claim();
  for (std::uint32_t i = 0; i < signal_safe::kLogRecords / 2; ++i) write(claim(), 7);
  segments.take_crossings(kLanesOfNoOne, seen);
  EXPECT_EQ(seen.latencies.size(), signal_safe::kLogRecords / 2);
  EXPECT_EQ(segments.lost(), 1U);
  write(claim(), 8);
  segments.take_crossings(kLanesOfNoOne, seen);
  EXPECT_EQ(seen.latencies.back(), 8U);
  EXPECT_EQ(segments.lost(), 1U);
}

TEST_F(SegmentsTest, CountsWhatFindsTheLogFull) {
  Segments segments;
  Crossings seen;
  arm(10);
  Call call = call_of(*thread_, SYS_getppid);
  arm(11);
  for (std::uint32_t i = 0; i < signal_safe::kLogRecords + 3; ++i) signal_safe::record(guard_, call, 0);
  EXPECT_EQ(segments.lost(), 3U);
  segments.take_crossings(kLanesOfNoOne, seen);
  EXPECT_EQ(seen.latencies.size(), signal_safe::kLogRecords);
  EXPECT_EQ(segments.lost(), 3U);
}

// ---- recordings under way -------------------------------------------------------------------------------------------

TEST_F(SegmentsTest, WaitsForARecordingUnderWay) {
  std::atomic_ref open(thread_->open);
  open.store(1);
  std::thread ends_it([&] { open.store(0); });
  EXPECT_EQ(Segments::wait_for_recordings(), 0U);
  EXPECT_EQ(open.load(), 0U);
  ends_it.join();
}

TEST_F(SegmentsTest, WaitsForTheNextRecordingsOfAThreadThatWasOnceTooSlow) {
  thread_->open = 1;
  EXPECT_EQ(Segments::wait_for_recordings(kOnce), 1U);
  EXPECT_EQ(Segments::wait_for_recordings(kOnce), 0U) << "said twice";
  // The recording ends after all, but it may have counted into another segment. That is reported, too.
  thread_->open = 0;
  EXPECT_EQ(Segments::wait_for_recordings(kOnce), 1U);
  EXPECT_EQ(Segments::wait_for_recordings(kOnce), 0U);
  // Its next one is waited for like any other.
  thread_->open = 2;
  EXPECT_EQ(Segments::wait_for_recordings(kOnce), 1U);
}

TEST_F(SegmentsTest, DoesNotWaitForAThreadThatEndedInsideAHandler) {
  thread_->open = 1;
  signal_safe::give_thread_back(guard_, *thread_);
  EXPECT_EQ(Segments::wait_for_recordings(kOnce), 0U);
  thread_ = signal_safe::take_thread(guard_);
  EXPECT_EQ(thread_->open, 0U);
}

TEST_F(SegmentsTest, AThreadThatBeginsLateLeavesTheRecordOfAnEndedYoungerOneAlone) {
  signal_safe::give_thread_back(guard_, *thread_);
  std::atomic_ref(syscost_state.openings).fetch_add(2);
  thread_ = signal_safe::take_thread(guard_);
  signal_safe::Thread* const younger = thread_;
  signal_safe::give_thread_back(guard_, *younger);
  // It was made before the window, and first runs now: the calls of the younger one were not read yet.
  signal_safe::Thread* const late = signal_safe::take_thread(guard_, syscost_state.openings - 1);
  EXPECT_NE(late, younger);
  thread_ = signal_safe::take_thread(guard_);
  EXPECT_EQ(thread_, younger);
  signal_safe::give_thread_back(guard_, *late);
}

// ---- announcements --------------------------------------------------------------------------------------------------

std::uint64_t announced(const Call& call) {
  return (call.stack_pointer - signal_safe::kCallFrame) << signal_safe::kNumberBits;
}

TEST_F(SegmentsTest, KeepsTheRecordingThatAHandlerInterrupted) {
  arm(20);
  std::array<Call, 2> stack = two_calls();
  thread_->open = announced(stack[1]);
  signal_safe::record(guard_, stack[0], 0);
  EXPECT_EQ(thread_->open, announced(stack[1]));
  EXPECT_EQ(taken(20, SYS_getppid), 1U);
}

TEST_F(SegmentsTest, ForgetsTheRecordingThatAHandlerLeftByLongjmp) {
  arm(21);
  std::array<Call, 2> stack = two_calls();
  thread_->open = announced(stack[0]);
  signal_safe::record(guard_, stack[1], 0);
  EXPECT_EQ(thread_->open, 0U);
  EXPECT_EQ(taken(21, SYS_getppid), 1U);
}

TEST_F(SegmentsTest, AnnouncesNothingWhileDisarmed) {
  Call call = call_of(*thread_, SYS_getppid);
  const std::uint64_t ended = thread_->ended;
  signal_safe::record(guard_, call, 0);
  EXPECT_EQ(thread_->ended, ended);
}

}  // namespace
}  // namespace syscost::dispatch
