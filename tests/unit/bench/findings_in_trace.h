// SPDX-License-Identifier: MIT
//
// The findings of rules in a made trace.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "findings/rules.h"
#include "findings/traced_window.h"
#include "made_trace.h"

namespace syscost::bench::testing {

using Texts = std::vector<std::string>;

inline std::vector<findings::Hit> hits_of(std::string_view rule, MadeTrace& trace) {
  const findings::TracedWindow window(trace.file());
  return findings::rule_of(rule)->in_trace(window);
}

inline Texts evidence_of(std::string_view rule, MadeTrace& trace, bool of_notes = false) {
  Texts texts;
  for (const findings::Hit& hit : hits_of(rule, trace)) {
    if (hit.is_note == of_notes) texts.push_back(hit.evidence);
  }
  return texts;
}

/// The evidence of notes; there must be no finding.
inline Texts notes_of(std::string_view rule, MadeTrace& trace) {
  EXPECT_EQ(evidence_of(rule, trace), Texts{});
  return evidence_of(rule, trace, true);
}

}  // namespace syscost::bench::testing
