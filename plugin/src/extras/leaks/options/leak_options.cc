// SPDX-License-Identifier: MIT
//
// --syscost_leaks: what tests leave open.
#include "extras/option_parts.h"

#include <array>

namespace syscost::session {
namespace {

using Group = OptionGroup;
using Kind = ValueKind;

constexpr std::array kLeakEntries = {
    OptionEntry{.group = Group::results,
                .name = "leaks",
                .kind = Kind::on_off,
                .about = "report the descriptors, threads and child processes that each test leaves open",
                .target = &Options::leaks,
                .more = "leaks.md"},
};

}  // namespace

constinit const OptionPart kLeakOptions = {kLeakEntries};

}  // namespace syscost::session
