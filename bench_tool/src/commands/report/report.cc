// SPDX-License-Identifier: MIT
#include "commands/report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "commands/shared/artifacts.h"
#include "commands/shared/chosen_tests.h"
#include "commands/shared/run_notes.h"
#include "commands/shared/summary_overview.h"
#include "commands/shared/summary_tables.h"
#include "commands/summary/summary.h"
#include "csv/problems.h"
#include "csv/text.h"
#include "findings/find.h"

#ifdef SYSCOST_HAS_GPU_STAMPS
#include "gpu_stamps/show_stamps.h"
#endif
#include "model/dataset.h"
#include "model/loader.h"
#include "render/output_file.h"
#include "report/card.h"
#include "report/changes.h"
#include "report/laws.h"
#include "report/page.h"
#include "report/run.h"
#include "report/tests_table.h"
#include "report/time_use.h"
#include "report/timeline.h"
#include "report/totals.h"
#include "stats/latency.h"
#include "stats/sites.h"
#include "stats/summaries.h"
#include "trace/trace_file.h"

namespace syscost::bench::commands {
namespace {

model::Dataset load_run(const cli::Options& options, csv::Problems& problems) {
  model::LoadOptions load;
  load.folders = options.folders;
  load.all_runs = options.all_runs;
  load.is_printable = true;
  load.keep_histograms = true;
  load.keep_sites = true;
  load.tests = model::TestChoice(options.tests);
  if (!options.run_ids.empty()) load.run_id = options.run_ids.front();
  return model::load(options.runs.back(), load, problems);
}

/// A scope is a part of its test.
bool has_card(const stats::WindowSummary& window) {
  return window.kind != "scope";
}

report::Run run_of(const model::Dataset& data, const std::vector<model::Group>& groups) {
  report::Run run{&data, run_line(data), {}, {}};
  const SummarizedRun without_findings;  // the report shows them apart
  std::vector<stats::WindowSummary> summaries = stats::summarize_all(data, groups, false);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (!has_card(summaries[i])) continue;
    report::Window window{&groups[i], std::move(summaries[i]), {}, {}};
    window.notes = remarks(without_findings, window.summary);
    run.windows.push_back(std::move(window));
  }
  std::stable_sort(run.windows.begin(), run.windows.end(), [](const report::Window& a, const report::Window& b) {
    return comes_first(overview_line(a.summary), overview_line(b.summary), "worst");
  });
  for (std::size_t i = 0; i < run.windows.size(); ++i) run.places.emplace(run.windows[i].summary.name, i);
  return run;
}

/// The sections that show the run itself.
class RunSections {
 public:
  RunSections(const report::Run& run, const std::vector<model::Group>& groups, csv::Problems& problems)
      : run_(run), groups_(groups), problems_(problems), traces_(*run.data, problems) {
    find_findings();
    add_totals();
  }

  void add_to(report::Page& page) {
    report::PackedCards packed;
    std::vector<std::string> places;
    std::string worst;
    for (std::size_t i = 0; i < run_.windows.size(); ++i) {
      const report::Window& window = run_.windows[i];
      const std::string card = report::card(window, parts_of(window, i), axis_);
      places.push_back(packed.add(card));
      if (i < report::kStaticCards) worst += report::folded_card(window, i, card);
    }
    page.sections.push_back({"findings", "Findings", report::findings_section(run_, findings_)});
    page.sections.push_back({"tests", "Tests", report::tests_table(run_, "", places)});
    page.sections.push_back({"loops", "Loops, per call", report::tests_table(run_, "call", places)});
    page.sections.push_back(
        {"benchmarks", "Benchmarks, per iteration", report::tests_table(run_, "iteration", places)});
    page.sections.push_back({"gpu-balance", "GPU: kernels and copies", report::gpu_balance(run_)});
    page.sections.push_back({"gpu", "GPU kernels, per launch", report::tests_table(run_, "launch", places)});
    page.sections.push_back({"worst", "Slowest tests", worst, true});
    page.sections.push_back({"waiting", "Waiting", report::waiting_section(run_, paths_)});
    page.sections.push_back({"groups", "Groups of tests", report::kinds_section(run_, kinds_of(run_))});
    page.sections.push_back({"syscalls", "Syscalls", totals_.syscalls(axis_)});
    page.sections.push_back({"lines", "Lines", report::lines_section(all_sites())});
    page.sections.push_back({"laws", "Laws", report::laws_section(law_families(*run_.data, groups_))});
    page.sections.push_back({"history", "History", report::history_section(run_)});
    page.data = packed.html();
  }

  std::string figures() const { return totals_.figures() + report::slowest_test(run_); }

 private:
  void find_findings() {
    findings::Finder finder(*run_.data, groups_);
    for (const report::Window& window : run_.windows) {
      const auto index = static_cast<std::size_t>(window.group - groups_.data());
      std::optional<trace::TraceFile> trace;
      if (finder.looks_at(window.summary) && window.summary.loop.empty()) trace = traces_.of(*window.group);
      finder.add(index, window.summary, trace ? &*trace : nullptr);
    }
    findings_ = finder.take();
    for (const findings::Finding& one : findings_.found) by_window_[one.window].push_back(&one);
  }

  void add_totals() {
    for (const report::Window& window : run_.windows) {
      const auto syscalls = stats::latencies_of(*run_.data, *window.group, {}, problems_);
      for (const stats::SyscallLatency& one : syscalls) {
        if (one.is_timed) axis_.include(one.latency);
      }
      totals_.add(window.summary, syscalls);
    }
  }

  report::CardParts parts_of(const report::Window& window, std::size_t index) {
    csv::Problems noted_before;
    report::CardParts parts;
    parts.latencies = stats::latencies_of(*run_.data, *window.group, {}, noted_before);
    if (run_.data->has_sites) parts.sites = sites_of({&window});
    if (const auto found = by_window_.find(window.summary.name); found != by_window_.end())
      parts.findings = found->second;
    if (index < report::kStaticCards && window.summary.loop.empty()) {
      if (const std::optional<trace::TraceFile> trace = traces_.of(*window.group))
        parts.timeline = report::timeline(*trace);
      if (const std::optional<trace::SchedFile> sched = traces_.sched_of(*window.group)) {
        const report::Path path = path_of(window.summary.name, *sched);
        parts.critical_path = report::path_part(path);
        paths_.push_back(path.times);
      }
    }
    return parts;
  }

  std::vector<stats::SiteTotal> sites_of(const std::vector<const report::Window*>& windows) const {
    stats::SiteTotals totals(*run_.data);
    for (const report::Window* window : windows) totals.add(*window->group, {});
    std::vector<stats::SiteTotal> sites = totals.all();
    stats::sort_sites(sites, "kernel");
    return sites;
  }

  std::vector<stats::SiteTotal> all_sites() const {
    if (!run_.data->has_sites) return {};
    std::vector<const report::Window*> windows;
    for (const report::Window& window : run_.windows) {
      if (window.summary.is_ours()) windows.push_back(&window);
    }
    return sites_of(windows);
  }

  const report::Run& run_;
  const std::vector<model::Group>& groups_;
  csv::Problems& problems_;
  WindowTraces traces_;
  report::LatencyAxis axis_;
  report::Totals totals_;
  std::vector<report::PathTimes> paths_;
  findings::Findings findings_;
  std::map<std::string, std::vector<const findings::Finding*>> by_window_;
};

/// Pictures of GPU launches.
std::string stamps([[maybe_unused]] const cli::Options& options, [[maybe_unused]] csv::Problems& problems) {
  std::string html;
#ifdef SYSCOST_HAS_GPU_STAMPS
  constexpr std::size_t kMostLaunches = 10;
  for (const std::string& picture : gpu_stamps::pictures_of(options.page.stamps, kMostLaunches, problems)) {
    html += "<div class=\"wide picture\">" + picture + "</div>\n";
  }
#endif
  return html;
}

/// The parts that are missing on the page. A reader of the page does not see what bench printed when it made it.
std::string missing(const csv::Problems& problems) {
  constexpr std::size_t kMost = 50;
  const std::vector<std::string> texts = problems.texts();
  if (texts.empty()) return {};
  std::string html = "<p>This is not in the report:</p>\n<ul>\n";
  for (std::size_t i = 0; i < std::min(texts.size(), kMost); ++i) {
    html += fmt::format("<li>{}</li>\n", report::text(texts[i]));
  }
  if (texts.size() > kMost) html += fmt::format("<li>and {} more</li>\n", texts.size() - kMost);
  return html + "</ul>\n";
}

/// Writes the page where --output says; returns what is wrong, or "".
std::string write(const std::string& path, const std::string& html, std::ostream& out) {
  if (path == "-") {
    out << html;
    return {};
  }
  return render::write_output(path, {report::kPageBeginning, "report of bench"}, html);
}

}  // namespace

int report_page(const cli::Options& options, std::ostream& out, std::ostream& err) {
  csv::Problems problems;
  model::Dataset data = load_run(options, problems);
  const std::vector<model::Group> groups = model::group_samples(data, model::Tools::left_out);
  if (groups.empty()) {
    note_no_test(data, model::TestChoice(options.tests), problems);
    problems.print(err);
    err << "bench: there is nothing to report\n";
    return cli::kExitBadInput;
  }
  report::Run run = run_of(data, groups);
  add_history(options, run, problems);
  report::Page page{"Syscalls of " + std::filesystem::path(data.name).filename().string(), {run.line}, {}, {}};
  for (const std::string& line : crash_lines(data)) page.below_title.push_back(line);
  RunSections sections(run, groups, problems);
  page.sections.push_back({"totals", "Overview", sections.figures()});
  if (!options.page.compare.empty()) {
    const std::optional<report::Comparison> comparison = compared(options, problems, err);
    if (!comparison) return cli::kExitBadInput;
    page.sections.push_back({"comparison", "Comparison", report::comparison_section(run, *comparison)});
  }
  sections.add_to(page);
  if (!options.page.stamps.empty()) page.sections.push_back({"stamps", "GPU stamps", stamps(options, problems)});
  page.sections.insert(page.sections.begin(), {"missing", "Could not be read", missing(problems)});
  const std::string html = report::html_of(page);
  problems.print(err);
  if (const std::string fault = write(options.page.output, html, out); !fault.empty()) {
    err << "bench: " << fault << '\n';
    return cli::kExitBadInput;
  }
  if (options.page.output != "-") {
    out << fmt::format("{} holds {} test{} and other windows\n", csv::printable(options.page.output),
                       run.windows.size(), run.windows.size() == 1 ? "" : "s");
  }
  return problems.empty() ? cli::kExitOk : cli::kExitBadInput;
}

}  // namespace syscost::bench::commands
