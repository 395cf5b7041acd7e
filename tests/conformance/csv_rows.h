// SPDX-License-Identifier: MIT
//
// The measurements of a program that is not linked with syscost: the rows that `bench run` wrote.
#pragma once

#include <string>
#include <vector>

#include "case.h"
#include "measured.h"

namespace conformance {

/// The windows of `one` in the CSV `text`. A statement of the CSV that no comparison would notice becomes a problem.
Measured from_csv(const Case& one, const std::string& text);

}  // namespace conformance
