// SPDX-License-Identifier: MIT
//
// The report of a window: the figures of what was recorded, as times for the CSV, lines for people, and a file.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "extras/gpu/cupti/activity.h"
#include "extras/profilers/profiler.h"

namespace syscost::gpu::cupti {

// The figures: how long each GPU kernel ran, how long it took from its launch to its start, bytes and time of copies by
// direction, and how long transfers take beside the GPU kernels' time.

/// [begin, end) by CUPTI's clock: while the window was open.
struct Span {
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
};

struct GpuKernelFigures {
  std::string name;                        ///< Demangled, without its parameters.
  std::vector<std::uint64_t> duration_ns;  ///< One for each launch, in order of their starts.
  /// From the beginning of the call that launched it to its start; includes waiting for earlier work of its stream.
  /// Only of launches with a recorded call.
  std::vector<std::uint64_t> latency_ns;
};

struct CopyFigures {
  std::uint64_t bytes = 0;
  std::vector<std::uint64_t> duration_ns;  ///< One for each copy, in order.
};

struct Figures {
  std::vector<GpuKernelFigures> gpu_kernels;  ///< In order of their first start.
  std::array<CopyFigures, kDirections> copies;
  std::uint64_t lost = 0;

  bool is_empty() const;
  /// Sums; work of several streams at once counts for each.
  std::uint64_t gpu_kernel_ns() const;
  std::uint64_t transfer_ns() const;  ///< Between host and device, both ways.
  bool has_transfers() const;
  /// transfer_ns() / gpu_kernel_ns(): above 1 the bus is what is waited for. Empty without GPU kernels, or when records
  /// are missing.
  std::optional<double> transfer_ratio() const;
};

/// `kernel<int>` of a mangled `void ns::kernel<int>(int*)`, with its namespaces; what is no mangled name stays.
std::string gpu_kernel_name(const std::string& mangled);
/// "to device", "to host", ...
const char* direction_text(Direction direction);

/// The figures of work that was launched while a window was open: a GPU kernel belongs to the window of its launch, as
/// a syscall belongs to the window of its entry.
Figures figures_of(const Activity& activity, const std::vector<Span>& windows);

/// At most so many rows for each figure of a window; of more launches, each row holds several.
inline constexpr std::size_t kMostRows = 1000;

/// For each GPU kernel: duration and launch latency. For each direction: the copies. And the sums, where no record is
/// missing.
std::vector<profilers::TimeFigure> times_of(const Figures& figures);
/// `1000 add_tree, 2.10 us each, 5.30 us from launch to start (medians)`, line by line.
std::string summary_of(const Figures& figures, const Activity& activity);
std::string json_of(const Figures& figures, const Activity& activity, const std::string& library);

}  // namespace syscost::gpu::cupti
