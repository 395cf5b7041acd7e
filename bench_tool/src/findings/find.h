// SPDX-License-Identifier: MIT
//
// Looks for findings in the windows of a RUN.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "findings/finding.h"
#include "findings/rule.h"
#include "model/dataset.h"
#include "model/group.h"
#include "stats/window_summary.h"
#include "trace/trace_file.h"

namespace syscost::bench::findings {

struct FindOptions {
  std::set<std::string, std::less<>> ignored = {};  ///< Names of rules that are left out.
  bool has_scopes = false;                          ///< Scopes, too; their calls are also calls of their test.
};

/// Looks at one window after the other; sorts and counts at the end. Not thread-safe.
class Finder {
 public:
  /// `data` and `groups`, which belong to it, must outlive it.
  Finder(const model::Dataset& data, const std::vector<model::Group>& groups, FindOptions options = {});

  /// True if rules look at windows of this kind. A tool counts again what syscost counts.
  bool looks_at(const stats::WindowSummary& window) const;
  /// The summary of `groups[index]`, and the trace of one of its repetitions; null if there is none.
  void add(std::size_t index, const stats::WindowSummary& summary, const trace::TraceFile* trace = nullptr);
  /// Once, at the end.
  Findings take();

 private:
  using Key = std::pair<model::NameId, model::NameId>;  ///< Program and test.

  void run(const Rule& rule, const TestWindows& test, const TracedWindow* trace);
  /// True if a finding of this window is about the syscall of `hit`; if `hit` is a note, also if notes are, of which
  /// one costs half as much or more.
  bool is_named(const Hit& hit) const;
  /// Makes findings notes whose calls cost next to nothing, those of one rule and line added up.
  void demote();
  void add_lack(const Rule& rule, std::string_view reason);

  const model::Dataset& data_;
  const std::vector<model::Group>& groups_;
  FindOptions options_;
  Findings findings_;
  /// Of a finding: what its calls cost in all passes of its window, and how long these took.
  struct Cost {
    double ns = 0;
    double wall_ns = 0;      ///< 0: not measured.
    std::size_t window = 0;  ///< Which one.
    bool is_any = false;     ///< It is a finding at any cost.
  };
  std::vector<Cost> costs_;                           ///< Of findings_.found.
  std::size_t first_of_window_ = 0;                   ///< In findings_.found: of the window that is added.
  std::size_t first_note_of_window_ = 0;              ///< The same, in findings_.notes.
  std::map<Key, std::vector<std::size_t>> children_;  ///< Groups of kind `process`.
  std::map<Key, std::vector<std::size_t>> gpu_figures_;
};

/// All of `groups`, without traces.
Findings find(const model::Dataset& data, const std::vector<model::Group>& groups, FindOptions options = {});

}  // namespace syscost::bench::findings
