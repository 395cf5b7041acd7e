// SPDX-License-Identifier: MIT
//
// The side of syscost/counting.h that times: options, CSV and problems, without a backend in this process.
#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "core/per_run_part.h"
#include "os/fork_detector.h"
#include "os/environment.h"
#include "session/doctor/backends.h"
#include "session/doctor/doctor.h"
#include "session/options/help.h"
#include "session/process/messages.h"
#include "session/process/process_end.h"
#include "session/process_session.h"
#include "session/run/counting_variables.h"
#include "session/run/run_info.h"
#include "session/tools/gpu_kernel_rows.h"
#include "session/two_process/cost_access.h"
#include "session/two_process/timing_process.h"
#include "session/two_process/traced_text.h"
#include "session/windows/recorder.h"
#include "syscost/counting.h"

namespace syscost::adapter {
namespace {

/// What the timing process writes down. One thread.
struct Timing {
  session::Options options;
  ForkDetector guard;
  session::Recorder recorder;
  csv::RunColumns run;
  bool is_announced = false;
  std::string last_benchmark;           // that has rows
  std::atomic<bool> is_running{false};  // benchmarks
};

std::atomic<Timing*> g_timing{nullptr};  // never destroyed: exit handlers ask it

/// False when the run is not whole.
bool end_process() {
  Timing* timing = g_timing.load();
  if (timing == nullptr || timing->guard.is_fork_child()) return true;
  if (timing->is_running.exchange(false) && timing->recorder.has_csv()) {
    const std::string& last = timing->last_benchmark;
    timing->recorder.note_problem(
        {"the program ended before its benchmarks did, so there are no rows " +
             (last.empty() ? "of them" : "after benchmark " + last),
         "repair the benchmark that ends the program, or leave it out with --benchmark_filter"});
  }
  timing->recorder.conclude();
  return timing->recorder.problem().empty();
}

Timing& made_timing() {
  if (Timing* timing = g_timing.load(); timing != nullptr) return *timing;
  const Result<session::ParsedOptions>& parsed = session::process_options();
  if (!parsed.ok()) session::refuse(parsed.failure());
  auto* timing = new Timing;
  timing->options = parsed.value().options;
  g_timing.store(timing);
  session::at_process_end(end_process);
  return *timing;
}

/// All passes of a repetition; only the last one where one of them has no counts.
std::vector<CountedPass> passes_of(const TimedRepetition& one, const detail::CostData& counted) {
  std::vector<CountedPass> passes;
  for (const TimedRepetition::ShorterPass& shorter : one.shorter) {
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

/// A backend that sees entries and how they end sees these two as well (core/backend.h).
Capabilities capabilities_of(const detail::CostData& data) {
  Capabilities can;
  can.entries = data.measured.entries;
  can.carried_in = can.denied = data.measured.entries && data.measured.calls;
  can.calls = data.measured.calls;
  can.errors = data.measured.errors;
  can.latency = data.measured.latency;
  return can;
}

}  // namespace

void take_prefixed_options(int* argc, char** argv) {
  std::vector<std::string> arguments(argv, argv + *argc);
  // Nothing to take out, or a main of ours has taken it, short forms and all.
  const bool has_any = std::any_of(arguments.begin(), arguments.end(),
                                   [](const std::string& argument) { return argument.starts_with("--syscost"); });
  if (!has_any) return;
  const Result<session::ParsedOptions>& parsed = session::read_process_options(arguments, session::Spelling::prefixed);
  if (!parsed.ok()) session::refuse(parsed.failure());
  session::remove_arguments(argc, argv, parsed.value().used);
}

SharedAdapterState& harness() {
  static auto* const made = [] {
    auto* harness = new SharedAdapterState;
#ifdef __GLIBC__
    static const ForkDetector guard;
    on_exit(
        [](int status, void* that) {
          if (static_cast<SharedAdapterState*>(that)->is_main_seen || guard.is_fork_child()) return;
          const std::vector<std::string> arguments = started_with();
          // Google Benchmark asks a process of its own whether addresses can stay in place.
          constexpr std::string_view kTrial = "--benchmark_aslr_test_child=";
          if (arguments.size() == 2 && arguments[1].starts_with(kTrial)) return;
          if (!requested() || is_counting_process()) return;
          const Unavailable* (*const ask)() = static_cast<SharedAdapterState*>(that)->why_main_is_unseen;
          const Unavailable* const why = ask != nullptr ? ask() : nullptr;
          if (why == nullptr) {
            if (status != 0) return;
            session::say("this program ran no benchmark: there is nothing to count, and no CSV is written");
            return;
          }
          // A program that fails says why itself, but where it fails over a flag of ours.
          const bool has_flag = std::any_of(arguments.begin(), arguments.end(), [](const std::string& argument) {
            return argument.starts_with("--syscost");
          });
          if (status == 0 || has_flag) session::refuse(*why);
        },
        harness);
#endif
    return harness;
  }();
  return *made;
}

std::uint64_t wanted_cycles(std::uint64_t fallback) {
  const Result<session::ParsedOptions>& parsed = session::process_options();
  return parsed.ok() ? parsed.value().options.cycles.value_or(fallback) : fallback;
}

CountingStart start_counting(const Framework& framework) {
  CountingStart start;
  const session::Session& session = session::started_session(framework);
  if (const session::OpenBackend* opened = session.backend().current()) {
    start.backend = opened->backend->name();
    start.note = session::describe_calibration(opened->backend->calibration());
  } else {
    start.why_not = *session.backend().why_not();
  }
  return start;
}

void start_timing_or_exit(const Framework& framework) {
  Timing& timing = made_timing();
  if (timing.guard.is_fork_child()) return;
  if (timing.options.help) {
    session::print_help();
    std::exit(0);
  }
  if (timing.options.doctor) std::exit(session::run_doctor());
  if (timing.options.lists_scripts) std::exit(session::list_scripts(timing.options));
  if (timing.run.run_id.empty()) {
    timing.run = session::read_run_info(timing.options, framework.build_type);
    if (timing.options.build_type.empty()) timing.run.build_type = framework.build_type;
    if (timing.options.filter != nullptr) timing.run.filter = timing.options.filter->text();
    timing.run.backend = "none";
  }
  if (timing.options.csv.empty() || timing.recorder.has_csv()) return;
  Result<std::string> path = session::resolve_path(timing.options.csv, timing.options.csv_source);
  if (!path.ok()) session::refuse(path.failure());
  Result<void> csv = timing.recorder.open_csv(path.value());
  if (!csv.ok()) session::refuse(csv.failure());
}

bool wants_counts() {
  return made_timing().options.backend != session::BackendChoice::none;
}

void set_counted_by_or_exit(const CountingStart& counted_by, const Framework& framework) {
  Timing& timing = made_timing();
  if (counted_by.why_not.has_value()) session::refuse(*counted_by.why_not);
  timing.run.backend = counted_by.backend.empty() ? "none" : counted_by.backend;
  timing.run.selection = framework.selection;
  timing.recorder.set_run(timing.run);
  if (timing.is_announced) return;
  timing.is_announced = true;
  std::string how = counted_by.backend.empty() ? " (counts stay empty)" : " in a process of its own";
  if (timing.options.wants_tools()) how += ", traced by " + session::describe_tools(timing.options);
  session::say(session::header_line(timing.run, how, timing.recorder.csv_path()));
}

void write_rows(const std::vector<TimedRepetition>& repetitions) {
  Timing& timing = made_timing();
  if (timing.guard.is_fork_child() || repetitions.empty()) return;
  for (const TimedRepetition& one : repetitions) {
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
    ChildPerRunParts per_run_of_children;
    if (data != nullptr) {
      columns.counted_iterations = one.counted_iterations;
      const std::vector<CountedPass> passes = passes_of(one, *data);
      per_run = per_run_parts(passes);
      per_run_of_children = child_per_run_parts(passes);
      columns.per_run = &per_run;
      columns.per_run_of_children = &per_run_of_children;
    }
    timing.recorder.add(columns, data, data != nullptr ? capabilities_of(*data) : Capabilities{});
  }
  timing.last_benchmark = repetitions.back().test;
  timing.recorder.write("benchmark " + timing.last_benchmark);
}

void begin_timing() {
  made_timing().is_running.store(true);
}

void end_timing() {
  made_timing().is_running.store(false);
}

void note_missing_counts(const Unavailable& what) {
  Timing& timing = made_timing();
  if (timing.guard.is_fork_child()) return;
  if (timing.options.on_unavailable == session::Options::OnUnavailable::fail) {
    timing.recorder.note_problem(what);
  } else {
    session::say_failure(what);
  }
}

void write_traced(const std::vector<TracedPass>& passes) {
  Timing& timing = made_timing();
  if (timing.guard.is_fork_child()) return;
  std::map<std::pair<std::string, std::string>, std::uint64_t> kernel_repetitions;  // by benchmark and figure
  for (const TracedPass& pass : passes) {
    const std::optional<session::TracedWindow> traced = session::traced_from_text(pass.text);
    if (!traced.has_value()) {
      timing.recorder.note_problem({"what tools saw of benchmark " + std::string(pass.test) + " cannot be read",
                                    "link the program and libsyscost of one version"});
      continue;
    }
    csv::WindowColumns columns;
    columns.kind = "benchmark";
    columns.test = pass.test;
    columns.repetition = pass.repetition;
    columns.counted_iterations = pass.iterations;
    for (const csv::ToolWindow& rows : traced->rows) timing.recorder.add(columns, rows);
    session::add_gpu_kernel_rows(timing.recorder, columns, traced->times,
                                 [&](const std::string& figure, std::size_t count) {
                                   std::uint64_t& next = kernel_repetitions[{std::string(pass.test), figure}];
                                   return std::exchange(next, next + count);
                                 });
    session::say("benchmark " + std::string(pass.test) + ", " + std::to_string(pass.iterations) + " iterations:");
    for (const std::string& line : traced->lines) session::say("  " + line);
    for (const std::string& difference : traced->differences) session::say(difference);
    for (const Failure& problem : traced->problems) timing.recorder.note_problem(problem);
  }
  if (!passes.empty()) timing.recorder.write("traced benchmarks");
}

void note_problem(const Unavailable& what) {
  Timing& timing = made_timing();
  if (!timing.guard.is_fork_child()) timing.recorder.note_problem(what);
}

void refuse(const Unavailable& what) {
  session::refuse(what);
}

void say(std::string_view text) {
  session::say(text);
}

}  // namespace syscost::adapter

namespace syscost::session {

std::vector<std::string> variables_for_counting_process() {
  const adapter::Timing& timing = adapter::made_timing();
  if (!timing.options.wants_tools()) return {};
  const Result<std::string> root = artifacts_root(timing.options);
  if (!root.ok()) refuse(root.failure());
  return counting_variables(timing.run.run_id, root.value());
}

}  // namespace syscost::session
