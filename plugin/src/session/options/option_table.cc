// SPDX-License-Identifier: MIT
#include "session/options/option_table.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include "core/selector.h"

namespace syscost::session {
namespace {

using Group = OptionGroup;
using Kind = ValueKind;

// ---- values that do not go into one member as they are ------

std::string take_backend(Options& options, std::string_view value) {
  static_assert(kBackendWords.size() == static_cast<std::size_t>(BackendChoice::none) + 1);
  const auto* const word = std::find_if(kBackendWords.begin(), kBackendWords.end(),
                                        [&](const Word& candidate) { return candidate.text == value; });
  options.is_backend_named = true;
  options.backend = static_cast<BackendChoice>(word - kBackendWords.begin());
  return {};
}

std::string take_filter(Options& options, std::string_view value) {
  Result<std::shared_ptr<const Filter>> filter = Filter::parse(value);
  if (!filter.ok()) return filter.failure().reason + " " + filter.failure().how_to_fix;
  options.filter = std::move(filter.value());
  return {};
}

std::string take_detail(Options& options, std::string_view value) {
  constexpr std::string_view kThread = "thread:";
  options.details = {};
  for (const std::string& part : split(value, ',')) {
    if (part == "ioctl") {
      options.details.ioctls = true;
    } else if (part == "file") {
      options.details.files = true;
    } else if (part.size() == kThread.size() || part.size() > kThread.size() + kMaxThreadName) {
      return "\"" + part + "\" does not name threads: after the colon, write 1 to " + std::to_string(kMaxThreadName) +
             " letters, the beginning of their name (prctl(PR_SET_NAME))";
    } else if (options.details.driver_threads.size() == kMaxDriverThreads) {
      return "more than " + std::to_string(kMaxDriverThreads) + " names of threads";
    } else {
      options.details.driver_threads.push_back(part.substr(kThread.size()));
    }
  }
  return {};
}

std::string take_unavailable(Options& options, std::string_view value) {
  options.on_unavailable = value == "skip" ? Options::OnUnavailable::skip : Options::OnUnavailable::fail;
  return {};
}

// ---- the table ----

constexpr std::array kOptions = {
    OptionEntry{.group = Group::results,
                .name = "csv",
                .kind = Kind::file,
                .value = "FILE",
                .about = "append rows to FILE",
                .target = &Options::csv,
                .more = "csv-format.md",
                .source = &Options::csv_source},
    OptionEntry{.group = Group::results,
                .name = "label",
                .kind = Kind::text,
                .value = "TEXT",
                .about = "column `label` of every row; the flag needs a CSV",
                .target = &Options::label,
                .source = &Options::label_source},
    OptionEntry{.group = Group::results,
                .name = "allow_lost",
                .kind = Kind::on_off,
                .about = "lost events cause a message, and do not make the run end non-zero",
                .target = &Options::allow_lost,
                .more = "#lost-events"},

    OptionEntry{.group = Group::counting,
                .name = "backend",
                .kind = Kind::word,
                .value = "NAME",
                .about = "how to count",
                .target = take_backend,
                .words = kBackendWords,
                .preset = "`auto`",
                .more = "backends.md"},
    OptionEntry{.group = Group::counting,
                .name = "filter",
                .kind = Kind::selector,
                .value = "SELECTOR",
                .about = "count only these syscalls: `getppid`, `%file`, `'%network,!accept'`",
                .target = take_filter,
                .more = "#counting-less"},
    OptionEntry{.group = Group::counting,
                .name = "detail",
                .kind = Kind::words,
                .value = "LIST",
                .about = "split the calls of one syscall by these, with commas between",
                .target = take_detail,
                .words = kDetailWords,
                .more = "csv-format.md#details"},

    OptionEntry{.group = Group::loops,
                .name = "cycles",
                .kind = Kind::number,
                .value = "N",
                .about = "calls of a loop's pass; least counted iterations of a benchmark",
                .target = &Options::cycles,
                .least = 1,
                .preset = "as many as the time of a loop allows",
                .more = "loops.md"},
    OptionEntry{.group = Group::loops,
                .name = "repeats",
                .kind = Kind::number,
                .value = "N",
                .about = "timed passes of a loop, and as many counted passes",
                .target = &Options::repeats,
                .least = 1,
                .preset = "10"},
    OptionEntry{.group = Group::loops,
                .name = "warmup",
                .kind = Kind::number,
                .value = "N",
                .about = "passes of a loop before the timed ones; syscost discards their times",
                .target = &Options::warm_ups,
                .least = 0,
                .preset = "1"},
    OptionEntry{.group = Group::loops,
                .name = "quick",
                .kind = Kind::on_off,
                .about = "3 repeats, and a tenth of a second for a loop instead of a second",
                .target = &Options::quick},

    OptionEntry{.group = Group::help,
                .name = "doctor",
                .kind = Kind::on_off,
                .about = "print what works here and how to get the rest; exit code 0 if a backend can count, else 1",
                .target = &Options::doctor},
    OptionEntry{.group = Group::help,
                .name = "help",
                .kind = Kind::on_off,
                .about = "print this list",
                .target = &Options::help},

    OptionEntry{.group = Group::variables,
                .name = "run_id",
                .kind = Kind::text,
                .value = "TEXT",
                .about = "column `run_id`: groups the rows of several programs",
                .target = &Options::run_id,
                .preset = "one ctest run is one run",
                .more = "#which-run"},
    OptionEntry{.group = Group::variables,
                .name = "commit",
                .kind = Kind::text,
                .value = "HASH",
                .about = "column `commit`",
                .target = &Options::commit,
                .preset = "from the CI system, or from the repository around the folder"},
    OptionEntry{.group = Group::variables,
                .name = "build_type",
                .kind = Kind::text,
                .value = "TEXT",
                .about = "column `build_type`",
                .target = &Options::build_type},
    OptionEntry{.group = Group::variables,
                .name = "unavailable",
                .kind = Kind::word,
                .value = "WORD",
                .about = "what an assertion does if nothing can count",
                .target = take_unavailable,
                .words = kUnavailableWords,
                .preset = "`fail` if `CI` is set, else `skip`"},
    OptionEntry{.group = Group::variables,
                .name = "markers",
                .kind = Kind::on_off,
                .about = "marks each test in a log of strace, by writes to descriptor -1",
                .target = &Options::markers},
};

}  // namespace

std::string_view title_of(OptionGroup group) {
  constexpr std::array<std::string_view, 6> kTitles = {
      "Results", "What is counted", "Loops and benchmarks", "Tools beside a test", "Help", "Variables without a flag"};
  return kTitles.at(static_cast<std::size_t>(group));
}

std::vector<std::string> split(std::string_view text, char mark) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t end = text.find(mark);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::span<const OptionEntry> option_table() {
  // Never destroyed: static destructors may still measure.
  static const auto& all = *new const std::vector<OptionEntry>([] {
    std::vector<OptionEntry> entries(kOptions.begin(), kOptions.end());
    for (const OptionPart* part : option_parts())
      entries.insert(entries.end(), part->entries.begin(), part->entries.end());
    std::stable_sort(entries.begin(), entries.end(),
                     [](const OptionEntry& a, const OptionEntry& b) { return a.group < b.group; });
    return entries;
  }());
  return all;
}

std::string variable_of(const OptionEntry& option) {
  std::string text = "SYSCOST_";
  for (const char c : option.name) text += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return text;
}

std::string plain_text(std::string_view marked) {
  std::string text(marked);
  std::erase(text, '`');
  return text;
}

std::string list_of_words(std::span<const Word> words) {
  std::string text;
  for (const Word& word : words) text += (text.empty() ? "" : ", ") + std::string(word.text);
  return text;
}

const OptionEntry* find_option(std::string_view name, bool flags_only) {
  for (const OptionEntry& option : option_table()) {
    if (option.name == name && (option.is_flag() || !flags_only)) return &option;
  }
  return nullptr;
}

std::string_view nearest_option(std::string_view name, bool flags_only) {
  const OptionEntry* best = nullptr;
  std::size_t best_distance = 0;
  for (const OptionEntry& option : option_table()) {
    if (flags_only && !option.is_flag()) continue;
    const std::size_t distance = edit_distance(name, option.name);
    if (best == nullptr || distance < best_distance) {
      best = &option;
      best_distance = distance;
    }
  }
  return best_distance <= std::max<std::size_t>(2, name.size() / 3) ? best->name : std::string_view();
}

}  // namespace syscost::session
