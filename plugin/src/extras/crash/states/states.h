// SPDX-License-Identifier: MIT
//
// The states that a power cut could leave, and their description for people.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "extras/crash/states/image.h"
#include "extras/crash/states/model.h"

namespace syscost::crash {

struct State {
  std::uint32_t stage = 0;
  Changes persisted;
  std::size_t cut = 0;   ///< The power went off after the first so many operations, as the words have it.
  std::size_t lost = 0;  ///< Changes of those that are not persisted.
};

struct States {
  std::vector<State> states;   ///< Different ones; those that lost least first.
  bool is_complete = false;    ///< There are no others.
  double combinations_log2{};  ///< There are at most 2 to the power of this, before equal ones are left out.
};

/// States are different if the files are, or the marks that the body had passed.
States make_states(const Image& initial, std::span<const Operation> log, const Plan& plan, std::size_t most,
                   std::uint64_t seed);

/// Such as: power cut after `rename a -> b`; not on the disk: `write a, 12 bytes at 0`.
std::string describe(std::span<const Operation> log, const Plan& plan, const State& state);

}  // namespace syscost::crash
