// SPDX-License-Identifier: MIT
//
// A baseline of runs with two tests, in a folder of its own, as update and check of `bench` see it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "bench.h"
#include "csv_text.h"

namespace syscost::bench {

namespace fs = std::filesystem;

class BaselineFile : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "bench-baseline-test.XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string baseline() const { return path("it.baseline"); }
  std::string text() const {
    std::ostringstream all;
    all << std::ifstream(baseline()).rdbuf();
    return all.str();
  }

  /// A run with two tests: One makes `one` calls of write, Two makes `two`, `fails` of them with ENOENT.
  /// One lost `lost` events.
  std::string make_run(const std::string& id, int one, int two, int fails = 0, const std::string& outcome = "passed",
                       int lost = 0) {
    std::ofstream file(path(id + ".csv"));
    file << testing::header();
    for (const auto& [test, calls, errors] : {std::tuple("S.One", one, 0), std::tuple("S.Two", two, fails)}) {
      const std::string count = std::to_string(calls);
      const testing::Cells key = {{"run_id", id}, {"test", test}};
      testing::Cells totals = key;
      totals.insert({{"total_calls", count}, {"total_entries", count}, {"outcome", outcome}});
      totals.emplace("lost", std::to_string(test == std::string("S.One") ? lost : 0));
      testing::Cells cells = key;
      cells.insert({{"calls", count}, {"entries", count}, {"errors", std::to_string(errors)}});
      if (errors > 0) cells.emplace("errnos", "ENOENT:" + std::to_string(errors));
      file << testing::test_row(totals);
      if (calls > 0) file << testing::syscall_row(cells);
    }
    return path(id + ".csv");
  }

  /// The run in `file` as a backend writes it that does not measure `columns`.
  std::string without(const std::string& file, const std::string& id, const std::set<std::string>& columns) {
    std::ifstream from(file);
    std::ofstream to(path(id + ".csv"));
    std::vector<std::string> names;
    for (std::string line; std::getline(from, line);) {
      std::istringstream cells(line);
      std::string out;
      std::size_t i = 0;
      for (std::string cell; std::getline(cells, cell, ','); ++i) {
        const bool is_header = i == names.size();
        if (is_header) names.push_back(cell);
        out += (i == 0 ? "" : ",") + (!is_header && columns.contains(names[i]) ? "" : cell);
      }
      to << out << '\n';
    }
    return path(id + ".csv");
  }

  /// The run in `file`, without counts of the calls of `tests`.
  std::string uncounted(const std::string& file, const std::string& id, const std::set<std::string>& tests) {
    const std::string voided = without(file, id + "_all", {"total_calls", "total_entries", "total_errors"});
    std::ifstream whole(file);
    std::ifstream cut(voided);
    std::ofstream to(path(id + ".csv"));
    for (std::string line, other; std::getline(whole, line) && std::getline(cut, other);) {
      const bool is_cut = std::any_of(tests.begin(), tests.end(),
                                      [&](const std::string& test) { return line.find(test) != std::string::npos; });
      const bool has_syscall = line.find(",write,") != std::string::npos;
      if (!is_cut) to << line << '\n';
      if (is_cut && !has_syscall) to << other << '\n';
    }
    return path(id + ".csv");
  }

  int run(const std::vector<std::string>& args) {
    out_.str("");
    err_.str("");
    return bench_main(args, out_, err_);
  }
  int update(const std::vector<std::string>& runs) {
    std::vector<std::string> args = {"baseline", "update", "-o", baseline()};
    args.insert(args.end(), runs.begin(), runs.end());
    return run(args);
  }
  int check(const std::string& file, const std::vector<std::string>& more = {}) {
    std::vector<std::string> args = {"check", file, "--baseline", baseline()};
    args.insert(args.end(), more.begin(), more.end());
    return run(args);
  }

  fs::path folder_;
  std::ostringstream out_;
  std::ostringstream err_;
};

}  // namespace syscost::bench
