// SPDX-License-Identifier: MIT
#include "adapters/benchmark/timing_run.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <typeinfo>
#include <utility>
#include <vector>

#include "adapters/benchmark/hooks.h"
#include "adapters/benchmark/record.h"
#include "adapters/benchmark/tracing_run.h"
#include "adapters/benchmark/versions.h"
#include "libc/symbols.h"
#include "syscost/adapter.h"
#include "syscost/counting.h"

namespace syscost::benchmark_adapter {
namespace {

/// Listens to one counting process after the other.
class Listener {
 public:
  /// `is_first`: no other benchmarks ran in this process.
  Listener(Counts& counts, adapter::Framework& framework, const std::string& spec, bool is_first)
      : counts_(counts),
        framework_(framework),
        selects_all_(spec.empty() || spec == "all" || spec == "."),
        is_first_(is_first) {}

  /// A process that goes on at position `first` is about to speak.
  void begin(std::size_t first) {
    first_ = first;
    names_.clear();
    running_.reset();
    record_ = Record{};
    is_listed_ = false;
    is_probing_ = false;
    done_here_ = 0;
  }

  void hear(std::string_view line) {
    const std::vector<std::string_view> fields = split_fields(line);
    if (fields[0] == "start" && fields.size() == 3) {
      start_.emplace();
      start_->backend = fields[1];
      start_->note = fields[2];
    } else if (fields[0] == "unavailable" && fields.size() == 3) {
      hear_unavailable({std::string(fields[1]), std::string(fields[2])});
    } else if (fields[0] == "name" && fields.size() == 2) {
      names_.emplace_back(fields[1]);
    } else if (fields[0] == "listed" && start_.has_value()) {
      hear_list();
    } else if (fields[0] == "probing" || fields[0] == "probed") {
      is_probing_ = fields[0] == "probing";
    } else if (fields[0] == "running" && fields.size() == 2) {
      running_ = SYSCOST_LIBC(strtoull)(std::string(fields[1]).c_str(), nullptr, 10);
    } else if (receive(line, record_)) {
      // One that stands before `first_`, and has a name that is still wanted, was counted already.
      if (has_record_.insert(record_.position).second) {
        const std::size_t before = bearers_before(record_);
        counts_.add(std::move(record_), before);
        ++done_here_;
      }
      record_ = Record{};
      running_.reset();
    }
  }

  /// A benchmark that takes long is counted for long, with nothing on the screen.
  void wait(int seconds) const {
    const bool is_terminal = SYSCOST_LIBC(isatty)(STDERR_FILENO) != 0;
    if (seconds % (is_terminal ? 5 : 60) != 0) return;
    const std::optional<std::size_t> position = at();
    adapter::say("counting " +
                 (position.has_value() ? "benchmark " + names_[*position] : "what follows the benchmarks") + ", for " +
                 std::to_string(seconds) + " s so far");
  }

  /// Where the next process goes on; empty when there is nothing left to count, or no way.
  std::optional<std::size_t> end(const adapter::CountingEnd& end) {
    if (end.is_whole) return std::nullopt;
    const std::string heard = end.errors.empty() ? "" : "; it wrote:\n" + end.errors;
    if (!is_listed_ && first_ == 0) {
      // main() runs twice up to here, the second time without the benchmarks' results (hooks.cc).
      const std::string which = is_first_ ? "a benchmark" : "those of this call of RunSpecifiedBenchmarks()";
      adapter::note_missing_counts(
          {"there are no counts: the process that counts " + end.how + " before it ran " + which + heard,
           "let main() reach the benchmarks without input, whatever earlier benchmarks report"});
      if (is_first_) adapter::set_counted_by_or_exit({}, framework_);
      return std::nullopt;
    }
    if (!is_listed_) {
      adapter::note_missing_counts({"a further process that counts " + end.how +
                                        " before it ran a benchmark: from benchmark " + all_names_[first_] +
                                        " on there are no counts" + heard,
                                    "make every run of the program have the same benchmarks"});
      return std::nullopt;
    }
    if (std::exchange(is_probing_, false)) {
      may_probe_ = false;  // counting will show which benchmark it was
      return first_;
    }
    const std::optional<std::size_t> position = at();
    if (!position.has_value()) {
      adapter::say("the process that counts " + end.how + " after the last benchmark, which has its counts" + heard);
      return std::nullopt;
    }
    if (!running_.has_value() && done_here_ > 0) {
      // It ended in the next one's set-up, or because of what the last one left: a run without the last one will show.
      adapter::say("the process that counts " + end.how + " before the loop of benchmark " + names_[*position] +
                   " began: another process continues there" + heard);
      return position;
    }
    dead_.push_back(*position);
    // It has its counts already and ran again only because it shares a name: the others of that name get no counts.
    if (*position < first_) return first_;
    adapter::note_missing_counts(
        {"benchmark " + names_[*position] + " has no counts: the process that counts " + end.how + " in it" + heard,
         "repair that benchmark, or leave it out with --benchmark_filter"});
    if (end.is_silent) {
      adapter::say("the benchmarks are still timed: if " + names_[*position] +
                   " ends the program there too, it and the benchmarks after it have no rows");
    }
    is_explained_.insert(*position);
    return *position + 1 < names_.size() ? std::optional<std::size_t>(*position + 1) : std::nullopt;
  }

  bool may_probe() const { return may_probe_; }
  /// Positions of the benchmarks that ended a process.
  const std::vector<std::size_t>& dead() const { return dead_; }

  /// Names the benchmarks that were left out because a process had to be started again.
  void explain_rest() {
    if (first_ == 0) return;
    for (std::size_t position = 0; position < names_.size() && is_listed_; ++position) {
      if (has_record_.count(position) != 0 || is_explained_.count(position) != 0) continue;
      adapter::note_missing_counts({"benchmark " + names_[position] +
                                        " has no counts: the process that counts ended before it, and another process "
                                        "cannot tell it from a benchmark of the same name",
                                    "give each benchmark a name of its own"});
    }
  }

 private:
  /// At the start an error. Once benchmarks ran, their rows are worth more than the end of the program.
  void hear_unavailable(const Unavailable& why_not) {
    if (!is_first_) {
      adapter::note_problem(why_not);
      return;
    }
    adapter::CountingStart none;
    none.why_not = why_not;
    adapter::set_counted_by_or_exit(none, framework_);
  }

  void hear_list() {
    if (first_ == 0) {
      all_names_ = names_;
      framework_.selection = selects_all_ ? "whole" : names_.size() == 1 ? "isolated" : "subset";
      adapter::set_counted_by_or_exit(*start_, framework_);
    } else if (names_ != all_names_) {
      return;
    }
    is_listed_ = true;
    expected_ = positions_to_run(names_, first_, dead_);
  }

  std::size_t bearers_before(const Record& record) const {
    const auto end = names_.begin() + static_cast<std::ptrdiff_t>(std::min(record.position, names_.size()));
    return static_cast<std::size_t>(std::count(names_.begin(), end, record.name));
  }

  /// The benchmark that is being counted, or comes next.
  std::optional<std::size_t> at() const {
    if (running_.has_value() && *running_ < names_.size()) return running_;
    if (!is_listed_) return std::nullopt;
    const auto next = std::find_if(expected_.begin(), expected_.end(),
                                   [this](std::size_t position) { return has_record_.count(position) == 0; });
    return next != expected_.end() ? std::optional<std::size_t>(*next) : std::nullopt;
  }

  Counts& counts_;
  adapter::Framework& framework_;
  const bool selects_all_;
  const bool is_first_;
  std::optional<adapter::CountingStart> start_;
  std::vector<std::string> all_names_;  // as the first process said
  bool may_probe_ = true;
  std::set<std::size_t> has_record_;
  std::set<std::size_t> is_explained_;
  std::vector<std::size_t> dead_;

  // The next three belong to the process that speaks.
  std::size_t first_ = 0;
  std::vector<std::string> names_;
  bool is_listed_ = false;             // and its names are those of the first
  std::vector<std::size_t> expected_;  // positions
  bool is_probing_ = false;
  std::size_t done_here_ = 0;  // of these, that were not done before
  std::optional<std::size_t> running_;
  Record record_;
};

}  // namespace

void gather_counts(Counts& counts, adapter::Framework& framework, const std::string& spec, CountingRequest request) {
  Listener listener(counts, framework, spec, request.call == 0);
  for (std::optional<std::size_t> first = 0; first.has_value();) {
    request.first = *first;
    request.probes = listener.may_probe();
    request.dead = listener.dead();
    listener.begin(*first);
    const adapter::CountingEnd end = adapter::run_counting_process(
        request.text(), [&](std::string_view line) { listener.hear(line); },
        [&](int seconds) { listener.wait(seconds); });
    first = listener.end(end);
  }
  listener.explain_rest();
}

namespace {

/// Counters for so many syscalls of a benchmark, under --syscost_profile syscalls.
constexpr std::size_t kNamedSyscalls = 5;

/// Median and mean are of times; spreads of them are not of counts.
bool shows_counters(const Run& run) {
  return run.run_type == Run::RT_Iteration || run.aggregate_name == "mean" || run.aggregate_name == "median";
}

/// A counter that the benchmark itself gave this name stays what it is.
void add_counter(Run& run, const std::string& name, double value) {
  run.counters.emplace(name, ::benchmark::Counter(value));
}

void add_counters(Run& run, const Figures& figures) {
  add_counter(run, "syscalls", figures.all.per_iteration);
  if (figures.all.per_run.value_or(0) > 0)
    add_counter(run, "syscalls_per_run", static_cast<double>(*figures.all.per_run));
  if (!adapter::prints_lines()) return;
  std::size_t shown = 0;
  for (const Figures::Named& syscall : figures.by_syscall) {
    if (++shown > kNamedSyscalls) break;
    add_counter(run, "sys_" + syscall.name, syscall.figure.per_iteration);
  }
}

}  // namespace

Annotator::Annotator(Reporter& inner, Counts& counts, bool shows, bool is_last)
    : inner_(inner), counts_(counts), shows_(shows), is_last_(is_last) {
  SetOutputStream(&inner.GetOutputStream());
  SetErrorStream(&inner.GetErrorStream());
}

bool Annotator::ReportContext(const Context& context) {
  // Google Benchmark has set ours where the file is; setting them is not virtual.
  inner_.SetOutputStream(&GetOutputStream());
  inner_.SetErrorStream(&GetErrorStream());
  return inner_.ReportContext(context);
}

void Annotator::ReportRunsConfig(double min_time, bool has_iterations, ::benchmark::IterationCount iterations) {
  forward_config(inner_, min_time, has_iterations, iterations, 0);
}

void Annotator::ReportRuns(const std::vector<Run>& runs) {
  counts_.write_rows(timed_runs_of(runs), is_last_);
  std::vector<Run> annotated = runs;
  for (Run& run : annotated) {
    const Figures* figures = counts_.figures(timed_run_of(run));
    if (!shows_ || figures == nullptr || !shows_counters(run) || SYSCOST_LIBC(strcmp)(outcome_of(run), "passed") != 0)
      continue;
    add_counters(run, *figures);
  }
  inner_.ReportRuns(annotated);
}

void Annotator::Finalize() {
  inner_.Finalize();
}

namespace {

/// Google Benchmark makes one for --benchmark_out where it is given none, and ours must stand before it.
std::unique_ptr<Reporter> default_file_reporter() {
  if (flag_value("out").empty()) return nullptr;
  const std::string format = flag_value("out_format");
  if (format.empty() || format == "json") return std::make_unique<::benchmark::JSONReporter>();
  if (format == "console") {
    const std::string tabular = flag_value("counters_tabular");
    const bool is_tabular = !tabular.empty() && tabular.find_first_of("0fFnN") != 0;
    return std::make_unique<::benchmark::ConsoleReporter>(is_tabular ? ::benchmark::ConsoleReporter::OO_Tabular
                                                                     : ::benchmark::ConsoleReporter::OO_None);
  }
  if (format == "csv") {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // the format is on offer all the same
    return std::make_unique<::benchmark::CSVReporter>();
#pragma GCC diagnostic pop
  }
  return nullptr;  // a format that Google Benchmark does not know: its to refuse
}

/// The program's own reporter may check the runs that it gets. So it gets them without our counters, unless the user
/// requested figures. And Google Benchmark's CSV reporter fixes its columns with the first benchmark, and aborts if a
/// later one has another counter.
bool shows_counters(const Reporter& reporter, const Reporter* of_flags) {
  constexpr std::string_view kCsv = "N9benchmark11CSVReporterE";  // deprecated: naming the class is a warning
  if (typeid(reporter).name() == kCsv) return false;
  return &reporter == of_flags || typeid(reporter) == typeid(::benchmark::ConsoleReporter) ||
         typeid(reporter) == typeid(::benchmark::JSONReporter) || adapter::prints_lines();
}

}  // namespace

std::size_t run_timing(Reporter* display, Reporter* file, const std::string& spec, const CountingRequest& request) {
  const std::string type = adapter::build_type();
  adapter::Framework framework;
  framework.name = "Google Benchmark";
  framework.build_type = type;
  adapter::check_report_or_exit(framework.name, flag_value("out"));
  adapter::start_timing_or_exit(framework);
  Traces traces;
  if (adapter::wants_tools()) traces.gather(request);
  Counts counts;
  if (adapter::wants_counts()) {
    gather_counts(counts, framework, spec, request);
  } else {
    framework.selection = spec.empty() || spec == "all" || spec == "." ? "whole" : "subset";
    adapter::set_counted_by_or_exit({}, framework);
  }
  traces.write();

  MaybeOwned own_display;
  if (display == nullptr) {
    own_display = maybe_own(::benchmark::CreateDefaultDisplayReporter());
    display = own_display.reporter;
  }
  std::unique_ptr<Reporter> own_file;
  if (file == nullptr) {
    own_file = default_file_reporter();
    file = own_file.get();
  }
  Annotator annotated_display(*display, counts, shows_counters(*display, own_display.reporter), file == nullptr);
  std::optional<Annotator> annotated_file;
  if (file != nullptr) annotated_file.emplace(*file, counts, shows_counters(*file, own_file.get()), true);
  adapter::begin_timing();
  const std::size_t count = real_run(&annotated_display, annotated_file.has_value() ? &*annotated_file : nullptr, spec);
  adapter::end_timing();
  return count;
}

}  // namespace syscost::benchmark_adapter
