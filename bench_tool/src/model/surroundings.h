// SPDX-License-Identifier: MIT
//
// Surroundings: what the programs of a run found around them, and how two runs differ in that.
//
// A program writes them once, in a row of record `run`. Programs of one run may have different ones: under ctest, each
// test has a folder of its own. So each program is compared with itself.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/dataset.h"

namespace syscost::bench::model {

using Values = std::set<std::string>;
/// By name of the fact and by program.
using Facts = std::map<std::string, std::map<std::string, Values>, std::less<>>;

/// The value of a fact in `name=value;name=value`; "" if it is not there.
std::string_view fact_in(std::string_view facts, std::string_view name);

/// The surroundings of the chosen runs. Empty if no row tells any.
Facts facts_of(const Dataset& data);

/// The distinct texts of a column over the samples: `ebpf`, or `dispatch+ebpf`. A file of Google Benchmark has few
/// columns; those that it has count.
std::string values_of(const Dataset& data, NameId Context::*field);

/// Over all programs, as they stand in a baseline: `2`, or `2+4` where they differ.
std::string joined(const std::map<std::string, Values>& by_program);

struct ChangedFact {
  std::string name;
  std::string before;
  std::string after;
};

/// Facts that both know, and in which a program of both differs; where they have no program in common, all programs.
std::vector<ChangedFact> changed_facts(const Facts& before, const Facts& after);

/// True when all of `after` is in `before`, both as joined() writes them.
bool has_all(std::string_view before, std::string_view after);

}  // namespace syscost::bench::model
