// SPDX-License-Identifier: MIT
//
// Golden tests of bench: every folder of cases/ is a test. `cmd` holds the arguments ("in quotes" where one
// has a blank), `stdout`, `stderr` and `exit`
// what must come out; commands run in data/, so that paths in messages stay short.
//
// After a wanted change: SYSCOST_UPDATE_GOLDEN=1 cli_tests writes what came out; read the diff before committing it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <sstream>
#include <string>
#include <vector>

#include "cli/run.h"

namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void write_file(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::vector<std::string> case_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(fs::path(SYSCOST_CLI_TEST_DIR) / "cases")) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class Golden : public testing::TestWithParam<std::string> {};

TEST_P(Golden, PrintsWhatItsFilesSay) {
  const fs::path folder = fs::path(SYSCOST_CLI_TEST_DIR) / "cases" / GetParam();
  fs::current_path(fs::path(SYSCOST_CLI_TEST_DIR) / "data");
  std::istringstream words(read_file(folder / "cmd"));
  std::vector<std::string> args;
  for (std::string word; words >> std::quoted(word);) args.push_back(word);

  std::ostringstream out;
  std::ostringstream err;
  const int exit_code = syscost::bench::cli::run(args, out, err);

  if (std::getenv("SYSCOST_UPDATE_GOLDEN") != nullptr) {
    write_file(folder / "stdout", out.str());
    write_file(folder / "stderr", err.str());
    write_file(folder / "exit", std::to_string(exit_code) + "\n");
    GTEST_SKIP() << "golden files written";
  }
  EXPECT_EQ(out.str(), read_file(folder / "stdout"));
  EXPECT_EQ(err.str(), read_file(folder / "stderr"));
  EXPECT_EQ(std::to_string(exit_code) + "\n", read_file(folder / "exit"));
}

INSTANTIATE_TEST_SUITE_P(Cases, Golden, testing::ValuesIn(case_names()),
                         [](const auto& tested) { return tested.param; });

}  // namespace
