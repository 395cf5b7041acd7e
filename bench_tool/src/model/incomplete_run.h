// SPDX-License-Identifier: MIT
//
// incomplete_run: finds what is missing in a run: programs that ended before their tests did, or that crashed or failed
// outside of them, and shards. A shard is the part of a program's tests that one of several processes or machines runs.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "model/dataset.h"

namespace syscost::bench::model {

/// A program of a run that ended before its tests did, or that crashed outside of them.
///
/// A test that crashes has no row, and a program with one test leaves nothing else. So each program writes a row when
/// its tests begin, and one when they came to their end. If the second is missing, the program crashed. Before the
/// first of these rows and after the last one, only `bench run` sees how the program's process ended.
struct Unfinished {
  std::string program;
  std::uint64_t pid = 0;
  std::string run_id;
  std::string test;            ///< That it ran when it ended; "" if it is not known.
  std::string after;           ///< The last test that ended before; "" if there is none, or if it is not known.
  bool is_after_known = true;  ///< False where not all tests of the run were read.
  bool has_exited = false;     ///< By exit(), or main returned: the test's row has what was counted until then.
  bool has_not_begun = false;  ///< It ended before it reported a test,
  bool has_finished = false;   ///< or after they ended,
  std::string last;            ///< unless a signal in this test ended them; "" if none did, or if it is not known.
  std::string how;             ///< `SIGABRT`, `exit code 7`; "" if it is not known.
};

/// In the order of the file. Programs that do not say when their tests begin are not among them, unless a signal ended
/// them.
std::vector<Unfinished> unfinished_programs(const Dataset& data);

/// `my_tests crashed in Suite.Test`, `my_tests crashed before its first test had a row`.
std::string text_of(const Unfinished& program);

/// A program that failed although none of its tests did. A failure in the set-up or tear-down of a suite or an
/// environment is in no row of a test; the program's last row has the outcome of all together.
struct FailedOutside {
  std::string program;
  std::string how;             ///< `exit code 7`; "" if a part of it said so, as the set-up of a suite.
  bool has_not_begun = false;  ///< None of its tests ran. It may have a reason, as `exit code 77`.

  auto operator<=>(const FailedOutside&) const = default;
};
/// In the order of their names. Empty where not all tests of the run were read.
std::vector<FailedOutside> failed_outside_of_tests(const Dataset& data);

/// `my_tests ended with exit code 7 although none of its tests failed`.
std::string text_of(const FailedOutside& program);

/// Names the shards that the run has: "in 4 shards", "only shard 2 of 4". Returns "" if there are no shards, or if
/// programs have different ones.
std::string shards_text(const Dataset& data);

/// How the runs of a dataset belong together.
enum class RunsAre {
  one_file,    ///< They are one run. One shard alone is what somebody chose.
  one_folder,  ///< They are one run. If one shard is alone, the others may not have arrived.
  apart,       ///< Each is a run of a history. One shard alone has a run_id of its own, or is what somebody chose.
};

/// Returns a sentence for each program of which some shards are here and others are missing. Each shard writes a CSV of
/// its own, and read together they are one run. If a machine failed, its shard's tests would be missing without a
/// reason; the shards that are there know how many there should be.
///
/// Shards with a run_id in common belong together. Each shard with a run_id of its own is taken as a part of one run,
/// unless runs are apart.
std::vector<std::string> missing_shards(const Dataset& data, RunsAre runs);

}  // namespace syscost::bench::model
