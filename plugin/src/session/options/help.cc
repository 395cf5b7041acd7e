// SPDX-License-Identifier: MIT
#include "session/options/option_table.h"

#include <algorithm>
#include <cstdio>
#include <string_view>

namespace syscost::session {
namespace {

constexpr const char* kExamples =
    R"(syscost: which syscalls each test makes, how often, and for how long

  ./my_tests --syscost_profile syscalls        one line under each test: [ SYSCOST  ] 1024 write, 131 us in the kernel
  ./my_tests --syscost_csv out.csv             appends rows for each test; show them: bench summary out.csv
  SYSCOST_CSV=out.csv ctest -j8                the same for all test programs of a build, in one file
  ./my_tests --gtest_filter=Log.* --syscost_csv out.csv --syscost_label after
                                               only some tests, with a label on each row
  ./my_tests --syscost_profile bpftrace --syscost_bpf syslat
                                               runs bpftrace on each test and loop; --syscost_bpf list shows the scripts
  ./my_tests --syscost_doctor                  what works here, and how to get the rest
)";

constexpr const char* kNotes =
    R"(
Write a flag as --flag value or --flag=value. A flag wins over its variable. Programs with syscost's own main
also take the flags, except --syscost_help, without "syscost_": --csv, --profile, ... A flag or value that syscost does
not know ends the program with exit code 2 before any test. docs/flags.md says more about each flag.
)";

constexpr std::size_t kWidth = 120;

class Columns {
 public:
  Columns() {
    for (const OptionEntry& option : option_table()) {
      flag_width_ = std::max(flag_width_, first(option).size() + 2);
      variable_width_ = std::max(variable_width_, second(option).size() + 2);
    }
  }

  void add_option(const OptionEntry& option) {
    add(first(option), second(option));
    std::string meaning = plain_text(option.about);
    if (!option.preset.empty()) meaning += "; default: " + plain_text(option.preset);
    add_wrapped(meaning, 0);
    std::size_t longest = 0;
    for (const Word& word : option.words) longest = std::max(longest, word.text.size());
    for (const Word& word : option.words) {
      text_.append(meaning_at() + 2, ' ');
      text_ += std::string(word.text) + std::string(longest - word.text.size() + 2, ' ');
      add_wrapped(word.about, longest + 4);
    }
  }

  void add_title(std::string_view title) { text_ += std::string(title) + "\n"; }
  const std::string& text() const { return text_; }

 private:
  /// The flag; where there is none, the variable.
  static std::string first(const OptionEntry& option) {
    if (!option.is_flag())
      return "  " + variable_of(option) + "=" + (option.value.empty() ? "1" : std::string(option.value));
    return "  --syscost_" + std::string(option.name) + (option.value.empty() ? "" : " ") + std::string(option.value);
  }

  static std::string second(const OptionEntry& option) {
    if (!option.is_flag()) return {};
    return variable_of(option) + (option.stands_alone() ? "=1" : "");
  }

  std::size_t meaning_at() const { return flag_width_ + variable_width_; }

  /// Begins a line with the first two columns.
  void add(std::string_view flag, std::string_view variable) {
    const std::size_t start = text_.size();
    text_ += flag;
    text_.append(start + flag_width_ - text_.size(), ' ');
    text_ += variable;
    text_.append(start + meaning_at() - text_.size(), ' ');
  }

  /// The rest of a line in the third column, `indent` to the right, and the lines that it takes besides.
  void add_wrapped(std::string_view text, std::size_t indent) {
    const std::size_t room = kWidth - meaning_at() - indent;
    while (text.size() > room) {
      const std::size_t end = text.rfind(' ', room);
      text_ += std::string(text.substr(0, end)) + "\n" + std::string(meaning_at() + indent, ' ');
      text.remove_prefix(end + 1);
    }
    text_ += std::string(text) + "\n";
  }

  std::size_t flag_width_ = 0;
  std::size_t variable_width_ = 0;
  std::string text_;
};

}  // namespace

std::string help_text() {
  Columns columns;
  const OptionEntry* before = nullptr;
  for (const OptionEntry& option : option_table()) {
    if (before == nullptr || before->group != option.group)
      columns.add_title("\n" + std::string(title_of(option.group)));
    columns.add_option(option);
    before = &option;
  }
  return kExamples + columns.text() + kNotes;
}

void print_help() {
  std::fputs(help_text().c_str(), stdout);
  std::fflush(stdout);
}

}  // namespace syscost::session
