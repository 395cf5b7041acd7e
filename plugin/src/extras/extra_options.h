// SPDX-License-Identifier: MIT
//
// The options of the extras, as members of Options. Their flags and checks are in the room of each.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "extras/faults/options/fault_rules.h"
#include "extras/where/core/call_stack.h"

namespace syscost::session {

/// Where relative paths of an option start.
enum class Source { absent, command_line, environment };

/// --syscost_trace: each call of a window, in files.
struct TraceRequest {
  static constexpr std::uint64_t kUsualEvents = 65'536;
  bool wanted = false;
  std::uint64_t events = kUsualEvents;  ///< Most of one window.

  bool operator==(const TraceRequest&) const = default;
};

/// --syscost_sched: the scheduler's events of a window, in a file.
struct SchedulerRequest {
  static constexpr std::uint64_t kUsualEvents = 65'536;
  bool wanted = false;
  std::uint64_t events = kUsualEvents;  ///< Most of one window.

  bool operator==(const SchedulerRequest&) const = default;
};

struct ExtraOptions {
  bool profile_bpftrace = false;
  bool profile_perf = false;
  bool profile_cupti = false;
  bool lists_scripts = false;  ///< --syscost_bpf list
  bool bpf_sudo = false;
  std::vector<std::string> scripts;         ///< For bpftrace; empty = the default.
  std::vector<std::string> script_folders;  ///< Searched before those that ship.
  Source bpf_source = Source::absent;
  Source bpf_path_source = Source::absent;
  Source bpf_sudo_source = Source::absent;
  std::string cupti_library;  ///< libcupti to open; empty = looked for.
  bool children = false;      ///< Count children too, in rows of their own.
  bool leaks = false;         ///< Report what each test leaves open.
  WhereRequest where;         ///< Tell calls apart by their call stacks.
  TraceRequest trace;
  SchedulerRequest scheduler;
  std::vector<InjectRequest> inject;  ///< Calls of each test that fail.
  std::string forbid;                 ///< Calls that no test may make; empty = none is forbidden.

  std::string artifacts;  ///< As given; empty = syscost_artifacts beside the CSV, or here.
  Source artifacts_source = Source::absent;

  bool operator==(const ExtraOptions&) const = default;

  /// True if they count in the same way: a backend that was opened for one can go on for the other.
  bool counts_as(const ExtraOptions& other) const {
    return children == other.children && trace == other.trace && scheduler == other.scheduler && where == other.where &&
           wants_faults() == other.wants_faults();
  }

  /// True if calls of tests fail or are forbidden.
  bool wants_faults() const { return !inject.empty() || !forbid.empty(); }

  /// What the surroundings of a run say of them, by name: `inject`, `write:ENOSPC:3,read:EIO` for two.
  std::vector<std::pair<std::string, std::string>> facts() const {
    if (inject.empty()) return {};
    std::string text;
    for (const InjectRequest& request : inject) text += (text.empty() ? "" : ",") + request.text;
    return {{"inject", std::move(text)}};
  }

  /// True if files keep what happens in windows one by one, so that there is no room for more.
  bool keeps_events() const { return trace.wanted || scheduler.wanted; }

  /// True if tools observe windows.
  bool wants_tools() const { return profile_bpftrace || profile_perf || profile_cupti; }

 protected:
  bool requests_an_extra() const {
    return trace.wanted || scheduler.wanted || leaks || wants_faults() || wants_tools() || lists_scripts;
  }

  /// Resets what prints or writes.
  void drop_extra_output(bool keeps_tools) {
    if (!keeps_tools) profile_bpftrace = profile_perf = profile_cupti = false;
    trace = {};
    scheduler = {};
    leaks = lists_scripts = false;
    artifacts.clear();
    inject.clear();
    forbid.clear();
  }
};

}  // namespace syscost::session
