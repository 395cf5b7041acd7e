// SPDX-License-Identifier: MIT
#include "adapters/benchmark/timing_run.h"

#include <unistd.h>

#include <memory>
#include <optional>
#include <vector>

#include "adapters/benchmark/annotator.h"
#include "adapters/benchmark/build_type.h"
#include "adapters/benchmark/flags.h"
#include "adapters/benchmark/hooks.h"
#include "adapters/benchmark/record.h"
#include "adapters/benchmark/versions.h"
#include "syscost/counting.h"

namespace syscost::benchmark_adapter {
namespace {

/// Listens to the counting process.
class Listener {
 public:
  Listener(Counts& counts, adapter::Framework& framework, const std::string& spec)
      : counts_(counts), framework_(framework), selects_all_(spec.empty() || spec == "all" || spec == ".") {}

  void hear(std::string_view line) {
    const std::vector<std::string_view> fields = split_fields(line);
    if (fields[0] == "start" && fields.size() == 3) {
      start_.emplace();
      start_->backend = fields[1];
      start_->note = fields[2];
    } else if (fields[0] == "unavailable" && fields.size() == 3) {
      start_.emplace();
      start_->why_not = Unavailable{std::string(fields[1]), std::string(fields[2])};
      adapter::set_counted_by_or_exit(*start_, framework_);
    } else if (fields[0] == "name" && fields.size() == 2) {
      names_.emplace_back(fields[1]);
    } else if (fields[0] == "listed" && start_.has_value()) {
      framework_.selection = selects_all_ ? "whole" : names_.size() == 1 ? "isolated" : "subset";
      adapter::set_counted_by_or_exit(*start_, framework_);
      is_listed_ = true;
    } else if (receive(line, record_)) {
      counts_.add(std::move(record_));
      record_ = Record{};
      ++done_;
    }
  }

  /// A benchmark that takes long is counted for long, with nothing on the screen.
  void wait(int seconds) const {
    const bool is_terminal = isatty(STDERR_FILENO) != 0;
    if (seconds % (is_terminal ? 5 : 60) == 0) {
      adapter::say("counting " + current() + ", for " + std::to_string(seconds) + " s so far");
    }
  }

  void end(const adapter::CountingEnd& end) const {
    if (end.is_whole) return;
    const std::string heard = end.errors.empty() ? "" : "; it wrote:\n" + end.errors;
    if (!is_listed_) {
      adapter::refuse({"the process that counts " + end.how + " before it ran a benchmark" + heard,
                       "run it by itself without syscost's flags; --syscost_backend none measures times only"});
    }
    adapter::note_problem({"the process that counts " + end.how + " in " + current() + ": " + std::to_string(done_) +
                               " of " + std::to_string(names_.size()) + " benchmarks have counts" + heard,
                           "leave that benchmark out with --benchmark_filter, or repair it"});
  }

 private:
  std::string current() const {
    return done_ < names_.size() ? "benchmark " + names_[done_] : "what follows the benchmarks";
  }

  Counts& counts_;
  adapter::Framework& framework_;
  const bool selects_all_;
  std::optional<adapter::CountingStart> start_;
  std::vector<std::string> names_;
  bool is_listed_ = false;
  std::size_t done_ = 0;
  Record record_;
};

void count(Counts& counts, adapter::Framework& framework, const std::string& spec, const std::string& orders) {
  Listener listener(counts, framework, spec);
  const adapter::CountingEnd end = adapter::run_counting_process(
      orders, [&](std::string_view line) { listener.hear(line); }, [&](int seconds) { listener.wait(seconds); });
  listener.end(end);
}

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
  return nullptr;  // csv: see below
}

}  // namespace

std::size_t run_timing(Reporter* display, Reporter* file, const std::string& spec, const std::string& orders) {
  const std::string type = build_type();
  adapter::Framework framework;
  framework.name = "Google Benchmark";
  framework.build_type = type;
  adapter::start_timing_or_exit(framework);
  Counts counts;
  if (adapter::wants_counts()) {
    count(counts, framework, spec, orders);
  } else {
    framework.selection = spec.empty() || spec == "all" || spec == "." ? "whole" : "subset";
    adapter::set_counted_by_or_exit({}, framework);
  }

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
  // Google Benchmark's CSV fixes its columns with the first benchmark, and aborts over a counter that comes later.
  const bool is_csv = own_display.reporter != nullptr && flag_value("format") == "csv";
  Annotator annotated_display(*display, counts, !is_csv);
  if (file == nullptr) return real_run(&annotated_display, nullptr, spec);
  Annotator annotated_file(*file, counts);
  return real_run(&annotated_display, &annotated_file, spec);
}

}  // namespace syscost::benchmark_adapter
