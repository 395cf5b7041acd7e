// SPDX-License-Identifier: MIT
//
// A CSV of any size with rows as wide as real ones: for measuring bench, and for tests that need volume.
#pragma once

#include <cstdint>
#include <iosfwd>

namespace syscost::bench::perf {

struct MakeRows {
  std::uint64_t syscall_rows = 1'000'000;
  std::uint64_t syscalls_per_test = 20;
  std::uint64_t repetitions = 10;
  std::uint64_t runs = 1;         ///< One after the other, with as many rows in each.
  std::uint64_t extra_calls = 0;  ///< Added to every count, for a second file that differs.
};

/// Writes a header and at least `syscall_rows` rows of whole windows, in the order that --gtest_repeat gives: every
/// test, and every test again. The same shape gives the same bytes. Returns the number of rows, `test` rows included.
std::uint64_t make_rows(const MakeRows& shape, std::ostream& out);

}  // namespace syscost::bench::perf
