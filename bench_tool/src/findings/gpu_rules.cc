// SPDX-License-Identifier: MIT
#include "findings/gpu_rules.h"

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>

#include "findings/thresholds.h"
#include "render/units.h"

namespace syscost::bench::findings {
namespace {

/// Figures of all launches and copies of a window (docs/profiles.md).
constexpr std::string_view kAllKernels = "all kernels (CUPTI)";
constexpr std::string_view kAllTransfers = "all transfers (CUPTI)";

/// Requests of drivers that take memory of the GPU (docs/gpu.md).
constexpr std::array<std::string_view, 6> kTakesMemory = {
    "RM_ALLOC MEMORY", "RM_ALLOC_MEMORY", "ALLOC_MEMORY_OF_GPU", "GEM_CREATE", "UVM_CREATE_RANGE_GROUP", "UVM_ALLOC"};

bool takes_memory(std::string_view syscall) {
  if (!syscall.starts_with("ioctl ") || syscall.find("status ") != std::string_view::npos) return false;
  for (const std::string_view request : kTakesMemory) {
    if (syscall.find(request) != std::string_view::npos) return true;
  }
  return false;
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
  if (computes_ns <= 0 || copies_ns <= computes_ns) return {};
  return {{"", "",
           fmt::format("copies between host and device take {}, GPU kernels {}: {:.3g} times as long",
                       render::duration(copies_ns), render::duration(computes_ns), copies_ns / computes_ns),
           0, true}};
}

std::vector<Hit> gpu_allocations(const TestWindows& test) {
  if (test.own == nullptr) return {};
  const stats::WindowSummary& window = test.own->summary();
  double taken = 0;
  double ns = 0;
  for (const stats::SyscallSummary& syscall : window.syscalls) {
    if (!takes_memory(syscall.name)) continue;
    taken += syscall.count() ? syscall.count()->median : 0;
    ns += syscall.kernel_ns ? syscall.kernel_ns->median : 0;
  }
  // A pass of a loop or a benchmark is one use; of a test its launches are.
  if (window.is_per_iteration) {
    if (taken < kAllocationsAPass) return {};
    return {{"ioctl", "", fmt::format("{} requests for GPU memory{}", render::count(taken), test.own->per()), ns, false,
             true}};
  }
  double launches = 0;
  for (const WindowCalls* figure : test.gpu_figures) {
    const stats::WindowSummary& summary = figure->summary();
    if (summary.name.find(" span") == std::string::npos) continue;
    launches += static_cast<double>(summary.n) * (summary.iterations ? summary.iterations->median : 1);
  }
  if (launches == 0 || taken < kManyAllocations || taken < launches) return {};
  return {{"ioctl", "",
           fmt::format("{} requests for GPU memory for {} launches", render::count(taken), render::count(launches)), ns,
           false, true}};
}

}  // namespace syscost::bench::findings
