// SPDX-License-Identifier: MIT
#include "crash/trials.h"

#include <utility>

namespace syscost::crash {
namespace {

Settings settings_of(const CrashOptions& options) {
  Settings settings;
  settings.model = options.model;
  settings.block_bytes = options.block_bytes;
  return settings;
}

}  // namespace

Result<void> check_options(const CrashOptions& options) {
  constexpr std::size_t kSmallest = 512;
  constexpr std::size_t kLargest = 65536;
  const std::size_t block = options.block_bytes;
  if (block < kSmallest || block > kLargest || (block & (block - 1)) != 0) {
    return Failure{"CrashOptions::block_bytes is " + std::to_string(block) + ".",
                   "Give a power of two from 512 to 65536; 4096 is the default."};
  }
  constexpr std::size_t kMostStates = 1'000'000;
  if (options.most_states == 0 || options.most_states > kMostStates) {
    return Failure{"CrashOptions::most_states is " + std::to_string(options.most_states) + ".",
                   "Give a number from 1 to 1000000."};
  }
  return {};
}

Trials::Trials(Recording recording, const CrashOptions& options)
    : recording_(std::move(recording)),
      plan_(make_plan(recording_.initial, recording_.log, settings_of(options))),
      states_(make_states(recording_.initial, recording_.log, plan_, options.most_states, options.seed)) {}

CrashPoint Trials::point(std::size_t index, const std::string& path) const {
  const State& state = states_.states[index];
  const Stage& stage = plan_.stages[state.stage];
  CrashPoint point;
  point.path = path;
  point.is_finished = stage.is_finished;
  point.description = describe(recording_.log, plan_, state);
  for (const Operation& operation : recording_.log) {
    if (operation.act == Act::mark && point.marks.size() < stage.marks) point.marks.push_back(operation.text);
  }
  return point;
}

Result<void> Trials::make_files(std::size_t index, const std::string& path) const {
  return write_files(image_of(recording_.initial, recording_.log, plan_, states_.states[index].persisted), path);
}

CrashReport Trials::report() const {
  CrashReport report;
  for (const Operation& operation : recording_.log) report.operations += operation.act != Act::mark ? 1 : 0;
  report.is_complete = states_.is_complete;
  report.combinations_log2 = states_.combinations_log2;
  return report;
}

}  // namespace syscost::crash
