// SPDX-License-Identifier: MIT
//
// Functions of libc, as the unwind tables know them, and what their code is made of.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "backends/dispatch/instructions.h"

namespace syscost::dispatch {

/// The text of libc, [begin, end); both null when there is none.
struct Text {
  const unsigned char* begin = nullptr;
  const unsigned char* end = nullptr;
  const char* path = "";         ///< Of libc's file.
  std::int64_t file_offset = 0;  ///< Of `begin`.
};
Text libc_text();

/// What one entry of the unwind tables is about: the code in [begin, end).
struct Function {
  const unsigned char* begin = nullptr;
  const unsigned char* end = nullptr;
  bool has_landing_pads = false;  ///< Unwinders may enter it in its middle.
};

/// The function that the byte at `address` belongs to, or nothing.
using FindFunction = std::optional<Function> (*)(const unsigned char* address);
std::optional<Function> find_function(const unsigned char* address);

/// Bytes that do nothing.
struct Padding {
  const unsigned char* begin = nullptr;
  const unsigned char* end = nullptr;
};

/// A `syscall`, and the instruction that stands right before it.
struct KernelCall {
  const unsigned char* syscall = nullptr;
  const unsigned char* before = nullptr;  ///< Null when the function begins with the syscall.
  Instruction decoded_before;
};

/// A function, decoded from its beginning.
struct FunctionCode {
  Function function;
  bool is_whole = false;         ///< It could be decoded to its end, where the last instruction ends, too.
  bool never_falls_out = false;  ///< Its last instruction does not lead to what stands after it.
  bool has_indirect_jump = false;
  std::vector<KernelCall> calls;
  std::vector<Padding> unreached;  ///< Padding right after an instruction that does not lead there.
};
FunctionCode read_code(const Function& function, const Text& text);

/// False only where `function` could be decoded as far as `end`, and no direct jump or call ends there.
bool may_end_in_jump(const Function& function, const unsigned char* end);

/// The padding between `code` and the next function, empty unless that is all there is and nothing falls into it.
Padding padding_after(const FunctionCode& code, const Text& text, FindFunction find);

}  // namespace syscost::dispatch
