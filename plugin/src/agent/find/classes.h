// SPDX-License-Identifier: MIT
//
// Finds a class's vtables in a program, by what the C++ ABI leaves of it, and puts functions of ours into them.
//
// A polymorphic class has its mangled name in the program (the typeinfo name), a typeinfo that points to the name, and
// a vtable that points to the typeinfo. Stripping leaves all three. A program built with -fno-rtti has the vtable only:
// then its symbol says where it is, and where that is stripped too, its shape.
//
// C++17, as adapters that are compiled in users' builds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "agent/common/two_c_libraries.h"
#include "agent/find/modules.h"

namespace syscost::agent {

using Modules = std::vector<Module>;

/// The modules of the process that may hold a framework.
Modules framework_modules();

/// A class's vtable: where its slots begin.
struct Vtable {
  std::uintptr_t* slots = nullptr;
  int count = 0;
  const Module* module = nullptr;  ///< Which module it lies in.
};

/// Primary vtables of the class with the mangled `name` ("N7testing9TestSuiteE") in all `modules`. A program may hold a
/// copy of a shared library's vtable (R_X86_64_COPY), and then uses the copy: both are found.
std::vector<Vtable> vtables_by_typeinfo(const Modules& modules, const char* name);

/// Primary vtables of the class `name` and of all classes that derive from it, also from its children. Among several
/// bases of a class, it must be the first.
std::vector<Vtable> vtables_of_derived(const Modules& modules, const char* name);

/// The vtable with the symbol `name` ("_ZTVN7testing9TestSuiteE").
std::vector<Vtable> vtables_by_symbol(const Modules& modules, const char* name);

/// Vtables of 15 to 18 slots of which each but the two destructors calls the slot of its own number of another object,
/// after it looked at a switch of its own: that is a class which passes events on to many of its kind.
std::vector<Vtable> repeaters_by_shape(const Modules& modules);

/// Puts `function` into `slot`. The page's protection is as before afterwards. False where the kernel refuses.
bool put(const Modules& modules, std::uintptr_t* slot, std::uintptr_t function);

/// In a program into which nothing can be preloaded: from now on functions are put in by way of `worlds`.
void set_worlds(const Worlds& worlds);
/// Null in another program.
const Worlds* worlds();

/// The functions that stood in the slots of vtables before ours. Filled before main(), by one thread, and not changed
/// afterwards. It lives until the process ends.
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
