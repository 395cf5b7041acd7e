// SPDX-License-Identifier: MIT
//
// Group: all samples of one test, from all processes and repetitions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/dataset.h"

namespace syscost::bench::model {

struct Group {
  NameId kind = kNoName;
  NameId test = kNoName;
  NameId window = kNoName;
  NameId parent = kNoName;
  NameId origin = kNoName;
  NameId program = kNoName;  ///< Context::program
  std::vector<std::uint32_t> samples;
  bool is_ambiguous = false;  ///< Another program of the RUN has a window of this name.
  /// For a loop: the index of the test or set-up that it ran in, in the same list. None if that test has no row.
  std::optional<std::size_t> owner;

  bool is_test(const Dataset& data) const { return data.text(kind) == "test"; }
  bool is_loop(const Dataset& data) const { return data.text(kind) == "loop"; }
};

/// True if two groups are of one window; the origin of the counts may differ.
bool is_same_window(const Group& a, const Group& b);

/// Where a tool's rows go if we counted in the same window, too.
enum class Tools { after_ours, left_out };

/// Tests first, then loops, benchmarks and scopes, then suites, environments and processes; in file order within each.
/// If the test of a loop has a row, the loop follows it and is not among the other loops.
/// Rows that another tool counted (origin bpftrace) form groups of their own: two counts of a thing are never added.
std::vector<Group> group_samples(Dataset& data, Tools tools = Tools::after_ours);

/// For people: `Log.Write`, `Log.Write, loop flush`, `suite Log, set-up`, `scope Log.Write, flush`. A `[bpftrace]` at
/// the end names the origin.
/// The name alone; several programs may have a window of this name.
std::string base_name(const Dataset& data, const Group& group);
/// `Log.Write (log_tests)`: always names one group of a RUN.
std::string full_name(const Dataset& data, const Group& group);
/// Column `kind` as names begin with it: `suite`, `GPU kernel`.
std::string_view kind_words(std::string_view kind);
/// The base name of the window in which the loop ran; "" if there was none.
std::string owner_name(const Dataset& data, const Group& loop);
/// The base name if it is unique, else the full name.
std::string display_name(const Dataset& data, const Group& group);

/// A program without its folder.
std::string_view program_name(std::string_view path);

}  // namespace syscost::bench::model
