// SPDX-License-Identifier: MIT
//
// Golden tests of bench: every file of cases/ is a test, in sections:
//
//     --- arguments
//     ab --keep folder -- ./ab_tests.sh 100000
//     --- stdout
//     (what bench prints)
//     --- stderr
//     bench: --keep folder: the folder holds files already; give a new one
//     --- exit code
//     2
//
// An argument with a blank stands "in quotes". A section without text is left out. An output that does not end with a
// newline has ", without a newline at its end" in its heading. JSON has a row a line (one_row_a_line()). Commands run
// in data/, so that paths in messages are short.
//
// A new case is a file with its arguments; then, as after a wanted change, `./dev update cli` writes the rest (with
// SYSCOST_UPDATE_GOLDEN=1 this program does). Read the diff before you commit it. Nothing needs to be built again for a
// new case.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "bench.h"

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kArguments = "--- arguments\n";

fs::path cases_folder() {
  return fs::path(SYSCOST_CLI_TEST_DIR) / "cases";
}

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<std::string> case_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(cases_folder())) {
    if (entry.path().extension() == ".txt") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// The lines of a case's first section, which says what to run; empty when the file does not begin with it.
std::string arguments_of(const std::string& text) {
  if (text.rfind(kArguments, 0) != 0) return "";
  const std::size_t end = text.find("\n--- ", kArguments.size());
  return text.substr(kArguments.size(), end == std::string::npos ? end : end + 1 - kArguments.size());
}

std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  std::istringstream in(line);
  for (std::string word; in >> std::quoted(word);) words.push_back(word);
  return words;
}

std::string section(const std::string& name, const std::string& text) {
  if (text.empty()) return "";
  if (text.back() == '\n') return "--- " + name + "\n" + text;
  return "--- " + name + ", without a newline at its end\n" + text + "\n";
}

/// JSON with a row a line, so that a difference shows whole rows: lines deeper than the third level go on in the line
/// of their row. Other texts, and JSON that is not indented by 2 a
/// level, stay as they are.
std::string one_row_a_line(const std::string& text) {
  if (!text.starts_with("{\n")) return text;
  constexpr std::size_t kRows = 2;
  std::string folded;
  std::size_t depth = 0;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
    const std::string body = line.substr(indent);
    const bool closes = body.starts_with(']') || body.starts_with('}');
    if (closes && depth > 0) --depth;
    if (indent != 2 * depth) return text;
    const bool goes_on = depth > kRows || (closes && depth == kRows);
    folded += goes_on ? " " + body : (folded.empty() ? "" : "\n") + line;
    if (body.ends_with('[') || body.ends_with('{')) ++depth;
  }
  return folded + "\n";
}

class Golden : public testing::TestWithParam<std::string> {};

// The whole text is compared, so a line of the output that looks like a heading does no harm.
TEST_P(Golden, PrintsWhatItsFileSays) {
  const fs::path path = cases_folder() / (GetParam() + ".txt");
  const std::string wanted = read_file(path);
  const std::string arguments = arguments_of(wanted);
  ASSERT_FALSE(arguments.empty()) << path << " does not begin with the line '--- arguments' and a line of them";

  fs::current_path(fs::path(SYSCOST_CLI_TEST_DIR) / "data");
  std::ostringstream out;
  std::ostringstream err;
  const int exit_code = syscost::bench::bench_main(words_of(arguments), out, err);
  const std::string printed = section("arguments", arguments) + section("stdout", one_row_a_line(out.str())) +
                              section("stderr", err.str()) + section("exit code", std::to_string(exit_code) + "\n");

  if (std::getenv("SYSCOST_UPDATE_GOLDEN") != nullptr) {
    if (printed != wanted) std::ofstream(path, std::ios::binary) << printed;
    GTEST_SKIP() << "the case is written anew";
  }
  EXPECT_EQ(wanted, printed) << "if this change is wanted: ./dev update cli, then read the diff of " << path;
}

INSTANTIATE_TEST_SUITE_P(Cases, Golden, testing::ValuesIn(case_names()),
                         [](const auto& tested) { return tested.param; });

TEST(CasesFolder, HoldsOnlyFilesOfCases) {
  for (const auto& entry : fs::directory_iterator(cases_folder())) {
    EXPECT_TRUE(entry.is_regular_file() && entry.path().extension() == ".txt")
        << entry.path() << " is no case: a case is a file NAME.txt";
  }
}

}  // namespace
