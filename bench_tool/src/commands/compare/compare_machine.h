// SPDX-License-Identifier: MIT
//
// Parts of a comparison in JSON, the same in every command: its rows, its causes, and the lines of the program.
//
// They stand apart from compare.h, because a file that reads this header compiles the JSON library.
#pragma once

#include "commands/compare/causes.h"
#include "commands/compare/compare.h"
#include "model/site.h"
#include "render/json.h"

namespace syscost::bench::commands {

render::Json comparison_json(const judge::Comparison& row);
/// All rows, each with what the gate says of it.
render::Json tests_json(const CompareResult& result);

/// `file`, `line`, `function`, `line_in_function`, `module`, `offset` and `unknown` (why nothing is known); null for
/// what is not known.
render::Json site_json(const model::Site& site);
/// An array of objects: `what`, `site` and `tests`.
render::Json causes_json(const std::vector<Cause>& causes);

}  // namespace syscost::bench::commands
