// SPDX-License-Identifier: MIT
//
// A row of `compare` in JSON, which `check` prints too.
#pragma once

#include "render/json.h"
#include "stats/verdict.h"

namespace syscost::bench::commands {

render::Json comparison_json(const stats::Comparison& row);

}  // namespace syscost::bench::commands
