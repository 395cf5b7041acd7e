// SPDX-License-Identifier: MIT
#include "agent/benchmark/layouts.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "agent/find/texts.h"

namespace syscost::agent::benchmark {
namespace {

using benchmark_adapter::TimedRun;

/// BenchmarkReporter::Run: names, keys, type, ... in this order. Versions have more and more of them.
struct RunLayout {
  int names;      ///< Strings in BenchmarkName.
  bool has_key;   ///< Family and instance.
  bool has_unit;  ///< An aggregate's.
};
constexpr std::array kRunLayouts = {RunLayout{8, true, true},     // 1.7 and newer
                                    RunLayout{7, true, true},     // 1.6
                                    RunLayout{7, true, false},    // 1.5.5
                                    RunLayout{7, false, false}};  // 1.5

/// Walks through the members of an object.
class Reader {
 public:
  Reader(const char* at, const char* end, StringLayout strings) : at_(at), end_(end), strings_(strings) {}

  template <class T>
  T next() {
    align(alignof(T));
    T value{};
    if (end_ - at_ < static_cast<std::ptrdiff_t>(sizeof value)) {
      is_good_ = false;
    } else {
      std::memcpy(&value, at_, sizeof value);
      at_ += sizeof value;
    }
    return value;
  }
  std::string next_string() {
    align(alignof(void*));
    const std::size_t size = string_bytes(strings_);
    if (!is_good_ || end_ - at_ < static_cast<std::ptrdiff_t>(size)) {
      is_good_ = false;
      return {};
    }
    std::optional<std::string> text = read_string(at_, strings_);
    is_good_ = text.has_value();
    at_ += size;
    return text.value_or("");
  }
  void require(bool holds) { is_good_ = is_good_ && holds; }
  bool is_good() const { return is_good_; }

 private:
  void align(std::size_t bytes) {
    const auto address = reinterpret_cast<std::uintptr_t>(at_);
    at_ += (bytes - address % bytes) % bytes;
  }

  const char* at_;
  const char* end_;
  StringLayout strings_;
  bool is_good_ = true;
};

const char* outcome_of(int skipped, bool has_skips) {
  if (skipped == 0) return "passed";
  return has_skips && skipped == 1 ? "skipped" : "failed";
}

std::optional<TimedRun> read_run(const char* begin, const char* end, const RunLayout& layout, StringLayout strings,
                                 bool has_skips) {
  Reader reader(begin, end, strings);
  TimedRun run;
  for (int i = 0; i < layout.names && reader.is_good(); ++i) {
    const std::string part = reader.next_string();
    if (!part.empty()) run.name += (run.name.empty() ? "" : "/") + part;
  }
  run.key = {-1, 0};
  if (layout.has_key) run.key = {reader.next<std::int64_t>(), reader.next<std::int64_t>()};
  constexpr std::int64_t kMost = std::int64_t{1} << 32;
  reader.require(!layout.has_key ||
                 (run.key.family >= 0 && run.key.family < kMost && run.key.instance >= 0 && run.key.instance < kMost));
  const auto type = reader.next<std::int32_t>();
  run.is_repetition = type == 0;
  run.aggregate_name = reader.next_string();
  const auto unit = layout.has_unit ? reader.next<std::int32_t>() : 0;
  reader.next_string();  // the label
  // A bool before 1.8, an enumeration since.
  const int skipped = has_skips ? reader.next<std::int32_t>() : reader.next<std::int8_t>();
  run.outcome = outcome_of(skipped, has_skips);
  run.message = reader.next_string();
  const auto iterations = reader.next<std::int64_t>();
  const auto threads = reader.next<std::int64_t>();
  run.repetition = reader.next<std::int64_t>();
  run.repetitions = reader.next<std::int64_t>();
  reader.next<std::int32_t>();  // the unit of time
  run.real_seconds = reader.next<double>();
  run.cpu_seconds = reader.next<double>();
  run.iterations = static_cast<std::uint64_t>(iterations);
  reader.require(!run.name.empty() && (type == 0 || type == 1) && (unit == 0 || unit == 1) && skipped >= 0 &&
                 skipped <= 2 && iterations >= 0 && threads >= 0 && run.repetition >= -1);
  if (!reader.is_good()) return std::nullopt;
  return run;
}

/// Repetitions are numbered, which tells how large a Run is. It takes the first of the aggregates, which is the mean.
std::vector<TimedRun> read_all(const char* begin, const char* end, const RunLayout& layout, StringLayout strings,
                               bool has_skips) {
  const auto read = [&](const char* at, const char* its_end) {
    return read_run(at, its_end, layout, strings, has_skips);
  };
  const std::optional<TimedRun> first = read(begin, end);
  if (!first) return {};
  if (!first->is_repetition) return {*first};
  constexpr std::size_t kLeastBytes = 256;
  const auto bytes = static_cast<std::size_t>(end - begin);
  for (std::size_t count = bytes / kLeastBytes; count > 0; --count) {
    const std::size_t size = bytes / count;
    if (bytes % count != 0 || size % alignof(double) != 0) continue;
    std::vector<TimedRun> runs;
    for (std::size_t i = 0; i < count; ++i) {
      const char* const at = begin + i * size;
      const std::optional<TimedRun> run = read(at, at + size);
      if (!run || !run->is_repetition || run->name != first->name || run->repetition != static_cast<std::int64_t>(i))
        break;
      runs.push_back(*run);
    }
    if (runs.size() == count) return runs;
  }
  return {};
}

bool holds_timer(const State& state, const ThreadTimer* timer) {
  constexpr std::uintptr_t kNear = std::uintptr_t{1} << 20U;
  const auto address = reinterpret_cast<std::uintptr_t>(timer);
  const auto here = reinterpret_cast<std::uintptr_t>(&state);
  if (address % alignof(ThreadTimer) != 0 || (address > here ? address - here : here - address) > kNear) return false;
  std::array<char, sizeof(ThreadTimer)> bytes{};
  if (!read_memory(timer, bytes.data(), bytes.size())) return false;
  const std::array<char, 5 * sizeof(double)> unused{};
  return (bytes[0] == 0 || bytes[0] == 1) && bytes[1] == 0 &&
         std::memcmp(bytes.data() + sizeof(double), unused.data(), unused.size()) == 0;
}

}  // namespace

std::optional<StateEnd> find_end(const State& state) {
  static std::atomic<std::size_t> known{0};
  const auto* const bytes = reinterpret_cast<const char*>(&state);
  const auto read_at = [&](std::size_t offset) -> std::optional<StateEnd> {
    struct {
      std::int32_t thread, threads;
      ThreadTimer* timer;
    } end{};
    if (!read_memory(bytes + offset, &end, sizeof end)) return std::nullopt;
    if (end.thread < 0 || end.thread >= end.threads || !holds_timer(state, end.timer)) return std::nullopt;
    return StateEnd{end.thread, end.threads, end.timer};
  };
  if (known != 0) return read_at(known);
  // After the map of counters, and since 1.8 after the name.
  constexpr std::size_t kMost = 256;
  for (std::size_t offset = sizeof(State) + 3 * sizeof(void*); offset < kMost; offset += sizeof(void*)) {
    if (const std::optional<StateEnd> end = read_at(offset)) {
      known = offset;
      return end;
    }
  }
  return std::nullopt;
}

std::vector<TimedRun> read_runs(const void* vector, bool has_skips, bool may_be_libcxx) {
  const auto ends = read_value<std::array<const char*, 2>>(vector);
  if (!ends || (*ends)[0] >= (*ends)[1]) return {};
  for (const RunLayout& layout : kRunLayouts) {
    for (const StringLayout strings : {StringLayout::libstdcxx, StringLayout::libcxx, StringLayout::libstdcxx_old}) {
      if (strings == StringLayout::libcxx && !may_be_libcxx) continue;
      std::vector<TimedRun> runs = read_all((*ends)[0], (*ends)[1], layout, strings, has_skips);
      if (!runs.empty()) return runs;
    }
  }
  return {};
}

}  // namespace syscost::agent::benchmark
