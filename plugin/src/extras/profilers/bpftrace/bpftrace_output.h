// SPDX-License-Identifier: MIT
//
// Reads the output of bpftrace, and makes figures for the CSV of its maps.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "extras/profilers/profiler.h"
#include "os/errors.h"

namespace syscost::profilers {

// bpftrace can print JSON, but a run prints either that or the text that people know, and the text is what goes into
// the artifacts byte for byte. Counts and bucket bounds are exact in it: the bounds are whole numbers with binary
// suffixes.
//
// Tested with 0.17 and 0.23: scalars, keyed maps, hist(), lhist(), stats(), avg(), stacks as keys and as values,
// strings, tuples, and printf lines in between. Text that is cut off is an error, never half a number. If a printf
// prints the text of a map, it is read as a map, because the text shows no difference.

/// [lower, upper); an open side is empty. The last bucket of 0.17's hist(), [2G, 4G), also holds everything
/// above.
struct HistogramBucket {
  std::optional<std::int64_t> lower;
  std::optional<std::int64_t> upper;
  std::uint64_t count = 0;
  bool operator==(const HistogramBucket&) const = default;
};

/// The numbers of stats().
struct Statistics {
  std::int64_t count = 0;
  std::int64_t average = 0;
  std::int64_t total = 0;
  bool operator==(const Statistics&) const = default;
};

/// uint64_t only for numbers that int64_t cannot hold; text for all else: strings, tuples, stacks (one frame a line).
using MapValue = std::variant<std::int64_t, std::uint64_t, Statistics, std::vector<HistogramBucket>, std::string>;

struct MapEntry {
  std::string key;  ///< The text between the brackets, with line breaks; empty if there are no brackets.
  MapValue value;
};

/// Entries of one name that follow each other.
struct TracedMap {
  std::string name;  ///< With its @; "@" alone for the map without a name.
  std::vector<MapEntry> entries;
};

struct BpftraceOutput {
  std::vector<TracedMap> maps;     ///< In the order of the text. A map printed twice is there twice.
  std::vector<std::string> lines;  ///< Everything that is no map: printf's, "Attaching 3 probes...".
  std::uint64_t lost_events = 0;   ///< The sum of "Lost N events".
};

/// Fails if the text ends in the middle of a line, a key or a histogram, or if a line of a histogram is not a bucket.
Result<BpftraceOutput> parse_bpftrace_output(std::string_view text);

/// Splits a key: "1, 9" into "1" and "9". A string with ", " inside is split, too.
std::vector<std::string_view> key_parts(std::string_view key);

/// The sum of a histogram's counts.
std::uint64_t total_count(const std::vector<HistogramBucket>& buckets);

// From maps of agreed names to figures for the CSV: any script that fills them gets rows of its own.
//
//     @syscall_entries[nr] = count()         trips into the kernel
//     @syscall_lat_ns[nr] = hist(ns)         one value for each that returned
//     @syscall_total_ns[nr] = sum(ns)        @syscall_min_ns = min(ns)        @syscall_max_ns = max(ns)
//     @syscall_errors[nr, errno] = count()
//     @syscost_unread = count()              events at which the window's word could not be read

/// The agreed maps that a script's source names. The output does not show it, because bpftrace does not print an empty
/// map.
struct ScriptMaps {
  bool has_syscalls = false;  ///< Entries or latencies.
  bool has_entries = false;
  bool has_latency = false;
  bool has_errors = false;
  bool calls_exit = false;  ///< It may end by itself, and then silently counts only a part of the window.
};
ScriptMaps maps_of_source(std::string_view source);

struct Figures {
  std::vector<SyscallFigures> syscalls;  ///< Ascending by number.
  std::uint64_t unread = 0;
};

/// Fails if the content of an agreed map does not fit its name: text, a negative count, a key that is no number.
Result<Figures> figures_of(const BpftraceOutput& output, const ScriptMaps& maps);

}  // namespace syscost::profilers
