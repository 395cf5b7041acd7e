// SPDX-License-Identifier: MIT
#include "model/baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <tuple>

#include "model/choice.h"
#include "syscost/schema.h"

namespace syscost::bench::model {
namespace {

// A line is fields between tabs. Names hold none: they were made printable when they were read.
constexpr std::string_view kVersion = "1";
constexpr std::string_view kEmptyField = "-";  ///< Stands for an empty field, because an empty field is invisible.
constexpr std::string_view kWindow = "window";
constexpr std::string_view kPerRun = "per_run";
// The line of the head that says what was measured.
constexpr std::string_view kMeasured = "measured";
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
  if (what.starts_with("E")) return 2;
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

template <class Number>
std::optional<Number> to_number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= Number{})) return std::nullopt;
  return value;
}

std::optional<Range> to_range(std::string_view text) {
  std::vector<double> values;
  for (std::string_view part : split(text, kRangeSeparator)) {
    const auto value = to_number<double>(part);
    if (!value || *value > 1e300) return std::nullopt;
    values.push_back(*value);
  }
  if (values.size() == 1) return Range{values[0], values[0], values[0]};
  if (values.size() != 3 || values[0] > values[1] || values[1] > values[2]) return std::nullopt;
  return Range{values[0], values[1], values[2]};
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
    bool is_head = true;
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      const std::string_view line = text.substr(0, end);
      text.remove_prefix(end + 1);
      ++line_;
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
    if (problems_.count() != problems_before) return std::nullopt;
    for (BaselineWindow& window : out_.windows) {
      window.tells_entries = tells_entries_;
      window.tells_errors = tells_errors_;
      window.tells_opens = tells_opens_;
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
    if (fields[0] == "class" && fields.size() == 3) {
      out_.classes.emplace(fields[1], fields[2]);
    } else if (fields[0] == "runs" && fields.size() == 2 && to_number<std::size_t>(fields[1])) {
      out_.runs = *to_number<std::size_t>(fields[1]);
    } else if (fields[0] == "departed" && fields.size() == 2 && to_number<std::size_t>(fields[1])) {
      out_.tests_that_departed = *to_number<std::size_t>(fields[1]);
    } else if (fields[0] == kMeasured && fields.size() == 2) {
      const auto words = split(fields[1], " ");
      const auto has = [&](std::string_view word) {
        return std::find(words.begin(), words.end(), word) != words.end();
      };
      tells_entries_ = has(kEntries);
      tells_errors_ = has(kErrors);
      tells_threads_ = has(kThreads);
      tells_opens_ = has(kOpens);
    } else if (fields.size() == 2) {
      out_.surroundings.emplace_back(fields[0], fields[1] == kEmptyField ? "" : fields[1]);
    } else {
      fault(line_, "a line of the head is a word and its value, with a tab between");
    }
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
            fmt::format("\"{}\" is no count: a number, or the least, the median and the most as 1..2..3", fields[4]));
      return;
    }
    const std::string_view syscall = fields[2] == kEmptyField ? std::string_view() : fields[2];
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
    const std::size_t n = has_words ? to_number<std::size_t>(words[2]).value_or(0) : 0;
    const bool is_kind = std::find(schema::kKinds.begin(), schema::kKinds.end(), words[0]) != schema::kKinds.end();
    if (n == 0 || !is_kind || !is_outcome(words[1])) {
      fault(line_, fmt::format("\"{}\" is not kind, outcome and number of repetitions", fields[4]));
      return;
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
    if (tells_threads_ && !is_unknown) window.has_other_threads = has_others;
    out_.windows.push_back(std::move(window));
  }

  const std::string& name_;
  csv::Problems& problems_;
  std::size_t line_ = 0;
  bool tells_entries_ = false;
  bool tells_errors_ = false;
  bool tells_threads_ = false;
  bool tells_opens_ = false;
  Baseline out_;
  std::set<std::pair<std::string, std::string>> cells_;  // of the last window
  std::set<std::tuple<std::string, std::string, std::string>> windows_;
};

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
  return !told.errors && (cell.what.starts_with("E") || cell.what.starts_with(std::string(kPerRun) + " "));
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
  out += fmt::format("runs\t{}\n", baseline.runs);
  if (baseline.tests_that_departed) out += fmt::format("departed\t{}\n", *baseline.tests_that_departed);
  out += fmt::format("{}\t{}\n", kMeasured, told_text(told));
  for (const auto& [syscall, classes] : baseline.classes) out += fmt::format("class\t{}\t{}\n", syscall, classes);
  out += '\n';
  for (const BaselineWindow& window : baseline.windows) out += lines_of(window, told);
  return out;
}

std::optional<Baseline> parse_baseline(const std::string& name, std::string_view text, csv::Problems& problems) {
  return Parser(name, problems).parse(text);
}

namespace {

constexpr std::string_view kClassWord = "class";

using WindowKey = std::tuple<std::string_view, std::string_view, std::string_view>;

WindowKey window_key(const BaselineWindow& window) {
  return {window.program, window.name, window.kind};
}

/// The first line of `text`, with its end.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end);
  return line;
}

/// The first five fields of a line; what is missing is empty.
std::array<std::string_view, 5> fields_of(std::string_view line) {
  std::array<std::string_view, 5> fields;
  if (line.ends_with('\n')) line.remove_suffix(1);
  for (std::string_view& field : fields) {
    const std::size_t end = std::min(line.find('\t'), line.size());
    field = line.substr(0, end);
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return fields;
}

/// The head, with a line for each of `classes` that it lacks.
std::string head_of(std::string_view head, const std::map<std::string, std::string>& classes) {
  std::map<std::string, std::string> missing = classes;
  for (std::string_view rest = head; !rest.empty();) {
    const auto fields = fields_of(take_line(rest));
    if (fields[0] == kClassWord) missing.erase(std::string(fields[1]));
  }
  std::string out;
  const auto add_up_to = [&](std::string_view syscall) {
    while (!missing.empty() && (syscall.empty() || missing.begin()->first < syscall)) {
      out += fmt::format("{}\t{}\t{}\n", kClassWord, missing.begin()->first, missing.begin()->second);
      missing.erase(missing.begin());
    }
  };
  while (!head.empty()) {
    const std::string_view line = take_line(head);
    const auto fields = fields_of(line);
    if (fields[0] == kClassWord) add_up_to(fields[1]);
    out += line;
  }
  add_up_to("");
  return out;
}

}  // namespace

std::string why_not_beside(const BaselineWindow& window, const BaselineTold& told) {
  if (!window.has_calls()) return {};
  // A line of the head says then that there are entries alone.
  if (!told.calls && told.threads) return "the number of entries instead of calls";
  if (told.errors && !window.tells_errors) return std::string(kWhichFailed);
  if (told.entries && !window.tells_entries) return std::string(kHowOftenEntered);
  if (told.opens && !window.tells_opens) return std::string(kWhichSynced);
  return {};
}

std::string edited(std::string_view text, const BaselineTold& told, std::vector<BaselineEdit> edits,
                   const std::map<std::string, std::string>& classes) {
  std::sort(edits.begin(), edits.end(),
            [](const BaselineEdit& a, const BaselineEdit& b) { return window_key(a.window) < window_key(b.window); });
  std::size_t head_end = text.find("\n\n");
  head_end = head_end == std::string_view::npos ? text.size() : head_end + 1;
  std::string out = head_of(text.substr(0, head_end), classes);
  if (head_end == text.size()) out += '\n';  // the end of the head
  text.remove_prefix(head_end);
  std::set<WindowKey> known;
  for (std::string_view rest = text; !rest.empty();) {
    const auto fields = fields_of(take_line(rest));
    if (fields[3] == "window") known.emplace(fields[0], fields[1], fields[4].substr(0, fields[4].find(' ')));
  }
  auto next = edits.begin();  // the first new window that is not written yet
  const auto add_new_up_to = [&](const WindowKey* key) {
    for (; next != edits.end() && (key == nullptr || window_key(next->window) < *key); ++next) {
      if (!next->is_removal && !known.contains(window_key(next->window))) out += lines_of(next->window, told);
    }
  };
  bool is_replaced = false;  // true while the lines belong to a window that is replaced
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    const auto fields = fields_of(line);
    if (fields[3] == "window") {
      const WindowKey key = {fields[0], fields[1], fields[4].substr(0, fields[4].find(' '))};
      add_new_up_to(&key);
      const auto edit = std::find_if(edits.begin(), edits.end(),
                                     [&](const BaselineEdit& one) { return window_key(one.window) == key; });
      is_replaced = edit != edits.end();
      if (is_replaced && !edit->is_removal) out += lines_of(edit->window, told);
    }
    if (!is_replaced || line == "\n") out += line;
  }
  add_new_up_to(nullptr);
  return out;
}

}  // namespace syscost::bench::model
