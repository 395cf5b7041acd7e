// SPDX-License-Identifier: MIT
//
// --syscost_sched: the scheduler's events of a window, in a file.
#include "extras/option_parts.h"

#include <array>
#include <string>
#include <string_view>

#include "os/errors.h"

namespace syscost::session {
namespace {

using Group = OptionGroup;
using Kind = ValueKind;

constexpr std::array kSchedulerWords = {
    Word{"events=N", "room for N events of a test (default 65536); events beyond it are counted"},
};

std::string take_scheduler(Options& options, std::string_view value) {
  // With less room, the backend could not prove that it sees what wakes a thread.
  return take_events(options.scheduler, value, 1'000, 10'000'000);
}

constexpr std::array kSchedulerEntries = {
    OptionEntry{.group = Group::tools,
                .name = "sched",
                .kind = Kind::on_words,
                .about = "write when each thread of a test ran or waited, and what woke it; needs the backend ebpf",
                .target = take_scheduler,
                .words = kSchedulerWords,
                .more = "critical-path.md"},
};

/// Refuses options that do not go together with the scheduler's events.
Result<void> check_scheduler(const Options& all) {
  if (!all.scheduler.wanted) return {};
  const bool is_other_backend = all.backend != BackendChoice::automatic && all.backend != BackendChoice::ebpf;
  const char* other = is_other_backend   ? "another --syscost_backend"
                      : all.trace.wanted ? "--syscost_trace, which only dispatch has"
                      : all.where.wanted ? "--syscost_where, which only dispatch has"
                      : all.children     ? "--syscost_children: it shows the threads of one process"
                                         : nullptr;
  if (other == nullptr) return {};
  return Failure{"--syscost_sched needs the backend ebpf, and does not work together with " + std::string(other),
                 "leave one of them out, or make two runs"};
}

}  // namespace

constinit const OptionPart kSchedulerOptions = {kSchedulerEntries, check_scheduler};

}  // namespace syscost::session
