// SPDX-License-Identifier: MIT
//
// programs: the programs of a run, told apart by their names, and the surroundings that each of them found.
//
// Programs of one run may have one file name and other folders. Under ctest each test has a folder of its own. So each
// program is compared with itself, its environment included.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/dataset.h"

namespace syscost::bench::model {

/// Renames the programs of `sides` (Context::program) which have the file name of another program of their run.
///
/// The column `program` has no folder, because the builds of a program stand in different ones. `a/unit_tests` and
/// `b/unit_tests` of one run are two programs all the same: as one, each would be a repetition of the other, and their
/// differences would be tolerated. So each gets the part of its path that tells it apart, as its name.
///
/// Two are different if they have other build ids and other paths; without build ids the paths decide. Processes of
/// several hosts are not told apart: shards of one program may be built on each. All sides get one set of names, so
/// that a side with one of the programs calls it as the side with both does. `known`: names that are given already, for
/// example those of a baseline. May be called again, with more sides.
void tell_programs_apart(const std::vector<Dataset*>& sides, const std::vector<std::string>& known = {});

/// Names of programs that tell_programs_apart() gave: those with a folder.
std::vector<std::string> names_told_apart(const Dataset& data);

using Values = std::set<std::string>;
/// By name of the fact and by program.
using Facts = std::map<std::string, std::map<std::string, Values>, std::less<>>;

/// The value of a fact in `name=value;name=value`; "" if it is not there.
std::string_view fact_in(std::string_view facts, std::string_view name);

/// The surroundings of the chosen runs, which a program writes once, in a row of record `run`. Empty if no row tells
/// any.
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
