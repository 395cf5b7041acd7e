// SPDX-License-Identifier: MIT
//
// StackNames: the call stacks of a trace, by the numbers that its events name them by. The numbers of the fields are
// those of Perfetto's interned_data.proto and profile_common.proto; plugin/src/session/trace/perfetto_stacks.cc writes
// them.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>

#include "trace/protobuf.h"
#include "trace/trace_file.h"

namespace syscost::bench::trace {

class StackNames {
 public:
  /// Takes a field of an InternedData, and adds what it says to the frames and stacks of `into`. False: it is damaged.
  bool take(const Field& field, TraceFile& into);
  /// The place in TraceFile::stacks; 0 = unknown.
  std::uint32_t place_of(std::uint64_t stack) const;
  void forget() { *this = {}; }

 private:
  using Names = std::map<std::uint64_t, std::string_view>;
  using Places = std::map<std::uint64_t, std::uint32_t>;

  bool take_module(std::string_view bytes);
  bool take_frame(std::string_view bytes, TraceFile& into);
  bool take_stack(std::string_view bytes, TraceFile& into);

  Names functions_;
  Names sources_;
  Names paths_;
  Names modules_;
  Places frames_;
  Places stacks_;
};

}  // namespace syscost::bench::trace
