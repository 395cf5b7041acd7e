// SPDX-License-Identifier: MIT
//
// Finds a class's vtables in a program, by what the C++ ABI leaves of it.
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

/// Primary vtables of the class `name` and of all classes that derive from it, also from its children. Of a class with
/// several bases, it must be the first.
std::vector<Vtable> vtables_of_derived(const Modules& modules, const char* name);

/// The vtable with the symbol `name` ("_ZTVN7testing9TestSuiteE").
std::vector<Vtable> vtables_by_symbol(const Modules& modules, const char* name);

/// Vtables of 15 to 18 slots of which each but the two destructors calls the slot of its own number of another object,
/// after it looked at a switch of its own: that is a class which passes events on to many of its kind.
std::vector<Vtable> repeaters_by_shape(const Modules& modules);

/// Puts `function` into `slot`. The page's protection is as before afterwards. False where the kernel refuses.
bool put(const Modules& modules, std::uintptr_t* slot, std::uintptr_t function);

}  // namespace syscost::agent
