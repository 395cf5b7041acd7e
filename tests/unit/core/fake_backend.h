// SPDX-License-Identifier: MIT
//
// A Backend for tests. The test makes the calls: enter() and leave() stand for the kernel's two events.
//
// It counts by segment as a backend must, without a kernel, so that WindowBook's arithmetic can be tested exactly.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/backend.h"
#include "core/extensions.h"

namespace syscost::testing {

class FakeBackend final : public Backend, private ProgramReader {
 public:
  static constexpr SyscallId kRead{Abi::x86_64, 0};

  /// A call in the kernel: where it entered.
  struct Inside {
    Generation generation;
    Lane lane;
  };

  /// The events of a call made by a thread on `lane` (its own when armed, else the process's).
  Inside enter(Lane lane = Lane::kProcess) {
    Lane charged = charged_lane(lane);
    Generation generation = controls_[charged];
    if (generation != 0 && is_selected_) tallies(generation).at(kRead).entries++;
    return {generation, charged};
  }
  void leave(Inside call, Lane lane = Lane::kProcess, int error = 0) {
    Lane charged = charged_lane(lane);
    Generation now = controls_[charged];
    if (now == 0 || !is_selected_) return;
    if (now == call.generation) {
      Tally& tally = tallies(now).at(kRead);
      ++tally.calls;
      tally.errors.add(error);
    } else if (call.generation == 0) {
      ++tallies(now).at(kRead).carried_in;
    } else {
      crossings_.push_back({.entered_in = call.generation,
                            .lane = call.lane,
                            .returned_in = now,
                            .returned_lane = charged,
                            .id = kRead,
                            .error = error,
                            .has_latency = true,
                            .latency_ns = 1000});
    }
  }
  void call(Lane lane = Lane::kProcess) { leave(enter(lane), lane); }

  /// A child's call, entered on the process lane.
  void call_in_child(std::string_view program) {
    if (controls_[Lane::kProcess] == 0) return;
    ++children_.try_emplace(controls_[Lane::kProcess], std::pmr::get_default_resource())
          .first->second.at(program)
          .at(kRead)
          .entries;
  }

  /// The same, which ends in a segment that began later. `program` outlives the reading of it.
  void end_in_child(Generation entered_in, std::string_view program, Crossing::Outcome outcome) {
    crossings_.push_back({.entered_in = entered_in,
                          .returned_in = controls_[Lane::kProcess],
                          .id = kRead,
                          .program = program,
                          .outcome = outcome});
  }
  Generation segment() { return controls_[Lane::kProcess]; }

  void lose(std::uint64_t events) { losses_.lost += events; }
  void lose_hidden(std::uint64_t events) { hidden_losses_ += events; }
  void lose_hidden_beside_scopes(std::uint64_t events) {
    hidden_losses_ += events;
    hidden_losses_beside_scopes_ += events;
  }
  /// How many events the next read() will report as late.
  void be_late_at_next_read(std::uint64_t events) { late_at_next_read_ = events; }
  /// The thread that has the lane has ended.
  void leave_lane_open() { was_abandoned_ = true; }
  void use_thread_lane(Lane lane) { next_lane_ = lane; }
  /// Counts only what `filter` selects; null = everything.
  void select(const Filter* filter) { is_selected_ = filter == nullptr || filter->selects(kRead); }
  /// The lane on which calls of `lane`'s thread are counted.
  Lane charged_lane(Lane lane) { return controls_.contains(lane) ? lane : Lane::kProcess; }
  bool armed(Lane lane) { return controls_.contains(lane) && controls_[lane] != 0; }

  std::string_view name() const override { return "fake"; }
  Capabilities capabilities() const override { return {.entries = true, .calls = true, .programs = true, .lanes = 1}; }
  Calibration calibration() const override { return {}; }
  std::optional<AcquiredLane> acquire_lane() override {
    if (next_lane_ == Lane::kProcess) return std::nullopt;
    return AcquiredLane{next_lane_, std::exchange(was_abandoned_, false)};
  }
  Generation boundary(Lane lane, Next next) override {
    ended_[lane] = controls_[lane];
    const Generation started = controls_[lane] = next == Next::kArm ? ++generation_ : 0;
    if (next == Next::kFollowProcess) controls_.erase(lane);
    return started;
  }
  void read(Lane lane, CallTable& into) override {
    losses_.late += std::exchange(late_at_next_read_, 0);
    into.merge(tallies(ended_[lane]));
    tallies(ended_[lane]).clear();
  }
  void read_programs(ProgramTables& into) override {
    const auto ended = children_.find(ended_[Lane::kProcess]);
    if (ended == children_.end()) return;
    into.merge(ended->second);
    children_.erase(ended);
  }
  void read_crossings(CrossingSink& sink) override {
    for (const Crossing& crossing : crossings_) sink.add(crossing);
    crossings_.clear();
  }
  Losses losses() const override { return losses_; }
  Result<std::uint64_t> hidden_losses() override { return hidden_losses_; }
  std::uint64_t hidden_losses_beside_scopes() const override { return hidden_losses_beside_scopes_; }
  Result<void> detach() override { return {}; }
  Result<void> attach() override { return {}; }

 private:
  void* find_extension(std::string_view name) override { return pick<ProgramReader>(name, this); }
  CallTable& tallies(Generation generation) {
    auto [at, is_new] = tables_.try_emplace(generation, std::pmr::get_default_resource());
    return at->second;
  }

  std::map<Lane, Generation> controls_;
  std::map<Lane, Generation> ended_;
  std::map<Generation, CallTable> tables_;
  std::map<Generation, ProgramTables> children_;
  std::vector<Crossing> crossings_;
  bool is_selected_ = true;
  Generation generation_ = 0;
  Losses losses_;
  std::uint64_t hidden_losses_ = 0;
  std::uint64_t hidden_losses_beside_scopes_ = 0;
  std::uint64_t late_at_next_read_ = 0;
  bool was_abandoned_ = false;
  Lane next_lane_{1};
};

}  // namespace syscost::testing
