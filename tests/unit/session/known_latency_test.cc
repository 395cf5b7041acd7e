// SPDX-License-Identifier: MIT
#include "session/backends/doctor.h"

#include <gtest/gtest.h>

#include "core/fake_backend.h"

namespace syscost::session {
namespace {

TEST(KnownLatency, SaysByHowMuchTheBackendsDiffer) {
  EXPECT_EQ(
      describe_latencies(84, 116),
      "a getppid takes 84 ns by ebpf, 116 ns by dispatch (medians): 32 ns more by dispatch, which includes the way "
      "into the kernel and back");
  EXPECT_EQ(describe_latencies(180, 116),
            "a getppid takes 180 ns by ebpf, 116 ns by dispatch (medians): 64 ns more by ebpf, which includes part of "
            "its own programs");
}

TEST(KnownLatency, SaysThatTheyAgreeInTheSameBucketAndInTheNext) {
  // 64..127 ns: eight buckets of 8 ns.
  for (const std::uint64_t dispatch_ns : {76, 84, 92}) {
    EXPECT_NE(describe_latencies(84, dispatch_ns).find("agree within one bucket"), std::string::npos) << dispatch_ns;
  }
  EXPECT_EQ(describe_latencies(84, 100).find("agree"), std::string::npos);
  EXPECT_EQ(describe_latencies(100, 84).find("agree"), std::string::npos);
}

TEST(KnownLatency, SaysNothingWhereOneIsNotMeasured) {
  EXPECT_EQ(describe_latencies(std::nullopt, 116), "");
  EXPECT_EQ(describe_latencies(84, std::nullopt), "");
}

TEST(KnownLatency, AsksNoBackendThatMeasuresNone) {
  testing::FakeBackend backend;  // it has no clock
  EXPECT_EQ(latency_of_getppid(backend), std::nullopt);
}

}  // namespace
}  // namespace syscost::session
