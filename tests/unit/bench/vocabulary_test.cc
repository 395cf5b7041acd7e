// SPDX-License-Identifier: MIT
//
// compare, ab and check are one judge with one vocabulary: of the same two runs they say the same in the same words,
// and the pages have these words.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "baseline_file.h"
#include "judge/time_verdict.h"

namespace syscost::bench {
namespace {

using Json = nlohmann::json;

class Vocabulary : public BaselineFile {
 protected:
  /// The output of each command for OLD and NEW, in the order of kCommands.
  std::vector<std::string> outputs(const std::string& old_run, const std::string& new_run,
                                   const std::vector<std::string>& options) {
    EXPECT_EQ(update({old_run}), 0) << err_.str();
    const auto copy = [](const std::string& file) {
      return std::vector<std::string>{"--", "sh", "-c", "cp " + file + " \"$SYSCOST_CSV\""};
    };
    std::vector<std::vector<std::string>> commands = {{"compare", old_run, new_run},
                                                      {"check", new_run, "--baseline", baseline()},
                                                      {"ab", "--counts", "--rounds", "1"}};
    std::vector<std::string> out;
    std::set<int> codes;
    for (std::vector<std::string>& command : commands) {
      command.insert(command.end(), options.begin(), options.end());
      if (command.front() == "ab") {
        for (const std::string& file : {old_run, new_run}) {
          const std::vector<std::string> one = copy(file);
          command.insert(command.end(), one.begin(), one.end());
        }
      }
      codes.insert(run(command));
      out.push_back(out_.str());
    }
    EXPECT_EQ(codes.size(), 1U) << "one exit code";
    return out;
  }
  /// The line that begins with `verdict: `, without what Markdown puts before it.
  static std::string verdict_of(const std::string& text) {
    const std::size_t begin = text.find("verdict: ");
    return begin == std::string::npos ? "none" : text.substr(begin, text.find('\n', begin) - begin);
  }
};

TEST_F(Vocabulary, IsOneOfAllCommandsInAllFormats) {
  struct Case {
    std::string new_run;
    std::string sentence;
  };
  const std::string before = make_run("before", 3, 5);
  for (const Case& one :
       {Case{make_run("same", 3, 5), "verdict: ok, exit code 0: no test fails (counts)"},
        Case{make_run("more", 4, 5), "verdict: red, exit code 1: 1 test fails: 1 by counts"},
        Case{make_run("failed", 4, 5, 0, "failed"), "verdict: red, exit code 1: 2 tests fail: 2 failed"},
        Case{make_run("lost", 3, 5, 0, "passed", 7),
             "verdict: ok, exit code 0: no test fails (counts); 1 test without a verdict"}}) {
    for (const char* const format : {"text", "md"}) {
      for (const std::string& text : outputs(before, one.new_run, {"--format", format})) {
        EXPECT_EQ(verdict_of(text), one.sentence) << format << ":\n" << text;
      }
    }
    for (const std::string& text : outputs(before, one.new_run, {"--format", "github"})) {
      EXPECT_NE(text.find(one.sentence), std::string::npos) << text;
    }
    std::set<std::string> rows;
    for (const std::string& text : outputs(before, one.new_run, {"--format", "json"})) {
      const Json json = Json::parse(text);
      EXPECT_EQ(one.sentence.find("verdict: " + json.at("verdict").get<std::string>() + ", exit code " +
                                  std::to_string(json.at("exit_code").get<int>())),
                0U)
          << one.sentence;
      Json judged = Json::array();
      for (const Json& row : json.at("tests")) {
        judged.push_back({row.at("test"), row.at("verdict"), row.at("reason"), row.at("gate"), row.at("fails_by")});
      }
      rows.insert(judged.dump(1));
    }
    EXPECT_EQ(rows.size(), 1U) << *rows.begin() << *rows.rbegin();
  }
}

TEST_F(Vocabulary, HasOneRowForATest) {
  const std::string before = make_run("before", 3, 5);
  for (const std::string& text : outputs(before, make_run("more", 4, 5), {"--width", "0"})) {
    EXPECT_NE(text.find("3 -> 4  +1 write  regressed"), std::string::npos) << text;
  }
}

TEST_F(Vocabulary, OfOptionsIsOne) {
  const std::string before = make_run("before", 3, 5);
  const std::string after = make_run("after", 4, 6);
  std::ofstream(path("rules.toml")) << "tolerate = [\"write=1\"]\n";
  std::ofstream(path("message")) << "Syscost-Accept: S.* -- they log more\n";
  const std::vector<std::vector<std::string>> options = {
      {"--test", "S.One", "--tolerate", "write=1"},
      {"--near-abs", "1"},
      {"--near-rel", "50"},
      {"--volatile", "write"},
      {"--config", path("rules.toml")},
      {"--accept-from", path("message")},
      {"--allow", "missing", "--sort", "name", "--top", "1", "--strict", "--all"}};
  for (const std::vector<std::string>& some : options) {
    std::set<std::string> verdicts;
    for (const std::string& text : outputs(before, after, some)) verdicts.insert(verdict_of(text));
    EXPECT_EQ(verdicts.size(), 1U) << *verdicts.begin() << '\n' << *verdicts.rbegin();
  }
}

TEST_F(Vocabulary, OfTestsThatAreNotThereIsOne) {
  const std::string before = make_run("before", 3, 5);
  const std::string after = make_run("after", 3, 5);
  ASSERT_EQ(update({before}), 0) << err_.str();
  std::set<std::string> lines;
  for (const bool is_check : {false, true}) {
    EXPECT_EQ(is_check ? check(after, {"--test", "S.Two2"}) : run({"compare", before, after, "--test", "S.Two2"}), 2);
    const std::string line = err_.str().substr(0, err_.str().find('\n'));
    lines.insert(line.substr(line.find(": ")));
  }
  EXPECT_EQ(lines, std::set<std::string>{": no test matches \"S.Two2\"; did you mean S.Two?"});
}

/// The words in the first column of the table that follows `title`.
std::set<std::string> first_column(const std::string& page, const std::string& title) {
  std::set<std::string> words;
  std::ifstream file(std::string(SYSCOST_SOURCE_DIR) + "/" + page);
  bool is_below = false;
  for (std::string line; std::getline(file, line);) {
    is_below = line == title || (is_below && !line.starts_with("## "));
    if (!is_below || !line.starts_with("| ") || line.starts_with("| verdict")) continue;
    std::istringstream cell(line.substr(2, line.find(" |", 2) - 2));
    for (std::string word; std::getline(cell, word, ',');) words.insert(word.substr(word.find_first_not_of(' ')));
  }
  return words;
}

TEST(VerdictsOnThePage, AreThoseThatBenchPrints) {
  std::set<std::string> words;
  for (int i = 0; i <= static_cast<int>(judge::Verdict::incomparable); ++i) {
    words.emplace(judge::to_string(static_cast<judge::Verdict>(i)));
  }
  EXPECT_EQ(first_column("docs/compare.md", "## Verdicts"), words);
}

}  // namespace
}  // namespace syscost::bench
