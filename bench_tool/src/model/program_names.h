// SPDX-License-Identifier: MIT
//
// Program names: programs of one file name that ran in one run are told apart.
//
// The column `program` has no folder, because the builds of a program stand in different ones. `a/unit_tests` and
// `b/unit_tests` of one run are two programs all the same: as one, each would be a repetition of the other, and what
// they differ in would be tolerated. So each gets the part of its path that tells it apart, as its name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/dataset.h"

namespace syscost::bench::model {

/// Renames the programs of `sides` (Context::program) which have the file name of another program of their run. Two are
/// different if they have other build ids and other paths; without build ids the paths decide. Processes of several
/// hosts are not told apart: shards of one program may be built on each. All sides get one set of names, so that a side
/// with one of the programs calls it as the side with both does. `known`: names that are given already, for example
/// those of a baseline. May be called again, with more sides.
void tell_programs_apart(const std::vector<Dataset*>& sides, const std::vector<std::string>& known = {});

/// Names of programs that tell_programs_apart() gave: those with a folder.
std::vector<std::string> names_told_apart(const Dataset& data);

}  // namespace syscost::bench::model
