// SPDX-License-Identifier: MIT
#include "adapters/benchmark/timing_run.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <typeinfo>

#include "adapters/benchmark/annotator.h"
#include "adapters/benchmark/flags.h"
#include "adapters/benchmark/gathering.h"
#include "adapters/benchmark/hooks.h"
#include "adapters/benchmark/traces.h"
#include "adapters/benchmark/versions.h"
#include "syscost/adapter.h"
#include "syscost/counting.h"

namespace syscost::benchmark_adapter {
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
