// SPDX-License-Identifier: MIT
//
// The table of options: one entry for each flag and variable. Those of the core are here, those of an extra in
// its room below extras/.
//
// Parsing and its errors (options.cc), --syscost_help (help.cc), the tables of docs/flags.md
// (tests/docs/flags_page_test.cc) and the completions of shells (bench_tool/shell) are made of it. So a new option is
// an entry here.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "session/options/options.h"

namespace syscost::session {

/// Options that stand together in --syscost_help and in docs/flags.md, in this order.
enum class OptionGroup { results, counting, loops, tools, help, variables };
/// "Results".
std::string_view title_of(OptionGroup group);

/// The kind of a value: how it is checked, and how a shell completes it.
enum class ValueKind {
  on_off,    ///< 1, 0, true or false; a flag alone means 1.
  on_words,  ///< The same, or several of the words, with commas between. A value of the flag follows an equals sign.
  text,      ///< Anything, but not nothing.
  file,      ///< A path; not empty.
  folder,    ///< A path; not empty.
  folders,   ///< Several, with colons between.
  number,    ///< Whole, from `least` to INT_MAX.
  word,      ///< One of the words.
  words,     ///< Several of the words, with commas between.
  names,     ///< Several names, with commas between, or one of the words.
  selector,  ///< A selector of syscalls (core/selector.h).
};

struct Word {
  /// The part after a colon or an equals sign is of the user's choice: "thread:NAME", "skip=PATH".
  std::string_view text;
  std::string_view about;
};

// Words of the options of the core that have some.

/// In the order of BackendChoice.
inline constexpr std::array kBackendWords = {
    Word{"auto", "the first of ebpf, dispatch and seccomp that works"},
    Word{"ebpf", "by BPF programs in the kernel; needs CAP_BPF and CAP_PERFMON"},
    Word{"dispatch", "by Syscall User Dispatch; needs no privilege"},
    Word{"dispatch-trap", "the same, without patches in the program's code"},
    Word{"seccomp", "entries only; needs no privilege"},
    Word{"none", "times only; counts stay empty"},
};
inline constexpr std::array kDetailWords = {
    Word{"ioctl", "rows for each request, by device and name"},
    Word{"file", "rows for each kind of file that calls read or write: file, pipe, socket, terminal"},
    Word{"thread:NAME", "separate rows for the threads with a name that begins with NAME"},
};
inline constexpr std::array kUnavailableWords = {Word{"skip", "skip the test"}, Word{"fail", "fail the test"}};

/// Stores `value` in `options`. Its words are checked already. Returns what is wrong with it, or "".
using Take = std::string (*)(Options& options, std::string_view value);
/// Where a value goes.
using Target = std::variant<bool Options::*, std::string Options::*, std::vector<std::string> Options::*,
                            std::optional<std::uint64_t> Options::*, Take>;

struct OptionEntry {
  OptionGroup group = OptionGroup::results;
  std::string_view name;  ///< --syscost_NAME, SYSCOST_NAME
  ValueKind kind = ValueKind::text;
  std::string_view value = {};  ///< FILE, as people read it; empty if a flag needs none.
  std::string_view about;       ///< One sentence without its full stop; `code` stands between two backticks.
  Target target;
  std::span<const Word> words = {};
  int least = 0;
  std::string_view preset = {};       ///< The value without the option; empty where `about` says it, or there is none.
  std::string_view more = {};         ///< Where docs/flags.md links to: a page of docs/, or a heading of its own.
  Source Options::*source = nullptr;  ///< Keeps where the value came from.

  bool is_flag() const { return group != OptionGroup::variables; }
  /// True if a flag alone means 1, and the next argument is not its value.
  bool stands_alone() const { return kind == ValueKind::on_off || kind == ValueKind::on_words; }
};

/// The options of one extra.
struct OptionPart {
  std::span<const OptionEntry> entries;
  /// Refuses options that do not go together. Null: these go with all others.
  Result<void> (*check)(const Options& all) = nullptr;
  /// Changes others before the check, by what these ask for. Null: none.
  void (*settle)(Options& all) = nullptr;
};
/// Those of all extras: extras/option_parts.cc lists them.
std::span<const OptionPart* const> option_parts();

/// By group, in the order in which people read them; within a group those of the core are the first.
std::span<const OptionEntry> option_table();

/// SYSCOST_CSV.
std::string variable_of(const OptionEntry& option);
/// `about` and the like, without backticks.
std::string plain_text(std::string_view marked);
/// "auto, ebpf, dispatch".
std::string list_of_words(std::span<const Word> words);

/// The parts of `text` between the marks; an empty one stays an empty part.
std::vector<std::string> split(std::string_view text, char mark);

/// Null when there is none of this name.
const OptionEntry* find_option(std::string_view name, bool flags_only);

/// The name nearest to `name`; empty when none is near enough to have been meant.
std::string_view nearest_option(std::string_view name, bool flags_only);

/// --syscost_help: examples, then the table of options.
std::string help_text();
/// Prints it on stdout.
void print_help();

}  // namespace syscost::session
