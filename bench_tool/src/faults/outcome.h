// SPDX-License-Identifier: MIT
//
// Outcome: what a test made of one failed call.
//
// Each outcome claims only what was seen, and docs/faults.md says what that proves. A failure that was not injected is
// never a success.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "faults/contained.h"
#include "faults/plan.h"

namespace syscost::bench::faults {

/// The worst first: tables have this order.
enum class Outcome {
  crashed,   ///< A signal ended the process.
  hung,      ///< It ran until the time limit.
  leaked,    ///< The test passed, and left more descriptors open than without the failure, or memory (LeakSanitizer).
  exited,    ///< The process ended before its test did.
  ignored,   ///< The test passed and made the same calls as ever, though data may be lost.
  survived,  ///< The test passed.
  reported,  ///< The test failed, or the program did after the test had passed.
  skipped,   ///< The test was skipped.
  not_reached,  ///< No call was failed.
  not_run,      ///< It could not be measured.
};

inline constexpr std::array<std::string_view, 10> kOutcomeWords = {
    "crashed", "hung", "leaked", "exited", "ignored?", "survived", "reported", "skipped", "not reached", "not run"};
inline constexpr std::size_t kOutcomes = kOutcomeWords.size();

std::string_view word_of(Outcome outcome);
/// Takes `ignored` for `ignored?`, and `not-reached`.
std::optional<Outcome> outcome_of(std::string_view word);

/// All that one run showed.
struct Observed {
  ContainedEnd end;
  bool has_row = false;  ///< The test ended, and wrote its row.
  std::string verdict;   ///< `passed`, `failed`, `skipped`, as column `outcome` has it.
  bool is_hit = false;   ///< The call came, and failed.
  std::string hit;       ///< The site of the call that was failed; empty = not known.
  std::map<std::string, std::uint64_t> entries;
  std::uint64_t descriptors_left = 0;
  std::string left_open;  ///< `5 file /tmp/x`, as column `left_open` has it.
};

struct Result {
  Outcome outcome = Outcome::not_run;
  std::string detail;  ///< `SIGSEGV`, `exit code 3`, `5 file /tmp/x`; may be empty.
  std::string
      child;  ///< `SIGSEGV`: ended a process that the test had started, and none without the failure; may be empty.
  std::string hit;  ///< Where the failed call came from; empty = not known.
  std::uint64_t wall_ns = 0;
  std::uint64_t processes_left = 0;  ///< Still ran when the test program had ended; they were killed.
  std::string output;                ///< Kept if the outcome needs a look; its beginning and its end.

  bool operator==(const Result&) const = default;
};

/// `test`: what it does without the failure.
Result classify(const Observed& observed, const Failure& failure, const LearnedTest& test);

/// Someone should look at it.
bool needs_a_look(const Result& result);

/// `ended with exit code 3`, `was ended by SIGSEGV`; `status` as waitpid() gives it.
std::string how_it_ended(int status);

/// `SIGSEGV`; `signal 40` for one without a name.
std::string signal_name(int signal);

}  // namespace syscost::bench::faults
