// SPDX-License-Identifier: MIT
//
// CommandMemory: what a backend has that counts inside the programs of a command (`bench run`).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace syscost {

/// A part of a command that is not in its counts.
struct BlindSpot {
  std::string what;  ///< A program as it was executed, or "a process".
  std::string why;
  bool is_not_loaded = false;  ///< `what` is a program's file, and the file may say more than `why`.
};

class CommandMemory {
 public:
  static constexpr std::string_view kExtension = "command";  ///< Backend::extension()

  virtual ~CommandMemory() = default;
  CommandMemory(const CommandMemory&) = delete;
  CommandMemory& operator=(const CommandMemory&) = delete;

  /// The text by which these programs find the memory in which they count.
  virtual std::string memory_name() const = 0;
  /// When the command has ended: each is a lost event of Backend::hidden_losses(), too.
  virtual std::vector<BlindSpot> blind_spots() const = 0;

 protected:
  CommandMemory() = default;
};

}  // namespace syscost
