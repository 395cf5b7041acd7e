// SPDX-License-Identifier: MIT
#include "model/baseline.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <set>
#include <tuple>

#include "csv/text.h"
#include "model/choice.h"
#include "model/row_parser.h"
#include "syscost/schema.h"

namespace syscost::bench::model {
namespace {

// A line is fields between tabs. Names hold none: they were made printable when they were read.
constexpr std::string_view kVersion = "1";
constexpr std::string_view kEmptyField = "-";  ///< Stands for an empty field, because an empty field is invisible.
constexpr std::string_view kWindow = "window";
constexpr std::string_view kPerRun = "per_run";
// Lines of the head. `measured` says what was measured.
constexpr std::string_view kRuns = "runs";
constexpr std::string_view kDeparted = "departed";
constexpr std::string_view kMeasured = "measured";
constexpr std::string_view kClass = "class";
constexpr std::string_view kCalls = "calls";
constexpr std::string_view kEntries = "entries";
constexpr std::string_view kErrors = "errors";
constexpr std::string_view kThreads = "threads";
constexpr std::string_view kOpens = "opens";
// In sentences.
constexpr std::string_view kWhichFailed = "which calls failed";
constexpr std::string_view kHowOftenEntered = "how often calls entered the kernel";
constexpr std::string_view kWhichSynced = "which opens were with O_SYNC";
// The last word of a window's line; none: one thread made its calls.
constexpr std::string_view kSeveralThreads = "several_threads";
constexpr std::string_view kUnknownThreads = "unknown_threads";
constexpr std::string_view kRangeSeparator = "..";
// Each count that bench writes: of a window as a whole, and of a syscall, which also has errnos. A line with another
// word is refused: if it were left out, a misspelt word would take its count out of the gate.
constexpr std::array<std::string_view, 7> kCountsOfWindow = {
    kCalls, kEntries, "passes", "descriptors_left", "mapped_bytes_left", "wall_ns", "cpu_ns"};
constexpr std::array<std::string_view, 9> kCountsOfSyscall = {
    kCalls,   kEntries,    kPerRun,  schema::kColumnNames[static_cast<std::size_t>(schema::Column::kInjected)],
    "timely", "kernel_ns", "p50_ns", "p90_ns",
    "p99_ns"};
constexpr std::string_view kFix = "restore the line, or write the baseline again with `bench baseline update`";

std::string number_text(double value) {
  return fmt::format("{}", value);  // the fewest digits that are exact
}

std::string range_text(const Range& range) {
  if (range.is_exact()) return number_text(range.least);
  return fmt::format("{}{}{}{}{}", number_text(range.least), kRangeSeparator, number_text(range.middle),
                     kRangeSeparator, number_text(range.most));
}

std::string_view or_nothing(const std::string& text) {
  return text.empty() ? kEmptyField : std::string_view(text);
}

/// Calls come first, then errnos, then measures, because readers look for calls first.
int rank_of(const std::string& what) {
  if (what == kCalls || what == kEntries) return 0;
  if (what == kPerRun) return 1;
  if (is_errno(what)) return 2;
  if (what.starts_with(kPerRun)) return 3;
  return 4;
}

std::vector<std::string_view> split(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + separator.size());
  }
}

/// Takes only the text that bench writes for the number, so that a damaged number is not read as another one.
template <class Number>
std::optional<Number> to_number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || text.starts_with('-') || fmt::format("{}", value) != text) return std::nullopt;
  return value;
}

/// A number of runs, repetitions or tests. Memory holds no more of them than the type can count.
std::optional<std::uint32_t> to_quantity(std::string_view text, std::uint32_t least) {
  const auto quantity = to_number<std::uint32_t>(text);
  return quantity && *quantity >= least ? quantity : std::nullopt;
}

std::optional<Range> to_range(std::string_view text) {
  constexpr double kTooMuch = 0x1p64;  // the counts of a CSV are integers of 64 bits
  std::vector<double> values;
  for (std::string_view part : split(text, kRangeSeparator)) {
    const auto value = to_number<double>(part);
    if (!value || !(*value < kTooMuch)) return std::nullopt;  // true for nan, too
    values.push_back(*value);
  }
  if (values.size() == 1) return Range{values[0], values[0], values[0]};
  if (values.size() != 3 || values[0] > values[1] || values[1] > values[2]) return std::nullopt;
  return Range{values[0], values[1], values[2]};
}

bool is_count(std::string_view syscall, std::string_view word) {
  const auto is_in = [&](const auto& words) { return std::find(words.begin(), words.end(), word) != words.end(); };
  if (syscall.empty()) return is_in(kCountsOfWindow);
  if (is_in(kCountsOfSyscall) || is_errno(word)) return true;
  const std::string per_run = fmt::format("{} ", kPerRun);
  return word.starts_with(per_run) && is_errno(word.substr(per_run.size()));
}

/// True for a line that git writes around the two sides of a conflict.
bool is_conflict_mark(std::string_view line) {
  constexpr std::size_t kSize = 7;
  if (line.size() < kSize || std::string_view("<=>|").find(line.front()) == std::string_view::npos) return false;
  const bool is_mark = line.substr(0, kSize) == std::string(kSize, line.front());
  return is_mark && (line.size() == kSize || line[kSize] == ' ') && line.find('\t') == std::string_view::npos;
}

/// The value of the line `measured`.
std::string told_text(const BaselineTold& told) {
  std::string words;
  const auto add = [&](bool is_told, std::string_view word) {
    if (is_told) words.append(words.empty() ? "" : " ").append(word);
  };
  add(told.calls, kCalls);
  add(told.calls && told.errors, kErrors);
  add(!told.calls || told.entries, kEntries);
  add(told.threads, kThreads);
  add(told.calls && told.opens, kOpens);
  return words;
}

/// nullopt for a text that told_text() does not write.
std::optional<BaselineTold> to_told(std::string_view text) {
  const auto words = split(text, " ");
  const auto has = [&](std::string_view word) { return std::find(words.begin(), words.end(), word) != words.end(); };
  const BaselineTold told{.calls = has(kCalls),
                          .entries = has(kEntries),
                          .errors = has(kErrors),
                          .opens = has(kOpens),
                          .threads = has(kThreads)};
  return told_text(told) == text ? std::optional(told) : std::nullopt;
}

class Parser {
 public:
  Parser(const std::string& name, csv::Problems& problems) : name_(name), problems_(problems) {}

  std::optional<Baseline> parse(std::string_view text) {
    const std::size_t problems_before = problems_.count();
    if (!text.empty() && text.back() != '\n') {
      fault(0, "the last line does not end: the file is torn");
      return std::nullopt;
    }
    text = csv::without_byte_order_mark(text);
    bool is_head = true;
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      const std::string_view line = csv::without_carriage_return(text.substr(0, end));
      text.remove_prefix(end + 1);
      ++line_;
      if (is_conflict_mark(line)) {
        fault(line_, "a merge conflict: resolve it, or write the baseline again with `bench baseline update`");
        return std::nullopt;
      }
      if (line_ == 1) {
        if (!take_title(line)) return std::nullopt;
      } else if (line.empty()) {
        is_head = false;
      } else if (is_head) {
        take_head(split(line, "\t"));
      } else {
        take_cell(split(line, "\t"));
      }
    }
    if (line_ == 0) fault(0, "the file is empty: no baseline");
    for (const std::string_view word : {kRuns, kMeasured}) {
      if (line_ != 0 && !head_.contains(word)) fault(0, fmt::format("its head has no line `{}`: {}", word, kFix));
    }
    if (problems_.count() != problems_before) return std::nullopt;
    for (BaselineWindow& window : out_.windows) {
      window.tells_entries = told_->entries;
      window.tells_errors = told_->errors;
      window.tells_opens = told_->opens;
    }
    return std::move(out_);
  }

 private:
  void fault(std::size_t line, std::string message) { problems_.add(name_, line, std::move(message)); }

  bool take_title(std::string_view line) {
    const auto fields = split(line, "\t");
    if (fields[0] != kBaselineTitle) {
      fault(line_, "not a baseline: `bench baseline update` writes one");
      return false;
    }
    if (fields.size() == 2 && fields[1] == kVersion) return true;
    fault(line_, fmt::format("baseline version {}, but this bench reads version {}: measure again and write it with "
                             "`bench baseline update`",
                             fields.size() < 2 ? "?" : fields[1], kVersion));
    return false;
  }

  void take_head(const std::vector<std::string_view>& fields) {
    if (fields[0].starts_with("#")) return;
    if (fields[0] == kClass) {
      take_class(fields);
      return;
    }
    if (fields.size() != 2) {
      fault(line_, "a line of the head is a word and its value, with a tab between");
      return;
    }
    if (!head_.insert(fields[0]).second) {
      fault(line_, fmt::format("`{}` stands twice in the head: {}", fields[0], kFix));
    }
    if (fields[0] == kRuns) {
      out_.runs = quantity_of(fields, 1);
    } else if (fields[0] == kDeparted) {
      out_.tests_that_departed = quantity_of(fields, 0);
    } else if (fields[0] == kMeasured) {
      told_ = to_told(fields[1]);
      if (!told_) {
        fault(line_, fmt::format("`{}` holds \"{}\": {}, {}, {}, {} and {} are its words, in this order; {}", kMeasured,
                                 fields[1], kCalls, kErrors, kEntries, kThreads, kOpens, kFix));
      }
    } else {
      out_.surroundings.emplace_back(fields[0], fields[1] == kEmptyField ? "" : fields[1]);
    }
  }

  void take_class(const std::vector<std::string_view>& fields) {
    if (fields.size() != 3 || fields[1].empty() || fields[2].empty()) {
      fault(line_,
            fmt::format("a line `{}` is this word, a syscall and its classes, with tabs between: {}", kClass, kFix));
    } else if (!out_.classes.emplace(fields[1], fields[2]).second) {
      fault(line_, fmt::format("`{} {}` stands twice in the head: {}", kClass, fields[1], kFix));
    }
  }

  /// Of a line of the head.
  std::size_t quantity_of(const std::vector<std::string_view>& fields, std::uint32_t least) {
    const auto quantity = to_quantity(fields[1], least);
    if (!quantity) {
      fault(line_, fmt::format("`{}` holds \"{}\": a whole number from {} to {} expected; {}", fields[0], fields[1],
                               least, std::numeric_limits<std::uint32_t>::max(), kFix));
    }
    return quantity.value_or(least);
  }

  void take_cell(const std::vector<std::string_view>& fields) {
    if (fields.size() != 5) {
      fault(line_, fmt::format("{} fields, and a line has 5 with tabs between: program, test, syscall, what, count",
                               fields.size()));
      return;
    }
    if (fields[3] == kWindow) {
      take_window(fields);
      return;
    }
    if (out_.windows.empty() || out_.windows.back().program != fields[0] || out_.windows.back().name != fields[1]) {
      fault(line_, fmt::format("no `{}` line of this test stands before it", kWindow));
      return;
    }
    const auto range = to_range(fields[4]);
    if (!range) {
      fault(line_,
            fmt::format("\"{}\" is no count: a number below 2^64 as bench writes it (16, 2.5), or the least, the "
                        "median and the most as 1..2..3; {}",
                        fields[4], kFix));
      return;
    }
    const std::string_view syscall = fields[2] == kEmptyField ? std::string_view() : fields[2];
    if (!is_count(syscall, fields[3])) {
      fault(line_, fmt::format("\"{}\" is no count of a {} that this bench knows; {}", fields[3],
                               syscall.empty() ? "window" : "syscall", kFix));
      return;
    }
    if (const std::size_t size = syscall.substr(0, syscall.find(' ')).size(); size > kLongestSyscall) {
      fault(line_, fmt::format("a name of {} bytes is no syscall's", size));
      return;
    }
    if (!cells_.emplace(syscall, fields[3]).second) {
      fault(line_, fmt::format("{} {} of this test stands twice", fields[2], fields[3]));
      return;
    }
    out_.windows.back().cells.push_back({std::string(syscall), std::string(fields[3]), *range});
  }

  static bool is_outcome(std::string_view word) {
    return word == kEmptyField || word == kOutcomeVaries || word == kOutcomeLost || schema::is_outcome(word);
  }

  void take_window(const std::vector<std::string_view>& fields) {
    const auto words = split(fields[4], " ");
    const bool has_others = words.size() == 4 && words[3] == kSeveralThreads;
    const bool is_unknown = words.size() == 4 && words[3] == kUnknownThreads;
    const bool has_words = words.size() == 3 || has_others || is_unknown;
    const std::size_t n = has_words ? to_quantity(words[2], 1).value_or(0) : 0;
    const bool is_kind = std::find(schema::kKinds.begin(), schema::kKinds.end(), words[0]) != schema::kKinds.end();
    if (n == 0 || !is_kind || !is_outcome(words[1])) {
      fault(line_, fmt::format("\"{}\" is not kind, outcome and number of repetitions", fields[4]));
      return;
    }
    if (words.size() == 4 && told_ && !told_->threads) {
      fault(line_, fmt::format("it has the word {}, but the line `{}` of the head does not have {}; {}", words[3],
                               kMeasured, kThreads, kFix));
    }
    cells_.clear();
    if (!windows_.emplace(fields[0], fields[1], words[0]).second) {
      fault(line_, "this test stands twice");
    }
    BaselineWindow window;
    window.program = fields[0];
    window.name = fields[1];
    window.kind = words[0];
    window.outcome = words[1] == kEmptyField ? "" : words[1];
    window.n = n;
    if (told_ && told_->threads && !is_unknown) window.has_other_threads = has_others;
    out_.windows.push_back(std::move(window));
  }

  const std::string& name_;
  csv::Problems& problems_;
  std::size_t line_ = 0;
  std::optional<BaselineTold> told_;
  std::set<std::string_view> head_;  // the words of its lines
  Baseline out_;
  std::set<std::pair<std::string, std::string>> cells_;  // of the last window
  std::set<std::tuple<std::string, std::string, std::string>> windows_;
};

/// The last word of the line, in a file that tells threads.
std::string threads_text(const BaselineWindow& window) {
  if (window.cells.empty()) return "";
  if (!window.has_other_threads) return fmt::format(" {}", kUnknownThreads);
  return *window.has_other_threads ? fmt::format(" {}", kSeveralThreads) : "";
}

/// True for a cell that not all windows have.
bool is_untold(const BaselineWindow& window, const BaselineCell& cell, const BaselineTold& told) {
  if (!window.has_calls()) return false;
  if (cell.syscall == kSyncOpens) return !told.opens;
  if (cell.what == kEntries) return !told.entries;
  return !told.errors && (is_errno(cell.what) || cell.what.starts_with(std::string(kPerRun) + " "));
}

}  // namespace

BaselineTold told_by(const std::vector<BaselineWindow>& windows) {
  const auto any = [&](auto has) { return std::any_of(windows.begin(), windows.end(), has); };
  const auto all = [&](auto knows) { return std::all_of(windows.begin(), windows.end(), knows); };
  using Window = BaselineWindow;
  BaselineTold told;
  told.calls = any([](const Window& window) { return window.has_calls(); });
  // Every file knows it of a window without a call: no thread made one.
  told.threads = any([](const Window& window) {
    return window.has_other_threads && std::any_of(window.cells.begin(), window.cells.end(),
                                                   [](const BaselineCell& cell) { return !cell.syscall.empty(); });
  });
  if (!told.calls) return told;
  told.entries = all([](const Window& window) { return window.tells_entries || !window.has_calls(); });
  told.errors = all([](const Window& window) { return window.tells_errors || !window.has_calls(); });
  told.opens = all([](const Window& window) { return window.tells_opens || !window.has_calls(); });
  return told;
}

std::string left_out_text(const std::vector<BaselineWindow>& windows) {
  using Window = BaselineWindow;
  std::string out;
  const auto add = [&](bool Window::*tells, std::string_view what, std::string_view fix) {
    std::size_t silent = 0;
    std::size_t all = 0;
    const Window* first = nullptr;
    for (const Window& window : windows) {
      if (!window.has_calls()) continue;
      ++all;
      if (window.*tells) continue;
      ++silent;
      if (first == nullptr) first = &window;
    }
    if (silent == 0 || silent == all) return;
    out +=
        fmt::format("note: the baseline does not say {}, because {} of {} windows {} not tell it (the first: {}); {}\n",
                    what, silent, all, silent == 1 ? "does" : "do", first->name, fix);
  };
  constexpr std::string_view kOneBackend = "measure all runs by one backend";
  add(&Window::tells_errors, kWhichFailed, kOneBackend);
  add(&Window::tells_entries, kHowOftenEntered, kOneBackend);
  add(&Window::tells_opens, kWhichSynced, "measure all runs by the backend ebpf: only it sees the flags of openat2");
  return out;
}

bool BaselineWindow::has_calls() const {
  return std::any_of(cells.begin(), cells.end(),
                     [](const BaselineCell& cell) { return cell.syscall.empty() && cell.what == kCalls; });
}

bool Baseline::has_details() const {
  return std::any_of(windows.begin(), windows.end(), [](const BaselineWindow& window) {
    return std::any_of(window.cells.begin(), window.cells.end(),
                       [](const BaselineCell& cell) { return cell.syscall.find(' ') != std::string::npos; });
  });
}

bool Baseline::has_times() const {
  return std::any_of(windows.begin(), windows.end(), [](const BaselineWindow& window) {
    return std::any_of(window.cells.begin(), window.cells.end(),
                       [](const BaselineCell& cell) { return cell.is_time(); });
  });
}

std::string lines_of(const BaselineWindow& window, const BaselineTold& told) {
  std::vector<BaselineCell> cells = window.cells;
  std::sort(cells.begin(), cells.end(), [](const BaselineCell& a, const BaselineCell& b) {
    return std::tuple(std::string_view(a.syscall), rank_of(a.what), std::string_view(a.what)) <
           std::tuple(std::string_view(b.syscall), rank_of(b.what), std::string_view(b.what));
  });
  const std::string begin = fmt::format("{}\t{}\t", window.program, window.name);
  std::string out = fmt::format("{}{}\t{}\t{} {} {}{}\n", begin, kEmptyField, kWindow, window.kind,
                                or_nothing(window.outcome), window.n, told.threads ? threads_text(window) : "");
  for (const BaselineCell& cell : cells) {
    if (is_untold(window, cell, told)) continue;
    out += fmt::format("{}{}\t{}\t{}\n", begin, or_nothing(cell.syscall), cell.what, range_text(cell.range));
  }
  return out;
}

std::string to_text(Baseline baseline) {
  std::sort(baseline.windows.begin(), baseline.windows.end(), [](const BaselineWindow& a, const BaselineWindow& b) {
    return std::tie(a.program, a.name, a.kind) < std::tie(b.program, b.name, b.kind);
  });
  const BaselineTold told = told_by(baseline.windows);
  std::string out = fmt::format("{}\t{}\n", kBaselineTitle, kVersion);
  out += "# written by `bench baseline update`; commit it, and read its diff as you read that of a test\n";
  out += "# below: program, test, syscall, what, count; where repetitions differ the least..median..most of them\n";
  for (const auto& [name, value] : baseline.surroundings) out += fmt::format("{}\t{}\n", name, or_nothing(value));
  out += fmt::format("{}\t{}\n", kRuns, baseline.runs);
  if (baseline.tests_that_departed) out += fmt::format("{}\t{}\n", kDeparted, *baseline.tests_that_departed);
  out += fmt::format("{}\t{}\n", kMeasured, told_text(told));
  for (const auto& [syscall, classes] : baseline.classes) out += fmt::format("{}\t{}\t{}\n", kClass, syscall, classes);
  out += '\n';
  for (const BaselineWindow& window : baseline.windows) out += lines_of(window, told);
  return out;
}

std::optional<Baseline> parse_baseline(const std::string& name, std::string_view text, csv::Problems& problems) {
  return Parser(name, problems).parse(text);
}

std::string why_not_beside(const BaselineWindow& window, const BaselineTold& told) {
  if (!window.has_calls()) return {};
  // A line of the head says then that there are entries alone.
  if (!told.calls && told.threads) return "the number of entries instead of calls";
  if (told.errors && !window.tells_errors) return std::string(kWhichFailed);
  if (told.entries && !window.tells_entries) return std::string(kHowOftenEntered);
  if (told.opens && !window.tells_opens) return std::string(kWhichSynced);
  return {};
}

}  // namespace syscost::bench::model
