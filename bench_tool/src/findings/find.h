// SPDX-License-Identifier: MIT
//
// find: looks for findings in the windows of a RUN, and puts them in groups as people read them.
//
// A finding is one thing that a test does and that costs more than it has to, with the figures that show it. A count
// says how often a syscall was called. A finding says what that means: these 1200 writes of 64 bytes can be one. Rules
// find them (rules.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "findings/rules.h"
#include "model/dataset.h"
#include "stats/window_summary.h"
#include "trace/trace_file.h"

namespace syscost::bench::findings {

/// A finding is a fault that the data proves. A note is a cost that may be on purpose: a test of sleeping has to sleep.
/// People ask for notes; nothing fails because of one, unless they name its rule.
struct Finding {
  std::string_view rule;  ///< `tiny-writes`: as in docs/findings.md.
  std::string window;     ///< As WindowSummary::name.
  std::string syscall;    ///< `write`; empty if it is about no single one.
  std::string site;       ///< `src/log.cc:17 Log::batch`; empty if it is not known.
  std::string evidence;   ///< One sentence with figures.
  std::string remedy;     ///< One sentence, imperative.
  double cost_ns = 0;     ///< Kernel time of the calls in question, as in the window's other figures; 0: not measured.
  bool is_note = false;   ///< The data does not prove that it is a fault.
};

/// A rule that some windows do not have the data for. A rule that lacks data is never silent: this names it, and what
/// it needs.
struct NotChecked {
  std::string_view rule;
  std::string reason;         ///< `needs a trace (--syscost_trace)`
  std::size_t windows = 0;    ///< So many of them.
  bool is_of_window = false;  ///< They say too little for any rule, or too little of their calls.
};

/// All findings of a RUN.
struct Findings {
  std::vector<Finding> found;           ///< Those that are no notes. The most expensive first.
  std::vector<Finding> notes;           ///< The most expensive first.
  std::size_t hidden_notes = 0;         ///< That a command took out of `notes`, because it does not print them.
  std::vector<NotChecked> not_checked;  ///< In the order of the rules.
  std::size_t windows = 0;              ///< That rules looked at,
  std::size_t traced = 0;               ///< and so many of them have a trace.
};

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
  void add_lack(const Rule& rule, std::string_view reason, bool is_of_window);

  const model::Dataset& data_;
  const std::vector<model::Group>& groups_;
  FindOptions options_;
  Findings findings_;
  /// The cost of a finding's calls in all passes of its window, and how long these took.
  struct Cost {
    double ns = 0;
    double wall_ns = 0;       ///< 0: not measured.
    std::size_t window = 0;   ///< Which one.
    bool is_any = false;      ///< It is a finding at any cost.
    bool is_of_loop = false;  ///< Or of a benchmark: the machine decides how many passes there are.
  };
  std::vector<Cost> costs_;                           ///< The costs of findings_.found.
  std::size_t first_of_window_ = 0;                   ///< In findings_.found: of the window that is added.
  std::size_t first_note_of_window_ = 0;              ///< The same, in findings_.notes.
  std::map<Key, std::vector<std::size_t>> children_;  ///< Groups of kind `process`.
  std::map<Key, std::vector<std::size_t>> gpu_figures_;
};

/// All of `groups`, without traces.
Findings find(const model::Dataset& data, const std::vector<model::Group>& groups, FindOptions options = {});

/// The findings of a rule that have one line: those of tests that use the same fixture.
struct AlikeFindings {
  const Finding* worst = nullptr;
  std::set<std::string_view> windows;  ///< The names of their windows, that of the worst included.
  double cost_ns = 0;                  ///< The cost of all of them.
};

struct RuleFindings {
  const Rule* rule = nullptr;
  double cost_ns = 0;  ///< The cost of all of them.
  std::vector<AlikeFindings> parts = {};
};

/// Findings by rule, and those of one line together. The most expensive rule first. `found` begins with its most
/// expensive finding. The result points into `found`, which must live longer.
std::vector<RuleFindings> by_rule(const std::vector<Finding>& found);

/// Keeps the `most` parts that cost most, of all rules; 0: all. Returns how many are gone.
std::size_t keep_dearest(std::vector<RuleFindings>& rules, std::size_t most);

}  // namespace syscost::bench::findings
