// SPDX-License-Identifier: MIT
//
// PerfettoStacks: call stacks as Perfetto's format has them. A slice names its stack by a number. The stack, its
// frames, their functions and files are written once, with the first slice that needs them.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "symbols/site.h"

namespace syscost::session {

class PerfettoStacks {
 public:
  /// The file's number of stack `number`, not 0. `frames`: innermost first. Appends to `interned`, which is an
  /// InternedData of Perfetto's, what the file does not have yet.
  std::uint64_t id_of(std::uint32_t number, std::span<const symbols::ResolvedFrame> frames, std::string& interned);

 private:
  using Texts = std::map<std::string, std::uint64_t, std::less<>>;
  using Numbers = std::vector<std::uint64_t>;

  static std::uint64_t text_id(Texts& known, std::string_view text, std::uint32_t field, std::string& interned);
  std::uint64_t module_id(const Module& module, std::string& interned);
  std::uint64_t frame_id(const symbols::ResolvedFrame& frame, const symbols::SourceFrame* source,
                         std::string& interned);

  Texts functions_;
  Texts sources_;
  Texts paths_;
  Texts build_ids_;
  std::map<Numbers, std::uint64_t> modules_;
  std::map<Numbers, std::uint64_t> frames_;
  std::map<std::uint32_t, std::uint64_t> stacks_;
};

}  // namespace syscost::session
