// SPDX-License-Identifier: MIT
#include "findings/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>

#include "findings/thresholds.h"
#include "render/numbers.h"

namespace syscost::bench::findings {
namespace {

/// Figures of all launches and copies of a window (docs/profiles.md).
constexpr std::string_view kAllKernels = "all kernels (CUPTI)";
constexpr std::string_view kAllTransfers = "all transfers (CUPTI)";

/// Requests of drivers that take memory of the GPU (docs/gpu.md).
constexpr std::array<std::string_view, 6> kTakesMemory = {
    "RM_ALLOC MEMORY", "RM_ALLOC_MEMORY", "ALLOC_MEMORY_OF_GPU", "GEM_CREATE", "UVM_CREATE_RANGE_GROUP", "UVM_ALLOC"};

/// And those that give it back.
constexpr std::array<std::string_view, 3> kGivesMemory = {"RM_FREE", "FREE_MEMORY_OF_GPU", "GEM_CLOSE"};

bool requests_one_of(std::string_view syscall, std::span<const std::string_view> requests) {
  if (!syscall.starts_with("ioctl ") || syscall.find("status ") != std::string_view::npos) return false;
  return std::any_of(requests.begin(), requests.end(),
                     [&](std::string_view request) { return syscall.find(request) != std::string_view::npos; });
}

std::string requests_text(double number) {
  return render::count(number) + (number == 1 ? " request" : " requests");
}

}  // namespace

std::vector<Hit> gpu_transfers(const TestWindows& test) {
  const stats::WindowSummary* kernels = nullptr;
  const stats::WindowSummary* transfers = nullptr;
  for (const WindowCalls* figure : test.gpu_figures) {
    const std::string_view name = figure->summary().name;
    if (name.find(kAllKernels) != std::string_view::npos) kernels = &figure->summary();
    if (name.find(kAllTransfers) != std::string_view::npos) transfers = &figure->summary();
  }
  if (kernels == nullptr || transfers == nullptr || !kernels->wall_ns || !transfers->wall_ns) return {};
  const double computes_ns = kernels->wall_ns->median;
  const double copies_ns = transfers->wall_ns->median;
  if (computes_ns <= 0 || copies_ns <= computes_ns || copies_ns < kCopiesThatMatterNs) return {};
  return {
      {"", "",
       fmt::format("copies between host and device take {}, GPU kernels {}: {} times as long",
                   render::duration(copies_ns), render::duration(computes_ns), render::ratio(copies_ns / computes_ns)),
       0, true}};
}

std::vector<Hit> gpu_allocations(const TestWindows& test) {
  if (test.own == nullptr) return {};
  const stats::WindowSummary& window = test.own->summary();
  double taken = 0;
  double given_back = 0;
  double ns = 0;
  for (const stats::SyscallSummary& syscall : window.syscalls) {
    const double count = syscall.count() ? syscall.count()->median : 0;
    if (requests_one_of(syscall.name, kGivesMemory)) given_back += count;
    if (!requests_one_of(syscall.name, kTakesMemory)) continue;
    taken += count;
    ns += syscall.kernel_ns ? syscall.kernel_ns->median : 0;
  }
  // A pass of a loop or a benchmark is one use; of a test its launches are.
  if (window.is_per_iteration) {
    if (taken < kAllocationsAPass) return {};
    return {{"ioctl", "", fmt::format("{} for GPU memory{}", requests_text(taken), test.own->per()), ns, false, true}};
  }
  double launches = 0;
  for (const WindowCalls* figure : test.gpu_figures) {
    const stats::WindowSummary& summary = figure->summary();
    if (summary.name.find(" span") == std::string::npos) continue;
    launches += static_cast<double>(summary.n) * (summary.iterations ? summary.iterations->median : 1);
  }
  if (launches == 0 && std::min(taken, given_back) >= kManyAllocations) {
    return {
        {"ioctl", "",
         fmt::format("{} requests for GPU memory, {} to give it back", render::count(taken), render::count(given_back)),
         ns, true}};
  }
  if (launches == 0 || taken < kManyAllocations || taken < launches) return {};
  return {{"ioctl", "",
           fmt::format("{} requests for GPU memory for {} launches", render::count(taken), render::count(launches)), ns,
           false, true}};
}

}  // namespace syscost::bench::findings
