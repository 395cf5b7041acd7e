// SPDX-License-Identifier: MIT
//
// Stamps on a GPU. Without one every test skips and says why; that the device code compiles is a test of its own.
#include "syscost/gpu.cuh"

#include <gtest/gtest.h>

#include "syscost/gpu/stamp_figures.h"

namespace {

using namespace syscost::gpu;

/// Adds up `n` numbers, each thread a part of them.
__global__ void sum(const int* in, int n, unsigned long long* out, Recorder recorder) {
  Scope scope(recorder);
  unsigned long long part = 0;
  for (unsigned int i = blockIdx.x * blockDim.x + threadIdx.x; i < static_cast<unsigned int>(n);
       i += gridDim.x * blockDim.x) {
    part += static_cast<unsigned long long>(in[i]);
    scope.count();
  }
  scope.mark(0);
  atomicAdd(out, part);
}

/// Lane 31 of each warp stays for another `cycles`. It sleeps meanwhile: which side of a branch runs first is the
/// hardware's choice, and a lane that spins might hold the others up until it has left itself.
__global__ void leave_early(long long cycles, Recorder recorder) {
  Scope scope(recorder);
  if (threadIdx.x % 32 != 31) return;
  const long long since = clock64();
  while (clock64() - since < cycles) __nanosleep(100);
}

__global__ void crash(int* nowhere, Recorder recorder) {
  Scope scope(recorder);
  *nowhere = 1;
}

class OnGpu : public testing::Test {
 protected:
  void SetUp() override {
    const std::string why = why_no_gpu();
    if (!why.empty()) GTEST_SKIP() << why;
    ASSERT_EQ(cudaMalloc(&in_, kNumbers * sizeof(int)), cudaSuccess);
    ASSERT_EQ(cudaMalloc(&out_, sizeof(unsigned long long)), cudaSuccess);
    const std::vector<int> ones(kNumbers, 1);
    ASSERT_EQ(cudaMemcpy(in_, ones.data(), kNumbers * sizeof(int), cudaMemcpyHostToDevice), cudaSuccess);
    ASSERT_EQ(cudaMemset(out_, 0, sizeof(unsigned long long)), cudaSuccess);
  }
  void TearDown() override {
    static_cast<void>(cudaFree(in_));
    static_cast<void>(cudaFree(out_));
  }

  static constexpr int kNumbers = 1 << 20;
  int* in_ = nullptr;
  unsigned long long* out_ = nullptr;
};

TEST_F(OnGpu, StampsEveryWarpOfASum) {
  Stamps stamps("sum", 64, 256, {Level::warp, 1});
  stamps.set_occupancy_of(sum);
  sum<<<64, 256>>>(in_, kNumbers, out_, stamps.recorder());
  const Collected collected = stamps.collect();
  ASSERT_TRUE(collected.launch) << collected.failure;
  const StampedLaunch& launch = *collected.launch;
  EXPECT_EQ(launch.scopes.size(), 64U * 8);
  EXPECT_EQ(launch.marks.size(), 64U * 8);
  EXPECT_EQ(launch.overflowed, 0U);
  EXPECT_TRUE(launch.timer_step_ns);
  EXPECT_TRUE(launch.gpu_anchor_ns);
  EXPECT_GE(launch.blocks_per_sm.value_or(0), 1U);
  std::uint64_t work = 0;
  for (const Stamp& stamp : launch.scopes) {
    EXPECT_GE(*stamp.exit_ns, *stamp.entry_ns);
    EXPECT_LT(*stamp.sm, *launch.sm_count);
    work += *stamp.work;
  }
  EXPECT_EQ(work, static_cast<std::uint64_t>(kNumbers));
  unsigned long long total = 0;
  ASSERT_EQ(cudaMemcpy(&total, out_, sizeof(total), cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(total, static_cast<unsigned long long>(kNumbers));
}

TEST_F(OnGpu, StampsEveryThreadAndEveryBlock) {
  Stamps threads("sum", dim3(4, 2), dim3(96), {Level::thread, 1});
  sum<<<dim3(4, 2), 96>>>(in_, kNumbers, out_, threads.recorder());
  Collected collected = threads.collect();
  ASSERT_TRUE(collected.launch) << collected.failure;
  EXPECT_EQ(collected.launch->scopes.size(), 8U * 96);
  Stamps blocks("sum", dim3(4, 2), dim3(96), {Level::block, 1});
  sum<<<dim3(4, 2), 96>>>(in_, kNumbers, out_, blocks.recorder());
  collected = blocks.collect();
  ASSERT_TRUE(collected.launch) << collected.failure;
  EXPECT_EQ(collected.launch->scopes.size(), 8U);
}

TEST_F(OnGpu, SeesALaneThatLeavesLater) {
  Stamps stamps("leave_early", 2, 64);
  leave_early<<<2, 64>>>(100000, stamps.recorder());
  const Collected collected = stamps.collect();
  ASSERT_TRUE(collected.launch) << collected.failure;
  for (const Stamp& stamp : collected.launch->scopes) {
    EXPECT_GE(*stamp.exit_cycles - *stamp.first_exit_cycles, 90000U);
  }
}

TEST_F(OnGpu, NumbersLaunchesAndForgetsNothingBetweenThem) {
  Stamps stamps("sum", 8, 64, {Level::warp, 1});
  for (std::uint64_t i = 0; i < 3; ++i) {
    sum<<<8, 64>>>(in_, kNumbers, out_, stamps.recorder());
    const Collected collected = stamps.collect();
    ASSERT_TRUE(collected.launch) << collected.failure;
    EXPECT_EQ(collected.launch->launch, i);
    EXPECT_EQ(collected.launch->scopes.size(), 16U);
  }
}

TEST_F(OnGpu, CountsWhatFoundNoRoom) {
  Stamps stamps("sum", 8, 64, {Level::warp, 0, 5 * sizeof(Cell)});
  sum<<<8, 64>>>(in_, kNumbers, out_, stamps.recorder());
  const Collected collected = stamps.collect();
  ASSERT_TRUE(collected.launch) << collected.failure;
  EXPECT_EQ(collected.launch->scopes.size(), 5U);
  EXPECT_GE(collected.launch->overflowed, 11U);  // and the marks, which were not asked for
}

TEST_F(OnGpu, SaysThatALaunchFailed) {
  Stamps stamps("sum", 1, 4096);
  sum<<<1, 4096>>>(in_, kNumbers, out_, stamps.recorder());
  const Collected collected = stamps.collect();
  EXPECT_FALSE(collected.launch);
  EXPECT_NE(collected.failure.find("launching GPU kernel sum failed"), std::string::npos) << collected.failure;
}

TEST_F(OnGpu, SaysThatALaunchHadOtherSizes) {
  Stamps stamps("sum", 8, 64);
  sum<<<4, 64>>>(in_, kNumbers, out_, stamps.recorder());
  const Collected collected = stamps.collect();
  EXPECT_FALSE(collected.launch);
  EXPECT_NE(collected.failure.find("other sizes"), std::string::npos) << collected.failure;
}

TEST_F(OnGpu, SaysThatNothingWasLaunched) {
  Stamps stamps("sum", 8, 64);
  const Collected collected = stamps.collect();
  EXPECT_FALSE(collected.launch);
  EXPECT_NE(collected.failure.find("stamped nothing"), std::string::npos) << collected.failure;
}

TEST_F(OnGpu, TimesTheKernelWithoutStampsAndWithThem) {
  Stamps stamps("sum", 264, 256, {Level::warp, 1});
  ASSERT_EQ(stamps.measure_self_cost([&](Recorder recorder) { sum<<<264, 256>>>(in_, kNumbers, out_, recorder); }), "");
  sum<<<264, 256>>>(in_, kNumbers, out_, stamps.recorder());
  const Collected collected = stamps.collect();
  ASSERT_TRUE(collected.launch) << collected.failure;
  EXPECT_GT(collected.launch->plain_ns.value_or(0), 0U);
  EXPECT_GT(collected.launch->stamped_ns.value_or(0), 0U);
}

TEST_F(OnGpu, TimesAKernelAndACopyByEvents) {
  const EventTimes times = time_by_events([&] { sum<<<264, 256>>>(in_, kNumbers, out_, Recorder()); }, 5);
  EXPECT_EQ(times.failure, "");
  EXPECT_EQ(times.durations_ns.size(), 5U);
  const EventTimes copy = time_by_events(
      [&] { static_cast<void>(cudaMemcpyAsync(in_, in_ + kNumbers / 2, kNumbers, cudaMemcpyDeviceToDevice)); }, 5);
  EXPECT_EQ(copy.failure, "");
  EXPECT_EQ(copy.durations_ns.size(), 5U);
}

TEST_F(OnGpu, TimesNothingOfALaunchThatFails) {
  const EventTimes times = time_by_events([&] { sum<<<1, 4096>>>(in_, kNumbers, out_, Recorder()); });
  EXPECT_NE(times.failure, "");
  EXPECT_TRUE(times.durations_ns.empty());
}

// The last one: after a crash the process cannot use the GPU.
TEST_F(OnGpu, ZSaysThatAKernelCrashed) {
  Stamps stamps("crash", 1, 32);
  crash<<<1, 32>>>(nullptr, stamps.recorder());
  const Collected collected = stamps.collect();
  EXPECT_FALSE(collected.launch);
  EXPECT_NE(collected.failure.find("running GPU kernel crash failed"), std::string::npos) << collected.failure;
}

TEST(WithoutGpu, EventsSayWhyAndTimeNothing) {
  if (why_no_gpu().empty()) GTEST_SKIP() << "a GPU is here";
  bool has_run = false;
  const EventTimes times = time_by_events([&] { has_run = true; });
  EXPECT_NE(times.failure.find("timing by CUDA events failed"), std::string::npos) << times.failure;
  EXPECT_TRUE(times.durations_ns.empty());
  EXPECT_FALSE(has_run);
}

TEST(WithoutGpu, StampsSayWhyAndRecordNothing) {
  if (why_no_gpu().empty()) GTEST_SKIP() << "a GPU is here";
  Stamps stamps("sum", 8, 64);
  EXPECT_EQ(stamps.recorder().cells, nullptr);
  const Collected collected = stamps.collect();
  EXPECT_FALSE(collected.launch);
  EXPECT_NE(collected.failure.find("looking for a GPU failed"), std::string::npos) << collected.failure;
}

}  // namespace
