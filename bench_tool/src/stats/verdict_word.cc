// SPDX-License-Identifier: MIT
#include "stats/verdict_word.h"

#include <array>
#include <cstddef>

namespace syscost::bench::stats {

std::string_view to_string(Verdict verdict) {
  static constexpr std::array<std::string_view, 13> kNames = {
      "same", "near",    "exchanged", "accepted",     "improved",     "in doubt",    "regressed",
      "new",  "missing", "errored",   "inconclusive", "insufficient", "incomparable"};
  return kNames[static_cast<std::size_t>(verdict)];
}

std::span<const std::string_view> rule_words() {
  static constexpr std::array<std::string_view, 24> kWords = {
      "chance",  "spread",          "tolerance", "accept",   "new-wait",    "equal",    "growth",       "failures",
      "syncs",   "leaks",           "fewer",     "exchange", "gate-counts", "baseline", "outcome",      "losses",
      "per-run", "no-common-count", "one-side",  "times",    "exact",       "all-runs", "further-runs", "not-gated"};
  return kWords;
}

std::string_view to_string(Rule rule) {
  return rule_words()[static_cast<std::size_t>(rule)];
}

bool has_no_answer(Verdict verdict) {
  return verdict == Verdict::in_doubt || verdict == Verdict::missing || verdict == Verdict::errored ||
         verdict == Verdict::inconclusive || verdict == Verdict::insufficient || verdict == Verdict::incomparable;
}

}  // namespace syscost::bench::stats
