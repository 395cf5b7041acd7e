// SPDX-License-Identifier: MIT
#include "commands/where/where.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <ostream>
#include <string_view>
#include <utility>

#include "commands/shared/chosen_tests.h"
#include "commands/shared/document.h"
#include "commands/shared/run_notes.h"
#include "csv/input.h"
#include "csv/problems.h"
#include "csv/text.h"
#include "model/dataset.h"
#include "model/loader.h"
#include "render/svg.h"
#include "render/table.h"
#include "syscost/schema.h"

namespace syscost::bench::commands {
namespace {

/// True for windows that may be added up. Calls of a scope are also calls of its test, and tools count what syscost
/// counts.
bool adds_up(const model::Dataset& data, const model::Group& group) {
  return data.text(group.kind) != "scope" && data.text(group.kind) != schema::kKindGpuKernel &&
         data.text(group.origin) == schema::kOriginSyscost;
}

}  // namespace

std::string no_sites_text(const model::Dataset& data) {
  return fmt::format(
      "bench: {} does not say which lines make the calls: it was measured without --syscost_where\n"
      "Measure it again with `--syscost_where` (a test program) or `bench run --where`. It needs the backend dispatch "
      "or "
      "dispatch-trap: `--syscost_backend dispatch`.\n",
      csv::printable(data.name));
}

std::string site_key(const cli::Options& options) {
  const bool is_key = options.sort == "calls" || options.sort == "errors" || options.sort == "name";
  return is_key ? options.sort : "kernel";
}

std::size_t most_sites(const cli::Options& options, std::size_t lines_around) {
  constexpr std::size_t kFewest = 5;
  // --top of show without TEST is a number of tests.
  if (options.top && options.sorts_lines) return *options.top;
  if (options.screen.height == 0) return 0;
  return std::max(options.screen.height, lines_around + kFewest) - lines_around;
}

int summary_where(const cli::Options& options, const render::Paint& paint, std::ostream& out, std::ostream& err) {
  csv::Problems problems;
  model::LoadOptions load_options = load_options_of(options);
  load_options.keep_sites = true;
  std::vector<SitedRun> runs;
  bool lacks_sites = false;
  for (const std::string& path : options.runs) {
    SitedRun run;
    run.data = model::load(path, load_options, problems);
    const std::vector<model::Group> groups = model::group_samples(run.data);
    if (groups.empty()) {
      note_no_test(run.data, load_options.tests, problems);
      continue;
    }
    if (!run.data.has_sites) {
      err << no_sites_text(run.data);
      lacks_sites = true;
      continue;
    }
    stats::SiteTotals totals(run.data);
    for (const model::Group& group : groups) {
      const std::string& kind = run.data.text(group.kind);
      run.tests += kind == "test" || kind == "benchmark" ? 1 : 0;
      if (adds_up(run.data, group)) totals.add(group, {});
    }
    run.sites = totals.all();
    stats::sort_sites(run.sites, site_key(options));
    run.source = run_line(run.data);
    runs.push_back(std::move(run));
  }
  const auto text = [&] {
    return one_below_the_other(runs, [&](const SitedRun& run) { return summary_where_text(run, options, paint); });
  };
  const int code = print({.json = [&] { return runs.empty() ? "" : summary_where_json(runs); },
                          .csv = [&] { return runs.empty() ? "" : summary_where_csv(runs); },
                          .markdown = [&] { return render::capped_markdown(text(), most_bytes(options, kStepBytes)); },
                          .text = text},
                         options, problems, out, err);
  return lacks_sites ? cli::kExitBadInput : code;
}

namespace {

using render::FoldedStack;

std::vector<FoldedStack> stacks_in(const std::string& path, std::string_view text, csv::Problems& problems) {
  std::vector<FoldedStack> stacks;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) continue;
    if (std::optional<FoldedStack> stack = render::parse_folded(line)) {
      stacks.push_back(*std::move(stack));
    } else {
      problems.add(path, number, "is no folded stack: `outer;inner;syscall NUMBER` expected");
    }
  }
  return stacks;
}

}  // namespace

bool is_folded_file(const std::string& path) {
  return path.ends_with(".folded");
}

int show_folded(const cli::Options& options, std::ostream& err) {
  const std::string& path = options.runs.front();
  csv::Problems problems;
  const auto fail = [&](const std::string& fault) {
    problems.print(err);
    if (!fault.empty()) err << "bench: " << fault << '\n';
    return cli::kExitBadInput;
  };
  if (options.svg.empty()) {
    return fail(fmt::format("{} holds call stacks, which are drawn: --svg FILE", csv::printable(path)));
  }
  const std::optional<std::string> text = csv::read_text(path, problems);
  if (!text) return fail("");
  std::vector<FoldedStack> stacks = stacks_in(path, *text, problems);
  std::erase_if(stacks, [&](const FoldedStack& stack) {
    return std::none_of(stack.frames.begin(), stack.frames.end(),
                        [&](const std::string& frame) { return frame.find(options.test) != std::string::npos; });
  });
  if (stacks.empty()) {
    return fail(options.test.empty() ? csv::printable(path) + " holds no stack"
                                     : fmt::format("{}: no stack has a frame with \"{}\"", csv::printable(path),
                                                   csv::printable(options.test)));
  }
  const std::string title = options.test.empty() ? path : fmt::format("{}: {}", path, options.test);
  if (const std::string fault = render::write_picture(options.svg, render::flame_svg(title, stacks)); !fault.empty()) {
    return fail(fault);
  }
  problems.print(err);
  return problems.empty() ? cli::kExitOk : cli::kExitBadInput;
}

std::string draw_sites(const std::string& path, const std::vector<SitedTest>& tests) {
  std::vector<FoldedStack> stacks;
  for (const SitedTest& test : tests) {
    for (const stats::SiteTotal& one : test.sites) {
      if (one.calls.value_or(0) == 0) continue;
      const model::Site& site = one.site;
      FoldedStack stack{{test.window.name}, *one.calls};
      stack.frames.push_back(site.has_line() ? site.file : site.is_unknown() ? model::text_of(site) : site.module);
      if (!site.function.empty()) stack.frames.push_back(site.function);
      stack.frames.push_back(site.has_line() ? fmt::format("{} line {}", one.syscall, site.line) : one.syscall);
      stacks.push_back(std::move(stack));
    }
  }
  const std::string title = tests.size() == 1 ? tests.front().window.name : fmt::format("{} tests", tests.size());
  return render::write_picture(path, render::flame_svg(title, stacks));
}

}  // namespace syscost::bench::commands
