// SPDX-License-Identifier: MIT
//
// --syscost_trace: each call of a window, in files.
#include "extras/option_parts.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "os/errors.h"

namespace syscost::session {
namespace {

using Group = OptionGroup;
using Kind = ValueKind;

constexpr std::array kTraceWords = {
    Word{"events=N", "room for N events of a test (default 65536); calls beyond it are counted"},
};

std::string take_trace(Options& options, std::string_view value) {
  return take_events(options.trace, value, 1, 100'000'000);
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

}  // namespace

constinit const OptionPart kTraceOptions = {kTraceEntries, check_trace};

}  // namespace syscost::session
