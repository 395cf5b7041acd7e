// SPDX-License-Identifier: MIT
#include "trace/sched_file.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <string_view>
#include <system_error>
#include <utility>

#include "trace/artifact_bytes.h"

namespace syscost::bench::trace {
namespace {

constexpr std::string_view kHeader = "at_ns,event,thread,name,call,waker,waker_thread,waker_call,count";
enum Column : std::size_t { kAt, kEvent, kThread, kName, kCall, kWaker, kWakerThread, kWakerCall, kCount, kColumns };
using Cells = std::array<std::string_view, kColumns>;

constexpr std::pair<std::string_view, SchedEvent::Kind> kKinds[] = {
    {"runs", SchedEvent::Kind::runs},     {"preempted", SchedEvent::Kind::preempted},
    {"blocks", SchedEvent::Kind::blocks}, {"ends", SchedEvent::Kind::ends},
    {"woken", SchedEvent::Kind::woken},   {"created", SchedEvent::Kind::created}};
constexpr std::pair<std::string_view, Waker> kWakers[] = {{"", Waker::unknown},
                                                          {"unknown", Waker::unknown},
                                                          {"thread", Waker::thread},
                                                          {"other_process", Waker::other_process},
                                                          {"kernel_thread", Waker::kernel_thread},
                                                          {"interrupt", Waker::interrupt}};

template <class Table, class Value>
bool find(const Table& table, std::string_view word, Value& value) {
  for (const auto& [text, meaning] : table) {
    if (text != word) continue;
    value = meaning;
    return true;
  }
  return false;
}

/// An empty cell is 0.
template <class Number>
bool number(std::string_view cell, Number& value) {
  value = 0;
  if (cell.empty()) return true;
  const auto [rest, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  return error == std::errc() && rest == cell.data() + cell.size();
}

bool split(std::string_view line, Cells& cells) {
  for (std::size_t i = 0; i < kColumns; ++i) {
    const std::size_t comma = line.find(',');
    if ((comma == std::string_view::npos) != (i + 1 == kColumns)) return false;
    cells[i] = line.substr(0, comma);
    line.remove_prefix(comma == std::string_view::npos ? line.size() : comma + 1);
  }
  return true;
}

/// Reads lines into a file.
class SchedLines {
 public:
  explicit SchedLines(SchedFile& file) : file_(file) {}

  /// False if the line makes no sense after those before it.
  bool take(std::string_view line) {
    Cells cells;
    SchedEvent event;
    if (has_ended_ || !split(line, cells) || !number(cells[kAt], event.at_ns) || cells[kAt].empty() ||
        !number(cells[kThread], event.thread) || event.at_ns < last_ns_) {
      return false;
    }
    last_ns_ = event.at_ns;
    if (cells[kEvent] == "lost") {
      file_.lost_after_ns = event.at_ns;
      return number(cells[kCount], file_.lost) && file_.lost > 0;
    }
    if (event.thread == 0) return false;
    file_.names[event.thread] = cells[kName];
    if (cells[kEvent] == "begin") {
      return event.at_ns == 0 && !std::exchange(has_begun_, true);
    }
    if (cells[kEvent] == "end") {
      file_.wall_ns = event.at_ns;
      file_.thread = event.thread;
      has_ended_ = true;
      return true;
    }
    event.call = cells[kCall];
    event.waker_call = cells[kWakerCall];
    if (!find(kKinds, cells[kEvent], event.kind) || !find(kWakers, cells[kWaker], event.waker) ||
        !number(cells[kWakerThread], event.waker_thread)) {
      return false;
    }
    file_.events.push_back(std::move(event));
    return has_begun_;
  }
  bool is_whole() const { return has_begun_ && has_ended_; }

 private:
  SchedFile& file_;
  std::uint64_t last_ns_ = 0;
  bool has_begun_ = false;
  bool has_ended_ = false;
};

}  // namespace

std::optional<SchedFile> parse_sched_file(const std::string& path, std::string_view content, csv::Problems& problems) {
  SchedFile file;
  file.path = path;
  SchedLines lines(file);
  std::string_view rest = content;
  for (std::size_t line = 1; !rest.empty(); ++line) {
    const std::size_t end = rest.find('\n');
    const std::string_view text = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (line == 1 ? text == kHeader : lines.take(text)) continue;
    problems.add(path, line, line == 1 ? "is no file of --syscost_sched" : "is no event of the scheduler");
    return std::nullopt;
  }
  if (lines.is_whole()) return file;
  problems.add(path, 0, "is cut: its window has no end");
  return std::nullopt;
}

std::optional<SchedFile> read_sched_file(const std::string& path, csv::Problems& problems) {
  const std::optional<std::vector<char>> bytes = artifact_bytes(path, problems);
  if (!bytes) return std::nullopt;
  return parse_sched_file(path, {bytes->data(), bytes->size()}, problems);
}

}  // namespace syscost::bench::trace
