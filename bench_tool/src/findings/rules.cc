// SPDX-License-Identifier: MIT
//
// The table of rules.
#include <algorithm>
#include <array>

#include "findings/io_rules.h"
#include "findings/rule.h"

namespace syscost::bench::findings {
namespace {

constexpr std::array kRules = {
    Rule{.name = "tiny-writes",
         .title = "many small writes",
         .needs = Needs::bytes,
         .definition = "256 writes or more that succeed (write, writev, pwrite64, pwritev, pwritev2), of 64 bytes or "
                       "less on average, in a window that uses no sockets, pipes or eventfds.",
         .remedy = "Collect the data in a buffer, and write 4096 bytes or more at once.",
         .in_counts = tiny_writes},
    Rule{.name = "fsync-storm",
         .title = "a sync for every few writes",
         .needs = Needs::counts,
         .definition = "20 syncs or more (fsync, fdatasync, sync, syncfs), and at most four writes for each of them.",
         .remedy = "Write a group of changes, and sync once for all of them.",
         .in_counts = fsync_storm},
};

}  // namespace

std::span<const Rule> rules() {
  return kRules;
}

const Rule* rule_of(std::string_view name) {
  const auto found = std::find_if(kRules.begin(), kRules.end(), [&](const Rule& rule) { return rule.name == name; });
  return found == kRules.end() ? nullptr : &*found;
}

}  // namespace syscost::bench::findings
