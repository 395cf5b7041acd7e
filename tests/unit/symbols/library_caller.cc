// SPDX-License-Identifier: MIT
//
// Thousands of calls at -O2, most of them inlined from the standard library's headers. other_symbolizers_test.cc
// compiles it.
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace {

struct Word {
  std::string text;
  std::size_t count = 0;
};

std::map<std::string, std::size_t> counted(const std::string& text) {
  std::map<std::string, std::size_t> counts;
  const std::regex word("[a-z]+(-[a-z]+)*");
  for (std::sregex_iterator at(text.begin(), text.end(), word), end; at != end; ++at) ++counts[at->str()];
  return counts;
}

std::vector<std::unique_ptr<Word>> most_frequent_first(const std::map<std::string, std::size_t>& counts) {
  std::vector<std::unique_ptr<Word>> words;
  for (const auto& [text, count] : counts) words.push_back(std::make_unique<Word>(Word{text, count}));
  std::stable_sort(words.begin(), words.end(), [](const auto& a, const auto& b) { return a->count > b->count; });
  return words;
}

}  // namespace

int main(int argc, char** argv) {
  std::ostringstream text;
  for (int i = 0; i < argc; ++i) text << argv[i] << ' ';
  const std::function<void(const Word&)> print = [](const Word& word) {
    std::cout << word.text << ' ' << word.count << '\n';
  };
  for (const auto& word : most_frequent_first(counted(text.str()))) print(*word);
}
