// SPDX-License-Identifier: MIT
//
// --syscost_trace and --syscost_sched: each call of a window, and the scheduler's events, in files.
#include "extras/option_parts.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include "os/errors.h"

namespace syscost::session {
namespace {

using Group = OptionGroup;
using Kind = ValueKind;

constexpr std::array kTraceWords = {
    Word{"events=N", "room for N events of a test (default 65536); calls beyond it are counted"},
};
constexpr std::array kSchedulerWords = {
    Word{"events=N", "room for N events of a test (default 65536); events beyond it are counted"},
};

/// The value of --syscost_trace or --syscost_sched: `events=N`, or on or off.
template <class Request>
std::string take_events(Request& request, std::string_view value, std::uint64_t least, std::uint64_t most) {
  constexpr std::string_view kEvents = "events=";
  request = {};
  request.wanted = value != "0" && value != "false";
  if (!value.starts_with(kEvents)) return {};
  const std::string_view number = value.substr(kEvents.size());
  std::uint64_t& events = request.events;
  const auto [rest, error] = std::from_chars(number.data(), number.data() + number.size(), events);
  if (error == std::errc() && rest == number.data() + number.size() && events >= least && events <= most) return {};
  return "\"" + std::string(number) + "\" is not a whole number from " + std::to_string(least) + " to " +
         std::to_string(most);
}

std::string take_trace(Options& options, std::string_view value) {
  return take_events(options.trace, value, 1, 100'000'000);
}

std::string take_scheduler(Options& options, std::string_view value) {
  // With less room, the backend could not prove that it sees what wakes a thread.
  return take_events(options.scheduler, value, 1'000, 10'000'000);
}

constexpr std::array kTraceEntries = {
    OptionEntry{
        .group = Group::tools,
        .name = "trace",
        .kind = Kind::on_words,
        .about =
            "write each call of a test, one by one, as text of strace and for Perfetto; needs the backend dispatch",
        .target = take_trace,
        .words = kTraceWords,
        .more = "trace.md"},
};
constexpr std::array kSchedulerEntries = {
    OptionEntry{.group = Group::tools,
                .name = "sched",
                .kind = Kind::on_words,
                .about = "write when each thread of a test ran or waited, and what woke it; needs the backend ebpf",
                .target = take_scheduler,
                .words = kSchedulerWords,
                .more = "critical-path.md"},
};

/// Refuses options that do not go together with a trace.
Result<void> check_trace(const Options& all) {
  if (!all.trace.wanted) return {};
  const char* other = all.backend == BackendChoice::none ? "--syscost_backend none, which sees no calls"
                      : all.details.any()                ? "--syscost_detail"
                      : all.children                     ? "--syscost_children: dispatch ends in a child process"
                                                         : nullptr;
  if (other == nullptr) return {};
  return Failure{"--syscost_trace needs the backend dispatch, and does not work together with " + std::string(other),
                 "leave one of them out, or make two runs"};
}

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

constinit const OptionPart kTraceOptions = {kTraceEntries, check_trace};
constinit const OptionPart kSchedulerOptions = {kSchedulerEntries, check_scheduler};

}  // namespace syscost::session
