// SPDX-License-Identifier: MIT
//
// Where the caller of a piece of code is, by the unwind tables (.eh_frame) of the file that the code lies in.
//
// The tables say for each instruction how the caller's registers are found. A walk over a stack needs three of them:
// the instruction pointer, the stack pointer and rbp. So the tables' answer for an instruction fits into 64 bits, a
// Rule, which can be kept (cfi_rules.h). The tables are those that exceptions use; nothing here trusts anything else.
//
// The format: "DWARF Debugging Information Format", 6.4, and the Linux Standard Base's description of .eh_frame.
#pragma once

#include <cstdint>

#include "extras/where/stub/common/where.h"

namespace syscost::signal_safe {

/// The index of the module that was found, in WhereState::modules; Rule::kNoModule where there is no room for more.
std::uint32_t module_of(const FoundObject& found);

/// [begin, begin + bytes) was unmapped, or replaced: its rules and modules are no more.
void forget_code(std::uint64_t begin, std::uint64_t bytes);

enum class RuleKind : std::uint8_t {
  none,         ///< No table covers the instruction.
  unsupported,  ///< The table's answer does not fit into a Rule.
  outermost,    ///< The thread began here.
  from_rsp,     ///< The caller's frame begins at rsp + cfa.
  from_rbp,     ///< At rbp + cfa.
  from_memory,  ///< At the address that stands at rbp + cfa: a function that aligned its frame.
  plt,          ///< At rsp + 8, or 16 from the instruction at `cfa` of its 16 bytes on.
  signal,       ///< The kernel's frame of a signal: its registers lie at rsp + cfa.
  other_place,  ///< At rsp + cfa, with the return address at another place of it: the stub's frame.
  in_call,      ///< Both stand in a Call at rsp (call.h): the stub's frame.
  in_rdi,       ///< At rsp + cfa, with the return address in rdi: vfork.
};

/// Where the caller's rbp is.
enum class SavedRbp : std::uint8_t {
  same,      ///< Not saved: the callee has not changed it.
  in_frame,  ///< At an offset of the caller's frame.
  at_rbp,    ///< Where rbp points to.
};

/// How to find the caller from one instruction. As one word, so that it can be stored and loaded in one step.
class Rule {
 public:
  static constexpr std::uint32_t kNoModule = 0xfff;  ///< And no module has a greater index.
  static constexpr std::int64_t kMostCfa = (std::int64_t{1} << 29) - 1;
  static constexpr std::int64_t kMostOffset = (std::int64_t{1} << 15) - 1;

  constexpr Rule() : Rule(RuleKind::none, 0) {}
  constexpr explicit Rule(std::uint64_t word) : word_(word) {}
  constexpr Rule(RuleKind kind, std::int64_t cfa, SavedRbp saved = SavedRbp::same, std::int64_t offset = 0)
      : word_(static_cast<std::uint64_t>(kind) | static_cast<std::uint64_t>(saved) << 4 |
              std::uint64_t{kNoModule} << 6 | (static_cast<std::uint64_t>(offset) & 0xffff) << 18 |
              static_cast<std::uint64_t>(cfa) << 34) {}

  constexpr std::uint64_t word() const { return word_; }
  constexpr RuleKind kind() const { return static_cast<RuleKind>(word_ & 0xf); }
  constexpr SavedRbp saved_rbp() const { return static_cast<SavedRbp>(word_ >> 4 & 3); }
  constexpr std::uint32_t module() const { return static_cast<std::uint32_t>(word_ >> 6) & 0xfff; }
  /// The offset of the saved rbp, or of the return address, from where the caller's frame begins.
  constexpr std::int64_t offset() const { return static_cast<std::int16_t>(word_ >> 18); }
  constexpr std::int64_t cfa() const { return static_cast<std::int64_t>(word_) >> 34; }

  constexpr Rule in_module(std::uint32_t module) const {
    return Rule((word_ & ~(std::uint64_t{0xfff} << 6)) | std::uint64_t{module} << 6);
  }

 private:
  std::uint64_t word_;
};

/// The file that an instruction is in: all of its segments, and its table of tables (.eh_frame_hdr).
struct FileOfCode {
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t eh_frame_header;
};

/// The rule for the instruction that the byte at `address` belongs to. Reads memory of the file only. If the tables are
/// not what they should be, there is none, or it is unsupported.
Rule read_rule(const FileOfCode& file, std::uint64_t address);

}  // namespace syscost::signal_safe
