// SPDX-License-Identifier: MIT
//
// The program of the process that the guest is in, before the program's first instruction: its mappings, the functions
// that its C library calls before and after main(), and functions of the guest's C library that speak of this program.
#pragma once

#include <link.h>

#include <cstdint>
#include <vector>

namespace syscost::guest {

/// Where a program starts: what the kernel would have given it.
struct Start {
  std::uintptr_t stack = 0;   ///< Points to argc.
  std::uintptr_t entry = 0;   ///< The program's, or its loader's.
  std::uint64_t signals = 0;  ///< The signals that are blocked.
};

class Program {
 public:
  explicit Program(const Start& start);

  /// As dl_iterate_phdr() tells of a program.
  dl_phdr_info info() const;
  const char* name() const { return name_; }  ///< argv[0], may be empty

  /// True where the program's data is what it will be when main() runs: nothing relocates it.
  bool is_relocated() const { return dynamic_ == nullptr; }
  /// Lets `hook` run before the first constructor of the program, when it has been relocated, and then what stood
  /// there. False where the program has no constructor.
  bool run_before_constructors(std::uintptr_t (*entrance)(std::uintptr_t), void (*hook)());
  /// Lets `hook` run where exit() calls the last destructor. False where the program has no destructor.
  bool run_after_destructors(std::uintptr_t (*entrance)(std::uintptr_t), void (*hook)());
  /// The functions that stood in the places of the hooks: the hooks call them.
  std::uintptr_t first_constructor() const { return first_constructor_; }
  std::uintptr_t last_destructor() const { return last_destructor_; }
  /// argc, argv, envp: what constructors get.
  const std::uintptr_t* stack() const { return stack_; }

  /// From now on info() has the pages that are read-only after relocation.
  void has_relocated() { is_past_relocation_ = true; }

 private:
  std::uintptr_t dynamic_value(std::int64_t tag) const;
  std::uintptr_t section(const char* name) const;
  bool is_within(std::uintptr_t address, std::uint32_t type, unsigned flag) const;
  bool write(std::uintptr_t address, std::uintptr_t value) const;

  const std::uintptr_t* stack_;
  const char* name_ = "";
  std::uintptr_t base_ = 0;
  std::vector<ElfW(Phdr)> headers_;
  std::vector<ElfW(Phdr)>
      headers_at_start_;  ///< Without the pages that are read-only after relocation: they are not yet.
  const ElfW(Dyn) * dynamic_ = nullptr;
  bool is_past_relocation_ = false;
  std::uintptr_t first_constructor_ = 0;
  std::uintptr_t last_destructor_ = 0;
};

// Functions of the C library in front of the guest's. They say of "the program" what they would say in it.

/// From now on dl_iterate_phdr() tells of `program` as the program, and the program's name is its.
void show_program(const Program& program);

/// Runs what was given to on_exit(): the guest's C library does not hear that the program ends.
void run_exit_functions();

}  // namespace syscost::guest
