// SPDX-License-Identifier: MIT
#include "commands/run_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "model/shards.h"

namespace syscost::bench::commands {

std::string seconds_of(const std::string& time) {
  const std::size_t dot = time.find('.');
  return dot == std::string::npos ? time : time.substr(0, dot) + 'Z';
}

std::string run_line(const model::Dataset& data) {
  std::set<std::string> runs;
  std::set<std::string> labels;
  std::set<std::string> commits;
  std::set<std::string> starts;
  std::set<std::uint32_t> contexts;
  for (const model::Sample& sample : data.samples) contexts.insert(sample.context);
  for (const std::uint32_t index : contexts) {
    const model::Context& context = data.contexts[index];
    // A file of Google Benchmark has nothing but the time to identify its run.
    if (!context.is_plain) runs.insert(data.text(context.run_id));
    if (context.label != model::kNoName) labels.insert(data.text(context.label));
    if (context.commit != model::kNoName) commits.insert(data.text(context.commit).substr(0, kCommitDigits));
    if (context.started_at != model::kNoName) starts.insert(seconds_of(data.text(context.started_at)));
  }
  std::string text = data.name + ":";
  const std::string shards = model::shards_text(data);
  if (runs.size() == 1) text += fmt::format(" run {}", *runs.begin());
  // Without a common run_id each shard is a run of its own.
  if (runs.size() > 1) text += shards.empty() ? fmt::format(" {} runs", runs.size()) : " a run";
  if (!shards.empty()) text += ' ' + shards;
  if (!runs.empty()) text += ',';
  if (!labels.empty()) text += fmt::format(" label {},", fmt::join(labels, " and "));
  if (!commits.empty()) text += fmt::format(" commit {},", fmt::join(commits, " and "));
  if (starts.size() == 1) text += fmt::format(" {},", *starts.begin());
  if (starts.size() > 1) text += fmt::format(" {} to {},", *starts.begin(), *starts.rbegin());
  text.pop_back();
  return text;
}

}  // namespace syscost::bench::commands
