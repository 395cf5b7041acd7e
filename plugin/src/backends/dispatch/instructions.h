// SPDX-License-Identifier: MIT
//
// The code of libc: where its functions are, by its unwind tables, and where their instructions begin and lead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace syscost::dispatch {

inline constexpr std::size_t kLongestInstruction = 15;

/// Where control goes after an instruction.
enum class Flow : std::uint8_t {
  next,           ///< To the next instruction.
  call,           ///< To the next instruction, too, unless the called function never returns.
  branch,         ///< To the next instruction, or to its target.
  jump,           ///< To its target.
  indirect_jump,  ///< To an address in a register or in memory.
  ends,           ///< Nowhere in this function: a return, ud2.
  kernel,         ///< Into the kernel: syscall, sysenter, int.
};

struct Instruction {
  std::size_t bytes = 0;  ///< 0 = unknown.
  Flow flow = Flow::next;
  bool is_relative = false;  ///< Addresses memory relative to itself.
  bool is_nop = false;

  bool never_goes_on() const { return flow == Flow::jump || flow == Flow::indirect_jump || flow == Flow::ends; }
  /// True if it does the same at another address, and continues with the next instruction.
  bool may_move() const { return flow == Flow::next && !is_relative; }
};

/// Decodes the instruction at `code`, in x86-64 text that ends at `end`. It knows all instructions that compilers emit;
/// one that it does not know has no length. A test compares every instruction of libc with libZydis.
Instruction decode(const unsigned char* code, const unsigned char* end);

/// The text of libc, [begin, end); both null when there is none.
struct Text {
  const unsigned char* begin = nullptr;
  const unsigned char* end = nullptr;
  const char* path = "";         ///< The path of libc's file.
  std::int64_t file_offset = 0;  ///< Where `begin` is in the file.
};
Text libc_text();

/// The code [begin, end) of one entry of the unwind tables.
struct Function {
  const unsigned char* begin = nullptr;
  const unsigned char* end = nullptr;
  bool has_landing_pads = false;  ///< An unwinder may enter it in the middle.
};

/// Returns the function that the byte at `address` belongs to; none if there is none.
using FindFunction = std::optional<Function> (*)(const unsigned char* address);
std::optional<Function> find_function(const unsigned char* address);

/// Bytes that do nothing.
struct Padding {
  const unsigned char* begin = nullptr;
  const unsigned char* end = nullptr;
};

/// A `syscall` instruction, and the instruction right before it.
struct KernelCall {
  const unsigned char* syscall = nullptr;
  const unsigned char* before = nullptr;  ///< Null when the function begins with the syscall.
  Instruction decoded_before;
};

/// A function, decoded from its beginning.
struct FunctionCode {
  Function function;
  bool is_whole = false;         ///< It could be decoded to its end, where the last instruction ends, too.
  bool never_falls_out = false;  ///< Its last instruction does not lead to the code after it.
  bool has_indirect_jump = false;
  std::vector<KernelCall> calls;
  std::vector<Padding> unreached;  ///< Padding right after an instruction that does not lead there.
};
FunctionCode read_code(const Function& function, const Text& text);

/// False only if `function` could be decoded as far as `end`, and no direct jump or call ends there.
bool may_end_in_jump(const Function& function, const unsigned char* end);

/// Returns the padding between `code` and the next function. Empty if anything else stands there, or if `code` falls
/// into it.
Padding padding_after(const FunctionCode& code, const Text& text, FindFunction find);

}  // namespace syscost::dispatch
