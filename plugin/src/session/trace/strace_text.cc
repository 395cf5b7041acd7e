// SPDX-License-Identifier: MIT
#include "session/trace/strace_text.h"

#include <array>
#include <cstdio>

#include "arguments/call_text.h"
#include "core/syscall_table.h"

namespace syscost::session {
namespace {

constexpr std::uint64_t kNsOfSecond = 1'000'000'000;

/// Seconds with nine digits after the point.
std::string seconds_text(std::uint64_t ns) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%llu.%09llu", static_cast<unsigned long long>(ns / kNsOfSecond),
                static_cast<unsigned long long>(ns % kNsOfSecond));
  return text.data();
}

}  // namespace

std::string strace_line(const CallEvent& event, std::uint64_t realtime_ns, std::string_view site) {
  std::string line = std::to_string(event.thread) + " " + seconds_text(event.start_ns + realtime_ns) + " " +
                     syscall_name(event.id) + "(";
  const char* comma = "";
  for (const ArgumentText& argument : argument_texts(event)) {
    line.append(comma).append(argument.text);
    comma = ", ";
  }
  line += ") = " + result_text(event);
  if (!site.empty()) line.append(" (").append(site).append(")");
  if (event.latency_ns.has_value()) line += " <" + seconds_text(*event.latency_ns) + ">";
  return line + "\n";
}

}  // namespace syscost::session
