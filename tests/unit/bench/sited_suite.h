// SPDX-License-Identifier: MIT
//
// Random test suites that know the lines of their program which make calls, and edits of such a program.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace syscost::bench::testing {

/// One line of a program that makes calls.
struct Line {
  std::uint64_t in_function = 0;
  std::string syscall;
  std::vector<std::uint64_t> calls;  ///< In each repetition.
  std::uint64_t failed = 0;
  std::uint64_t per_run = 0;
  std::uint64_t synced = 0;  ///< Opens with O_SYNC.
};

struct Function {
  std::string file;
  std::string name;
  std::uint64_t first_line = 0;
  bool has_first_line = true;
  std::vector<Line> lines;
};

struct SitedTest {
  std::vector<Function> functions;
  std::uint64_t iterations = 0;  ///< Above 0: a benchmark.
};

using Suite = std::vector<SitedTest>;

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  /// Below `end`.
  std::uint64_t below(std::uint64_t end) { return engine_() % end; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }

 private:
  std::mt19937 engine_;
};

/// Up to three tests, some of them benchmarks, with up to four functions each.
Suite random_suite(Random& random);

/// Moves lines as an edit does, and changes no call.
void move_lines(Random& random, Suite& suite);

/// Adds calls to lines, removes lines, and makes one line of two.
void change_calls(Random& random, Suite& suite);

/// The rows of a run of `suite`. `sited`: they name their sites; else the run had no --syscost_where.
std::string text_of(const Suite& suite, bool sited);

}  // namespace syscost::bench::testing
