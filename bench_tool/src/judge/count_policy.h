// SPDX-License-Identifier: MIT
//
// CountPolicy: which counts a comparison lets vary, and how far; and which rules of a project's file are for a test.
//
// Most counts are exact. Some vary by nature: those of class `volatile`, and those that a user names as volatile. For
// others a user knows how far they vary, and says so.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/choice.h"
#include "stats/window_summary.h"

namespace syscost::bench::judge {

/// How far counts may be apart and still be alike: the larger of the two.
struct Tolerance {
  double abs = 0;       ///< Calls.
  double rel = 0;       ///< Share of OLD's median.
  double rounding = 0;  ///< How far exact counts may differ because the passes they were counted in differ in length.
  double unseen = 0;    ///< A call that comes less often than this might have stayed unseen in OLD.
};

class CountPolicy {
 public:
  CountPolicy() = default;
  explicit CountPolicy(const Tolerance& tolerance) : general_(tolerance) {}

  /// Rules of some tests; none: of all.
  using Tests = std::optional<model::TestPatterns>;
  /// `SELECTOR`: its calls are shown and not gated. On a fault nothing changes and the fault is returned.
  std::optional<std::string> add_volatile(const std::string& selector, const Tests& tests = {});
  /// `SELECTOR=3` (calls) or `SELECTOR=5%` (of OLD's count). If several match a syscall, the last one decides.
  std::optional<std::string> add_tolerance(const std::string& text, const Tests& tests = {});

  /// A wait that OLD never made is red, also in tests with several threads.
  void gate_waits() { gates_waits_ = true; }
  bool gates_waits() const { return gates_waits_; }

  /// Takes over the rules of `other`, as if they had been added first.
  void put_before(const CountPolicy& other);

  /// The rules for one test alone, which has these names.
  CountPolicy of(const std::vector<model::PatternName>& names) const;

  // These take no account of rules for some tests: see of().
  /// `name` as in SyscallSummary; `classes` as in the file.
  bool is_volatile(std::string_view name, std::string_view classes) const;
  /// The user named it so; is_volatile() is also true by nature (class `volatile`).
  bool is_named_volatile(std::string_view name, std::string_view classes) const;
  Tolerance tolerance_of(std::string_view name, std::string_view classes) const;

 private:
  struct Rule {
    model::SyscallChoice which;
    double abs = 0;
    double rel = 0;
    Tests tests;
  };
  struct Volatile {
    model::SyscallChoice which;
    Tests tests;
  };

  Tolerance general_;
  bool gates_waits_ = false;
  std::vector<Volatile> volatile_;
  std::vector<Rule> rules_;
};

/// The names that patterns of tests are matched with. Views point into `window`.
model::PatternName pattern_name(const stats::WindowSummary& window);

/// The rules for this test, which may have another name on each side; either may be null.
CountPolicy rules_of(const CountPolicy& policy, const stats::WindowSummary* old_window,
                     const stats::WindowSummary* new_window);

}  // namespace syscost::bench::judge
