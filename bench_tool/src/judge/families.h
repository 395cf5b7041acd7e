// SPDX-License-Identifier: MIT
//
// Families: syscalls that do the same work in different ways. If one takes the place of another, that is no regression:
// 20 write became 1 writev. docs/statistics.md has the table.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace syscost::bench::judge {

enum class Family : std::uint8_t {
  none,  ///< No other syscall can take its place, so it is judged alone.
  data_out,
  data_in,
  data_both,  ///< From file to file: it pays for data in and data out.
  look_ups,
  opens,
  closes,
  syncs,
  memory,
  sizes,   ///< Of files.
  starts,  ///< Processes and threads.
  waits,
  descriptors,  ///< Sockets, pipes and wake-ups are made and set; locks.
  hints,        ///< Options and advice. They cost little, and are set on purpose: more of them are no red.
  unjudged,     ///< How often it is made depends on which thread comes first: futex.
};

/// `syscall`: a name, with or without its detail: `ioctl TCGETS`.
Family family_of(std::string_view syscall);
/// It waits: a poll, a sleep. Not a futex, which waits for another thread of the test.
bool is_wait(std::string_view syscall);
/// The name in messages: "data out".
std::string_view name_of(Family family);
/// The family with this name; none for one that is not judged.
std::optional<Family> family_named(std::string_view name);
/// The names that family_named() knows.
std::vector<std::string_view> family_names();
/// How many descriptors a successful call makes, the same way: 2 for pipe2. 0 also for those that may make some:
/// recvmsg.
int descriptors_made_by(std::string_view syscall);

}  // namespace syscost::bench::judge
