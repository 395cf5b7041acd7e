// SPDX-License-Identifier: MIT
#include "otlp/metrics.h"

#include <array>
#include <cstddef>
#include <string>
#include <utility>

#include "model/row_parser.h"
#include "stats/latency.h"
#include "syscost/histogram.h"
#include "syscost/schema.h"

namespace syscost::bench::otlp {
namespace {

using model::Measured;
using model::Sample;
using model::SyscallRow;
using model::Totals;

constexpr Metric kCalls = {"syscost.calls", "{call}", "Syscalls that returned to the program"};
constexpr Metric kEntries = {"syscost.entries", "{entry}", "Trips into the kernel"};
constexpr Metric kErrors = {"syscost.errors", "{call}", "Syscalls that failed, by errno"};
constexpr Metric kKernelTime = {"syscost.kernel_time", "ns",
                                "Sum of the latencies of a syscall, blocked time included"};
constexpr Metric kLatency = {"syscost.latency", "ns", "Latencies of a syscall"};
constexpr Metric kWallTime = {"syscost.wall_time", "ns", "Duration of a window, or of the timed passes of a benchmark"};
constexpr Metric kProcessorTime = {"syscost.cpu_time", "ns", "Processor time of the process in a window"};
constexpr Metric kOverhead = {"syscost.overhead_estimate", "ns", "Estimate of the processor time that counting added"};
constexpr Metric kIterations = {"syscost.iterations", "{iteration}", "How often the body ran in the wall time"};
constexpr Metric kCountedIterations = {"syscost.counted_iterations", "{iteration}",
                                       "How often the body ran while its calls were counted, if it differs"};
constexpr Metric kTotalCalls = {"syscost.total_calls", "{call}", "Syscalls of a window that returned to the program"};
constexpr Metric kTotalErrors = {"syscost.total_errors", "{call}", "Syscalls of a window that failed"};
constexpr Metric kTotalKernelTime = {"syscost.total_kernel_time", "ns",
                                     "Sum of the latencies of a window's syscalls, blocked time included"};
constexpr Metric kLost = {"syscost.lost", "{event}", "Events that were not recorded; above 0, counts are lower bounds"};
constexpr Metric kLate = {"syscost.late", "{event}", "Events that arrived after the window had been read"};

constexpr Metric kBytes = {"syscost.bytes", "By", "What the calls of a syscall moved or mapped"};
constexpr Metric kBytesReleased = {"syscost.bytes_released", "By", "What the calls of a syscall unmapped"};
constexpr Metric kShortCalls = {"syscost.short_calls", "{call}", "Calls that moved less than asked"};

constexpr Metric kInjected = {"syscost.injected", "{call}", "Calls that a fault answered or changed"};

/// A number of a window's row, where the backend or a flag gives it.
struct WindowNumber {
  Metric metric;
  Measured Totals::*value;
};
constexpr std::array<WindowNumber, 10> kWindowNumbers = {{
    {{"syscost.total_bytes_read", "By", "What the syscalls of a window read"}, &Totals::bytes_read},
    {{"syscost.total_bytes_written", "By", "What the syscalls of a window wrote"}, &Totals::bytes_written},
    {{"syscost.total_bytes_mapped", "By", "What the syscalls of a window mapped"}, &Totals::bytes_mapped},
    {{"syscost.total_bytes_unmapped", "By", "What the syscalls of a window unmapped"}, &Totals::bytes_unmapped},
    {{"syscost.peak_rss_bytes", "By", "The most physical memory of the process, if a window raised it"},
     &Totals::peak_rss_bytes},
    {{"syscost.descriptors_left", "{descriptor}", "Descriptors that a window left open"}, &Totals::descriptors_left},
    {{"syscost.threads_left", "{thread}", "Threads that a window started and that still ran"}, &Totals::threads_left},
    {{"syscost.children_left", "{process}", "Child processes of a window that were not waited for"},
     &Totals::children_left},
    {{"syscost.mapped_bytes_left", "By", "By how much the mappings grew in a window"}, &Totals::mapped_bytes_left},
    {{"syscost.peak_mapped_bytes", "By", "The most by which the mappings had grown at one time of a window"},
     &Totals::peak_mapped_bytes},
}};

/// The first bucket holds what is shorter than 2^7 ns. The last one is open: what was counted in the last bucket of
/// ours may be longer than that bucket.
constexpr unsigned kFirstPower = 7;

/// A bound of OTLP belongs to the bucket below it, and a bound of ours to the one above. Both mean the same for whole
/// numbers if 1 is subtracted.
std::vector<std::uint64_t> make_bounds(Buckets buckets) {
  std::vector<std::uint64_t> bounds;
  if (buckets == Buckets::fine) {
    for (std::size_t i = 1; i < kHistogramBuckets; ++i) bounds.push_back(histogram_lower_ns(i) - 1);
  } else {
    for (unsigned power = kFirstPower; power < kHistogramMaxBits; ++power) {
      bounds.push_back((std::uint64_t{1} << power) - 1);
    }
  }
  return bounds;
}

const std::vector<std::uint64_t>& bounds_of(Buckets buckets) {
  static const std::vector<std::uint64_t> octaves = make_bounds(Buckets::octaves);
  static const std::vector<std::uint64_t> fine = make_bounds(Buckets::fine);
  return buckets == Buckets::fine ? fine : octaves;
}

std::vector<std::uint64_t> counts_of(const Histogram& latency, const std::vector<std::uint64_t>& bounds) {
  std::vector<std::uint64_t> counts(bounds.size() + 1);
  std::size_t at = 0;
  for (std::size_t i = 0; i < kHistogramBuckets; ++i) {
    while (at < bounds.size() && histogram_lower_ns(i) > bounds[at]) ++at;
    counts[at] += latency.bucket_count(i);
  }
  return counts;
}

/// Makes the points of one window.
class Points {
 public:
  Points(const model::Dataset& data, const ProcessRun& process, const PlacedWindow& window, const PointHandler& handle)
      : data_(data), process_(process), window_(window), handle_(handle) {
    const Sample& sample = data.samples[window.sample];
    own_.add("syscost.kind", data.text(sample.kind));
    own_.add("syscost.test", data.text(sample.test));
    own_.add("syscost.window", data.text(sample.window));
    own_.add("syscost.parent", data.text(sample.parent));
    own_.add("syscost.repetition", std::int64_t{sample.repetition});
    own_.add("syscost.origin", data.text(sample.origin));
  }

  void add_totals(const Totals& totals) {
    number(kWallTime, totals.wall_ns, own_);
    for (const auto& [mode, time] : {std::pair("user", totals.user_ns), std::pair("system", totals.system_ns)}) {
      Attributes attributes = own_;
      attributes.add("cpu.mode", mode);
      number(kProcessorTime, time, attributes);
    }
    number(kProcessorTime, totals.cpu_ns, own_);
    number(kOverhead, totals.overhead_estimate_ns, own_);
    number(kIterations, totals.iterations, own_);
    number(kCountedIterations, totals.counted_iterations, own_);
    number(kTotalCalls, totals.calls, own_);
    number(kTotalErrors, totals.errors, own_);
    number(kTotalKernelTime, totals.kernel_ns, own_);
    for (const WindowNumber& one : kWindowNumbers) number(one.metric, totals.*one.value, own_);
    number(kLate, totals.late, own_);
    number(kLost, totals.lost, own_);
  }

  /// The names of numbers since the last call that OTLP has no room for; "" if there are none.
  std::string take_too_large() { return std::exchange(too_large_, {}); }

  /// Returns what is wrong with its histogram, or "".
  std::string add_syscall(const SyscallRow& row, Buckets buckets) {
    Attributes attributes = own_;
    attributes.add("syscost.syscall", data_.text(row.syscall));
    attributes.add("syscost.detail", data_.text(row.detail));
    attributes.add("syscost.class", data_.text(row.classes));
    number(kEntries, row.entries, attributes);
    number(kCalls, row.calls, attributes);
    add_errors(row, attributes);
    number(kKernelTime, row.latency_sum_ns, attributes);
    number(kBytes, row.bytes, attributes);
    number(kBytesReleased, row.bytes_released, attributes);
    number(kShortCalls, row.short_calls, attributes);
    number(kInjected, row.altered, attributes);
    return add_latency(row, buckets, attributes);
  }

 private:
  void number(const Metric& metric, const Measured& value, const Attributes& attributes) {
    if (!value.has_value()) return;
    if (*value > static_cast<std::uint64_t>(INT64_MAX)) {
      too_large_.append(too_large_.empty() ? "" : ", ").append(metric.name);
      return;
    }
    handle_.number({&metric, window_.end_unix_ns, static_cast<std::int64_t>(*value), attributes});
  }

  /// A point for each errno. If none failed, one point without an errno says so.
  void add_errors(const SyscallRow& row, const Attributes& attributes) {
    if (!row.errors.has_value()) return;
    std::uint64_t named = 0;
    const auto errnos = model::parse_errnos(data_.text(row.errnos));
    for (const auto& [name, count] : errnos.value_or(std::vector<std::pair<std::string_view, std::uint64_t>>())) {
      Attributes its = attributes;
      its.add("error.type", std::string(name));
      number(kErrors, Measured(count), its);
      named += count;
    }
    if (named != 0 && named >= *row.errors) return;
    Attributes rest = attributes;
    if (*row.errors > 0) rest.add("error.type", "_OTHER");
    number(kErrors, Measured(*row.errors - named), rest);
  }

  std::string add_latency(const SyscallRow& row, Buckets buckets, const Attributes& attributes) {
    if (row.latency_count.value_or(0) == 0 || !row.latency_sum_ns.has_value()) return {};
    Histogram latency;
    if (std::string fault = stats::add_latency(data_, row, latency); !fault.empty()) return fault;
    // Another tool may know only the power of two of a value.
    const bool is_ours = data_.text(data_.samples[window_.sample].origin) == schema::kOriginSyscost;
    const std::vector<std::uint64_t>& bounds = bounds_of(is_ours ? buckets : Buckets::octaves);
    handle_.histogram({&kLatency, process_.start_unix_ns, window_.end_unix_ns, *row.latency_count, *row.latency_sum_ns,
                       row.latency_min_ns.optional(), row.latency_max_ns.optional(), &bounds,
                       counts_of(latency, bounds), attributes});
    return {};
  }

  const model::Dataset& data_;
  const ProcessRun& process_;
  const PlacedWindow& window_;
  const PointHandler& handle_;
  Attributes own_;
  std::string too_large_;
};

}  // namespace

void window_points(const model::Dataset& data, const ProcessRun& process, const PlacedWindow& window, Buckets buckets,
                   const PointHandler& handle, csv::Problems& problems) {
  const Sample& sample = data.samples[window.sample];
  Points points(data, process, window, handle);
  const std::string& file = data.files[data.context(sample).file];
  const auto note_too_large = [&](std::uint64_t line) {
    if (const std::string names = points.take_too_large(); !names.empty())
      problems.add(file, line, names + ": above 2^63 - 1, the most that OTLP has; left out");
  };
  if (sample.totals_line != 0) {
    points.add_totals(sample.totals);
    note_too_large(sample.totals_line);
  }
  for (const SyscallRow& row : data.rows_of(window.sample)) {
    std::string fault = points.add_syscall(row, buckets);
    note_too_large(row.line);
    if (!fault.empty()) problems.add(file, row.line, std::move(fault));
  }
}

}  // namespace syscost::bench::otlp
