// SPDX-License-Identifier: MIT
#include "cli/grammar.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "cli/command.h"
#include "render/terminal.h"
#include "syscost/schema.h"

namespace syscost::bench::cli {
namespace {

constexpr const char* kMainFooter =
    R"(A RUN is a CSV or a folder of CSVs. If a file holds several runs, bench takes the newest.
Exit codes: 0 ok, 1 regression, 2 usage, input or I/O, 3 no verdict (no test was judged; with --strict: not all).

Examples:
  bench run -- ./my_tests                   measure tests that are not linked with syscost
  my_tests --syscost_csv out.csv            write a CSV
  bench summary out.csv                     the syscalls of each test
  bench show out.csv Log.Write write        latency histogram of one syscall in one test
  bench trace Log.Write out.csv             its calls one by one, after a run with --syscost_trace
  bench log history/                        in which runs calls changed, and by which line
  bench scale out.csv                       how counts grow with the sizes in names of tests
  bench findings out.csv                    what costs more than it has to
  bench groups out.csv                      which tests behave alike, and what a fixture costs
  bench compare main.csv pr.csv             what changed; exit code 1 if a count grew
  bench ab -- main/tests -- pr/tests        runs both in turns: counts and times
  bench baseline update r1.csv r2.csv r3.csv    a file to commit
  bench check pr.csv                        judges a run against it
  bench report out.csv -o report.html       one HTML file to look at
  bench export out.csv --otlp URL           sends it to an OpenTelemetry collector
`bench COMMAND --help` says more.)";

/// An option that may be repeated takes one value each time. Else it would take the words after it, too, up to the
/// next option: a RUN that may be missing, for one.
void take_one_value_each(CLI::App& app) {
  for (CLI::Option* const option : app.get_options()) {
    if (option->nonpositional() && option->get_expected_max() == 1) option->allow_extra_args(false);
  }
  for (CLI::App* const command : app.get_subcommands([](const CLI::App*) { return true; })) {
    take_one_value_each(*command);
  }
}

constexpr std::size_t kWidth = 80;
/// No description begins farther right. A text farther right is the second column of an example.
constexpr std::size_t kFarthest = 50;

/// `  --option X     what it does`: how many columns after the margin the description begins; 4 without one.
std::size_t description_begin(std::string_view line, std::size_t margin) {
  const std::size_t gap = std::min(line.find("  ", margin), line.size());
  const std::size_t begin = line.find_first_not_of(' ', gap);
  return begin > kFarthest ? 4 : begin - margin;  // npos is farther, too
}

/// `Usage: ...`, `Exit codes: ...`: such a line does not continue the line above it.
bool is_titled(std::string_view line) {
  constexpr std::size_t kLongest = 16;
  const std::size_t colon = line.find(": ");
  return colon <= kLongest && line.substr(0, colon).find_first_of("`.,()") == std::string_view::npos;
}

}  // namespace

Grammar::Grammar(Commands all)
    : commands(all), app("bench reads the CSVs of syscost: the syscalls of each test, and what changed", "bench") {
  app.require_subcommand(1);
  app.set_version_flag(
      "--version", fmt::format("bench {}, reads CSVs of schema version {}", SYSCOST_VERSION, schema::kSchemaVersion));
  app.footer(kMainFooter);
  for (const Command* const command : commands) {
    CLI::App* const line = app.add_subcommand(std::string(command->name), command->about);
    line->footer(command->footer);
    if (!command->alias.empty()) line->alias(std::string(command->alias));
    command->add(*line, *this);
    line->group(std::string(command->group));  // last: commands that are added to it would be of this group, too
    lines.push_back({command, line});
  }
  take_one_value_each(app);
}

std::string Grammar::commands_by_group() const {
  std::string text = app.get_description() + "\nUsage: bench COMMAND [ARGUMENT]...\n";
  std::string_view group;
  for (const Command* const command : commands) {
    text += group == command->group ? ", " : fmt::format("\n  {:<11}", command->group);
    text += command->name;
    group = command->group;
  }
  return text + "\n\n`bench help` says what each does, with examples; `bench COMMAND --help` says more.\n";
}

std::vector<std::string> Grammar::words_of(const CLI::Option& option) const {
  if (const auto later = later_words.find(&option); later != later_words.end()) return later->second.words;
  // The parser shows what it checks as `TEXT:({csv,json}) OR ({junit,sarif})`.
  std::vector<std::string> words;
  bool is_inside = false;
  for (const char c : option.get_type_name()) {
    if (c == '{' || (c == ',' && is_inside)) {
      is_inside = true;
      words.emplace_back();
    } else if (c == '}') {
      is_inside = false;
    } else if (is_inside) {
      words.back() += c;
    }
  }
  return words;
}

std::string fitted_help(const std::string& help) {
  std::string out;
  std::string paragraph;
  bool is_wide = false;
  const auto close = [&] {
    if (is_wide) {
      for (char& c : paragraph) c = c == '\n' ? ' ' : c;
      paragraph.back() = '\n';
    }
    out += render::wrapped(paragraph, kWidth, 0);
    paragraph.clear();
    is_wide = false;
  };
  for (std::string_view left = help; !left.empty();) {
    const std::string line(left.substr(0, left.find('\n')));
    left.remove_prefix(std::min(left.size(), line.size() + 1));
    if (!line.empty() && line.front() != ' ') {
      if (!paragraph.empty() && is_titled(line)) close();
      paragraph += line + '\n';
      is_wide = is_wide || line.size() > kWidth;
      continue;
    }
    if (!paragraph.empty()) close();
    const std::size_t margin = line.find_first_not_of(' ');
    const bool goes_on = margin != std::string::npos && margin > 8;
    out += margin == std::string::npos
               ? "\n"
               : render::wrapped(line + '\n', kWidth, goes_on ? 0 : description_begin(line, margin));
  }
  if (!paragraph.empty()) close();
  return out;
}

}  // namespace syscost::bench::cli
