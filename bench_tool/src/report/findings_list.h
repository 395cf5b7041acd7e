// SPDX-License-Identifier: MIT
//
// The findings of a run: what tests do that costs more than it has to.
#pragma once

#include <string>

#include "findings/finding.h"
#include "report/run.h"

namespace syscost::bench::report {

/// Empty if there are none.
std::string findings_section(const Run& run, const findings::Findings& findings);

}  // namespace syscost::bench::report
