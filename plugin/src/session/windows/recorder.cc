// SPDX-License-Identifier: MIT
#include "session/windows/recorder.h"

#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "core/syscall_table.h"
#include "os/memory.h"
#include "os/text.h"
#include "session/process/messages.h"
#include "session/windows/open_window.h"

namespace syscost::session {

std::string format_ns(std::uint64_t ns) {
  constexpr std::array<const char*, 4> kUnits = {"ns", "us", "ms", "s"};
  auto value = static_cast<double>(ns);
  std::size_t unit = 0;
  // 999.5 would be printed as 1000.
  while (value >= 999.5 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  const int decimals = unit == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return decimal_text(value, decimals) + " " + kUnits[unit];
}

namespace {

std::string own_line(const detail::CostData& cost, std::uint64_t wall_ns) {
  std::string line = detail::breakdown(cost);
  std::uint64_t counted = 0;
  std::uint64_t work = 0;
  std::uint64_t waiting = 0;
  for (const auto& [id, tally] : cost.table) {
    counted += cost.measured.entries ? tally.entries : tally.calls;
    (overlaps(syscall_classes(id), SyscallClass::wait) ? waiting : work) += tally.latency.sum_ns();
  }
  if (!cost.measured.latency || counted == 0) return line;
  line += ", " + format_ns(work) + " in the kernel";
  if (wall_ns > 0) {
    const double percent = 100.0 * static_cast<double>(work) / static_cast<double>(wall_ns);
    line += ", " + decimal_text(percent, percent < 9.95 ? 1 : 0) + " % of wall";
  }
  if (waiting > 0) line += ", " + format_ns(waiting) + " waiting";
  return line;
}

}  // namespace

std::string report_line(const detail::CostData& cost, std::uint64_t wall_ns) {
  std::string line = own_line(cost, wall_ns);
  for (const auto& [program, table] : cost.programs) {
    if (!table.empty())
      line.append("; child ").append(program).append(": ").append(detail::breakdown(table, cost.measured));
  }
  return line + detail::filter_note(cost);
}

namespace {

/// "1 fsync, 0.5 write a call", the most frequent first, or "no syscalls".
std::string counts_per_call(const CallTable& table, const detail::Measured& measured, std::uint64_t calls) {
  std::vector<std::pair<std::uint64_t, SyscallId>> counts;
  CallTable room(&quiet_memory());
  for (const auto& [id, tally] : detail::without_details(table, room)) {
    const std::uint64_t count = measured.entries ? tally.entries : tally.calls;
    if (count > 0) counts.emplace_back(count, id);
  }
  if (counts.empty()) return "no syscalls";
  std::stable_sort(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  constexpr std::size_t kNamed = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(counts.size(), kNamed); ++i) {
    const bool is_whole = counts[i].first % calls == 0;
    const std::string number =
        is_whole ? std::to_string(counts[i].first / calls)
                 : significant_text(static_cast<double>(counts[i].first) / static_cast<double>(calls), 3);
    text.append(i > 0 ? ", " : "").append(number).append(" ").append(syscall_name(counts[i].second));
  }
  if (counts.size() > kNamed) text += ", and " + std::to_string(counts.size() - kNamed) + " more";
  return text + " a call";
}

}  // namespace

std::string breakdown_per_call(const detail::CostData& cost, std::uint64_t calls) {
  std::string text = counts_per_call(cost.table, cost.measured, calls);
  if (std::uint64_t lost = cost.late + cost.lost; lost > 0) text += ", " + std::to_string(lost) + " lost";
  for (const auto& [program, table] : cost.programs) {
    if (is_empty(table)) continue;
    text.append("; child ").append(program).append(": ").append(counts_per_call(table, cost.measured, calls));
  }
  return text + detail::filter_note(cost);
}

void remove_framework_writes(CallTable& table, int count, CallTable& removed) {
  if (count <= 0) return;
  const auto is_write = [](const SyscallId& id) { return id.abi == Abi::x86_64 && id.number == SYS_write; };
  std::uint64_t writes = 0;  // from all lines
  for (const auto& [id, tally] : table) {
    // Entries that are not measured are 0; measured ones are at least as many as calls.
    if (is_write(id)) writes += std::max(tally.entries, tally.calls);
  }
  if (writes != static_cast<std::uint64_t>(count)) return;
  for (const auto& [id, tally] : table) {
    if (!is_write(id)) continue;
    removed.at(id).merge(tally);
    table.at(id).clear();
  }
}

bool is_empty(const CallTable& table) {
  return std::all_of(table.begin(), table.end(), [](const CallTable::Entry& entry) { return entry.tally.empty(); });
}

// ---- the lock ----

Recorder::Lock Recorder::take_lock(const ScopeRecord* scope) {
  if (!lock_.try_lock()) {
    const bool is_inside_a_scope = scopes_ != nullptr && scopes_->is_inside_another(scope);
    lock_.lock(is_inside_a_scope ? WritingLock::Waiter::inside_window : WritingLock::Waiter::outside_window);
  }
  return {lock_, std::adopt_lock};
}

Recorder::Lock Recorder::take_lock_inside_window() {
  lock_.lock(WritingLock::Waiter::inside_window);
  return {lock_, std::adopt_lock};
}

Recorder::Lock Recorder::take_lock_within_a_second() {
  if (!lock_.lock_within_a_second()) return {lock_, std::defer_lock};
  return {lock_, std::adopt_lock};
}

// ---- rows ----

namespace {

/// `test Suite.Name`, `scope Suite.Name NAME`: the window of a row.
std::string name_of(const csv::WindowColumns& window) {
  std::string name(window.kind);
  for (const std::string_view part : {window.test, window.window}) {
    if (!part.empty()) name.append(" ").append(part);
  }
  return name;
}

}  // namespace

Result<void> Recorder::open_csv(const std::string& path, csv::Lifetime lifetime) {
  Result<csv::Sink> sink = csv::Sink::open(path, lifetime);
  if (!sink.ok()) return sink.failure();
  sink_.emplace(std::move(sink.value()));
  return {};
}

void Recorder::set_run(const csv::RunColumns& run) {
  rows_.emplace(run);
  has_run_row_ = has_run_row_ && run.run_id == run_id_;
  run_id_ = run.run_id;
  is_shard_ = !run.shard.empty();
}

/// Adds the run's row before the first window's, so that a program without tests has no row.
void Recorder::add_run_row() {
  if (!std::exchange(has_run_row_, true)) rows_->append_run(pending_);
}

void Recorder::begin_tests(std::string_view only_test) {
  const Lock guard = take_lock();
  if (!sink_.has_value() || std::exchange(has_begun_tests_, true)) return;
  has_run_row_ = true;
  rows_->append_begin(pending_, only_test);
  write("the run");
}

// ---- outcomes that may change ----

void Recorder::let_outcome_wait(std::string_view window) {
  waiting_window_ = window;
  lets_outcome_wait_ = sink_.has_value();
}

/// A row was added with `outcome` at `at`. Rows of scopes have none.
void Recorder::note_outcome(std::size_t at, std::string_view outcome) {
  if (!lets_outcome_wait_ || outcome.empty()) return;
  outcomes_.push_back(at);
  outcome_length_ = outcome.size();
}

void Recorder::settle_outcome(std::string_view outcome) {
  if (!lets_outcome_wait_) return;
  // From the last to the first: what stands before does not move.
  for (auto at = outcomes_.rbegin(); at != outcomes_.rend(); ++at) pending_.replace(*at, outcome_length_, outcome);
  let_rows_go();
  write(waiting_window_);
}

void Recorder::let_rows_go() {
  lets_outcome_wait_ = false;
  outcomes_.clear();
}

void Recorder::add(const csv::WindowColumns& given, const detail::CostData* cost, const Capabilities& capabilities) {
  const csv::WindowColumns window = without_time_that_went_back(given);
  // A loss between tests is said in the row of kind `between` alone: no test lacks it.
  const bool is_of_tests = window.kind != schema::kKindBetween;
  if (is_of_tests && cost != nullptr && cost->late + cost->lost > 0) judge_losses(window, *cost);
  if (cost != nullptr && stack_files_ != nullptr && namer_ != nullptr) keep_stacks(window, *cost);
  if (!sink_.has_value()) return;
  add_run_row();
  if (cost != nullptr && cost->origins() != nullptr) return add_sites(window, *cost, capabilities);
  note_outcome(rows_->append(pending_, window, cost, capabilities), window.outcome);
}

csv::WindowColumns Recorder::without_time_that_went_back(csv::WindowColumns window) {
  if (!window.wall_ns.has_value() || !went_back(*window.wall_ns)) return window;
  window.wall_ns.reset();
  window.user_ns.reset();
  window.system_ns.reset();
  if (std::exchange(has_said_that_time_went_back_, true)) return window;
  say_failure({"the clock went back during " + name_of(window) +
                   ", so its row has no wall_ns; nor has a later row of which the same is true",
               "let a child process enter the time namespace, instead of the process that runs the tests"});
  return window;
}

/// Adds the rows of calls that have stacks, one for each site.
void Recorder::add_sites(const csv::WindowColumns& window, const detail::CostData& cost,
                         const Capabilities& capabilities) {
  detail::CostData of_sites(&mapped_memory());
  name_origins(namer_, cost, of_sites);
  note_outcome(rows_->append(pending_, window, &of_sites, capabilities), window.outcome);
}

/// Adds the calls of a loop or scope to those of the same name, for a file of their stacks.
void Recorder::keep_stacks(const csv::WindowColumns& window, const detail::CostData& cost) {
  const bool has_file = window.kind == "loop" || window.kind == "scope";
  if (!has_file || cost.origins() == nullptr) return;
  auto same = std::find_if(stacks_.begin(), stacks_.end(), [&](const NamedStacks& one) {
    return one.kind == window.kind && one.test == window.test && one.name == window.window &&
           one.cost.origins() == cost.origins();
  });
  if (same == stacks_.end()) {
    same = stacks_.emplace(same, window.kind == "loop" ? "loop" : "scope", window.test, window.window);
    same->cost.make_extra().origins = cost.origins();
  }
  same->cost.measured = cost.measured;
  same->cost.table.merge(cost.table);
}

void Recorder::write_stack_files() {
  for (const NamedStacks& one : stacks_) stack_files_->write_stacks(one.kind, one.test, one.name, one.cost);
  stacks_.clear();
}

/// If events were lost, counts are lower bounds. The exit code must show it, because CI often reads nothing else.
void Recorder::judge_losses(const csv::WindowColumns& window, const detail::CostData& cost) {
  if (loss_rule_ == LossRule::ignored) return;
  std::string name = name_of(window);
  if (window.repetition > 0) name += ", repetition " + std::to_string(window.repetition);
  std::uint64_t counted = 0;
  for (const auto& [id, tally] : cost.table) counted += cost.measured.entries ? tally.entries : tally.calls;
  Failure failure{"the counts of " + name + " are lower bounds: " + std::to_string(counted) +
                      (cost.measured.entries ? " entries" : " calls") + " were counted, and " +
                      std::to_string(cost.lost + cost.late) + " events were lost",
                  ""};
  if (!std::exchange(has_told_of_losses_, true)) {
    failure.how_to_fix =
        "use another --syscost_backend, or count less at a time (--syscost_filter); docs/flags.md (Lost events) has "
        "the causes; --syscost_allow_lost accepts losses";
  }
  if (loss_rule_ == LossRule::refused) return note_problem(failure);
  say_failure(failure);
}

void Recorder::add(const csv::WindowColumns& window, const csv::ToolWindow& tool) {
  if (!sink_.has_value()) return;
  add_run_row();
  note_outcome(rows_->append(pending_, without_time_that_went_back(window), tool), window.outcome);
}

/// Keeps the rows of the scopes that closed since the last write. `window` is the one in which they closed.
void Recorder::add_scopes(std::string_view window) {
  if (scopes_ == nullptr) return;
  const ScopeRows waiting = scopes_->take_rows();
  for (const ScopeRow& row : waiting.rows) add_scope(row);
  if (waiting.not_kept == 0) return;
  note_problem({std::to_string(waiting.not_kept) + " rows of named scopes are missing, closed last in " +
                    std::string(window) + ": too many waited for its end",
                "name fewer scopes in one test (at most " + std::to_string(ScopeRecords::kMaxRows) +
                    "), e.g. one around the loop instead of one in it"});
}

void Recorder::add_scope(const ScopeRow& row) {
  csv::WindowColumns columns;
  columns.kind = "scope";
  columns.test = row.test;
  columns.window = row.name;
  columns.parent = row.parent;
  columns.repetition = row.repetition;
  if (!row.was_observed) columns.wall_ns = row.wall_ns;
  const OpenBackend& opened = *row.opened;
  Capabilities can = opened.capabilities;
  can.latency = can.latency && !row.was_observed;
  if (!opened.is_intact.load(std::memory_order_acquire)) {
    add(columns, nullptr, opened.capabilities);
    return;
  }
  // Losses that were found while the row waited may have happened in the scope.
  const std::shared_ptr<const detail::CostData> cost =
      opened.with_losses(row.cost, opened.hidden_losses(row.reach) - row.hidden_losses_before);
  const std::string detail = with_unkept({}, cost.get());
  columns.excluded = detail;
  if (!row.was_observed) columns.overhead_estimate_ns = opened.overhead_estimate_ns(*cost);
  add(columns, cost.get(), can);
  if (prints_scopes_) say("scope " + std::string(row.name) + ": " + report_line(*cost, row.wall_ns));
}

void Recorder::write(std::string_view window) {
  enter_file();
  add_scopes(window);
  write_stack_files();
  write_kept(window);
}

void Recorder::write_loop(std::string_view loop) {
  const Lock guard = take_lock();
  enter_file();
  write_stack_files();
  write_kept(loop);
  static_cast<void>(top_up_quiet_memory());
}

void Recorder::write_kept(std::string_view window) {
  if (pending_.empty() || lets_outcome_wait_) return;
  Result<void> written = sink_->append(pending_);
  note_lost_rows();
  if (!written.ok() && sink_->is_locked_out()) return say_that_rows_wait(written.failure());
  pending_.clear();
  if (written.ok()) return;
  // A message for the first failure only: a full disk would repeat it for every test.
  if (++unwritten_windows_ > 1) return;
  Failure failure = written.failure();
  if (failure.reason.ends_with('.')) failure.reason.pop_back();
  failure.reason += "; the rows of " + std::string(window) + " are missing; the tests continue";
  note_problem(failure);
}

void Recorder::note_lost_rows() {
  if (!sink_.has_value()) return;
  if (const std::optional<Failure> loss = sink_->take_loss()) note_problem(*loss);
}

void Recorder::say_that_rows_wait(Failure failure) {
  if (std::exchange(has_said_that_rows_wait_, true)) return;
  failure.reason += "; the rows wait for it, and the tests continue";
  say_failure(failure);
}

void Recorder::finish(std::string_view outcome) {
  const Lock guard = take_lock();
  let_rows_go();
  if (is_shard_ && sink_.has_value()) add_run_row();
  add_scopes("scopes");
  if (std::exchange(has_begun_tests_, false)) rows_->append_end(pending_, outcome);
  write("scopes");
}

void Recorder::conclude() {
  // A signal handler may have called exit() while its own thread was writing. That write never ends.
  const Lock guard = take_lock_within_a_second();
  if (!guard.owns_lock()) {
    note_problem({"the process ended while rows were being written, so some are missing",
                  "do not call exit() in a signal handler"});
    return;
  }
  let_rows_go();
  write(scopes_ != nullptr ? "scopes" : "the end");
  if (sink_.has_value()) sink_->look_for_loss();
  note_lost_rows();
  if (pending_.empty()) return;
  const auto rows = std::count(pending_.begin(), pending_.end(), '\n');
  pending_.clear();
  note_problem({std::to_string(rows) + " rows are missing from the CSV file " + csv_path() +
                    ": another process held its lock until the end of this program",
                "end that process, and run again"});
}

// ---- problems ----

void Recorder::note_problem(const Failure& failure) {
  if (++problems_ == 1) first_problem_ = printable(failure.reason);
  // Closed descriptors cause the same failure at the end of every window.
  if (said_.emplace(failure.reason).second) say_failure(failure);
}

std::string Recorder::problem() const {
  if (problems_ == 0) return {};
  std::string text(first_problem_);
  if (unwritten_windows_ > 1) text += " (and those of " + std::to_string(unwritten_windows_ - 1) + " more windows)";
  if (problems_ == 2) text += " (and one more problem)";
  if (problems_ > 2) text += " (and " + std::to_string(problems_ - 1) + " more problems)";
  return text;
}

}  // namespace syscost::session
