// SPDX-License-Identifier: MIT
#include "trace/critical_path.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <map>
#include <string_view>
#include <system_error>
#include <utility>

#include "trace/artifacts.h"

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

namespace {

using Event = SchedEvent;

enum class State { runs, preempted, waits, blocked, absent, unknown };

/// A stretch of one thread; never empty.
struct Stretch {
  std::uint64_t from_ns = 0;
  std::uint64_t to_ns = 0;
  State state{};
  std::string call;                 ///< For state blocked.
  const Event* begun_by = nullptr;  ///< The wake-up or creation at its begin.
};

/// All that one thread did, from 0 to the window's end, without gaps. Made from its events, in their order.
class Timeline {
 public:
  Timeline(const std::vector<const Event*>& events, std::uint64_t wall_ns) : state_(state_before(events)) {
    if (state_ == State::blocked) call_ = events.front()->call;
    for (const Event* event : events) add(*event);
    become(State::unknown, wall_ns);
  }

  /// The one that ends at `ns` or has it inside; `ns` is more than 0.
  const Stretch& before(std::uint64_t ns) const {
    return *std::lower_bound(stretches_.begin(), stretches_.end(), ns,
                             [](const Stretch& one, std::uint64_t at) { return one.to_ns < at; });
  }
  /// True if the thread had a CPU at `ns`, or got or lost it then.
  bool runs_at(std::uint64_t ns) const {
    // At most two stretches touch one time, because there are no gaps.
    auto one = std::lower_bound(stretches_.begin(), stretches_.end(), ns,
                                [](const Stretch& earlier, std::uint64_t at) { return earlier.to_ns < at; });
    for (; one != stretches_.end() && one->from_ns <= ns; ++one) {
      if (one->state == State::runs) return true;
    }
    return false;
  }
  std::size_t contradictions() const { return contradictions_; }
  const std::vector<Stretch>& stretches() const { return stretches_; }

 private:
  /// The thread's state when the window began, as its first events show.
  static State state_before(const std::vector<const Event*>& events) {
    const auto first =
        std::find_if(events.begin(), events.end(), [](const Event* one) { return one->kind != Event::Kind::woken; });
    const bool is_woken = first != events.begin();
    if (first == events.end()) return is_woken ? State::blocked : State::runs;
    switch ((*first)->kind) {
      case Event::Kind::created:
        return State::absent;
      case Event::Kind::runs:
        return is_woken ? State::blocked : State::waits;
      default:
        return State::runs;
    }
  }

  /// Ends the stretch that is open, and begins the next.
  void become(State state, std::uint64_t at_ns) {
    if (at_ns > since_ns_) {
      stretches_.push_back({since_ns_, at_ns, state_, call_, std::exchange(begun_by_, nullptr)});
    }
    since_ns_ = at_ns;
    state_ = state;
    call_.clear();
  }

  void add(const Event& event) {
    switch (event.kind) {
      case Event::Kind::runs:
        return get_cpu(event);
      case Event::Kind::preempted:
        return leave_cpu(State::preempted, event);
      case Event::Kind::blocks:
        leave_cpu(State::blocked, event);
        call_ = event.call;
        return;
      case Event::Kind::ends:
        return leave_cpu(State::absent, event);
      case Event::Kind::woken:
        // The thread still runs: it was about to block, and perhaps it does.
        if (state_ == State::runs) early_ = &event;
        if (state_ == State::blocked) begin_to_wait(event);
        return;
      case Event::Kind::created:
        if (state_ != State::absent) contradict();
        return begin_to_wait(event);
    }
  }

  void begin_to_wait(const Event& event) {
    become(State::waits, std::max(event.at_ns, since_ns_));
    begun_by_ = &event;
    early_ = nullptr;
  }

  void leave_cpu(State state, const Event& event) {
    if (state_ != State::runs) contradict();
    become(state, event.at_ns);
  }

  void get_cpu(const Event& event) {
    // A waker can come while the thread still leaves its CPU: then the wake-up has the earlier time.
    // One of another call came before this wait, and ended another one.
    if (state_ == State::blocked && early_ != nullptr && early_->call == call_) begin_to_wait(*early_);
    early_ = nullptr;
    // A thread that has a CPU already must have lost it in between, and one that is not there must have begun.
    if (state_ == State::runs || state_ == State::absent) contradict();
    if (state_ == State::blocked) ++contradictions_;  // nothing woke it
    become(State::runs, event.at_ns);
  }

  /// The events before say that the thread cannot do what the next one says.
  void contradict() {
    state_ = State::unknown;
    ++contradictions_;
  }

  std::vector<Stretch> stretches_;
  std::size_t contradictions_ = 0;
  State state_;
  std::uint64_t since_ns_ = 0;
  std::string call_;
  const Event* begun_by_ = nullptr;
  const Event* early_ = nullptr;  ///< A wake-up while the thread ran.
};

PathStep::Kind kind_of(State state) {
  switch (state) {
    case State::runs:
      return PathStep::Kind::runs;
    case State::preempted:
      return PathStep::Kind::preempted;
    case State::waits:
      return PathStep::Kind::waits;
    case State::blocked:
      return PathStep::Kind::blocked;
    case State::absent:
    case State::unknown:
      break;
  }
  return PathStep::Kind::unknown;
}

using Timelines = std::map<std::uint32_t, Timeline>;

Timelines timelines_of(const SchedFile& file) {
  std::map<std::uint32_t, std::vector<const Event*>> of_threads;
  of_threads[file.thread];
  for (const Event& event : file.events) {
    of_threads[event.thread].push_back(&event);
    if (event.waker_thread != 0) of_threads[event.waker_thread];
  }
  Timelines timelines;
  for (const auto& [thread, events] : of_threads) timelines.emplace(thread, Timeline(events, file.wall_ns));
  return timelines;
}

/// The walk backwards. Each step of it goes to an earlier time.
class Walk {
 public:
  Walk(const SchedFile& file, CriticalPath& path)
      : timelines_(timelines_of(file)), steps_(path.steps), thread_(file.thread), at_ns_(file.wall_ns) {
    for (const auto& [thread, timeline] : timelines_) path.contradictions += timeline.contradictions();
    for (const Event& event : file.events) {
      const auto waker = event.waker == Waker::thread ? timelines_.find(event.waker_thread) : timelines_.end();
      if (waker != timelines_.end() && !waker->second.runs_at(event.at_ns)) ++path.contradictions;
    }
    if (file.lost > 0 && file.lost_after_ns < at_ns_) add(file.lost_after_ns, PathStep::Kind::unknown);
    while (at_ns_ > 0) go_back();
    std::reverse(steps_.begin(), steps_.end());
  }

 private:
  PathStep& add(std::uint64_t from_ns, PathStep::Kind kind) {
    PathStep& step = steps_.emplace_back();
    step.from_ns = from_ns;
    step.to_ns = std::exchange(at_ns_, from_ns);
    step.thread = thread_;
    step.kind = kind;
    return step;
  }

  /// Over one stretch of the thread, and, if another thread woke it at the begin of the stretch, to that one.
  void go_back() {
    const Stretch& stretch = timelines_.at(thread_).before(at_ns_);
    // A thread that woke another one had a CPU then. If its events do not say so, one is missing.
    const bool has_hidden_part = std::exchange(is_at_waker_, false) && !timelines_.at(thread_).runs_at(at_ns_);
    PathStep& step = add(stretch.from_ns, has_hidden_part ? PathStep::Kind::unknown : kind_of(stretch.state));
    if (step.kind == PathStep::Kind::blocked) {
      step.call = stretch.call;
      step.ended_by = std::exchange(ended_by_, Waker::unknown);
    }
    ended_by_ = Waker::unknown;
    if (stretch.begun_by == nullptr) return;
    const Event& wake = *stretch.begun_by;
    if (wake.waker != Waker::thread) {
      ended_by_ = wake.waker;
      return;
    }
    if (wake.waker_thread == 0 || wake.waker_thread == thread_) return;
    step.woken_by = wake.waker_thread;
    step.is_created = wake.kind == Event::Kind::created;
    step.woken_from = wake.call;
    step.waker_call = wake.waker_call;
    thread_ = wake.waker_thread;
    is_at_waker_ = true;
  }

  const Timelines timelines_;
  std::vector<PathStep>& steps_;  ///< Backwards, until the walk is over.
  std::uint32_t thread_;
  std::uint64_t at_ns_;
  bool is_at_waker_ = false;         ///< The walk has come to `thread_` because it woke another one at `at_ns_`.
  Waker ended_by_ = Waker::unknown;  ///< Ended the stretch before `at_ns_`, if the thread was blocked in it.
};

}  // namespace

CriticalPath critical_path(const SchedFile& file) {
  CriticalPath path;
  const Walk walk(file, path);
  return path;
}

std::vector<PathStep> all_threads(const SchedFile& file) {
  std::vector<PathStep> all;
  for (const auto& [thread, timeline] : timelines_of(file)) {
    for (const Stretch& stretch : timeline.stretches()) {
      if (stretch.state == State::absent) continue;
      PathStep& step = all.emplace_back();
      step.from_ns = stretch.from_ns;
      step.to_ns = stretch.to_ns;
      step.thread = thread;
      step.kind = kind_of(stretch.state);
      step.call = stretch.call;
    }
  }
  return all;
}

}  // namespace syscost::bench::trace
