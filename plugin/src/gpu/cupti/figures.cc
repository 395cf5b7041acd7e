// SPDX-License-Identifier: MIT
#include "gpu/cupti/figures.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <string_view>

namespace syscost::gpu::cupti {
namespace {

std::uint64_t sum(const std::vector<std::uint64_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::uint64_t{0});
}

/// `text` without the `(...)` at its end, which may hold others.
std::string_view without_parameters(std::string_view text) {
  if (!text.ends_with(')')) return text;
  int depth = 0;
  for (std::size_t i = text.size(); i-- > 0;) {
    if (text[i] == ')') ++depth;
    if (text[i] == '(' && --depth == 0) return i > 0 ? text.substr(0, i) : text;
  }
  return text;
}

template <class Record>
std::vector<Record> in_windows(const std::vector<Record>& all, const Activity& activity,
                               const std::vector<Span>& windows) {
  std::vector<Record> chosen;
  for (const Record& record : all) {
    const auto call = activity.call_starts_ns.find(record.correlation);
    const std::uint64_t asked_ns = call != activity.call_starts_ns.end() ? call->second : record.start_ns;
    const bool is_in = std::any_of(windows.begin(), windows.end(), [&](const Span& window) {
      return asked_ns >= window.begin_ns && asked_ns < window.end_ns;
    });
    if (is_in) chosen.push_back(record);
  }
  std::stable_sort(chosen.begin(), chosen.end(),
                   [](const Record& a, const Record& b) { return a.start_ns < b.start_ns; });
  return chosen;
}

}  // namespace

std::string gpu_kernel_name(const std::string& mangled) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status),
                                                    std::free);
  if (status != 0 || text == nullptr) return mangled.empty() ? "kernel without a name" : mangled;
  std::string_view name = without_parameters(text.get());
  // Templates have their result in front.
  if (constexpr std::string_view kVoid = "void "; name.starts_with(kVoid)) name.remove_prefix(kVoid.size());
  return std::string(name);
}

const char* direction_text(Direction direction) {
  switch (direction) {
    case Direction::to_device:
      return "to device";
    case Direction::to_host:
      return "to host";
    case Direction::on_device:
      return "on device";
    case Direction::on_host:
      return "on host";
    case Direction::between_devices:
      return "between devices";
    case Direction::unknown:
      break;
  }
  return "of unknown direction";
}

bool Figures::is_empty() const {
  return gpu_kernels.empty() &&
         std::all_of(copies.begin(), copies.end(), [](const CopyFigures& copy) { return copy.duration_ns.empty(); });
}

std::uint64_t Figures::gpu_kernel_ns() const {
  std::uint64_t total = 0;
  for (const GpuKernelFigures& gpu_kernel : gpu_kernels) total += sum(gpu_kernel.duration_ns);
  return total;
}

std::uint64_t Figures::transfer_ns() const {
  return sum(copies[static_cast<std::size_t>(Direction::to_device)].duration_ns) +
         sum(copies[static_cast<std::size_t>(Direction::to_host)].duration_ns);
}

bool Figures::has_transfers() const {
  return !copies[static_cast<std::size_t>(Direction::to_device)].duration_ns.empty() ||
         !copies[static_cast<std::size_t>(Direction::to_host)].duration_ns.empty();
}

std::optional<double> Figures::transfer_ratio() const {
  const std::uint64_t computed_ns = gpu_kernel_ns();
  if (computed_ns == 0 || lost > 0) return std::nullopt;
  return static_cast<double>(transfer_ns()) / static_cast<double>(computed_ns);
}

Figures figures_of(const Activity& activity, const std::vector<Span>& windows) {
  Figures figures;
  figures.lost = activity.lost();
  std::map<std::string, std::size_t> index;
  for (const GpuKernelRun& run : in_windows(activity.gpu_kernels, activity, windows)) {
    const std::string name = gpu_kernel_name(activity.names[run.name]);
    const auto [found, is_new] = index.try_emplace(name, figures.gpu_kernels.size());
    if (is_new) figures.gpu_kernels.push_back({name, {}, {}});
    GpuKernelFigures& gpu_kernel = figures.gpu_kernels[found->second];
    gpu_kernel.duration_ns.push_back(run.end_ns - run.start_ns);
    const auto call = activity.call_starts_ns.find(run.correlation);
    if (call != activity.call_starts_ns.end() && call->second <= run.start_ns) {
      gpu_kernel.latency_ns.push_back(run.start_ns - call->second);
    }
  }
  for (const Copy& copy : in_windows(activity.copies, activity, windows)) {
    CopyFigures& into = figures.copies[static_cast<std::size_t>(copy.direction)];
    into.bytes += copy.bytes;
    into.duration_ns.push_back(copy.end_ns - copy.start_ns);
  }
  return figures;
}

}  // namespace syscost::gpu::cupti
