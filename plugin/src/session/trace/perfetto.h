// SPDX-License-Identifier: MIT
//
// PerfettoTrace: writes a trace in the format of https://ui.perfetto.dev, which is protobuf. A dozen fields of
// Perfetto's trace_packet.proto are enough, so there is no library.
#pragma once

#include <cstdint>
#include <map>
#include <memory_resource>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/call_trace.h"
#include "session/trace/mapped_text.h"
#include "session/trace/perfetto_stacks.h"
#include "symbols/site.h"

namespace syscost::session {

/// Where a call came from.
struct TracedStack {
  std::uint32_t number = 0;                         ///< Of its own.
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
