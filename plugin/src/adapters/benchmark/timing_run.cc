// SPDX-License-Identifier: MIT
#include "adapters/benchmark/timing_run.h"

#include <memory>
#include <string>

#include "adapters/benchmark/annotator.h"
#include "adapters/benchmark/flags.h"
#include "adapters/benchmark/gathering.h"
#include "adapters/benchmark/hooks.h"
#include "adapters/benchmark/traces.h"
#include "adapters/benchmark/versions.h"
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
  return nullptr;  // csv: see below
}

}  // namespace

std::size_t run_timing(Reporter* display, Reporter* file, const std::string& spec, const Orders& orders) {
  const std::string type = adapter::build_type();
  adapter::Framework framework;
  framework.name = "Google Benchmark";
  framework.build_type = type;
  adapter::start_timing_or_exit(framework);
  Traces traces;
  if (adapter::wants_tools()) traces.gather(orders);
  Counts counts;
  if (adapter::wants_counts()) {
    gather_counts(counts, framework, spec, orders);
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
  // Google Benchmark's CSV fixes its columns with the first benchmark, and aborts over a counter that comes later.
  const bool is_csv = own_display.reporter != nullptr && flag_value("format") == "csv";
  Annotator annotated_display(*display, counts, !is_csv);
  if (file == nullptr) return real_run(&annotated_display, nullptr, spec);
  Annotator annotated_file(*file, counts);
  return real_run(&annotated_display, &annotated_file, spec);
}

}  // namespace syscost::benchmark_adapter
