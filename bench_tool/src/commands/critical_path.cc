// SPDX-License-Identifier: MIT
#include "commands/critical_path.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <ostream>

#include "commands/artifact.h"
#include "csv/printable.h"
#include "csv/problems.h"
#include "render/markdown.h"
#include "render/svg.h"

namespace syscost::bench::commands {
namespace {

using trace::PathStep;

constexpr ArtifactKind kSched{trace::kSchedName, trace::kSchedName, "sched.csv file",
                              "Run the tests with --syscost_sched (SYSCOST_SCHED=1), which needs the backend ebpf.\n"};

std::vector<const PathStep*> chosen(const cli::TraceOptions& options, const std::vector<PathStep>& steps) {
  std::vector<const PathStep*> listed;
  for (const PathStep& step : steps) listed.push_back(&step);
  const std::size_t most = std::min(options.most.value_or(listed.size()), listed.size());
  if (!options.last.empty()) {
    listed.erase(listed.begin(), listed.end() - static_cast<std::ptrdiff_t>(most));
    return listed;
  }
  if (!options.slowest.empty()) {
    std::stable_sort(listed.begin(), listed.end(),
                     [](const PathStep* a, const PathStep* b) { return a->took_ns() > b->took_ns(); });
  }
  listed.resize(most);
  return listed;
}

/// The folder's: the file has no name of the test.
std::string test_of(const std::string& path) {
  const std::string name = std::filesystem::path(path).parent_path().filename().string();
  return name.empty() ? path : name;
}

}  // namespace

int critical_path(const cli::Options& options, const render::Paint& paint, std::ostream& out, std::ostream& err) {
  csv::Problems problems;
  const auto fail = [&] {
    problems.print(err);
    return cli::kExitBadInput;
  };
  const std::optional<std::string> name = find_artifact(options, kSched, problems, err);
  if (!name) return fail();
  const std::optional<trace::SchedFile> file = trace::read_sched_file(*name, problems);
  if (!file) return fail();
  const trace::CriticalPath path = trace::critical_path(*file);
  const ShownPath shown{test_of(*name), *file, path, chosen(options.trace, path.steps)};
  if (!options.svg.empty()) {
    if (const std::string fault = render::write_picture(options.svg, path_svg(shown)); !fault.empty()) {
      err << "bench: " << fault << '\n';
      return fail();
    }
  }
  switch (options.format) {
    case cli::Format::json:
      out << path_json(shown);
      break;
    case cli::Format::csv:
      out << path_csv(shown);
      break;
    case cli::Format::md:
      out << render::code_block(path_text(shown, render::Paint(false), 0));
      break;
    case cli::Format::text:
      out << path_text(shown, paint, options.screen.width);
      break;
  }
  problems.print(err);
  return problems.empty() ? cli::kExitOk : cli::kExitBadInput;
}

}  // namespace syscost::bench::commands
