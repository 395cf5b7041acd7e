// SPDX-License-Identifier: MIT
#include "sited_suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "csv_text.h"

namespace syscost::bench::testing {
namespace {

constexpr std::size_t kRepetitions = 2;

}  // namespace

Suite random_suite(Random& random) {
  static constexpr std::array kNames = {"write", "openat", "read", "futex"};
  Suite suite(1 + random.below(3));
  std::uint64_t number = 0;
  for (SitedTest& test : suite) {
    test.iterations = random.one_in(3) ? 10 : 0;
    test.functions.resize(1 + random.below(4));
    for (Function& function : test.functions) {
      function = {fmt::format("src/f{}.cc", random.below(2)),
                  fmt::format("ns::f{}", ++number),
                  10 * number,
                  !random.one_in(4),
                  {}};
      std::uint64_t at = 0;
      for (std::uint64_t left = random.below(4); left > 0; --left) {
        Line line{at += 1 + random.below(3), kNames[random.below(kNames.size())], {}, 0, 0, 0};
        const bool varies = random.one_in(8);
        const std::uint64_t calls = (1 + random.below(6)) * std::max<std::uint64_t>(test.iterations, 1);
        for (std::size_t i = 0; i < kRepetitions; ++i) line.calls.push_back(calls + (varies ? i : 0));
        line.failed = random.one_in(3) ? random.below(calls + 1) : 0;
        if (line.syscall == "openat") line.synced = random.below(calls - line.failed + 1);
        if (test.iterations != 0 && random.one_in(2)) {
          line.per_run = 1;
          for (std::uint64_t& count : line.calls) ++count;
        }
        function.lines.push_back(std::move(line));
      }
    }
  }
  return suite;
}

void move_lines(Random& random, Suite& suite) {
  for (SitedTest& test : suite) {
    for (Function& function : test.functions) {
      if (random.one_in(2)) function.first_line += random.below(9);
      const std::uint64_t inserted = random.one_in(2) ? random.below(5) : 0;
      const std::size_t from = random.below(function.lines.size() + 1);
      for (std::size_t i = from; i < function.lines.size(); ++i) function.lines[i].in_function += inserted;
      if (random.one_in(5)) function.name += "_renamed";
      if (random.one_in(9)) function.file = "lib/" + function.file;
    }
  }
}

void change_calls(Random& random, Suite& suite) {
  for (SitedTest& test : suite) {
    for (Function& function : test.functions) {
      for (Line& line : function.lines) {
        if (!random.one_in(3)) continue;
        const std::uint64_t more = random.below(5) * std::max<std::uint64_t>(test.iterations, 1);
        for (std::uint64_t& count : line.calls) count += more;
        if (random.one_in(2)) line.failed += more;
        if (random.one_in(3)) line.synced /= 2;
      }
      if (random.one_in(6)) function.lines.clear();
      if (random.one_in(6) && function.lines.size() > 1) {  // two lines become one
        function.lines[0].in_function = function.lines[1].in_function;
      }
    }
  }
}

std::string text_of(const Suite& suite, bool sited) {
  std::string text;
  for (std::size_t t = 0; t < suite.size(); ++t) {
    const SitedTest& test = suite[t];
    for (std::size_t repetition = 0; repetition < kRepetitions; ++repetition) {
      struct Sum {
        std::uint64_t calls = 0, failed = 0, per_run = 0, synced = 0;
      };
      std::map<std::pair<std::string, std::string>, Sum> rows;
      std::uint64_t total = 0;
      for (const Function& function : test.functions) {
        for (const Line& line : function.lines) {
          std::string site;
          if (sited) {
            site = fmt::format("at {}:{} {}", function.file, function.first_line + line.in_function, function.name);
            if (function.has_first_line) site += fmt::format("+{}", line.in_function);
          }
          Sum& sum = rows[{line.syscall, site}];
          sum.calls += line.calls[repetition];
          sum.failed += line.failed;
          sum.per_run += line.per_run;
          sum.synced += line.synced;
          total += line.calls[repetition];
        }
      }
      Cells key = {{"test", fmt::format("S.T{}", t)}, {"repetition", std::to_string(repetition)}};
      if (test.iterations != 0) key["kind"] = "benchmark";
      Cells totals = key;
      totals["total_calls"] = std::to_string(total);
      if (test.iterations != 0) totals["iterations"] = std::to_string(test.iterations);
      text += test_row(totals);
      for (const auto& [name, sum] : rows) {
        Cells cells = key;
        cells.insert({{"syscall", name.first}, {"detail", name.second}, {"calls", std::to_string(sum.calls)}});
        cells["class"] = name.first == "futex" ? "wait;volatile" : "desc";
        cells["errors"] = std::to_string(sum.failed);
        if (sum.failed != 0) cells["errnos"] = fmt::format("EAGAIN:{}", sum.failed);
        if (test.iterations != 0) {
          cells.insert({{"per_run_calls", std::to_string(sum.per_run)}, {"per_run_errors", "0"}});
        }
        if (name.first == "openat") cells["sync_opens"] = std::to_string(sum.synced);
        text += syscall_row(cells);
      }
    }
  }
  return text;
}

}  // namespace syscost::bench::testing
