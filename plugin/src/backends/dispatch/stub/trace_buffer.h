// SPDX-License-Identifier: MIT
//
// The trace: an event for each call that is counted, in the order in which its thread made them.
//
// The memory is mapped and touched before the first window. A thread takes a chunk of it at a time, so threads share
// nothing but the number of the next chunk, and a thread that a window makes needs no preparation. If no chunk is left,
// the call is counted as usual, and also counted in its account's `untraced`. A signal handler may interrupt a thread
// that writes an event: it has taken its units by one instruction before, so the handler's events get others.
//
// Strings are copied only if the call's result shows that the kernel has read them, and by the kernel
// (trace_strings.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/dispatch/stub/call.h"

namespace syscost::signal_safe {

enum class TraceKind : std::uint8_t {
  none = 0,    ///< Not used, or a handler left its thread's recording by longjmp.
  event = 1,   ///< TraceEvent
  text = 2,    ///< TraceText, of the event before it.
  detail = 3,  ///< TraceDetail, of the event before it.
};

struct TraceEvent {
  TraceKind kind;  ///< Written last.
  std::uint8_t abi;
  std::uint8_t has_result;  ///< 0 = a call that never comes back: rt_sigreturn.
  std::uint8_t parts;       ///< TraceTexts or TraceDetails that follow.
  std::uint32_t number;
  std::uint32_t thread;  ///< The kernel's id.
  std::uint32_t stack;   ///< With --syscost_where: by which its call is counted. 0 = none.
  std::uint64_t start;   ///< Ticks.
  std::uint64_t end;
  std::uint64_t result;
  Arguments given;
  Control entered;
  Control returned;
};

/// A part of a string that the kernel has read; the next unit may go on with it.
struct TraceText {
  static constexpr std::uint32_t kBytes = 96;
  TraceKind kind;
  std::uint8_t argument;
  std::uint8_t bytes;
  std::uint8_t is_cut;  ///< The string is longer than what is kept of it.
  char text[kBytes];
};

/// What an ioctl was made on: CallDetail of core/call_detail.h.
struct TraceDetail {
  TraceKind kind;
  std::uint8_t is_block;  ///< Else a character device.
  std::uint8_t has_command;
  std::uint8_t padding;
  std::uint32_t device;
  std::uint32_t command;
  std::uint32_t status;
};

union TraceUnit {
  TraceEvent event;
  TraceText text;
  TraceDetail detail;
};
static_assert(sizeof(TraceUnit) == 104 && sizeof(TraceEvent) == 104);

/// What is kept of one string; a call has at most two.
inline constexpr std::uint32_t kTextUnits = 3;
inline constexpr std::uint32_t kTextBytes = kTextUnits * TraceText::kBytes;

inline constexpr std::uint64_t kTraceChunkBytes = 4096;
inline constexpr std::uint64_t kTraceChunkUnits = (kTraceChunkBytes - sizeof(std::uint64_t)) / sizeof(TraceUnit);

/// A page of events of one thread.
struct alignas(kTraceChunkBytes) TraceChunk {
  std::uint64_t used;  ///< Units; may be more than there are.
  TraceUnit units[kTraceChunkUnits];
};

struct TraceBuffer {
  TraceChunk* chunks;
  std::uint64_t count;
  std::uint64_t taken;             ///< Chunks [0, taken) are in use.
  TraceChunk* chunk_of[kThreads];  ///< By a thread's place in syscost_threads.
  /// By number, of the usual table: what an event has beside numbers. Nearly all calls have 0.
  std::uint16_t parts[kNumbers];
};

// Bits of TraceBuffer::parts.
/// Bit N of these: argument N is a string, which the kernel has read if the call succeeded.
inline constexpr std::uint16_t kStringArguments = 0x3f;
/// The call reads its strings before it looks at anything else than its flags: nearly every error shows that they have
/// been read.
inline constexpr std::uint16_t kReadsStringsFirst = 0x40;
/// It reads them before it looks at a descriptor, too.
inline constexpr std::uint16_t kReadsStringsBeforeDescriptor = 0x80;
/// The call has a TraceDetail.
inline constexpr std::uint16_t kHasDetail = 0x100;

enum class TraceMode : char {
  off = 0,
  on = 1,
  paused = 2,  ///< Events are being read: calls are counted as untraced.
};

/// A call that has been counted, as its event says it.
struct Traced {
  const Call& call;
  std::uint64_t now;
  Control returned;  ///< Its lane's control of now.
  std::uint32_t stack;
  bool has_result;
};

/// Keeps an event. False if there was no room. Only within a recording (record.h): the reader waits for those.
bool keep_event(const Guard& guard, const Traced& traced);

}  // namespace syscost::signal_safe

// NOLINTBEGIN(readability-identifier-naming): beside the stub's
extern "C" {
extern syscost::signal_safe::TraceBuffer syscost_trace;
extern syscost::signal_safe::TraceMode syscost_trace_mode;
}
// NOLINTEND(readability-identifier-naming)
