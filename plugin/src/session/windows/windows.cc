// SPDX-License-Identifier: MIT
#include "session/windows/windows.h"

#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "os/memory.h"
#include "os/signals.h"
#include "os/text.h"
#include "session/process/messages.h"
#include "session/windows/recorder.h"
#include "session/windows/scopes.h"

namespace syscost::session {
namespace {

std::string_view kind_name(adapter::Kind kind) {
  switch (kind) {
    case adapter::Kind::test:
      return "test";
    case adapter::Kind::suite:
      return "suite";
    case adapter::Kind::environment:
      return "environment";
  }
  return {};
}

/// For messages and markers: "test Suite.Test", "suite Suite set-up".
std::string spoken_name(std::string_view kind, std::string_view test, std::string_view window) {
  std::string name(kind);
  for (std::string_view part : {test, window}) {
    if (!part.empty()) name.append(" ").append(part);
  }
  return name;
}

/// Brings the calls of the processes below into the window of a command. Our own, and those of the process that became
/// the command, before it was that, have no program of their own.
void take_children(detail::CostData& cost, const OpenWindow& window) {
  cost.table.clear();
  for (const auto& [program, table] : cost.programs) {
    const bool is_own = window.own_program.empty() || std::string_view(program) == window.own_program ||
                        std::string_view(program) == window.starter;
    if (is_own) cost.table.merge(table);
  }
  if (window.own_program.empty()) cost.programs.clear();
  for (const std::string& own : {window.own_program, window.starter}) {
    if (!own.empty()) cost.programs.at(own).clear();
  }
}

/// A test that failed only because syscost has memory, too, has no numbers, and the run ends non-zero. Seccomp does not
/// see results: with it any mlockall() counts.
Result<void> check_locks_of_memory(const detail::CostData& cost) {
  bool is_refused = false;
  for (const auto& [id, tally] : cost.table) {
    if (id.number != SYS_mlockall || id.abi != kNativeAbi) continue;
    is_refused = cost.measured.errors ? tally.errors.count(ENOMEM) != 0 : (tally.entries | tally.calls) != 0;
    if (is_refused) break;
  }
  if (!is_refused) return {};
  std::optional<Failure> why = what_denies_mlockall();
  return why ? Result<void>(std::move(*why)) : Result<void>();
}

std::string_view kind_of(const OpenWindow& window) {
  return window.is_of_processes_below ? std::string_view("process") : kind_name(window.kind);
}

}  // namespace

void Windows::write_marker(const char* what, const OpenWindow& window) const {
  if (!shared_.options.markers) return;
  shared_.write_marker(std::string(what) + " " + spoken_name(kind_of(window), window.test, window.name));
}

void Windows::open(const adapter::WindowName& name) {
  if (shared_.is_fork_child()) return;
  SYSCOST_CHECK(shared_.is_started.load(std::memory_order_acquire) && !shared_.window.has_value());
  const WorkBetween work(shared_);
  OpenWindow& window = shared_.window.emplace();
  window.kind = name.kind;
  window.test = name.test;
  window.name = name.window;
  window.repetition = name.repetition;
  arm();
}

void Windows::open_command(std::string_view command, std::string_view starter) {
  SYSCOST_CHECK(shared_.is_started.load(std::memory_order_acquire) && !shared_.window.has_value());
  OpenWindow& window = shared_.window.emplace();
  window.test = command;
  window.starter = starter;
  window.is_of_processes_below = true;
  arm();
}

void Windows::set_own_program(std::string_view program) {
  shared_.window->own_program = program;
}

void Windows::discard() {
  OpenWindow& window = *shared_.window;
  std::shared_ptr<const Unavailable> why_not;
  static_cast<void>(read_and_check(window, why_not));
  shared_.has_window.store(false, std::memory_order_release);
  shared_.scopes.set_enclosing({}, {});
  shared_.window.reset();
}

/// For OwnCalls. A scope that opens later waits for the recorder's lock, which the caller holds.
OpenBackend* Windows::backend_of_open_scopes() const {
  return shared_.scopes.open_count() > 0 ? shared_.backend.current() : nullptr;
}

/// Opens the window that was made.
void Windows::arm() {
  OpenWindow& window = *shared_.window;
  window.opened = shared_.backend.current();
  shared_.scopes.set_enclosing(window.test, window.name);
  cycles_.store(0, std::memory_order_relaxed);
  is_closing_.store(false, std::memory_order_relaxed);
  shared_.has_window.store(true, std::memory_order_release);
  // Wait for another thread that writes the rows of its last scope: its calls are not part of this window.
  const Recorder::Lock guard = shared_.recorder.take_lock();
  const OwnCalls own(backend_of_open_scopes());
  // If no memory can be added, the pool uses malloc.
  static_cast<void>(top_up_quiet_memory());
  tell(&WindowObserver::prepare, window);
  window.usage_before = window.is_of_processes_below ? Usage::of_children() : Usage::now();
  tell(&WindowObserver::begin, window);
  write_marker("syscost-begin", window);
  window.opened_ns = window.start_ns = monotonic_ns();
  if (window.opened != nullptr) {
    window.hidden_losses_before = window.opened->hidden_losses(Reach::process);
    window.book_window = window.opened->book.open(Reach::process, between_.deputy(window.opened));
  }
  tell(&WindowObserver::arm, window);
}

/// Disarms, reads, and checks whether the backend was intact all the time. Null, with the reason, if there are no
/// counts.
std::shared_ptr<detail::CostData> Windows::read_and_check(OpenWindow& window,
                                                          std::shared_ptr<const Unavailable>& why_not) {
  if (window.book_window == nullptr) {
    why_not = shared_.backend.why_not();
    return nullptr;
  }
  OpenBackend& opened = *window.opened;
  std::shared_ptr<detail::CostData> cost = opened.new_cost();
  opened.book.close(window.book_window, *cost, between_.deputy(&opened));
  tell(&WindowObserver::read, window);
  write_marker("syscost-end", window);
  Result<void> checked = shared_.backend.check(opened);
  if (checked.ok()) checked = check_locks_of_memory(*cost);
  if (checked.ok()) {
    cost->lost += opened.hidden_losses(Reach::process) - window.hidden_losses_before;
    return cost;
  }
  Failure failure = checked.failure();
  why_not = std::make_shared<Unavailable>(failure);
  failure.reason =
      "the counts of " + spoken_name(kind_of(window), window.test, window.name) + " are void: " + failure.reason;
  shared_.recorder.note_problem(failure);
  return nullptr;
}

bool Windows::claim_closing() {
  return shared_.has_window.load(std::memory_order_acquire) && !is_closing_.exchange(true);
}

/// For a test that continues in a fork child, for example by daemon(). The child is not counted, and its parent ended
/// without a message.
void Windows::explain_fork_child_with_window() const {
  static std::atomic<bool> is_explained{false};
  if (!shared_.has_window.load() || !shared_.options.requests_anything() || is_explained.exchange(true)) return;
  say_failure({spoken_name(kind_of(*shared_.window), shared_.window->test, shared_.window->name) +
                   " continued in a fork child of the process that measures (fork() or daemon()), so it has no row, "
                   "nor have the tests that this child runs after it",
               "let the child end with _exit(), and let the process that began the test finish it"});
}

adapter::Report Windows::close(std::string_view outcome, int framework_writes, Outcome is) {
  if (shared_.is_fork_child()) {
    explain_fork_child_with_window();
    return {Cost(*unavailable_cost::fork_child().unavailable()), 0, {}};
  }
  const WorkBetween work(shared_);
  if (!claim_closing()) {
    return {Cost(Unavailable{"The process ended while the test ran.", "End threads before exit()."}), 0, {}};
  }
  return finish_closing(outcome, framework_writes, is);
}

void Windows::settle_outcome(std::string_view outcome) {
  if (shared_.is_fork_child()) return;
  const WorkBetween work(shared_);
  const Recorder::Lock guard = shared_.recorder.take_lock();
  const OwnCalls own(backend_of_open_scopes());
  shared_.recorder.settle_outcome(outcome);
}

adapter::Report Windows::finish_closing(std::string_view outcome, int framework_writes, Outcome is) {
  OpenWindow& window = *shared_.window;
  tell(&WindowObserver::disarm, window);
  // Read the clock before disarming, because reading the counts takes longer than a short test. If the clock is a
  // syscall, read it after disarming.
  const bool clock_is_quiet = window.opened == nullptr || window.opened->clock_is_quiet;
  std::uint64_t end_ns = clock_is_quiet ? monotonic_ns() : 0;
  std::shared_ptr<const Unavailable> why_not;
  // The window is open, so no thread of ours writes the file.
  const Recorder::Lock guard = shared_.recorder.take_lock_inside_window();
  const OwnCalls own(backend_of_open_scopes());
  std::shared_ptr<detail::CostData> cost = read_and_check(window, why_not);
  if (!clock_is_quiet) end_ns = monotonic_ns();
  if (window.book_window == nullptr) write_marker("syscost-end", window);
  const Usage usage_after = window.is_of_processes_below ? Usage::of_children() : Usage::now();
  std::optional<PausedAlarm> paused;
  const bool may_take_long = std::any_of(observers_.begin(), observers_.end(),
                                         [&](const WindowObserver* one) { return one->takes_long(window); });
  if (may_take_long) paused.emplace();
  tell(&WindowObserver::end, window, cost.get());
  shared_.has_window.store(false, std::memory_order_release);

  Capabilities can = window.opened != nullptr ? window.opened->capabilities : Capabilities{};
  if (is == Outcome::may_change) {
    shared_.recorder.let_outcome_wait(spoken_name(kind_of(window), window.test, window.name));
  }
  csv::WindowColumns columns;
  columns.kind = kind_of(window);
  columns.test = window.test;
  columns.window = window.name;
  columns.repetition = static_cast<std::uint64_t>(window.repetition);
  columns.outcome = outcome;
  if (int cycles = cycles_.load(std::memory_order_relaxed); cycles > 0) {
    columns.iterations = static_cast<std::uint64_t>(cycles);
  }
  const std::string detail = with_unkept(window.excluded, cost.get());
  columns.excluded = detail;
  const std::string spoken = spoken_name(columns.kind, columns.test, columns.window);
  ClosedWindow closed{window, columns, cost, can, spoken, end_ns, framework_writes, false, {}, {}};
  if (window.has_foreign_time) {
    can.latency = false;
    if (cost != nullptr) cost->measured.latency = false;
  } else {
    columns.wall_ns = end_ns - window.start_ns;
    usage_after.fill(columns, window.usage_before);
    // A higher peak than before is the window's own. Memory of a loop is not the window's.
    const bool has_own_peak = usage_after.peak_rss_bytes > window.usage_before.peak_rss_bytes;
    if (has_own_peak && !window.is_of_processes_below && window.excluded.empty()) {
      columns.peak_rss_bytes = usage_after.peak_rss_bytes;
    }
    if (cost != nullptr) columns.overhead_estimate_ns = window.opened->overhead_estimate_ns(*cost);
  }
  tell(&WindowObserver::conclude, closed);
  if (cost != nullptr && window.is_of_processes_below) take_children(*cost, window);
  if (cost != nullptr) remove_framework_writes(cost->table, framework_writes, between_.of_framework());
  tell(&WindowObserver::add_columns, closed);
  const bool has_numbers =
      cost != nullptr && (!is_empty(cost->table) || !cost->programs.empty() || cost->lost + cost->late > 0);
  // bench takes a set-up without a row for one that made no call.
  const bool is_void = cost == nullptr && window.book_window != nullptr;
  if (has_numbers || is_void || closed.has_row || window.kind == adapter::Kind::test) {
    shared_.recorder.add(columns, cost.get(), can);
  }
  shared_.recorder.write(spoken);

  const std::uint64_t elapsed_ns = end_ns - window.start_ns;
  adapter::Report report{cost != nullptr ? Cost(cost) : Cost(*why_not), went_back(elapsed_ns) ? 0 : elapsed_ns, {}};
  report.line = cost != nullptr ? report_line(*cost, report.wall_ns) : report.cost.to_string();
  report.line += closed.remark;
  report.tools = std::move(closed.lines);
  if (shared_.options.filter != nullptr) report.counted = shared_.options.filter->text();
  report.loops = std::move(window.loop_lines);
  shared_.scopes.set_enclosing({}, {});
  shared_.window.reset();
  return report;
}

void Windows::end_at_exit() {
  const WorkBetween work(shared_);
  end_open_window();
  const Recorder::Lock guard = shared_.recorder.take_lock_within_a_second();
  if (guard.owns_lock()) between_.end();
}

void Windows::end_open_window() {
  if (!shared_.has_window.load(std::memory_order_acquire)) return;
  if (!claim_closing()) {
    // Another thread is closing the window, and will soon finish. Or a signal handler called exit() in the middle of
    // it; then it never finishes.
    if (!WritingLock::becomes_true_within_a_second(
            [this] { return !shared_.has_window.load(std::memory_order_acquire); })) {
      shared_.recorder.note_problem({"the process ended while a test was being recorded, so the test has no row",
                                     "do not call exit() in a signal handler"});
    }
    return;
  }
  const std::string name = spoken_name(kind_of(*shared_.window), shared_.window->test, shared_.window->name);
  const std::string what = name + " was ended by the end of the process";
  if (!shared_.recorder.take_lock_within_a_second().owns_lock()) {
    shared_.recorder.note_problem(
        {what + " while rows were being written: it has no row", "end threads before exit()"});
    return;
  }
  shared_.window->is_cut_off = true;
  const adapter::Report report = finish_closing({}, 0, Outcome::settled);
  say(what + ": its row has what was counted until then");
  if (!shared_.prints_lines()) return;
  for (const std::string& loop : report.loops) say(loop);
  say(name + ": " + report.line);
}

void Windows::stop_charging(std::optional<OwnCalls>& own, Pause pause) {
  // An observer would see the syscall that the thread's first OwnCalls makes.
  if (shared_.window.has_value()) tell(&WindowObserver::disarm, *shared_.window);
  own.emplace(shared_.backend.current());
  if (!shared_.window.has_value()) return between_.stop();
  OpenWindow& window = *shared_.window;
  if (window.book_window != nullptr) {
    window.opened->book.suspend(window.book_window,
                                pause == Pause::framework ? between_.deputy(window.opened) : nullptr);
    if (pause == Pause::framework && shared_.counts_between() != nullptr) shared_.write_marker("syscost-works");
    // Losses of the test so far that only a syscall shows must not be charged to the loop. If the backend was disabled,
    // closing the window will notice it again.
    if (shared_.backend.current() == window.opened) static_cast<void>(shared_.backend.check(*window.opened));
  }
  shared_.is_paused = pause == Pause::framework;
  window.loop_start_ns = monotonic_ns();
  window.loop_usage = Usage::now();
  tell(&WindowObserver::suspend, window);
}

void Windows::leave_out_pause(std::string_view excluded) {
  if (!shared_.window.has_value()) return;
  OpenWindow& window = *shared_.window;
  tell(&WindowObserver::resume, window);
  if (!excluded.empty()) {
    window.excluded.append(window.excluded.empty() ? "excludes loop " : ", ").append(excluded);
  }
  window.usage_before.add(Usage::now(), window.loop_usage);
  window.start_ns += monotonic_ns() - window.loop_start_ns;
}

void Windows::charge_again(Pause pause) {
  if (!shared_.window.has_value()) return between_.go_on();
  OpenWindow& window = *shared_.window;
  shared_.is_paused = false;
  if (pause == Pause::framework && shared_.counts_between() != nullptr) shared_.write_marker("syscost-rests");
  if (window.book_window != nullptr) {
    window.opened->book.resume(window.book_window,
                               pause == Pause::framework ? between_.deputy(window.opened) : nullptr);
  }
  tell(&WindowObserver::arm, window);
}

int Windows::cycles(int fallback) {
  const int answer = static_cast<int>(std::min<std::uint64_t>(shared_.options.cycles.value_or(0), INT_MAX));
  const int cycles = answer > 0 ? answer : fallback;
  cycles_.store(cycles, std::memory_order_relaxed);
  return cycles;
}

}  // namespace syscost::session
