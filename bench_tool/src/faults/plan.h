// SPDX-License-Identifier: MIT
//
// Plan: which calls of which tests a sweep fails, with which errors, and in which order; and the check of the user's
// words for them before anything runs.
//
// A failure is one call of one test with one error. All failures of a suite are often too many, so those that teach
// most come first: the first call of each call site. --every-call adds the others, and --sample takes some of the list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace syscost::bench::faults {

/// In place of an errno: the call is made, and moves one byte only.
inline constexpr std::string_view kShort = "SHORT";
/// At the end of an errno: later calls fail, too. strace says `when=3+`.
inline constexpr char kLasting = '+';

/// In which part of its test a call is made, as far as a call stack shows it.
enum class Part {
  unknown,
  body,     ///< GoogleTest's TestBody().
  fixture,  ///< Elsewhere in the test: constructor and destructor of the fixture, SetUp() and TearDown().
};

/// The calls of one syscall in a test, from one call site, as the test made them without a failure.
struct Place {
  std::string syscall;
  std::string classes;  ///< As column `class` has them: `file;desc`.
  std::string site;     ///< `src/log.cc:17 Log::batch`; empty = not known.
  std::vector<std::uint64_t>
      nths;                 ///< Their numbers among the calls of the syscall, from 1 on, ascending; at least one.
  std::uint64_t calls = 0;  ///< How many there are; `nths` may have the first of them only.
  Part part = Part::unknown;
};

/// The calls and the result of a test without a failure.
struct LearnedTest {
  std::string name;
  std::uint64_t wall_ns = 0;  ///< Its process's, from start to end.
  std::uint64_t descriptors_left = 0;
  std::map<std::string, std::uint64_t> entries;  ///< By syscall; without memory, waits and volatile calls.
  std::map<int, std::uint64_t> child_signals;    ///< ContainedEnd::child_signals
  bool is_steady = false;                        ///< A second run made the same calls.
  std::vector<Place> places;
  std::string why_left_out;  ///< It is not swept: it fails by itself. Empty = it is.
  /// False: it fails if a sanitizer writes to a file (ContainedCommand::has_report_file).
  bool has_report_file = true;
};

/// `unknown`, `body`, `fixture`.
std::string_view word_of(Part part);
std::optional<Part> part_of(std::string_view word);

struct Failure {
  std::size_t test = 0;  ///< Index into the tests.
  std::string syscall;
  std::uint64_t nth = 0;
  std::string error;  ///< `ENOSPC`, kShort; with kLasting at its end, each later call of the syscall fails as well.
  std::string site;   ///< Where the call came from without a failure; empty = not known.
  Part part = Part::unknown;

  /// `write:error=ENOSPC:nth=3`, as --syscost_inject has it.
  std::string rule() const;
  bool operator==(const Failure&) const = default;
};

/// `write fails with ENOSPC`, `write and all later ones fail with ENOSPC`, `write moves one byte`.
std::string failure_text(std::string_view syscall, std::string_view error);

struct PlanOptions {
  std::string calls;                ///< Selector (model/choice.h); empty = kSweptCalls.
  std::vector<std::string> errors;  ///< Instead of those of the table, or kShort; empty = the table's.
  bool is_lasting = false;          ///< Each later call of the syscall fails as well.
  bool has_every_call = false;      ///< Not only the first of each call site.
  std::size_t sample = 0;           ///< At most so many; 0 = all.
  std::uint64_t seed = 1;
};

/// How much of all possible failures a plan has.
struct PlanSize {
  std::size_t failures = 0;
  std::size_t left_out = 0;                          ///< By `sample`.
  std::size_t other_calls = 0;                       ///< Failures of calls after the first of their site, left out.
  std::map<std::string, std::uint64_t> not_in_list;  ///< Chosen calls, of which the table has no error, by syscall.

  bool operator==(const PlanSize&) const = default;
};

struct Plan {
  std::vector<Failure> failures;
  PlanSize size;
};

/// `options.calls` must be a selector without a fault (selector_fault()).
Plan make_plan(const std::vector<LearnedTest>& tests, const PlanOptions& options);

/// The fault of a selector, or "".
std::string selector_fault(const std::string& calls);

/// The fault of the name of an errno, or "".
std::string error_fault(const std::string& error);

/// The fault of the names in `options`, or "". `runner`: the path of syscost-run.
///
/// bench knows no table of syscalls and none of errnos: it links nothing of the plugin. The runner has both tables, and
/// reads the same words for --filter and --inject. So it reads them for us, and its message has the nearest name.
std::string words_fault(const std::string& runner, const PlanOptions& options);

/// The message of the runner about a bad value, in the words of this command: `--calls: 'fsnyc' is not a known syscall.
/// Did you mean 'fsync'?`
std::string as_own_words(std::string_view output);

}  // namespace syscost::bench::faults
