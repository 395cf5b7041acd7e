// SPDX-License-Identifier: MIT
//
// A line of the program in JSON, the same in every command.
#pragma once

#include "commands/causes.h"
#include "model/site.h"
#include "render/json.h"

namespace syscost::bench::commands {

/// `file`, `line`, `function`, `line_in_function`, `module`, `offset` and `unknown` (why nothing is known); null for
/// what is not known.
render::Json site_json(const model::Site& site);
/// An array of objects: `what`, `site` and `tests`.
render::Json causes_json(const std::vector<Cause>& causes);

}  // namespace syscost::bench::commands
