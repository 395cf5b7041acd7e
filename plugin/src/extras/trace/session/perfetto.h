// SPDX-License-Identifier: MIT
//
// Writes a trace with its call stacks in the format of https://ui.perfetto.dev, which is protobuf. A dozen fields of
// Perfetto's trace_packet.proto are enough, so there is no library.
#pragma once

#include <cstdint>
#include <map>
#include <memory_resource>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "extras/trace/core/call_trace.h"
#include "extras/trace/session/mapped_text.h"
#include "extras/where/symbols/site.h"

namespace syscost::session::protobuf {

// Fields of protobuf: numbers, texts and messages. https://protobuf.dev/programming-guides/encoding describes the
// format.

inline void put_number(std::string& out, std::uint64_t value) {
  constexpr std::uint64_t kMore = 0x80;
  for (; value >= kMore; value >>= 7) out += static_cast<char>(value | kMore);
  out += static_cast<char>(value);
}

// Kinds of fields.
inline constexpr std::uint32_t kNumber = 0;
inline constexpr std::uint32_t kBytes = 2;

inline void put(std::string& out, std::uint32_t field, std::uint64_t value) {
  put_number(out, field << 3 | kNumber);
  put_number(out, value);
}
inline void put(std::string& out, std::uint32_t field, std::string_view bytes) {
  put_number(out, field << 3 | kBytes);
  put_number(out, bytes.size());
  out += bytes;
}

}  // namespace syscost::session::protobuf

// PerfettoStacks: call stacks as Perfetto's format has them. A slice names its stack by a number. The stack, its
// frames, their functions and files are written once, with the first slice that needs them.

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

/// Where a call came from.
struct TracedStack {
  std::uint32_t number = 0;                         ///< A number of its own.
  std::string_view site;                            ///< `at src/log.cc:17 Log::batch+3`
  std::pmr::vector<symbols::ResolvedFrame> frames;  ///< Innermost first.
};

class PerfettoTrace {
 public:
  /// A name with a text or a number.
  struct Note {
    std::string_view name;
    std::string text;
    std::int64_t number = 0;
    bool is_number = false;
  };

  struct Title {
    std::string_view name;
    std::string_view categories;  ///< With `;` between them: classes of a call; kWindow, kScope.
  };
  static constexpr std::string_view kWindow = "window";
  static constexpr std::string_view kScope = "scope";

  PerfettoTrace(std::uint32_t process, std::string_view program, MappedText& out);

  /// A named stretch on a track of its own, below the process's.
  void add_slice(const Title& title, std::uint64_t start_ns, std::uint64_t end_ns, const std::vector<Note>& notes);
  /// A call on its thread's track. `stack`: null = it has none.
  void add(const CallEvent& call, const TracedStack* stack);

 private:
  std::uint64_t track_of(std::uint32_t thread);
  std::uint64_t name_id(std::map<std::string, std::uint64_t, std::less<>>& known, std::string_view name,
                        std::uint32_t field, std::string& interned);
  void begin(std::uint32_t type, std::uint64_t track, const Title& title, std::uint64_t at_ns,
             const std::vector<Note>& notes, const TracedStack* stack = nullptr);
  void end(std::uint64_t track, std::uint64_t at_ns);
  void emit(std::string one);
  void emit_track(std::string_view descriptor);

  const std::uint32_t process_;
  MappedText& out_;
  bool has_begun_ = false;
  std::set<std::uint32_t> threads_;
  std::map<std::string, std::uint64_t, std::less<>> categories_;
  std::map<std::string, std::uint64_t, std::less<>> names_;
  std::map<std::string, std::uint64_t, std::less<>> note_names_;
  PerfettoStacks stacks_;
  std::uint64_t slices_ = 0;
};

}  // namespace syscost::session
