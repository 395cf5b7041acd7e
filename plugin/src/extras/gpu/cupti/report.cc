// SPDX-License-Identifier: MIT
#include "extras/gpu/cupti/report.h"

#include <cxxabi.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <string_view>

#include "os/text.h"

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
