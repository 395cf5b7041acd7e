// SPDX-License-Identifier: MIT
//
// StateFile: what a sweep has learned and done so far, on disk.
//
// A sweep may take hours. So each result is a line of its own, appended with one write: if bench or the machine stops,
// at most the line that was being written is lost, and the next sweep with the same file does the rest. The file is
// locked while a sweep writes to it. Each line is a JSON object; docs/bench.md has them.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "faults/learning.h"
#include "faults/outcome.h"
#include "faults/plan.h"
#include "faults/run_folder.h"

namespace syscost::bench::faults {

/// The facts that must be equal for a sweep to go on with a file.
struct SweepIdentity {
  std::vector<std::string> command;
  std::string program;  ///< Size and time of the last change of its file.
  std::string options;  ///< Those that decide about the plan.

  bool operator==(const SweepIdentity&) const = default;
};

/// A failure that was run.
struct Done {
  Failure failure;
  Result result;

  bool operator==(const Done&) const = default;
};

struct SweepState {
  SweepIdentity identity;
  Framework framework = Framework::googletest;
  std::vector<LearnedTest> tests;
  bool has_learned = false;
  std::optional<PlanSize> plan;
  /// All that was changed in the user's folder while no call failed; as `harm`.
  std::vector<std::string> changed_always;
  std::vector<std::string> harm;     ///< The sweep's changes to files that are not its own: `changed: data/x`.
  std::map<std::size_t, Done> done;  ///< By the index of the failure in the plan.
};

class StateFile {
 public:
  StateFile() = default;  ///< Keeps nothing.
  ~StateFile();
  StateFile(const StateFile&) = delete;
  StateFile& operator=(const StateFile&) = delete;

  /// Opens or makes `path`, locks it, and reads what it holds. Returns the fault as a sentence, or "". Until something
  /// is added, the file stays as it is; a file that was made goes again.
  std::string open(const std::string& path, SweepState& state);
  /// Begins a file that holds nothing. It is written with the first line that is added.
  void begin(const SweepIdentity& identity);
  /// Each returns the fault, or "".
  std::string add(const LearnedTest& test);
  std::string end_learning(Framework framework);
  std::string add(const PlanSize& plan);
  std::string add(std::size_t index, const Done& done);
  std::string add_harm(const std::vector<std::string>& lines);
  std::string add_changed_always(const std::vector<std::string>& lines);
  /// The file itself; empty if nothing is kept.
  std::vector<FileId> ids() const;

 private:
  std::string append(const std::string& line);

  std::string path_;
  int file_ = -1;
  bool is_made_ = false;   ///< By open(), and nothing was added.
  std::string first_;      ///< The line that goes before the first one that is added.
  std::size_t used_ = 0;   ///< After so many bytes comes what was being written when a sweep was killed.
  bool has_rest_ = false;  ///< Something comes there.
};

/// Reads the lines of a state file. Returns the fault, or "". `used`: bytes up to the end of the last whole line.
std::string read_state(const std::string& text, SweepState& state, std::size_t& used);

/// Reads a state file that no sweep may be writing to.
std::string load_state(const std::string& path, SweepState& state);

}  // namespace syscost::bench::faults
