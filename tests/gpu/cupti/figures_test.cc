// SPDX-License-Identifier: MIT
//
// From records to figures, lines and rows.
#include "extras/gpu/cupti/report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <nlohmann/json.hpp>

namespace syscost::gpu::cupti {
namespace {

/// As long as the longest record of CUDA 13. Members that are not set are zero.
struct Bytes {
  std::array<std::uint8_t, 216> at{};

  template <class T>
  Bytes& put(std::size_t offset, T value) {
    std::memcpy(at.data() + offset, &value, sizeof value);
    return *this;
  }
};

Bytes kernel(const char* name, std::uint64_t start, std::uint64_t end, std::uint32_t id) {
  return Bytes()
      .put<std::uint32_t>(0, kConcurrentKernel)
      .put(layout::kGpuKernelStart, start)
      .put(layout::kGpuKernelEnd, end)
      .put(layout::kGpuKernelCorrelation, id)
      .put(layout::kGpuKernelName, name);
}
Bytes copy(std::uint8_t kind, std::uint64_t bytes, std::uint64_t start, std::uint64_t end, std::uint32_t id = 0) {
  return Bytes()
      .put<std::uint32_t>(0, kMemcpy)
      .put(layout::kCopyKind, kind)
      .put(layout::kCopyBytes, bytes)
      .put(layout::kCopyStart, start)
      .put(layout::kCopyEnd, end)
      .put(layout::kCopyCorrelation, id);
}
Bytes call(std::uint32_t kind, std::uint64_t start, std::uint32_t id) {
  return Bytes()
      .put(0, kind)
      .put(layout::kCallStart, start)
      .put(layout::kCallEnd, start + 1)
      .put(layout::kCallCorrelation, id);
}

Activity activity_of(const std::vector<Bytes>& records) {
  Activity activity;
  for (const Bytes& record : records) activity.take(record.at.data());
  return activity;
}

const std::vector<Span> kAlways = {{1, 1'000'000'000}};

const profilers::TimeFigure* find(const std::vector<profilers::TimeFigure>& all, const std::string& name) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == name; });
  return found != all.end() ? &*found : nullptr;
}

TEST(CuptiFigures, TellKernelsApartByName) {
  const Activity activity = activity_of(
      {kernel("add_tree", 100, 300, 1), kernel("add_naive", 400, 900, 2), kernel("add_tree", 1000, 1150, 3)});
  const Figures figures = figures_of(activity, kAlways);
  ASSERT_EQ(figures.gpu_kernels.size(), 2U);
  EXPECT_EQ(figures.gpu_kernels[0].name, "add_tree");
  EXPECT_EQ(figures.gpu_kernels[0].duration_ns, (std::vector<std::uint64_t>{200, 150}));
  EXPECT_EQ(figures.gpu_kernel_ns(), 850U);
}

TEST(CuptiFigures, LaunchLatencyIsFromTheOutermostCallToTheStart) {
  const Activity activity = activity_of({call(kDriverCall, 60, 7), call(kRuntimeCall, 40, 7),
                                         kernel("add", 100, 300, 7), kernel("lost_call", 400, 500, 8)});
  const Figures figures = figures_of(activity, kAlways);
  EXPECT_EQ(figures.gpu_kernels[0].latency_ns, (std::vector<std::uint64_t>{60}));
  EXPECT_TRUE(figures.gpu_kernels[1].latency_ns.empty()) << "no call was recorded: no number is made up";
}

TEST(CuptiFigures, AKernelBelongsToTheWindowThatLaunchedIt) {
  const Activity activity =
      activity_of({call(kRuntimeCall, 90, 1), kernel("before", 110, 120, 1), call(kRuntimeCall, 190, 2),
                   kernel("late", 210, 220, 2), kernel("between", 250, 260, 3), kernel("second", 310, 320, 4)});
  const Figures figures = figures_of(activity, {{100, 200}, {300, 400}});
  ASSERT_EQ(figures.gpu_kernels.size(), 2U);
  EXPECT_EQ(figures.gpu_kernels[0].name, "late");
  EXPECT_EQ(figures.gpu_kernels[1].name, "second");
}

TEST(CuptiFigures, KeepBytesAndTimesOfEachDirectionApart) {
  const Activity activity = activity_of({copy(1, 4000, 100, 200), copy(1, 1000, 300, 350), copy(2, 4, 400, 410),
                                         copy(8, 64, 500, 505), copy(77, 1, 600, 601)});
  const Figures figures = figures_of(activity, kAlways);
  const auto& to_device = figures.copies[static_cast<std::size_t>(Direction::to_device)];
  EXPECT_EQ(to_device.bytes, 5000U);
  EXPECT_EQ(to_device.duration_ns, (std::vector<std::uint64_t>{100, 50}));
  EXPECT_EQ(figures.copies[static_cast<std::size_t>(Direction::to_host)].bytes, 4U);
  EXPECT_EQ(figures.copies[static_cast<std::size_t>(Direction::on_device)].bytes, 64U);
  EXPECT_EQ(figures.copies[static_cast<std::size_t>(Direction::unknown)].duration_ns.size(), 1U);
  EXPECT_EQ(figures.transfer_ns(), 160U) << "what stays on the device is no transfer";
}

TEST(CuptiFigures, ACopyBetweenDevicesIsFoundByItsOwnCall) {
  const Bytes peer = Bytes()
                         .put<std::uint32_t>(0, kMemcpyPeer)
                         .put<std::uint8_t>(layout::kCopyKind, 10)
                         .put<std::uint64_t>(layout::kCopyBytes, 4096)
                         .put<std::uint64_t>(layout::kCopyStart, 300)
                         .put<std::uint64_t>(layout::kCopyEnd, 340)
                         .put<std::uint32_t>(layout::kCopyCorrelation, 1)  // here it is a device's number
                         .put<std::uint32_t>(layout::kPeerCopyCorrelation, 7);
  const Activity activity = activity_of({call(kRuntimeCall, 10, 1), call(kRuntimeCall, 190, 7), peer});
  const Figures figures = figures_of(activity, {{100, 200}});
  const auto& between = figures.copies[static_cast<std::size_t>(Direction::between_devices)];
  EXPECT_EQ(between.bytes, 4096U);
  EXPECT_EQ(between.duration_ns, (std::vector<std::uint64_t>{40}));
}

TEST(CuptiFigures, TheRatioIsTransfersToKernels) {
  Activity activity = activity_of({copy(1, 4000, 100, 400), copy(2, 4, 500, 600), kernel("add", 700, 900, 1)});
  EXPECT_EQ(figures_of(activity, kAlways).transfer_ratio(), 2.0);
  EXPECT_EQ(figures_of(activity_of({copy(1, 4000, 100, 400)}), kAlways).transfer_ratio(), std::nullopt)
      << "without a GPU kernel there is none";
  activity.dropped = 1;
  EXPECT_EQ(figures_of(activity, kAlways).transfer_ratio(), std::nullopt) << "nor when a record is missing";
}

TEST(CuptiFigures, WhatIsMissingIsCounted) {
  Activity activity =
      activity_of({kernel("add", 100, 0, 1), kernel("odd", 300, 200, 2), copy(1, 4, 0, 0), kernel("add", 400, 500, 3)});
  activity.dropped = 5;
  EXPECT_EQ(activity.unfinished, 2U);
  EXPECT_EQ(activity.unreadable, 1U);
  const Figures figures = figures_of(activity, kAlways);
  EXPECT_EQ(figures.lost, 8U);
  const std::string text = summary_of(figures, activity);
  EXPECT_NE(text.find("8 records are missing (5 dropped by CUPTI, 2 unfinished at the end, 1 with impossible times, "
                      "0 beyond"),
            std::string::npos)
      << text;
  const auto times = times_of(figures);
  EXPECT_NE(find(times, "add duration (CUPTI)"), nullptr);
  EXPECT_EQ(find(times, "all kernels (CUPTI)"), nullptr) << "a sum over a part is none";
}

TEST(CuptiFigures, NothingIsSaidSoWhenNothingRan) {
  const Activity activity;
  const Figures figures = figures_of(activity, kAlways);
  EXPECT_EQ(summary_of(figures, activity), "cupti: no GPU kernel and no copy\n");
  EXPECT_TRUE(times_of(figures).empty());
}

TEST(CuptiFigures, NamesAreReadable) {
  EXPECT_EQ(gpu_kernel_name("_ZN7gpu_sum12_GLOBAL__N_18add_treeEPKjmPj"), "gpu_sum::(anonymous namespace)::add_tree");
  EXPECT_EQ(gpu_kernel_name("_Z3addIiEvPT_"), "add<int>");
  EXPECT_EQ(gpu_kernel_name("_Z5applyPFviE"), "apply");
  EXPECT_EQ(gpu_kernel_name("plain_c"), "plain_c");
  EXPECT_EQ(gpu_kernel_name(""), "kernel without a name");
}

TEST(CuptiReport, ARowForEachLaunchUntilThereAreTooMany) {
  std::vector<Bytes> records;
  for (std::uint64_t i = 0; i < 2500; ++i) records.push_back(kernel("add", 10 + 10 * i, 12 + 10 * i, 0));
  const auto times = times_of(figures_of(activity_of(records), kAlways));
  const profilers::TimeFigure* figure = find(times, "add duration (CUPTI)");
  ASSERT_NE(figure, nullptr);
  EXPECT_EQ(figure->rows.size(), 834U);
  EXPECT_EQ(figure->rows.front(), (profilers::TimeRow{3, 6}));
  EXPECT_EQ(figure->rows.back(), (profilers::TimeRow{1, 2}));
}

TEST(CuptiReport, SumsSayWhatTheyAreOf) {
  const Activity activity = activity_of({copy(1, 4000, 100, 400), copy(2, 4, 500, 600), kernel("add", 700, 900, 1)});
  const Figures figures = figures_of(activity, kAlways);
  const auto times = times_of(figures);
  const profilers::TimeFigure* transfers = find(times, "all transfers (CUPTI)");
  ASSERT_NE(transfers, nullptr);
  EXPECT_TRUE(transfers->is_sum);
  EXPECT_EQ(transfers->note,
            "1 copy to device, 4000 bytes; 1 copy to host, 4 bytes; 2.000 times the GPU kernels' time");
  EXPECT_EQ(summary_of(figures, activity),
            "cupti: 1 add, 200 ns each\n"
            "cupti: 1 copy to device, 4000 bytes in 300 ns, 13.3 GB/s\n"
            "cupti: 1 copy to host, 4 bytes in 100 ns, 40.0 MB/s\n"
            "cupti: transfers take 2.00 times as long as GPU kernels\n");
}

TEST(CuptiReport, TheFileHoldsTheSame) {
  Activity activity = activity_of({copy(1, 4000, 100, 400), kernel("add", 700, 900, 1), call(kRuntimeCall, 600, 1)});
  const auto parsed = nlohmann::json::parse(json_of(figures_of(activity, kAlways), activity, "libcupti.so, CUDA 13.0"));
  EXPECT_EQ(parsed["gpu_kernels"][0]["name"], "add");
  EXPECT_EQ(parsed["gpu_kernels"][0]["launch_latency"]["median_ns"], 100);
  EXPECT_EQ(parsed["copies"][0]["direction"], "to device");
  EXPECT_EQ(parsed["copies"][0]["bytes"], 4000);
  EXPECT_EQ(parsed["transfer_to_compute"], 1.5);
  EXPECT_EQ(parsed["lost"]["dropped"], 0);
}

}  // namespace
}  // namespace syscost::gpu::cupti
