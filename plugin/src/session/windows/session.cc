// SPDX-License-Identifier: MIT
#include "session/windows/session.h"

#include <unistd.h>

#include <algorithm>
#include <climits>
#include <mutex>
#include <utility>

#include "os/quiet_memory.h"
#include "session/doctor/backends.h"
#include "session/process/messages.h"
#include "session/run/run_info.h"
#include "session/windows/report_line.h"
#include "session/windows/unavailable_costs.h"

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

}  // namespace

Session::Session(Options options, BackendOpener opener, ToolOpener tools)
    : options_(std::move(options)),
      backend_(std::move(opener), options_.filter),
      tracer_(std::move(tools)),
      scopes_(quiet_memory()) {
  // Made now, so that scopes need not.
  fixed_cost::pending();
  fixed_cost::fork_child();
  fixed_cost::timed_pass();
}

// ---- start ----------------------------------------------------------------------------------------------------------

void Session::read_run(const adapter::Framework& framework, bool is_new) {
  if (is_new) run_ = read_run_info(options_, framework.build_type);
  if (options_.build_type.empty()) run_.build_type = framework.build_type;
  run_.selection = framework.selection;
  if (options_.filter != nullptr) run_.filter = options_.filter->text();
  run_.backend = backend_.current() != nullptr ? backend_.current()->backend->name() : "none";
  recorder_.set_run(run_);
}

/// How the backend counts, behind its name, and who looks on.
std::string Session::backend_note() const {
  const std::string tools = has_tools() ? ", traced by " + tracer_.text() : "";
  OpenBackend* opened = backend_.current();
  if (opened == nullptr) return " (counts stay empty)" + tools;
  std::string note = describe_calibration(opened->backend->calibration());
  if (!note.empty()) note = " (" + note + ")";
  if (const std::string passed = passed_over(); !passed.empty()) note += ", not " + passed;
  return note + tools;
}

Result<void> Session::start(const adapter::Framework& framework) {
  const bool is_new = !is_started() || has_new_options_;
  if (!is_started()) {
    Result<void> opened = backend_.open(options_.backend);
    if (!opened.ok() && options_.requests_anything()) return opened;
  } else if (is_new && !can_count() && options_.backend != BackendChoice::none && options_.requests_anything()) {
    return Failure{backend_.why_not()->reason, backend_.why_not()->how_to_fix};
  }
  has_framework_ = has_framework_ || !framework.name.empty();
  read_run(framework, is_new);
  if (!is_new) return {};
  recorder_.set_loss_rule(!options_.requests_anything() ? LossRule::ignored
                          : options_.allow_lost         ? LossRule::accepted
                                                        : LossRule::refused);
  // A counting process has somebody else who speaks for it.
  if (!options_.is_counting_process) {
    if (Result<void> tools = start_tools(); !tools.ok()) return tools;
  }
  if (!options_.csv.empty() && !recorder_.has_csv()) {
    Result<std::string> path = resolve_path(options_.csv, options_.csv_source);
    if (!path.ok()) return path.failure();
    Result<void> csv = recorder_.open_csv(path.value());
    if (!csv.ok()) return csv;
  }
  if (options_.requests_anything()) {
    say(header_line(run_, backend_note(), recorder_.csv_path()));
    const OpenBackend* opened = backend_.current();
    if (const std::string remark = opened != nullptr ? opened->backend->remark() : std::string(); !remark.empty()) {
      say(remark);
    }
  }
  has_new_options_ = false;
  is_started_.store(true, std::memory_order_release);
  return {};
}

Result<void> Session::take_over(Options options) {
  const auto text = [](const Options& from) { return from.filter != nullptr ? from.filter->text() : std::string(); };
  const bool is_same_filter = text(options) == text(options_);
  if (is_same_filter) options.filter = options_.filter;
  if (options == options_) return {};
  const bool is_same_way = options.backend == options_.backend && options.children == options_.children &&
                           options.details == options_.details;
  if (!is_same_filter || (is_started() && !is_same_way) || (recorder_.has_csv() && options.csv != options_.csv) ||
      has_tools()) {
    return Failure{
        "a static initialiser measured before main(), and the flags name another file, backend, filter or detail",
        "write --syscost_csv, --syscost_backend, --syscost_filter, --syscost_detail, --syscost_profile: syscost reads "
        "these before main()"};
  }
  options_ = std::move(options);
  has_new_options_ = true;
  return {};
}

// ---- windows --------------------------------------------------------------------------------------------------------

/// A failing write whose text shows in strace's log, so that the log can be cut at windows.
void Session::mark(const char* what, const OpenWindow& window) const {
  if (!options_.markers) return;
  const std::string text = std::string(what) + " " + spoken_name(kind_name(window.kind), window.test, window.name);
  // It fails, as it should: there is no descriptor -1.
  [[maybe_unused]] ssize_t written = write(-1, text.data(), text.size());
}

void Session::open_window(const adapter::WindowName& name) {
  if (is_fork_child()) return;
  SYSCOST_CHECK(is_started() && !window_.has_value());
  OpenWindow& window = window_.emplace();
  window.kind = name.kind;
  window.test = name.test;
  window.name = name.window;
  window.repetition = name.repetition;
  window.opened = backend_.current();
  scopes_.set_enclosing(name.test, name.window);
  cycles_.store(0, std::memory_order_relaxed);
  is_closing_.store(false, std::memory_order_relaxed);
  has_window_.store(true, std::memory_order_release);
  // Another thread may be writing the rows of its last scope: that is not this window's business.
  const std::unique_lock guard = wait_for_rows(nullptr);
  // What the windows so far left is kept: when there is nothing to add, malloc serves.
  if (has_tools() && window.kind == adapter::Kind::test) {
    writing_.enter_file();
    window.is_traced = begin_trace();
  }
  static_cast<void>(top_up_quiet_memory());
  window.usage_before = Usage::now();
  mark("syscost-begin", window);
  window.start_ns = monotonic_ns();
  if (window.opened != nullptr) {
    window.hidden_losses_before = window.opened->hidden_losses(Reach::process);
    window.handle = window.opened->book.open(Reach::process);
  }
  if (window.is_traced) tracer_.tools().arm();
}

/// Disarms, reads, and asks whether the instrument was there all the time. Null, with the reason, when there are no
/// counts.
std::shared_ptr<detail::CostData> Session::read_and_check(OpenWindow& window,
                                                          std::shared_ptr<const Unavailable>& why_not) {
  if (window.handle == nullptr) {
    why_not = backend_.why_not();
    return nullptr;
  }
  OpenBackend& opened = *window.opened;
  std::shared_ptr<detail::CostData> cost = opened.new_cost();
  opened.book.close(window.handle, *cost);
  mark("syscost-end", window);
  Result<void> checked = backend_.check(opened);
  if (checked.ok()) {
    cost->lost += opened.hidden_losses(Reach::process) - window.hidden_losses_before;
    return cost;
  }
  Failure failure = checked.failure();
  why_not = std::make_shared<Unavailable>(failure);
  failure.reason =
      "the counts of " + spoken_name(kind_name(window.kind), window.test, window.name) + " are void: " + failure.reason;
  recorder_.note_problem(failure);
  return nullptr;
}

bool Session::claim_window() {
  return has_window_.load(std::memory_order_acquire) && !is_closing_.exchange(true);
}

/// For a test that goes on in a fork child, by daemon() for example. The child is not counted, and its parent ended
/// without a message.
void Session::explain_survivor() const {
  static std::atomic<bool> is_explained{false};
  if (!has_window_.load() || !options_.requests_anything() || is_explained.exchange(true)) return;
  say_failure({spoken_name(kind_name(window_->kind), window_->test, window_->name) +
                   " continued in a fork child of the process that measures (fork() or daemon()), so it has no row, "
                   "nor have the tests that this child runs after it",
               "let the child end with _exit(), and let the process that began the test finish it"});
}

adapter::Report Session::close_window(std::string_view outcome, int framework_writes) {
  if (is_fork_child()) {
    explain_survivor();
    return {Cost(*fixed_cost::fork_child().unavailable()), 0, {}};
  }
  if (!claim_window()) {
    return {Cost(Unavailable{"The process ended while the test ran.", "End threads before exit()."}), 0, {}};
  }
  return close_claimed_window(outcome, framework_writes);
}

adapter::Report Session::close_claimed_window(std::string_view outcome, int framework_writes) {
  OpenWindow& window = *window_;
  if (window.is_traced) tracer_.tools().disarm();
  // Before disarming, because reading the counters takes longer than a short test; after, where the clock is a syscall.
  const bool clock_is_quiet = window.opened == nullptr || window.opened->clock_is_quiet;
  std::uint64_t end_ns = clock_is_quiet ? monotonic_ns() : 0;
  std::shared_ptr<const Unavailable> why_not;
  // The window is open, so no thread of ours writes the file.
  writing_.lock(WritingLock::Waiter::inside_window);
  const std::lock_guard guard(writing_, std::adopt_lock);
  std::shared_ptr<detail::CostData> cost = read_and_check(window, why_not);
  if (!clock_is_quiet) end_ns = monotonic_ns();
  if (window.handle == nullptr) mark("syscost-end", window);
  const Usage usage_after = Usage::now();
  has_window_.store(false, std::memory_order_release);

  Capabilities can = window.opened != nullptr ? window.opened->capabilities : Capabilities{};
  csv::WindowColumns columns;
  columns.kind = kind_name(window.kind);
  columns.test = window.test;
  columns.window = window.name;
  columns.repetition = static_cast<std::uint64_t>(window.repetition);
  columns.outcome = outcome;
  if (int cycles = cycles_.load(std::memory_order_relaxed); cycles > 0) {
    columns.iterations = static_cast<std::uint64_t>(cycles);
  }
  columns.excluded = window.excluded;
  std::vector<std::string> tool_lines;
  if (window.is_traced) {
    // The tool took part of all times: there are none.
    can.latency = false;
    if (cost != nullptr) cost->measured.latency = false;
    tool_lines = conclude_trace(window, columns, cost.get(), framework_writes);
  } else {
    columns.wall_ns = end_ns - window.start_ns;
    usage_after.fill(columns, window.usage_before);
    if (cost != nullptr) columns.overhead_estimate_ns = window.opened->overhead_estimate_ns(*cost);
  }
  if (cost != nullptr) remove_framework_writes(cost->table, framework_writes);
  const bool has_numbers =
      cost != nullptr && (!is_empty(cost->table) || !cost->children.empty() || cost->lost + cost->late > 0);
  if (has_numbers || window.kind == adapter::Kind::test) recorder_.add(columns, cost.get(), can);
  write_rows(spoken_name(columns.kind, columns.test, columns.window));

  adapter::Report report{cost != nullptr ? Cost(cost) : Cost(*why_not), end_ns - window.start_ns, {}};
  report.line = cost != nullptr ? report_line(*cost, report.wall_ns) : report.cost.to_string();
  if (window.is_traced) report.line += ", traced by " + tracer_.names() + ": no times";
  report.tools = std::move(tool_lines);
  if (options_.filter != nullptr) report.counted = options_.filter->text();
  report.loops = std::move(window.loop_lines);
  scopes_.set_enclosing({}, {});
  window_.reset();
  return report;
}

void Session::end_window_at_exit() {
  if (!has_window_.load(std::memory_order_acquire)) return;
  if (!claim_window()) {
    // Another thread closes it, which is soon done; or a signal handler called exit() in the middle of that, and it
    // never is.
    if (!WritingLock::within_patience([this] { return !has_window_.load(std::memory_order_acquire); })) {
      recorder_.note_problem({"the process ended while a test was being recorded, so the test has no row",
                              "do not call exit() in a signal handler"});
    }
    return;
  }
  const std::string name = spoken_name(kind_name(window_->kind), window_->test, window_->name);
  const std::string what = name + " was ended by the end of the process";
  if (!writing_.lock_within_patience()) {
    recorder_.note_problem({what + " while rows were being written: it has no row", "end threads before exit()"});
    return;
  }
  writing_.unlock();
  const adapter::Report report = close_claimed_window({}, 0);
  say(what + ": its row has what was counted until then");
  if (!prints_lines()) return;
  for (const std::string& loop : report.loops) say(loop);
  say(name + ": " + report.line);
}

// ---- the answer of cycles() -----------------------------------------------------------------------------------------

int Session::cycles(int fallback) {
  const int answer = static_cast<int>(std::min<std::uint64_t>(options_.cycles.value_or(0), INT_MAX));
  const int cycles = answer > 0 ? answer : fallback;
  cycles_.store(cycles, std::memory_order_relaxed);
  return cycles;
}

}  // namespace syscost::session
