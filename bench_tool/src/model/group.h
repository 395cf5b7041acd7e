// SPDX-License-Identifier: MIT
//
// Group: all samples of one test, whatever process or repetition they come from.
#pragma once

#include <cstdint>
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
  NameId program = kNoName;  ///< Name of the program without its folder, so that two builds of it are one.
  std::vector<std::uint32_t> samples;
  bool is_ambiguous = false;  ///< Another program of the RUN has a window of this name.

  bool is_test(const Dataset& data) const { return data.text(kind) == "test"; }
};

/// Tests first, then loops, benchmarks and scopes, then suites, environments and processes; in file order within each.
/// Rows that another tool counted (origin bpftrace) form groups of their own: two counts of a thing are never added.
std::vector<Group> group_samples(Dataset& data);

/// For people: `Log.Write`, `suite Log, set-up`, `scope flush in Log.Write`; `[bpftrace]` behind it names the origin.
/// The name alone; several programs may have one such.
std::string base_name(const Dataset& data, const Group& group);
/// `Log.Write (log_tests)`: always names one group of a RUN.
std::string full_name(const Dataset& data, const Group& group);
/// The base name where it is enough, else the full one.
std::string display_name(const Dataset& data, const Group& group);

/// A program without its folder.
std::string_view program_name(std::string_view path);

}  // namespace syscost::bench::model
