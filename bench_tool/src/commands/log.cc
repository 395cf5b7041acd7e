// SPDX-License-Identifier: MIT
#include "commands/log.h"

#include <ostream>
#include <utility>

#include "commands/count_rules.h"
#include "commands/named_test.h"
#include "csv/all_files.h"
#include "csv/problems.h"
#include "model/program_names.h"

namespace syscost::bench::commands {
namespace {

template <class Log>
int print(const cli::Options& options, const Log& log, const csv::Problems& problems, const render::Paint& paint,
          std::ostream& out, std::ostream& err) {
  switch (options.format) {
    case cli::Format::json:
      out << log_json(log);
      break;
    case cli::Format::csv:
      out << log_csv(log);
      break;
    case cli::Format::md:
      out << log_markdown(log);
      break;
    case cli::Format::text:
      out << log_text(log, options.screen.width, paint);
      break;
  }
  problems.print(err);
  return problems.empty() ? cli::kExitOk : cli::kExitBadInput;
}

}  // namespace

int log(const cli::Options& asked, const render::Paint& paint, std::ostream& out, std::ostream& err) {
  cli::Options options = asked;
  csv::Problems problems;
  // What is accepted has entered all the same.
  std::string rules = add_rules_of_file(options.config, options.counts, problems, false).line;
  if (!problems.empty()) {
    problems.print(err);
    return cli::kExitBadInput;
  }
  // Runs of all files stand in one history, so all files are one RUN.
  csv::Run all{options.runs.front(), false, {}};
  csv::add_files(all, options.runs, options.folders, problems);
  model::LoadOptions load;
  load.all_runs = load.is_history = true;
  load.is_printable = options.is_printable();
  if (options.test.empty()) {
    load.keep_sites = true;
    CauseLog log;
    log.data = model::load(std::move(all), load, problems);
    log.count_rules = std::move(rules);
    model::tell_programs_apart({&log.data});
    find_causes(options.counts, log);
    return print(options, log, problems, paint, out, err);
  }
  const NamedTest named = load_named(std::move(all), load, options.test, problems);
  const std::vector<const model::Group*> found = find_test(named.data, named.groups, options.test);
  if (found.size() != 1) {
    if (!named.groups.empty()) print_candidates(named, found, options.test, "log", err);
    problems.print(err);
    return cli::kExitBadInput;
  }
  const TestLog log{model::display_name(named.data, *found.front()), &named.data, std::move(rules),
                    stats::history_of(named.data, *found.front(), options.counts, options.threshold / 100)};
  return print(options, log, problems, paint, out, err);
}

}  // namespace syscost::bench::commands
