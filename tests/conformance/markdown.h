// SPDX-License-Identifier: MIT
//
// docs/conformance.md, written from the cases themselves so that page and suite cannot disagree (a test compares).
#pragma once

#include <string>

namespace conformance {

std::string conformance_page();

}  // namespace conformance
