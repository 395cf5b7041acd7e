// SPDX-License-Identifier: MIT
//
// Puts functions of ours into the vtables of classes, and keeps what stood there.
#pragma once

#include <cstdint>
#include <vector>

#include "agent/find/classes.h"
#include "agent/find/modules.h"

namespace syscost::agent {

/// Filled before main(), by one thread, and not changed afterwards. It lives until the process ends.
class Overridden {
 public:
  /// Puts `function` into slot `slot` of `vtable`. False where the kernel refuses.
  bool put_in(const Modules& modules, const Vtable& vtable, int slot, std::uintptr_t function);

  /// Calls the function that stood in slot `slot` of `object`'s class.
  template <class... Arguments>
  void call(const void* object, int slot, Arguments... arguments) const {
    call_for<void>(object, slot, arguments...);
  }
  /// The same, of a function that returns a `Result`.
  template <class Result, class... Arguments>
  Result call_for(const void* object, int slot, Arguments... arguments) const {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): what stood in the slot
    return reinterpret_cast<Result (*)(const void*, Arguments...)>(original(object, slot))(object, arguments...);
  }

 private:
  struct Table {
    const std::uintptr_t* slots = nullptr;
    std::vector<std::uintptr_t> original;
  };
  std::uintptr_t original(const void* object, int slot) const;

  std::vector<Table> tables_;
};

}  // namespace syscost::agent
