// SPDX-License-Identifier: MIT
//
// memory_of_programs() and not_counted() of session/outside.h: for a command, each program of which counts itself.
#include "session/outside.h"

#include <string>
#include <vector>

#include "extras/commands/core/command_memory.h"
#include "session/session.h"

namespace syscost::outside {
namespace {

/// Null if the programs are counted from outside.
const CommandMemory* memory() {
  const session::OpenBackend* const opened = session::process_session().backend().current();
  return opened != nullptr ? opened->backend->extension<CommandMemory>() : nullptr;
}

}  // namespace

std::string memory_of_programs() {
  const CommandMemory* const shared = memory();
  return shared != nullptr ? shared->memory_name() : std::string();
}

std::vector<NotCounted> not_counted() {
  std::vector<NotCounted> all;
  const CommandMemory* const shared = memory();
  if (shared == nullptr) return all;
  for (const BlindSpot& spot : shared->blind_spots()) all.push_back({spot.what, spot.why, spot.is_not_loaded});
  return all;
}

}  // namespace syscost::outside
