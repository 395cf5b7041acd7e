// SPDX-License-Identifier: MIT
//
// Families: the tests of a RUN that differ in sizes alone, by their names or labels, and the laws of their counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/dataset.h"
#include "scale/complexity.h"
#include "scale/law.h"
#include "scale/solve_law.h"

namespace syscost::bench::scale {

/// A column of `syscall` rows that a law may say something about. family_laws.cc has the table.
struct CountColumn {
  std::string_view name;
  model::Measured model::SyscallRow::*field;
  /// The part of `field` that comes once per run of a benchmark's loop; null: it is not told apart.
  model::Measured model::SyscallRow::*per_run_field;
  std::string_view of;  ///< A person reads it beside the syscall's name; "" for calls.
};

/// One column of one syscall over the sizes.
struct LawRow {
  std::string syscall;  ///< `write`, `ioctl`
  std::string detail;   ///< `TCGETS`; empty for all calls of the syscall together.
  const CountColumn* column = nullptr;
  bool is_per_run = false;  ///< The calls made once per run of a benchmark's loop.
  Counts counts;
  Solved solved;
  std::string reason;  ///< Why there can be no law: counts that vary, or were not measured. Then `solved` says nothing.

  bool has_law() const { return reason.empty() && solved.solution == Solution::law; }
  /// `write`, `write, errors`, `openat, per run`.
  std::string title() const;
};

/// One of the two times of a test over the sizes.
struct TimeRow {
  std::string_view title;  ///< `wall` or `cpu`.
  std::vector<TimePoint> points;
  std::optional<ComplexityFit> fit;
  std::optional<FixedCost> fixed;
  std::string reason;  ///< Why there is no fit.
};

struct Family {
  std::string name;  ///< `benchmark BM_Copy/{n}`: the name that is printed, with the sizes' names in their places.
  std::string key;   ///< Equal for the same family in two runs, and for families of this name in other programs.
  std::string program;
  SizeNames names;
  bool has_two = false;
  bool are_powers = false;  ///< Every size is a power of two.
  bool is_per_iteration = false;
  std::vector<Size> sizes;            ///< Sorted; each once.
  std::vector<std::string> left_out;  ///< `n = 64: failed`: sizes that no law, or not this one, is fitted to.
  std::string refusal;                ///< Why no law is looked for; empty otherwise.
  std::vector<LawRow> rows;
  std::vector<TimeRow> times;
};

struct FamilyOptions {
  bool by_label = false;  ///< The sizes are those of the runs' labels.
  bool has_times = true;
};

/// The families of `data`, in the order of their first tests. Families of one size are none.
std::vector<Family> families_of(const model::Dataset& data, const std::vector<model::Group>& groups,
                                const FamilyOptions& options);

/// `n = 64`, `n = 64, m = 2`.
std::string size_text(const Family& family, const Size& size);

/// A number in a name, with its name if it has one.
struct Argument {
  std::string name;  ///< `bytes` of `bytes:64`; else empty.
  std::int64_t value = 0;
};

/// A name taken apart, with the sizes in it: `BM_Copy/64`, `BM_Copy/bytes:64/real_time`, `Sizes/Copy.Works/4096`.
/// Between parts[i] and parts[i + 1] stands arguments[i]; the names of arguments stand in the parts, too:
/// {"BM_Copy/bytes:", "/real_time"}.
struct SizedName {
  std::vector<std::string> parts;
  std::vector<Argument> arguments;
};

/// The arguments of a benchmark: the parts of its name that are a number or `name:number`. Parts that Google Benchmark
/// itself appends are none (`iterations:`, `min_time:`, ...), but for `threads:`.
SizedName sized_benchmark(std::string_view name);

/// The parameters of a GoogleTest test: the text after the last `/`, if it is numbers with words before them:
/// `4096`, `n4096`, `n64_m8`, `64_8`.
SizedName sized_test(std::string_view name);

/// `size=4096` or `bytes=4096,threads=2`: the pairs with a number. The parts of the result are empty.
std::vector<Argument> sizes_of_label(std::string_view label);

}  // namespace syscost::bench::scale
