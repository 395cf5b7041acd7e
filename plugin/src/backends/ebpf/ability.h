// SPDX-License-Identifier: MIT
//
// Ability: what the eBPF backend can do beside counting the process's calls, for an extra. ability_makers() lists them;
// the backend knows none of them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/ebpf/process_attachment.h"
#include "core/backend.h"
#include "os/errors.h"

namespace syscost::ebpf {

/// begin_segment() to name_call() run inside windows: they allocate nothing and make no syscall. A fork child has none
/// of the memory that is shared with programs: what a caller can reach there asks is_fork_child() first.
class Ability {
 public:
  virtual ~Ability() = default;
  Ability(const Ability&) = delete;
  Ability& operator=(const Ability&) = delete;

  /// The interface with this kExtension (Backend::extension()), if it has it; else null.
  virtual void* find(std::string_view name) = 0;
  /// Counts only what `filter` selects, from now on.
  virtual void select(const Filter& filter) { static_cast<void>(filter); }

  /// A segment of the process's lane begins, which counts into `bank`.
  virtual void begin_segment(std::uint32_t bank) { static_cast<void>(bank); }
  /// It ended, so its bank can be read.
  virtual void end_segment(std::uint32_t bank) { static_cast<void>(bank); }
  /// As Segments has them.
  [[nodiscard]] virtual std::uint64_t wait_for_programs() const { return 0; }
  virtual std::uint64_t lost() const { return 0; }
  /// If `slot`, of a record of the log, is one of its own: fills in the call's program and number. Else false.
  virtual bool name_call(std::uint32_t slot, Crossing& crossing) {
    static_cast<void>(slot), static_cast<void>(crossing);
    return false;
  }

  /// The proof that it sees what it shall, once, when the backend is opened.
  virtual Result<void> prove(Backend& backend) {
    static_cast<void>(backend);
    return {};
  }
  /// One sentence for the user; empty = none.
  virtual std::string remark() const { return {}; }

 protected:
  Ability() = default;
};

using Abilities = std::vector<std::unique_ptr<Ability>>;

/// Null if the process did not ask for it. `programs` outlives the ability.
using AbilityMaker = std::unique_ptr<Ability> (*)(const ProcessAttachment& programs);
/// In the order in which they are made and proved.
std::span<const AbilityMaker> ability_makers();

}  // namespace syscost::ebpf
