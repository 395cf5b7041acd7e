// SPDX-License-Identifier: MIT
//
// Call stacks: the places in the program from which its calls came.
//
// Several call stacks are one line for people: a function that is called from two places makes its calls at one line.
// Between windows, the stacks of a window's calls become sites (core/site_names.h).
#pragma once

#include <cstdint>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/extensions.h"

namespace syscost {

// A number and a result say what a program did, and not which line did it. With --syscost_where a backend keeps
// separate counts for each (syscall, call stack). A stack has a small number, CallDetail::origin, so tables and windows
// handle it like any other detail. The frames are addresses in files; names and lines are found later, in another
// process.

/// The stacks that --syscost_where requests.
struct WhereRequest {
  bool wanted = false;
  std::vector<std::string> skip;  ///< As given: paths of sources that are never the line of a call.

  bool operator==(const WhereRequest&) const = default;
};

/// Index of a module that is none: the address is outside every file.
inline constexpr std::uint32_t kNoModule = ~std::uint32_t{0};

/// One frame of a call stack.
struct StackFrame {
  std::uint32_t module = kNoModule;  ///< For StackSource::module().
  /// The return address minus the module's load bias, so an address as in the file's symbol table; of kNoModule the
  /// address itself.
  std::uint64_t offset = 0;

  bool operator==(const StackFrame&) const = default;
};

/// A file that was loaded when a stack with it was first seen. The file may have been replaced since.
struct Module {
  explicit Module(std::pmr::memory_resource* memory) : path(memory), build_id(memory) {}
  Module(std::string_view its_path, std::string_view its_build_id, std::pmr::memory_resource* memory)
      : path(its_path, memory), build_id(its_build_id, memory) {}

  std::pmr::string path;      ///< Absolute; `[vdso]` for the kernel's.
  std::pmr::string build_id;  ///< In hexadecimal; empty = the file has none.
};

/// Why a stack has no further frames.
enum class StackEnd : std::uint8_t {
  complete,               ///< The last frame is where the thread began.
  no_unwind_information,  ///< The tables say nothing about the caller of the last frame.
  too_deep,               ///< There were more frames than a stack holds.
};

/// In a BackendRequest: a call stack for each call.
struct StackWish {
  static constexpr std::string_view kWish = "stacks";
};

/// The call stacks of a backend. Read them between windows: it may look files up. `stack` is a
/// CallDetail::origin other than 0 that this backend gave.
class StackSource : public CallOrigins {
 public:
  static constexpr std::string_view kExtension = "stacks";  ///< Backend::extension()

  /// Innermost first. The first frame is the instruction after the syscall, each other one a return address.
  virtual std::span<const StackFrame> frames(std::uint32_t stack) const = 0;
  virtual StackEnd end(std::uint32_t stack) const = 0;
  /// `index` is a StackFrame::module other than kNoModule.
  virtual const Module& module(std::uint32_t index) const = 0;
  /// How many calls of the process so far have no stack, because there was no room for one more.
  virtual std::uint64_t calls_beyond_limits() const { return 0; }

  /// From now on the stack is kept that opened a descriptor, or started a thread or a child process. Those from before
  /// are forgotten. Between windows.
  virtual void begin_openers() const {}
  /// The stack of the counted call that opened `descriptor` last, if no call has closed it since; 0 = unknown.
  virtual std::uint32_t opener_of(int /*descriptor*/) const { return 0; }
  /// The stack of the counted call that started the thread or child process `id`; 0 = unknown.
  virtual std::uint32_t starter_of(int /*id*/) const { return 0; }
};

}  // namespace syscost
