// SPDX-License-Identifier: MIT
//
// The options of each extra: its flags, their words, and what does not go together with them. option_parts() lists
// them; what a flag asks for is a member of ExtraOptions (extras/extra_options.h).
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include "session/options/option_table.h"

namespace syscost::session {

extern const OptionPart kToolOptions;
extern const OptionPart kLeakOptions;
extern const OptionPart kChildrenOptions;
extern const OptionPart kWhereOptions;
extern const OptionPart kTraceOptions;
extern const OptionPart kSchedulerOptions;
extern const OptionPart kFaultOptions;

/// The value of a flag that keeps events of windows: `events=N`, or on or off. The complaint, or "".
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

}  // namespace syscost::session
