// SPDX-License-Identifier: MIT
//
// TraceFile: a trace.pftrace that --syscost_trace wrote, read back, with its call stacks.
//
// Any bytes may come: what is no such trace is a problem, what is cut is used as far as it goes. The file consists of
// messages of protobuf (protobuf.h). The numbers of their fields are those of Perfetto's trace_packet.proto,
// interned_data.proto and profile_common.proto; plugin/src/extras/trace/session/perfetto.cc writes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "csv/problems.h"
#include "trace/protobuf.h"

namespace syscost::bench::trace {

/// An argument, or a number of a slice.
struct Note {
  std::string_view name;
  std::string_view text;
  std::uint64_t number = 0;
};

/// A function of a call stack, at the place from which it calls the next one.
struct Frame {
  std::string_view function;  ///< Empty: not known.
  std::string_view source;    ///< The file of its line; empty if the line is not known.
  std::string_view module;    ///< The path of the program or library.
  std::uint64_t offset = 0;   ///< In the module.
};

struct Call {
  std::string_view name;
  std::string_view result;  ///< `3`, `-1 ENOENT (No such file or directory)`
  std::string_view site;    ///< `at src/log.cc:17 Log::batch+3`; empty = it was not asked for, or had no room.
  std::uint64_t start_ns = 0;
  std::optional<std::uint64_t> took_ns;
  std::uint32_t thread = 0;
  std::uint32_t categories = 0;  ///< TraceFile::categories
  std::uint32_t stack = 0;       ///< TraceFile::stacks; 0 = it has none.
  std::size_t first_note = 0;    ///< Its arguments: TraceFile::notes[first_note, first_note + note_count)
  std::size_t note_count = 0;

  /// `ENOENT`; empty for a call that succeeded.
  std::string_view error() const;
};

/// A window, a scope or a loop.
struct Slice {
  std::string_view name;
  std::uint64_t start_ns = 0;
  std::optional<std::uint64_t> took_ns;
  bool is_window = false;
  std::optional<std::uint64_t> calls;
  std::optional<std::uint64_t> events;
  std::optional<std::uint64_t> lost;  ///< Calls without an event.
};

struct TraceFile {
  TraceFile() = default;
  TraceFile(TraceFile&&) = default;
  TraceFile& operator=(TraceFile&&) = default;
  TraceFile(const TraceFile&) = delete;  // the texts are parts of `bytes`
  TraceFile& operator=(const TraceFile&) = delete;

  std::string path;
  std::vector<char> bytes;
  std::string_view program;
  std::uint64_t process = 0;
  std::vector<Call> calls;  ///< In the order of their starts.
  std::vector<Note> notes;
  std::vector<std::string> categories = {""};  ///< `file;desc`, as column `class` of a CSV.
  std::vector<Slice> slices;
  std::vector<Frame> frames;                              ///< Each place in the code once.
  std::vector<std::vector<std::uint32_t>> stacks = {{}};  ///< Places, as indices into `frames`, outermost first.

  /// The test's own; null in a program without tests.
  const Slice* window() const;
  /// Times count from it: the window's start, else the first event's.
  std::uint64_t origin_ns() const;
};

/// Reads `bytes`, a file named `path`. Notes what is wrong with it; then the result has what comes before.
TraceFile read_trace(std::string path, std::vector<char> bytes, csv::Problems& problems);

/// The call stacks of a trace, by the numbers that its events name them by.
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
