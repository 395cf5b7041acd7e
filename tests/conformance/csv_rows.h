// SPDX-License-Identifier: MIT
//
// What a program that is not linked with syscost was measured to do: the rows that `bench run` wrote.
#pragma once

#include <string>
#include <vector>

#include "case.h"
#include "measured.h"

namespace conformance {

/// The windows of `one` in the CSV `text`. What the CSV says and no comparison would notice becomes a problem.
Measured from_csv(const Case& one, const std::string& text);

}  // namespace conformance
