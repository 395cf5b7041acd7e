// SPDX-License-Identifier: MIT
#include "gpu/cupti/report.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "os/decimal_text.h"

namespace syscost::gpu::cupti {
namespace {

using Json = nlohmann::ordered_json;
using Times = std::vector<std::uint64_t>;

/// At the end of every figure's name: CUDA events measure other stretches, and the two are not compared.
constexpr const char* kByCupti = " (CUPTI)";

std::uint64_t total(const Times& times) {
  return std::accumulate(times.begin(), times.end(), std::uint64_t{0});
}

/// By nearest rank: one that was measured.
std::uint64_t median(Times times) {
  std::sort(times.begin(), times.end());
  return times[(times.size() - 1) / 2];
}

profilers::TimeFigure sum_of(const std::string& name, std::uint64_t total_ns, std::string note = {}) {
  return {name + kByCupti, std::move(note), {{1, total_ns}}, true};
}

profilers::TimeFigure figure_of(const std::string& name, const Times& times) {
  profilers::TimeFigure figure{name + kByCupti, {}, {}, false};
  const std::size_t in_row = (times.size() + kMostRows - 1) / kMostRows;
  for (std::size_t first = 0; first < times.size(); first += in_row) {
    const std::size_t last = std::min(first + in_row, times.size());
    const auto begin = times.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = times.begin() + static_cast<std::ptrdiff_t>(last);
    figure.rows.push_back({last - first, std::accumulate(begin, end, std::uint64_t{0})});
  }
  return figure;
}

std::string decimal(double value, int digits) {
  return decimal_text(value, digits);
}

/// Three digits, without an exponent: 4089, 12.7, 0.0026.
std::string three_digits(double value) {
  if (value >= 99.95) return decimal(value, 0);
  if (value >= 9.995) return decimal(value, 1);
  int digits = 2;
  for (double least = 0.9995; value < least && digits < 12; least /= 10) ++digits;
  return decimal(value, digits);
}

/// "12.3 GB/s", "2.60 MB/s".
std::string rate_text(std::uint64_t bytes, std::uint64_t ns) {
  double rate = static_cast<double>(bytes) / static_cast<double>(ns);
  const char* unit = " GB/s";
  for (const char* smaller : {" MB/s", " kB/s"}) {
    if (rate >= 0.9995) break;
    rate *= 1000;
    unit = smaller;
  }
  return three_digits(rate) + unit;
}

/// Three digits: "152 ns", "1.52 us".
std::string time_text(std::uint64_t ns) {
  double value = static_cast<double>(ns);
  const char* unit = " ns";
  for (const char* larger : {" us", " ms", " s"}) {
    if (value < 999.5) break;
    value /= 1000;
    unit = larger;
  }
  if (ns < 1000) return std::to_string(ns) + unit;
  return decimal(value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0) + unit;
}

std::string count_text(std::size_t count, const std::string& what, const std::string& more) {
  return std::to_string(count) + " " + (count == 1 ? what : more);
}

std::string copies_text(const CopyFigures& copies, Direction direction) {
  return count_text(copies.duration_ns.size(), "copy ", "copies ") + direction_text(direction) + ", " +
         std::to_string(copies.bytes) + " bytes";
}

std::string transfers_note(const Figures& figures) {
  std::string note;
  for (const Direction direction : {Direction::to_device, Direction::to_host}) {
    const CopyFigures& copies = figures.copies[static_cast<std::size_t>(direction)];
    if (!copies.duration_ns.empty()) note += (note.empty() ? "" : "; ") + copies_text(copies, direction);
  }
  if (const auto ratio = figures.transfer_ratio()) note += "; " + decimal(*ratio, 3) + " times the GPU kernels' time";
  return note;
}

Json times_json(const Times& times) {
  if (times.empty()) return nullptr;
  const auto [least, most] = std::minmax_element(times.begin(), times.end());
  return Json{{"count", times.size()},
              {"total_ns", total(times)},
              {"min_ns", *least},
              {"median_ns", median(times)},
              {"max_ns", *most}};
}

}  // namespace

std::vector<profilers::TimeFigure> times_of(const Figures& figures) {
  std::vector<profilers::TimeFigure> times;
  for (const GpuKernelFigures& gpu_kernel : figures.gpu_kernels) {
    times.push_back(figure_of(gpu_kernel.name + " duration", gpu_kernel.duration_ns));
    if (!gpu_kernel.latency_ns.empty())
      times.push_back(figure_of(gpu_kernel.name + " launch latency", gpu_kernel.latency_ns));
  }
  for (std::size_t i = 0; i < kDirections; ++i) {
    const auto direction = static_cast<Direction>(i);
    const CopyFigures& copies = figures.copies[i];
    if (copies.duration_ns.empty()) continue;
    times.push_back(figure_of(std::string("copy ") + direction_text(direction), copies.duration_ns));
  }
  // A sum over what is not whole is none.
  if (figures.lost > 0) return times;
  if (!figures.gpu_kernels.empty()) times.push_back(sum_of("all kernels", figures.gpu_kernel_ns()));
  if (figures.has_transfers()) {
    times.push_back(sum_of("all transfers", figures.transfer_ns(), transfers_note(figures)));
  }
  return times;
}

std::string summary_of(const Figures& figures, const Activity& activity) {
  std::string text;
  for (const GpuKernelFigures& gpu_kernel : figures.gpu_kernels) {
    text += "cupti: " + std::to_string(gpu_kernel.duration_ns.size()) + " " + gpu_kernel.name + ", " +
            time_text(median(gpu_kernel.duration_ns)) + " each";
    if (!gpu_kernel.latency_ns.empty())
      text += ", " + time_text(median(gpu_kernel.latency_ns)) + " from launch to start";
    text += gpu_kernel.duration_ns.size() > 1 ? " (medians)\n" : "\n";
  }
  for (std::size_t i = 0; i < kDirections; ++i) {
    const CopyFigures& copies = figures.copies[i];
    if (copies.duration_ns.empty()) continue;
    text += "cupti: " + copies_text(copies, static_cast<Direction>(i)) + " in " + time_text(total(copies.duration_ns));
    if (const std::uint64_t took = total(copies.duration_ns); took > 0) {
      text += ", " + rate_text(copies.bytes, took);
    }
    text += '\n';
  }
  if (const auto ratio = figures.transfer_ratio(); ratio && figures.has_transfers()) {
    text += "cupti: transfers take " + three_digits(*ratio) + " times as long as GPU kernels\n";
  }
  if (figures.is_empty()) text += "cupti: no GPU kernel and no copy\n";
  if (figures.lost > 0) {
    text += "cupti: " + count_text(figures.lost, "record is", "records are") + " missing (" +
            std::to_string(activity.dropped) + " dropped by CUPTI, " + std::to_string(activity.unfinished) +
            " unfinished at the end, " + std::to_string(activity.unreadable) + " with impossible times, " +
            std::to_string(activity.no_room) + " beyond " + std::to_string(Activity::kMostRecords) +
            "): no sums and no ratio\n";
  }
  return text;
}

std::string json_of(const Figures& figures, const Activity& activity, const std::string& library) {
  Json gpu_kernels = Json::array();
  for (const GpuKernelFigures& gpu_kernel : figures.gpu_kernels) {
    gpu_kernels.push_back({{"name", gpu_kernel.name},
                           {"duration", times_json(gpu_kernel.duration_ns)},
                           {"launch_latency", times_json(gpu_kernel.latency_ns)}});
  }
  Json copies = Json::array();
  for (std::size_t i = 0; i < kDirections; ++i) {
    if (figures.copies[i].duration_ns.empty()) continue;
    copies.push_back({{"direction", direction_text(static_cast<Direction>(i))},
                      {"bytes", figures.copies[i].bytes},
                      {"duration", times_json(figures.copies[i].duration_ns)}});
  }
  const auto ratio = figures.transfer_ratio();
  Json all{{"library", library},
           {"gpu_kernels", std::move(gpu_kernels)},
           {"copies", std::move(copies)},
           {"transfer_to_compute", ratio ? Json(*ratio) : Json(nullptr)},
           {"lost",
            {{"dropped", activity.dropped},
             {"unfinished", activity.unfinished},
             {"unreadable", activity.unreadable},
             {"no_room", activity.no_room}}}};
  return all.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace syscost::gpu::cupti
