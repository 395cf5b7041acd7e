// SPDX-License-Identifier: MIT
//
// Puts functions of ours into the vtables of classes, and keeps what stood there.
#pragma once

#include <cstdint>
#include <vector>

#include "agent/common/worlds.h"
#include "agent/find/classes.h"
#include "agent/find/modules.h"

namespace syscost::agent {

/// In a program into which nothing can be preloaded: from now on functions are put in by way of `worlds`.
void set_worlds(const Worlds& worlds);
/// Null in another program.
const Worlds* worlds();

/// Filled before main(), by one thread, and not changed afterwards. It lives until the process ends.
class Overridden {
 public:
  /// Puts `function` into slot `slot` of `vtable`. False where the kernel refuses.
  bool put_in(const Modules& modules, const Vtable& vtable, int slot, std::uintptr_t function);
  /// The same for a function that any thread may call: `seen` only looks at its arguments, and what stood there runs
  /// after it.
  bool put_before(const Modules& modules, const Vtable& vtable, int slot, std::uintptr_t seen);

  /// Calls the function that stood in slot `slot` of `object`'s class, with up to two arguments more.
  template <class... Arguments>
  void call(const void* object, int slot, Arguments... arguments) const {
    if (const Worlds* const its = worlds(); its != nullptr) {
      const std::uintptr_t words[3] = {word_of(object), word_of(arguments)...};
      its->call_program(original(object, slot), words[0], words[1], words[2]);
      return;
    }
    call_for<void>(object, slot, arguments...);
  }
  /// The same, of a function that returns a `Result`, in a program that loaded the agent itself.
  template <class Result, class... Arguments>
  Result call_for(const void* object, int slot, Arguments... arguments) const {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): what stood in the slot
    return reinterpret_cast<Result (*)(const void*, Arguments...)>(original(object, slot))(object, arguments...);
  }

 private:
  static std::uintptr_t word_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }
  static std::uintptr_t word_of(int number) { return static_cast<std::uintptr_t>(number); }
  void keep(const Vtable& vtable);

  struct Table {
    const std::uintptr_t* slots = nullptr;
    std::vector<std::uintptr_t> original;
  };
  std::uintptr_t original(const void* object, int slot) const;

  std::vector<Table> tables_;
};

}  // namespace syscost::agent
