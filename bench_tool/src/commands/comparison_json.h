// SPDX-License-Identifier: MIT
//
// Rows of a comparison in JSON, for several commands.
#pragma once

#include "commands/compare.h"
#include "render/json.h"

namespace syscost::bench::commands {

render::Json comparison_json(const stats::Comparison& row);
/// All rows, each with what the gate says of it.
render::Json tests_json(const CompareResult& result);

}  // namespace syscost::bench::commands
