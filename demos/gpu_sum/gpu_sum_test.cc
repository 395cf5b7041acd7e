// SPDX-License-Identifier: MIT
//
// The sum of N integers on a GPU, phase by phase: which calls to the driver does each of them make?
//
// Each phase (init, alloc, copy, launch, sync, free) is a named scope, so that the CSV has a row for it. The tests come
// in pairs of which one is said to be better; what differs, syscalls or time only, is what the rows show. Every result
// is held against the CPU's. The same file is compiled for CUDA and for OpenCL.
// README.md walks through it.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "gpu.h"
#include "reference.h"
#include "syscost/syscost.h"

namespace gpu_sum {
namespace {

constexpr std::size_t kBasicNumbers = 1000;
constexpr std::size_t kManyNumbers = std::size_t{1} << 20;
constexpr std::size_t kBigCopyBytes = std::size_t{64} << 20;
constexpr int kRounds = 16;
constexpr int kWarmLaunches = 1000;

/// A driver's own threads work for the phase too: a phase is the process's.
class Phase {
 public:
  explicit Phase(std::string_view name) : scope_(name, syscost::Reach::process) {}

 private:
  syscost::Scope scope_;
};

/// The program's one GPU. The first call opens it, and so loads the driver.
const OpenedGpu& the_gpu() {
  static const OpenedGpu opened = [] {
    Phase init("init");
    return open_gpu();
  }();
  return opened;
}

TEST(CpuReference, AddsModulo32Bits) {
  EXPECT_EQ(sum_on_cpu({}), 0U);
  EXPECT_EQ(sum_on_cpu({0xFFFF'FFFFU, 2}), 1U);
  const std::vector<std::uint32_t> values = numbers(kManyNumbers);
  std::uint32_t by_hand = 0;
  for (std::uint32_t value : values) by_hand += value;
  EXPECT_EQ(sum_on_cpu(values), by_hand);
}

class GpuSum : public testing::Test {
 protected:
  void SetUp() override {
    if (the_gpu().gpu == nullptr) GTEST_SKIP() << the_gpu().why_not;
  }

  static Gpu& gpu() { return *the_gpu().gpu; }

  static DeviceMemory allocate(std::size_t bytes) {
    Phase phase("alloc");
    return gpu().allocate(bytes);
  }
  static void free(DeviceMemory memory) {
    Phase phase("free");
    gpu().free(memory);
  }
  static void copy_in(DeviceMemory to, const std::vector<std::uint32_t>& values) {
    Phase phase("copy in");
    gpu().copy_in(to, 0, values.data(), values.size() * sizeof(std::uint32_t));
  }
  static void launch(Reduction reduction, DeviceMemory from, std::size_t count, DeviceMemory to) {
    Phase phase("launch");
    gpu().launch(reduction, from, count, to);
  }
  static void synchronise(Wait wait = Wait::block) {
    Phase phase("sync");
    gpu().synchronise(wait);
  }
  static std::uint32_t copy_out(DeviceMemory from) {
    Phase phase("copy out");
    std::uint32_t sum = 0;
    gpu().copy_out(&sum, from, sizeof sum);
    return sum;
  }
  /// A word of device memory that holds 0.
  static DeviceMemory zero() {
    DeviceMemory word = allocate(sizeof(std::uint32_t));
    copy_in(word, {0});
    return word;
  }

  /// Every phase once.
  static void add_up(std::size_t count, Reduction reduction, Wait wait = Wait::block) {
    const std::vector<std::uint32_t> values = numbers(count);
    DeviceMemory from = allocate(count * sizeof(std::uint32_t));
    DeviceMemory to = zero();
    copy_in(from, values);
    launch(reduction, from, count, to);
    synchronise(wait);
    EXPECT_EQ(copy_out(to), sum_on_cpu(values)) << gpu().name();
    free(to);
    free(from);
  }

  /// What is loaded and allocated at first use is, so that a test shows what the work itself takes.
  static void warm_up() {
    DeviceMemory from = gpu().allocate(sizeof(std::uint32_t));
    DeviceMemory to = gpu().allocate(sizeof(std::uint32_t));
    const std::uint32_t word = 0;
    gpu().copy_in(from, 0, &word, sizeof word);
    gpu().copy_in(to, 0, &word, sizeof word);
    for (Reduction reduction : {Reduction::naive, Reduction::tree}) {
      gpu().launch(reduction, from, 1, to);
      gpu().synchronise(Wait::spin);
      gpu().synchronise(Wait::block);
    }
    gpu().free(to);
    gpu().free(from);
  }

  /// Copies and back again, from and to host memory of one kind; nothing may get lost on the way.
  static void copy_big(HostMemory kind) {
    warm_up();
    HostBuffer host = gpu().allocate_host(kBigCopyBytes, kind);
    DeviceMemory device = gpu().allocate(kBigCopyBytes);
    const std::vector<std::uint32_t> values = numbers(kBigCopyBytes / sizeof(std::uint32_t));
    std::memcpy(host.data, values.data(), kBigCopyBytes);
    {
      Phase phase("copy in");
      gpu().copy_in(device, 0, host.data, kBigCopyBytes);
    }
    std::memset(host.data, 0, kBigCopyBytes);
    {
      Phase phase("copy out");
      gpu().copy_out(host.data, device, kBigCopyBytes);
    }
    EXPECT_EQ(std::memcmp(host.data, values.data(), kBigCopyBytes), 0);
    gpu().free(device);
    gpu().free_host(host);
  }
};

// The first to use the GPU: run alone, its scope `init` is what loading the driver takes.
TEST_F(GpuSum, Basic) {
  add_up(kBasicNumbers, Reduction::tree);
}

TEST_F(GpuSum, NothingAtAll) {
  DeviceMemory to = zero();
  gpu().launch(Reduction::tree, to, 0, to);
  synchronise();
  EXPECT_EQ(copy_out(to), 0U);
  free(to);
}

TEST_F(GpuSum, NaiveReduction) {
  warm_up();
  add_up(kManyNumbers, Reduction::naive);
}
TEST_F(GpuSum, TreeReduction) {
  warm_up();
  add_up(kManyNumbers, Reduction::tree);
}

TEST_F(GpuSum, CopyPerElement) {
  warm_up();
  const std::vector<std::uint32_t> values = numbers(kBasicNumbers);
  DeviceMemory from = gpu().allocate(values.size() * sizeof(std::uint32_t));
  DeviceMemory to = zero();
  {
    Phase phase("copies");
    for (std::size_t i = 0; i < values.size(); ++i) {
      gpu().copy_in(from, i * sizeof(std::uint32_t), &values[i], sizeof(std::uint32_t));
    }
  }
  gpu().launch(Reduction::tree, from, values.size(), to);
  gpu().synchronise(Wait::block);
  EXPECT_EQ(copy_out(to), sum_on_cpu(values));
  gpu().free(to);
  gpu().free(from);
}
TEST_F(GpuSum, CopyAtOnce) {
  warm_up();
  const std::vector<std::uint32_t> values = numbers(kBasicNumbers);
  DeviceMemory from = gpu().allocate(values.size() * sizeof(std::uint32_t));
  DeviceMemory to = zero();
  {
    Phase phase("copies");
    gpu().copy_in(from, 0, values.data(), values.size() * sizeof(std::uint32_t));
  }
  gpu().launch(Reduction::tree, from, values.size(), to);
  gpu().synchronise(Wait::block);
  EXPECT_EQ(copy_out(to), sum_on_cpu(values));
  gpu().free(to);
  gpu().free(from);
}

TEST_F(GpuSum, AllocationPerCall) {
  warm_up();
  for (int round = 0; round < kRounds; ++round) add_up(kManyNumbers, Reduction::tree);
}
TEST_F(GpuSum, AllocationReused) {
  warm_up();
  const std::vector<std::uint32_t> values = numbers(kManyNumbers);
  DeviceMemory from = allocate(values.size() * sizeof(std::uint32_t));
  DeviceMemory to = allocate(sizeof(std::uint32_t));
  for (int round = 0; round < kRounds; ++round) {
    copy_in(to, {0});
    copy_in(from, values);
    launch(Reduction::tree, from, values.size(), to);
    synchronise();
    EXPECT_EQ(copy_out(to), sum_on_cpu(values));
  }
  free(to);
  free(from);
}

TEST_F(GpuSum, PageableCopy) {
  copy_big(HostMemory::pageable);
}
TEST_F(GpuSum, PinnedCopy) {
  copy_big(HostMemory::pinned);
}

TEST_F(GpuSum, SpinningWait) {
  warm_up();
  add_up(kManyNumbers, Reduction::naive, Wait::spin);
}
TEST_F(GpuSum, BlockingWait) {
  warm_up();
  add_up(kManyNumbers, Reduction::naive, Wait::block);
}

TEST_F(GpuSum, ThousandWarmLaunches) {
  const std::vector<std::uint32_t> values = numbers(kBasicNumbers);
  DeviceMemory from = gpu().allocate(values.size() * sizeof(std::uint32_t));
  DeviceMemory to = zero();
  gpu().copy_in(from, 0, values.data(), values.size() * sizeof(std::uint32_t));
  gpu().launch(Reduction::tree, from, values.size(), to);
  gpu().synchronise(Wait::spin);
  {
    Phase phase("launches");
    for (int i = 0; i < kWarmLaunches; ++i) gpu().launch(Reduction::tree, from, values.size(), to);
  }
  {
    Phase phase("sync");
    gpu().synchronise(Wait::spin);
  }
  EXPECT_EQ(copy_out(to), sum_on_cpu(values) * (1 + kWarmLaunches));
  gpu().free(to);
  gpu().free(from);
}

// An error of the API is an error here, never a sum.
TEST_F(GpuSum, RefusesMoreMemoryThanThereIs) {
  EXPECT_THROW(gpu().allocate(std::size_t{1} << 60), GpuError);
  add_up(kBasicNumbers, Reduction::tree);
}

}  // namespace
}  // namespace gpu_sum
