// SPDX-License-Identifier: MIT
//
// The programs to complete: bench, by its grammar, and test programs, by the plugin's table of options.
#include <sstream>
#include <string_view>

#include "completions.h"
#include "core/syscall_table.h"
#include "session/options/option_table.h"

namespace syscost::bench::shell {
namespace {

using session::OptionEntry;
using session::ValueKind;

/// Without the part that the user names: "thread:".
std::string fixed_part(std::string_view word) {
  const std::size_t colon = word.find(':');
  return std::string(colon == std::string_view::npos ? word : word.substr(0, colon + 1));
}

/// Classes and native names.
std::vector<std::string> selectors() {
  std::vector<std::string> words;
  for (const ClassName& name : kSyscallClasses) words.push_back("%" + std::string(name.word));
  for (const SyscallTableEntry& entry : syscall_table(Abi::x86_64)) {
    if (!entry.name.empty()) words.emplace_back(entry.name);
  }
  return words;
}

/// The scripts that ship.
std::vector<std::string> scripts() {
  std::istringstream text(SYSCOST_BPFTRACE_SCRIPTS);
  std::vector<std::string> words;
  for (std::string word; text >> word;) words.push_back(word);
  return words;
}

Value value_of(const OptionEntry& option) {
  Value value;
  value.name = option.value;
  switch (option.kind) {
    case ValueKind::file:
      value.completion = Completion::files;
      break;
    case ValueKind::folder:
    case ValueKind::folders:
      value.completion = Completion::folders;
      break;
    case ValueKind::word:
    case ValueKind::words:
    case ValueKind::names:
    case ValueKind::selector:
      value.completion = Completion::words;
      value.is_list = option.kind != ValueKind::word;
      break;
    case ValueKind::on_off:
    case ValueKind::on_words:
    case ValueKind::text:
    case ValueKind::number:
      break;
  }
  if (option.kind == ValueKind::names) value.words = scripts();
  if (option.kind == ValueKind::selector) value.words = selectors();
  for (const session::Word& word : option.words) value.words.push_back(fixed_part(word.text));
  return value;
}

}  // namespace

Program bench_program() {
  return {"bench", true, "completion for bench(1). Made from bench's options by syscost_shell_files.", command_tree()};
}

Program test_program() {
  Command root;
  for (const OptionEntry& option : session::option_table()) {
    if (!option.is_flag()) continue;
    const std::string about = session::plain_text(option.about);
    root.options.push_back(
        {{"--syscost_" + std::string(option.name)}, !option.value.empty(), value_of(option), false, about});
  }
  Value file;
  file.name = "FILE";
  file.completion = Completion::files;
  root.positionals.push_back({file, false, true, ""});
  return {"syscost_test", false,
          "completion for programs that are linked with syscost. Made from their options by syscost_shell_files.",
          root};
}

}  // namespace syscost::bench::shell
