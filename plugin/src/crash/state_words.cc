// SPDX-License-Identifier: MIT
//
// A state in words: where the power went off, and what of the operations before was not on the disk.
#include <algorithm>
#include <map>

#include "crash/states.h"

namespace syscost::crash {
namespace {

std::string quoted(const std::string& text) {
  return "`" + text + "`";
}

std::string bytes_of(std::uint64_t begin, std::uint64_t end) {
  return "bytes " + std::to_string(begin) + " to " + std::to_string(end - 1);
}

/// The lost part of one operation; `changes` are all of its changes.
std::string lost_of(const Operation& operation, const Plan& plan, std::span<const std::uint32_t> changes,
                    const Changes& persisted) {
  std::vector<std::string> parts;
  std::size_t lost_data = 0;
  std::size_t data = 0;
  bool has_size = false;   // a part of it is on the disk
  bool lost_size = false;  // or not
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  for (const std::uint32_t i : changes) {
    const Change& change = plan.changes[i];
    const bool is_lost = !persisted[i];
    if (change.part == Part::size) {
      (is_lost ? lost_size : has_size) = true;
      continue;
    }
    ++data;
    if (!is_lost) continue;
    ++lost_data;
    if (end != change.offset || end == 0) {
      if (end != 0) parts.push_back(bytes_of(begin, end));
      begin = change.offset;
    }
    end = change.offset + change.length;
  }
  if (end != 0) parts.push_back(bytes_of(begin, end));
  const bool is_all = lost_data == data && !has_size;
  if (is_all || data == 0) return quoted(operation.text);
  const std::string size = has_size ? "a part of the new size" : "the new size";
  if (lost_data == 0) return size + " of " + quoted(operation.text);
  std::string text = lost_data == data ? "the data" : parts.front();
  constexpr std::size_t kMostParts = 3;
  for (std::size_t i = 1; lost_data < data && i < std::min(parts.size(), kMostParts); ++i) text += ", " + parts[i];
  if (lost_data < data && parts.size() > kMostParts) text += ", ...";
  if (lost_size) text += " and " + size;
  return text + " of " + quoted(operation.text);
}

}  // namespace

std::string describe(std::span<const Operation> log, const Plan& plan, const State& state) {
  std::string text = "power cut before the first operation";
  if (state.cut != 0) {
    const Operation& last = log[state.cut - 1];
    text = (last.act == Act::mark ? "power cut after mark " : "power cut after ") + quoted(last.text);
  }
  std::map<std::uint32_t, std::vector<std::uint32_t>> changes;
  for (std::uint32_t i = 0; i < plan.changes.size(); ++i) {
    if (plan.changes[i].operation < state.cut) changes[plan.changes[i].operation].push_back(i);
  }
  constexpr std::size_t kMostLost = 5;
  std::size_t lost = 0;
  for (const auto& [operation, parts] : changes) {
    const bool is_whole =
        std::all_of(parts.begin(), parts.end(), [&](std::uint32_t part) { return bool{state.persisted[part]}; });
    if (is_whole || ++lost > kMostLost) continue;
    text += lost == 1 ? "; not on the disk: " : ", ";
    text += lost_of(log[operation], plan, parts, state.persisted);
  }
  if (lost > kMostLost) text += " and " + std::to_string(lost - kMostLost) + " more";
  return text;
}

}  // namespace syscost::crash
