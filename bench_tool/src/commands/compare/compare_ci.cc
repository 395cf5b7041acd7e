// SPDX-License-Identifier: MIT
//
// compare for CI systems: the cases of a report, the page of a pull request, and the files of --output.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <utility>

#include "commands/compare/causes.h"
#include "commands/compare/compare.h"
#include "commands/compare/count_rules.h"
#include "commands/shared/gate.h"
#include "commands/shared/site_text.h"
#include "judge/comparability.h"
#include "render/output_file.h"
#include "render/table.h"

namespace syscost::bench::commands {
namespace {

using judge::Comparison;
using stats::WindowSummary;

constexpr std::array<render::CiRule, 8> kCompareRules = {
    {{"counts", "A test makes more syscalls, or one fails that did not"},
     {"wall", "A test takes longer"},
     {"cpu", "A test uses more processor time"},
     {"missing", "A test of OLD is not in NEW"},
     {"failed", "A test fails that did not, so its cost is not known"},
     {"skipped", "A test is skipped that was not, so its cost is not known"},
     {"crashed", "A test or a program ended its process, so its cost is not known"},
     {"limit", "A limit is exceeded, or limits no test"}}};

const WindowSummary& window_of(const Comparison& row) {
  return row.new_window != nullptr ? *row.new_window : *row.old_window;
}

/// Why a row fails by `word`: `+99 write`, `wall 45.2 us -> 97.0 us, ...`.
std::string evidence(const Comparison& row, std::string_view word) {
  if (word == "counts") {
    const std::string lines = site_sentence(site_lines(row, kFewSiteLines));
    std::string text = "calls: " + breakdown(row);
    for (const std::string& more : {row.reason, lines}) text += (more.empty() ? "" : "; ") + more;
    return text;
  }
  if (word == "wall") return "wall: " + time_cell(row, kWallTime, "");
  if (word == "cpu") return "cpu: " + time_cell(row, kCpuTime, "");
  if (word == "missing") return "missing: OLD has it, and NEW does not";
  return fmt::format("{} in NEW, and not in OLD: what it costs is not known", word);
}

/// Why a row has no verdict.
std::string no_answer(const Comparison& row) {
  if (!judge::has_no_answer(row.verdict)) return "its times are not decided";
  return std::string(judge::to_string(row.verdict)) + (row.reason.empty() ? "" : ": " + row.reason);
}

}  // namespace

std::pair<std::string_view, std::string_view> ci_names(const Comparison& row) {
  const std::string_view name = row.name;
  const std::size_t dot = name.find('.');
  if (window_of(row).kind != "test" || dot == std::string_view::npos || name.find(" -> ") != std::string_view::npos) {
    return {window_of(row).kind, name};
  }
  return {name.substr(0, dot), name.substr(dot + 1)};
}

render::CiReport compare_ci(const CompareResult& result) {
  render::CiReport report{fmt::format("bench {}", result.command),
                          kCompareRules,
                          {},
                          result.warnings,
                          "verdict: " + result.conclusion.text};
  for (const Comparison& row : result.rows) {
    const auto [suite, test] = ci_names(row);
    render::CiCase one{row.name, std::string(suite), std::string(test), result.locations.find(row.name), {}, {}, {}};
    for (const std::string_view word : gate_failures(row, result.gate)) {
      one.failures.push_back({word, evidence(row, word), {}});
      if (word == "counts") one.failures.back().location = grown_line(row);
    }
    if (lacks_answer(row, result.gate)) one.no_answer = no_answer(row);
    if (row.is_let_off) one.let_off = row.reason;
    if (row.verdict == judge::Verdict::accepted)
      one.accepted = fmt::format("accepted: {}; {}", breakdown(row), row.reason);
    report.cases.push_back(std::move(one));
  }
  if (!lost_programs(result).empty()) add_cases(result.lost, report);
  return report;
}

void add_cases(const ProgramFaults& lost, render::CiReport& report) {
  for (std::size_t i = 0; i < lost.names.size(); ++i) {
    render::CiCase one{lost.names[i], "program", lost.names[i], {}, {}, {}, {}};
    one.failures.push_back({i < lost.crashed ? "crashed" : "failed", lost.sentences[i], {}});
    report.cases.push_back(std::move(one));
  }
}

// compare for a pull request: first what fails, then what changed, then the rest, folded up.

namespace {

using judge::Verdict;

/// The verdict of a row, with emphasis on the reason why it fails.
std::string verdict_cell(const Comparison& row, const std::vector<std::string_view>& by) {
  std::string text(judge::to_string(row.verdict));
  if (!row.is_plain) {
    for (const TimeKind& kind : {kWallTime, kCpuTime}) {
      const std::optional<judge::TimeVerdict>& time = row.*kind.verdict;
      if (!time || (time->verdict != Verdict::regressed && time->verdict != Verdict::improved)) continue;
      text += fmt::format(", {} {}", kind.title, judge::to_string(time->verdict));
    }
  }
  if (by.empty()) return text;
  const std::string words = fmt::format("{}", fmt::join(by, ", "));
  return words == text ? fmt::format("**{}**", text) : fmt::format("**{}** ({})", text, words);
}

std::string table_of(const CompareResult& result, const std::vector<const Comparison*>& shown) {
  if (shown.empty()) return {};
  const bool has_cpu = has_cpu_column(result, shown);
  std::vector<render::TableColumn> columns = {{"test", render::Align::left, render::Cells::names},
                                              {"verdict", render::Align::left, render::Cells::markdown},
                                              {"change"},
                                              {"calls"}};
  const bool has_wall = !result.is_of_baseline;
  if (has_wall) columns.push_back({"wall"});
  if (has_cpu) columns.push_back({"cpu"});
  render::Table table(columns);
  const std::vector<std::string> names = judge::shown_names(result.rows, shown);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const Comparison& row = *shown[i];
    std::vector<std::string> cells = {names[i], verdict_cell(row, gate_failures(row, result.gate)),
                                      change_and_reason(row), calls_cell(row, "")};
    if (has_wall) cells.push_back(time_cell(row, kWallTime, ""));
    if (has_cpu) cells.push_back(time_cell(row, kCpuTime, ""));
    table.add_row(std::move(cells));
  }
  std::vector<std::vector<SiteLine>> lines;
  for (const Comparison* row : shown) lines.push_back(site_lines(*row, kFewSiteLines));
  return table.markdown() + '\n' + site_list(names, lines);
}

/// A folded part; a click opens it. GitHub reads the body as Markdown only if an empty line follows the summary.
std::string details(const std::string& summary, const std::string& body) {
  return body.empty() ? "" : fmt::format("<details>\n<summary>{}</summary>\n\n{}\n</details>\n\n", summary, body);
}

/// Each line a paragraph of its own: Markdown joins lines.
std::string list_of(std::string_view lines) {
  std::string out;
  const std::string escaped = render::escaped_lines(lines);
  for (std::string_view rest = escaped; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    if (end != 0) out += "- " + std::string(rest.substr(0, end)) + '\n';
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return out;
}

/// The lines that would accept the failing tests, if it is their counts that fail.
std::string accept_lines_text(const std::vector<const Comparison*>& failing, const cli::Gate& gate) {
  constexpr std::size_t kMostLines = 10;
  std::string lines;
  std::size_t times = 0;
  for (const Comparison* row : failing) {
    const std::vector<std::string_view> by = gate_failures(*row, gate);
    if (by.front() != "counts" || ++times > kMostLines) continue;
    lines += "    " + accept_line(*row) + '\n';
  }
  if (lines.empty()) return {};
  return "A line in a commit message accepts what is intended (`--accept-from`):\n\n" + lines +
         (times > kMostLines ? fmt::format("\n- and {} more tests\n", times - kMostLines) : "");
}

}  // namespace

std::string compare_markdown(const CompareResult& result, bool all, std::size_t most_bytes, const std::string& below) {
  std::vector<const Comparison*> failing;
  std::vector<const Comparison*> changed;
  std::vector<const Comparison*> unchanged;
  for (const Comparison& row : result.rows) {
    auto& list = !gate_failures(row, result.gate).empty() ? failing
                 : is_worth_showing(result, row)          ? changed
                                                          : unchanged;
    list.push_back(&row);
  }
  std::vector<std::string> parts;
  if (const std::string lost = lost_programs(result); !lost.empty()) parts.push_back(lost);
  if (!failing.empty()) {
    parts.push_back(failing.size() == 1 ? "1 test fails" : fmt::format("{} tests fail", failing.size()));
  }
  if (result.exceeds_budgets) parts.push_back(result.budgets);
  if (parts.empty())
    parts.emplace_back(result.conclusion.exit_code == cli::kExitNoVerdict ? "no answer" : "no test fails");
  std::string out =
      fmt::format("## syscost: {}\n\n", render::escaped_markdown(fmt::format("{}", fmt::join(parts, ", "))));
  std::string totals = "verdict: " + result.conclusion.text;
  totals += '\n' + causes_text(causes_of(failing_rows(result), result.gate), 0) + law_lines(result);
  for (const std::string& warning : result.warnings) totals += "warning: " + warning + '\n';
  if (const std::string counts = verdict_line(result); !counts.empty()) totals += "counts: " + counts + '\n';
  const std::string times = time_notes(result);
  std::size_t verdicts_end = 0;
  while (times.compare(verdicts_end, 7, "times: ") == 0 || times.compare(verdicts_end, 11, "cpu times: ") == 0) {
    verdicts_end = times.find('\n', verdicts_end) + 1;
  }
  totals += times.substr(0, verdicts_end) + result.sides;
  if (!result.further_runs.empty()) totals += result.further_runs + '\n';
  if (!result.count_rules.empty()) totals += result.count_rules + '\n';
  if (!result.paired.empty()) totals += "paired: " + result.paired + '\n';
  out += list_of(totals) + '\n';
  out += table_of(result, failing);
  // Changes that do not fail matter less: if there are failures, they are folded up.
  const std::string others = table_of(result, changed);
  const std::string title =
      fmt::format("{} changed, and do{} not fail", changed.size(), changed.size() == 1 ? "es" : "");
  out += failing.empty() ? others : details(title, others);
  out += details("If a change is intended", accept_lines_text(failing, result.gate));
  if (all) out += details(fmt::format("{} unchanged", unchanged.size()), table_of(result, unchanged));
  std::vector<const Comparison*> every_row;
  for (const Comparison& row : result.rows) every_row.push_back(&row);
  out += details("Kernel time", kernel_split_text(every_row, all, true));
  std::vector<const Comparison*> shown = failing;
  shown.insert(shown.end(), changed.begin(), changed.end());
  out += details("About the numbers", list_of(times.substr(verdicts_end) + number_notes(result, shown)));
  out += below;
  return render::capped_markdown(std::move(out), most_bytes);
}

std::string write_outputs(const cli::Options& options, const WriteResult& write) {
  for (const cli::Output& output : options.outputs) {
    cli::Options its = options;
    its.format = output.format;
    its.report = output.report;
    std::ostringstream text;
    std::ostringstream notes;  // those of the main output say the same
    write(its, text, notes);
    const std::string all = text.str();
    // All outputs of one format begin alike: `## syscost`, `<?xml`, `{`.
    constexpr std::size_t kAlike = 2;
    const render::OutputKind kind{std::string_view(all).substr(0, kAlike), "output of bench in this format"};
    if (std::string fault = render::write_output(output.file, kind, all); !fault.empty()) return fault;
  }
  return {};
}

}  // namespace syscost::bench::commands
