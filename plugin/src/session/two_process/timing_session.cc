// SPDX-License-Identifier: MIT
#include "session/two_process/timing_session.h"

#include <cstdlib>
#include <map>
#include <optional>
#include <utility>

#include "core/cost_data.h"
#include "core/per_run_part.h"
#include "extras/profilers/session/profiler_session.h"
#include "os/message_output.h"
#include "session/backends/doctor.h"
#include "session/backends/open_backend.h"
#include "session/options/option_table.h"
#include "session/process/messages.h"
#include "session/run/run_info.h"
#include "session/two_process/pass_tracer.h"

namespace syscost::session {
namespace {

/// All passes of a repetition; only the last one if one of them has no counts.
std::vector<CountedPass> passes_of(const adapter::TimedRepetition& one, const detail::CostData& counted) {
  std::vector<CountedPass> passes;
  for (const adapter::TimedRepetition::ShorterPass& shorter : one.shorter) {
    const detail::CostData* data = detail::CostAccess::data(*shorter.cost);
    if (data == nullptr) {
      passes.clear();
      break;
    }
    passes.push_back({shorter.iterations, data});
  }
  passes.push_back({one.counted_iterations.value_or(0), &counted});
  return passes;
}

/// A backend that sees entries and how they end sees carried_in and denied as well (core/backend.h).
Capabilities capabilities_of(const detail::CostData& data) {
  Capabilities can;
  can.entries = data.measured.entries;
  can.carried_in = can.denied = data.measured.entries && data.measured.calls;
  can.calls = data.measured.calls;
  can.errors = data.measured.errors;
  can.latency = data.measured.latency;
  can.bytes = data.measured.bytes;
  can.altered = data.measured.altered;
  can.threads = data.measured.threads;
  return can;
}

/// Refuses options that need the calls of one process, or one stretch of time.
void refuse_what_benchmarks_have_not(const Options& options) {
  if (options.trace.wanted) {
    refuse({"--syscost_trace does not work with Google Benchmark: a benchmark's calls are counted in another process",
            "leave --syscost_trace out, or trace a test with the same code"});
  }
  if (options.where.wanted && options.artifacts_source == Source::command_line && !options.wants_tools()) {
    refuse(
        {"--syscost_artifacts with --syscost_where alone does not work with Google Benchmark: a benchmark has no file "
         "of its call stacks",
         "leave --syscost_artifacts out: bench show --where --svg draws the lines of a benchmark"});
  }
  if (options.scheduler.wanted) {
    refuse({"--syscost_sched does not work with Google Benchmark: it shows tests, and a benchmark runs many times",
            "leave --syscost_sched out, or use it on a test with the same code"});
  }
  if (options.wants_faults()) {
    refuse(
        {"--syscost_inject and --syscost_forbid do not work with Google Benchmark: timed passes run without a backend, "
         "and no call would fail in them",
         "leave them out, or use them on a test with the same code"});
  }
  if (options.leaks) {
    refuse({"--syscost_leaks does not work with Google Benchmark: it shows what tests and suites leave open",
            "leave --syscost_leaks out, or use it on a test with the same code"});
  }
}

}  // namespace

void TimingSession::start_or_exit(const adapter::Framework& framework) {
  if (fork_detector_.is_fork_child()) return;
  if (options_.help) {
    print_help();
    std::exit(0);
  }
  if (options_.doctor) std::exit(run_doctor());
  if (options_.lists_scripts) std::exit(list_scripts(options_));
  refuse_what_benchmarks_have_not(options_);
  name_requests(options_);
  if (run_.run_id.empty()) {
    run_ = read_run_info(options_, framework.build_type);
    if (options_.build_type.empty()) run_.build_type = framework.build_type;
    if (options_.filter != nullptr) run_.filter = options_.filter->text();
    run_.backend = "none";
  }
  if (options_.csv.empty() || recorder_.has_csv()) return;
  Result<std::string> path = resolve_path(options_.csv, options_.csv_source);
  if (!path.ok()) refuse(path.failure());
  Result<void> csv = recorder_.open_csv(path.value(), lifetime_of_csv(path.value()));
  if (!csv.ok()) refuse(csv.failure());
}

std::vector<std::string> TimingSession::counting_variables_or_exit() const {
  if (!options_.wants_tools()) return {};
  const Result<std::string> root = artifacts_root(options_);
  if (!root.ok()) refuse(root.failure());
  return counting_variables(run_.run_id, root.value());
}

void TimingSession::set_counted_by_or_exit(const adapter::CountingStart& counted_by,
                                           const adapter::Framework& framework) {
  if (counted_by.why_not.has_value()) refuse(*counted_by.why_not);
  run_.backend = counted_by.backend.empty() ? "none" : counted_by.backend;
  run_.selection = framework.selection;
  recorder_.set_run(run_);
  if (is_announced_) return;
  is_announced_ = true;
  std::string how = counted_by.backend.empty() ? " (counts stay empty)" : " in a process of its own";
  if (options_.wants_tools()) how += ", traced by " + describe_tools(options_);
  say_start(header_line(run_, how, recorder_.csv_path()));
}

void TimingSession::begin_benchmarks() {
  leave_programs_alone();
  is_running_.store(true);
  if (!fork_detector_.is_fork_child()) recorder_.begin_tests({});
}

void TimingSession::end_benchmarks() {
  is_running_.store(false);
  if (fork_detector_.is_fork_child()) return;
  recorder_.finish();
  measure_programs_again();
}

void TimingSession::add_repetition(const adapter::TimedRepetition& one) {
  csv::WindowColumns columns;
  columns.kind = "benchmark";
  columns.test = one.test;
  columns.repetition = one.repetition;
  columns.outcome = one.outcome;
  columns.iterations = one.iterations;
  columns.wall_ns = one.wall_ns;
  columns.cpu_ns = one.cpu_ns;
  const detail::CostData* data = one.cost != nullptr ? detail::CostAccess::data(*one.cost) : nullptr;
  PerRunParts per_run;
  ProgramPerRunParts per_run_of_programs;
  if (data != nullptr) {
    columns.counted_iterations = one.counted_iterations;
    const std::vector<CountedPass> passes = passes_of(one, *data);
    per_run = per_run_parts(passes);
    per_run_of_programs = program_per_run_parts(passes);
    columns.per_run = &per_run;
    columns.per_run_of_programs = &per_run_of_programs;
  }
  recorder_.add(columns, data, data != nullptr ? capabilities_of(*data) : Capabilities{});
}

void TimingSession::write_rows(const std::vector<adapter::TimedRepetition>& repetitions) {
  if (fork_detector_.is_fork_child() || repetitions.empty()) return;
  for (const adapter::TimedRepetition& one : repetitions) add_repetition(one);
  last_benchmark_ = repetitions.back().test;
  recorder_.write("benchmark " + last_benchmark_);
}

void TimingSession::write_traced(const std::vector<adapter::TracedPass>& passes) {
  if (fork_detector_.is_fork_child()) return;
  std::map<std::pair<std::string, std::string>, std::uint64_t> next_repetitions;  // by benchmark and figure
  for (const adapter::TracedPass& pass : passes) {
    const std::optional<TracedWindow> traced = traced_from_text(pass.text);
    if (!traced.has_value()) {
      recorder_.note_problem({"what tools saw of benchmark " + std::string(pass.test) + " cannot be read",
                              "link the program and libsyscost of one version"});
      continue;
    }
    csv::WindowColumns columns;
    columns.kind = "benchmark";
    columns.test = pass.test;
    columns.repetition = pass.repetition;
    columns.counted_iterations = pass.iterations;
    for (const csv::ToolWindow& rows : traced->rows) recorder_.add(columns, rows);
    add_gpu_kernel_rows(recorder_, columns, traced->times, [&](const std::string& figure, std::size_t count) {
      std::uint64_t& next = next_repetitions[{std::string(pass.test), figure}];
      return std::exchange(next, next + count);
    });
    say("benchmark " + std::string(pass.test) + ", " + std::to_string(pass.iterations) + " iterations:");
    for (const std::string& line : traced->lines) say("  " + line);
    for (const std::string& difference : traced->differences) say(difference);
    for (const Failure& problem : traced->problems) recorder_.note_problem(problem);
  }
  if (!passes.empty()) recorder_.write("traced benchmarks");
}

void TimingSession::note_missing_counts(const Unavailable& what) {
  if (fork_detector_.is_fork_child()) return;
  if (options_.on_unavailable == Options::OnUnavailable::fail) {
    recorder_.note_problem(what);
  } else {
    say_failure(what);
  }
}

void TimingSession::note_problem(const Unavailable& what) {
  if (!fork_detector_.is_fork_child()) recorder_.note_problem(what);
}

bool TimingSession::conclude() {
  if (fork_detector_.is_fork_child()) return true;
  if (is_running_.exchange(false) && recorder_.has_csv()) {
    recorder_.note_problem({"the program ended before its benchmarks did, so there are no rows " +
                                (last_benchmark_.empty() ? "of them" : "after benchmark " + last_benchmark_),
                            "repair the benchmark that ends the program, or leave it out with --benchmark_filter"});
  }
  recorder_.conclude();
  return recorder_.problem().empty();
}

}  // namespace syscost::session
