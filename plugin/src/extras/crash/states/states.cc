// SPDX-License-Identifier: MIT
#include "extras/crash/states/states.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <tuple>
#include <unordered_set>
#include <utility>

namespace syscost::crash {
namespace {

using Index = std::uint32_t;

/// So many sets of changes are looked at for each different state that is wanted. Most make a state that is known.
constexpr std::size_t kLooksPerState = 16;

class Making {
 public:
  Making(const Image& initial, std::span<const Operation> log, const Plan& plan, std::size_t most, std::uint64_t seed)
      : initial_(initial), log_(log), plan_(plan), most_(most), random_(seed) {
    for (const Stage& stage : plan.stages) {
      std::vector<Index>& open = open_.emplace_back();
      for (Index i = 0; i < stage.possible.size(); ++i) {
        if (stage.possible[i] && !stage.sure[i]) open.push_back(i);
      }
    }
  }

  States make() {
    States made;
    double combinations = 0;
    double largest = 0;
    for (const auto& open : open_) largest = std::max(largest, static_cast<double>(open.size()));
    for (const auto& open : open_) combinations += std::exp2(static_cast<double>(open.size()) - largest);
    made.combinations_log2 = largest + std::log2(combinations);
    made.is_complete = take_all();
    if (!made.is_complete) {
      forget();
      take_sample();
    }
    for (auto& [key, state] : found_) made.states.push_back(std::move(state));
    std::sort(made.states.begin(), made.states.end(), [](const State& a, const State& b) {
      return std::tie(a.lost, a.cut, a.stage, a.persisted) < std::tie(b.lost, b.cut, b.stage, b.persisted);
    });
    return made;
  }

 private:
  bool is_full() const { return found_.size() >= most_ || looks_ >= most_ * kLooksPerState; }

  void forget() {
    found_.clear();
    seen_.clear();
    looks_ = 0;
  }

  /// Where the power went off, as the words have it: after the last operation that left something, or that something
  /// waited for. Then as little as possible is lost.
  State state_of(Index at, Changes persisted) const {
    const Stage& stage = plan_.stages[at];
    State state{at, std::move(persisted), 0, 0};
    for (std::size_t i = 0; i < stage.operations; ++i) {
      const Act act = log_[i].act;
      const bool is_barrier = act != Act::entries && act != Act::write && act != Act::resize;
      if (is_barrier || log_[i].is_synced) state.cut = i + 1;
    }
    for (Index i = 0; i < state.persisted.size(); ++i) {
      if (state.persisted[i]) state.cut = std::max<std::size_t>(state.cut, plan_.changes[i].operation + 1);
    }
    for (const Index i : open_[at]) {
      if (!state.persisted[i] && plan_.changes[i].operation < state.cut) ++state.lost;
    }
    return state;
  }

  /// False if no more states are to be found.
  bool take(Index stage, const Changes& persisted) {
    if (looks_ >= most_ * kLooksPerState) return false;
    if (!seen_.insert({stage, persisted}).second) return true;
    ++looks_;
    const Stage& at = plan_.stages[stage];
    const Key key = {digester_.digest(image_of(initial_, log_, plan_, persisted)), at.marks, at.is_finished};
    const auto known = found_.find(key);
    if (known == found_.end()) {
      if (found_.size() >= most_) return false;
      found_.emplace(key, state_of(stage, persisted));
      return true;
    }
    State again = state_of(stage, persisted);
    if (std::tie(again.lost, again.cut) < std::tie(known->second.lost, known->second.cut)) {
      known->second = std::move(again);
    }
    return true;
  }

  // ---- all of them
  // ----------------------------------------------------------------------------------------------------

  bool take_all() {
    for (Index stage = 0; stage < plan_.stages.size(); ++stage) {
      if (!take_all_of(stage)) return false;
    }
    return true;
  }

  /// Counts in binary, with what a change needs as a limit: the last change is the fastest digit.
  bool take_all_of(Index stage) {
    const std::vector<Index>& open = open_[stage];
    Changes persisted = plan_.stages[stage].possible;
    while (true) {
      if (!take(stage, persisted)) return false;
      std::size_t at = open.size();
      while (at > 0 && !persisted[open[at - 1]]) --at;
      if (at == 0) return true;
      persisted[open[at - 1]] = false;
      for (std::size_t i = at; i < open.size(); ++i) persisted[open[i]] = has_needed(persisted, open[i]);
    }
  }

  bool has_needed(const Changes& persisted, Index change) const {
    const std::vector<Index>& after = plan_.changes[change].after;
    return std::all_of(after.begin(), after.end(), [&](Index needed) { return persisted[needed]; });
  }

  // ---- a sample
  // -------------------------------------------------------------------------------------------------------

  template <class Take>
  void for_each_stage(Take take_of) {
    for (Index stage = 0; stage < plan_.stages.size() && !is_full(); ++stage) take_of(stage);
  }

  /// Without `lost`, and without what needs one of them.
  void take_without(Index stage, Changes persisted, std::span<const Index> lost) {
    for (const Index one : lost) {
      if (!plan_.stages[stage].sure[one]) persisted[one] = false;
    }
    for (const Index i : open_[stage]) persisted[i] = persisted[i] && has_needed(persisted, i);
    static_cast<void>(take(stage, persisted));
  }

  /// Only what is sure, and `kept` with what it needs.
  void take_only(Index stage, std::span<const Index> kept) {
    Changes persisted = plan_.stages[stage].sure;
    std::vector<Index> needed(kept.begin(), kept.end());
    while (!needed.empty()) {
      const Index one = needed.back();
      needed.pop_back();
      if (persisted[one]) continue;
      persisted[one] = true;
      needed.insert(needed.end(), plan_.changes[one].after.begin(), plan_.changes[one].after.end());
    }
    static_cast<void>(take(stage, persisted));
  }

  /// The open changes of a stage, by their operations.
  std::vector<std::vector<Index>> by_operation(Index stage) const {
    std::vector<std::vector<Index>> groups;
    for (const Index i : open_[stage]) {
      const bool is_same =
          !groups.empty() && plan_.changes[groups.back().front()].operation == plan_.changes[i].operation;
      if (!is_same) groups.emplace_back();
      groups.back().push_back(i);
    }
    return groups;
  }

  void take_prefixes(Index stage) {
    Changes persisted = plan_.stages[stage].possible;
    for (std::size_t at = open_[stage].size(); !is_full(); --at) {
      static_cast<void>(take(stage, persisted));
      if (at == 0) return;
      persisted[open_[stage][at - 1]] = false;
    }
  }

  void take_lacking_one(Index stage) {
    const Changes& all = plan_.stages[stage].possible;
    for (const auto& group : by_operation(stage)) {
      if (is_full()) return;
      take_without(stage, all, group);
      take_only(stage, group);
      // Its parts: the first, all but the first, the last, all but the last, each half.
      const std::span<const Index> parts(group);
      if (parts.size() < 2) continue;
      for (const std::size_t split : {std::size_t{1}, parts.size() / 2, parts.size() - 1}) {
        take_without(stage, all, parts.first(split));
        take_without(stage, all, parts.subspan(split));
        take_only(stage, parts.first(split));
        take_only(stage, parts.subspan(split));
      }
    }
  }

  void take_prefixes_lacking_one(Index stage) {
    const auto groups = by_operation(stage);
    Changes prefix = plan_.stages[stage].possible;
    for (std::size_t end = groups.size(); end > 0; --end) {
      for (std::size_t lost = 0; lost + 1 < end; ++lost) {
        if (is_full()) return;
        take_without(stage, prefix, groups[lost]);
      }
      for (const Index i : groups[end - 1]) prefix[i] = false;
    }
  }

  void take_pairs(Index stage) {
    const auto groups = by_operation(stage);
    for (std::size_t a = 0; a < groups.size(); ++a) {
      for (std::size_t b = a + 1; b < groups.size(); ++b) {
        if (is_full()) return;
        std::vector<Index> pair = groups[a];
        pair.insert(pair.end(), groups[b].begin(), groups[b].end());
        take_without(stage, plan_.stages[stage].possible, pair);
        take_only(stage, pair);
      }
    }
  }

  /// A change is kept with a chance of 1, 4 or 7 in 8. No distribution of the library: they differ between libraries.
  void take_at_random(Index stage) {
    Changes persisted = plan_.stages[stage].sure;
    const std::uint64_t chance = 1 + 3 * (random_() % 3);
    for (const Index i : open_[stage]) persisted[i] = random_() % 8 < chance && has_needed(persisted, i);
    static_cast<void>(take(stage, persisted));
  }

  void take_sample() {
    for_each_stage([&](Index stage) { take_prefixes(stage); });
    for_each_stage([&](Index stage) { take_lacking_one(stage); });
    for_each_stage([&](Index stage) { take_prefixes_lacking_one(stage); });
    for_each_stage([&](Index stage) { take_pairs(stage); });
    // A set that is known already costs a try, too, or this would never end.
    for (std::size_t tries = 0; tries < most_ * kLooksPerState && !is_full();) {
      for_each_stage([&](Index stage) {
        take_at_random(stage);
        ++tries;
      });
    }
  }

  struct Key {
    Digest digest;
    std::size_t marks;
    bool is_finished;
    bool operator<(const Key& other) const {
      return std::tie(digest, marks, is_finished) < std::tie(other.digest, other.marks, other.is_finished);
    }
  };
  struct Seen {
    Index stage;
    Changes persisted;
    bool operator==(const Seen&) const = default;
  };
  struct SeenHash {
    std::size_t operator()(const Seen& seen) const { return std::hash<Changes>()(seen.persisted) * 31 + seen.stage; }
  };

  const Image& initial_;
  std::span<const Operation> log_;
  const Plan& plan_;
  std::size_t most_;
  std::mt19937_64 random_;
  std::vector<std::vector<Index>> open_;  // of each stage: changes that may be lost, in their order
  Digester digester_;
  std::map<Key, State> found_;
  std::unordered_set<Seen, SeenHash> seen_;
  std::size_t looks_ = 0;
};

}  // namespace

States make_states(const Image& initial, std::span<const Operation> log, const Plan& plan, std::size_t most,
                   std::uint64_t seed) {
  return Making(initial, log, plan, most, seed).make();
}

// A state in words: where the power went off, and what of the operations before was not on the disk.

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
