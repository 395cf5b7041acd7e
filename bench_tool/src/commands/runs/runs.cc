// SPDX-License-Identifier: MIT
#include "commands/runs/runs.h"

#include <algorithm>
#include <map>
#include <ostream>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "commands/shared/document.h"
#include "commands/shared/run_notes.h"
#include "csv/problems.h"
#include "model/loader.h"
#include "model/run_selection.h"
#include "render/json.h"
#include "render/numbers.h"
#include "render/table.h"

namespace syscost::bench::commands {
namespace {

struct RunEntry {
  std::string file, id, started_at, label, commit, backend;
  std::string last_start;  ///< Of its programs: by it, the newest run of a file is chosen.
  std::set<std::tuple<model::NameId, model::NameId>> tests;  // program and name; benchmarks, too
};

/// The runs of one RUN argument, the newest first.
std::vector<RunEntry> runs_of(const model::Dataset& data) {
  std::map<std::pair<std::uint32_t, model::NameId>, RunEntry> entries;
  // Also a run that crashed before its first test.
  for (const model::Context& context : data.contexts) {
    RunEntry& entry = entries[{context.file, context.run_id}];
    const std::string& start = data.text(context.started_at);
    if (entry.file.empty()) {
      entry = {data.files[context.file],  data.text(context.run_id),  start, data.text(context.label),
               data.text(context.commit), data.text(context.backend), start, {}};
    }
    // If a run has several programs, it started when the first of them did.
    if (model::sortable_time(start) < model::sortable_time(entry.started_at)) entry.started_at = start;
    if (model::sortable_time(start) > model::sortable_time(entry.last_start)) entry.last_start = start;
  }
  for (const model::Sample& sample : data.samples) {
    const model::Context& context = data.context(sample);
    RunEntry& entry = entries[{context.file, context.run_id}];
    const std::string& kind = data.text(sample.kind);
    if (kind == "test" || kind == "benchmark") entry.tests.emplace(context.program, sample.test);
  }
  std::vector<RunEntry> sorted;
  for (auto& [key, entry] : entries) sorted.push_back(std::move(entry));
  std::stable_sort(sorted.begin(), sorted.end(), [](const RunEntry& a, const RunEntry& b) {
    return model::sortable_time(a.last_start) > model::sortable_time(b.last_start);
  });
  return sorted;
}

}  // namespace

int runs(const cli::Options& options, std::ostream& out, std::ostream& err) {
  csv::Problems problems;
  model::LoadOptions load;
  load.folders = options.folders;
  load.all_runs = load.is_history = true;
  load.keep_rows = false;
  load.is_printable = options.is_printable();
  std::vector<RunEntry> entries;
  for (const std::string& path : options.runs) {
    for (RunEntry& entry : runs_of(model::load(path, load, problems))) entries.push_back(std::move(entry));
  }
  render::Table table({{"started"},
                       {"run"},
                       {"tests", render::Align::right},
                       {"label"},
                       {"commit"},
                       {"backend"},
                       {"file", render::Align::left, render::Cells::names, render::Shrinks::in_the_middle}});
  render::CsvWriter csv({"file", "run_id", "started_at", "label", "commit", "backend", "tests"});
  render::Json list = render::Json::array();
  const auto text = [](const std::string& value) {
    return value.empty() ? render::Json(nullptr) : render::Json(value);
  };
  for (const RunEntry& one : entries) {
    table.add_row({seconds_of(one.started_at), one.id, std::to_string(one.tests.size()), one.label,
                   one.commit.substr(0, kCommitDigits), one.backend, one.file});
    for (const std::string* cell : {&one.file, &one.id, &one.started_at, &one.label, &one.commit, &one.backend}) {
      csv.cell(*cell);
    }
    csv.number(static_cast<double>(one.tests.size())).end_row();
    list.push_back({{"file", one.file},
                    {"run_id", text(one.id)},
                    {"started_at", text(one.started_at)},
                    {"label", text(one.label)},
                    {"commit", text(one.commit)},
                    {"backend", text(one.backend)},
                    {"tests", one.tests.size()}});
  }
  return print({.json =
                    [&] {
                      return render::dump(
                          {{"schema_version", render::kJsonVersion}, {"command", "runs"}, {"runs", std::move(list)}});
                    },
                .csv = [&] { return csv.text(); },
                .markdown = [&] { return table.markdown(); },
                .text = [&] { return table.empty() ? "" : table.text(2, 2, options.screen.width); }},
               options, problems, out, err);
}

}  // namespace syscost::bench::commands
