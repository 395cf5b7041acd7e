// SPDX-License-Identifier: MIT
//
// The trace: an event for each call that is counted, in the order in which its thread made them, with the strings and
// the device of a call where they say more than numbers.
//
// The memory is mapped and touched before the first window. A thread takes a chunk of it at a time, so threads share
// nothing but the number of the next chunk, and a thread that a window makes needs no preparation. If no chunk is left,
// the call is counted as usual, and also counted in its account's `unkept`. A signal handler may interrupt a thread
// that writes an event: it has taken its units by one instruction before, so the handler's events get others.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "backends/dispatch/stub/common/call.h"

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

/// The device that an ioctl was made on: CallDetail of core/syscall_id.h.
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

/// So much is kept of one string; a call has at most two.
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
  /// By number, of the usual table: the parts that an event has beside numbers. Nearly all calls have 0.
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
  paused = 2,  ///< Events are being read: calls are counted as unkept.
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

// The common case of keeping an event, inline: each call of a trace pays for it.

namespace syscost::signal_safe {

/// Units of `chunk` that lie together; null if it has no room for so many.
inline TraceUnit* take_units_of(TraceChunk& chunk, std::uint64_t units) {
  std::uint64_t at = units;
  // One instruction, so that a handler of this thread takes others. No other thread writes to it.
  asm volatile("xaddq %0, %1" : "+r"(at), "+m"(chunk.used) : : "cc");
  return at + units <= kTraceChunkUnits ? chunk.units + at : nullptr;
}

__attribute__((always_inline)) inline void put_event(TraceEvent& event, const Traced& traced) {
  const Call& call = traced.call;
  event.abi = static_cast<std::uint8_t>(call.abi);
  event.has_result = traced.has_result ? 1 : 0;
  event.parts = 0;
  event.number = static_cast<std::uint32_t>(call.number);
  event.thread = call.thread->id;
  event.stack = traced.stack;
  event.start = call.start;
  event.end = traced.now;
  event.result = call.result;
  event.given = call.given;
  event.entered = call.control;
  event.returned = traced.returned;
}

inline void show(TraceEvent& event) {
  // The reader waits until no recording is under way; a handler of this thread reads nothing.
  asm volatile("" : : : "memory");
  event.kind = TraceKind::event;
}

/// The parts that the call's event has beside numbers: bits of TraceBuffer::parts.
inline unsigned parts_of(const Call& call) {
  if (call.number >= kNumbers || call.abi != 0) return 0;
  return syscost_trace.parts[call.number];
}

/// Keeps an event of a call that has returned, and of which nothing is kept but numbers, if its thread's chunk has
/// room. False if not: then keep_event() decides.
__attribute__((always_inline)) inline bool keep_common_event(const Traced& traced) {
  if (parts_of(traced.call) != 0) return false;
  TraceChunk* chunk =
      std::atomic_ref(syscost_trace.chunk_of[traced.call.thread - syscost_threads]).load(std::memory_order_relaxed);
  TraceUnit* at = chunk != nullptr ? take_units_of(*chunk, 1) : nullptr;
  if (at == nullptr) return false;
  put_event(at->event, traced);
  show(at->event);
  return true;
}

// The device of an ioctl: a request has a name only with its device.

/// RequestRule of core/syscall_id.h.
struct DetailRule {
  static constexpr std::uint16_t kNowhere = 0xffff;

  std::uint32_t device;
  std::uint32_t device_mask;
  std::uint32_t request;
  std::uint32_t request_mask;
  std::uint16_t command_at;
  std::uint16_t status_at;
};

/// Set between windows.
struct DetailRules {
  static constexpr std::uint32_t kMost = 32;

  std::uint32_t count;
  DetailRule rule[kMost];
};

/// Writes the detail of an ioctl that has returned into `unit`. Returns the number of units that it takes: 0 if the
/// descriptor is no device, or if nothing may be asked.
///
/// The stub asks the kernel for the device (fstat) after the call, and copies the command in the request's argument
/// where a rule says that there is one. Another thread may have closed the descriptor meanwhile: then the event has no
/// device. The program does not make these calls, so they are made only if no seccomp filter is there (Copying).
std::uint32_t put_detail(TraceUnit& unit, const Call& call);

}  // namespace syscost::signal_safe

// NOLINTBEGIN(readability-identifier-naming): beside the stub's
extern "C" {
extern syscost::signal_safe::DetailRules syscost_detail_rules;
}
// NOLINTEND(readability-identifier-naming)

// Strings. They are copied only if the call's result shows that the kernel has read them, and by the kernel.
//
// A string may be gone before it is copied: another thread unmaps its page, another process cuts the file that the page
// is of. So no instruction of ours reads it. process_vm_readv copies it, and fails where there is nothing to read. That
// call is one that the program does not make: a seccomp filter may kill the process for it. So strings are copied only
// if the call has been tried (StringCopies of stub_calls.h), and no more once the program may install another filter.

namespace syscost::signal_safe {

struct CopyState {
  bool are_possible;        ///< Set between windows; cleared by stop_copies().
  bool has_no_filter;       ///< No seccomp filter was there when copies became possible.
  bool may_ask_kinds;       ///< Calls of ours (file_kinds.h) meet no filter. Set between windows.
  bool may_be_filtered;     ///< The program may have installed a filter: faults make no calls of their own. Stays.
  std::uint64_t under_way;  ///< By all threads.
};

/// While it exists, a thread that is about to install a filter waits.
class Copying {
 public:
  Copying();
  ~Copying();
  Copying(const Copying&) = delete;
  Copying& operator=(const Copying&) = delete;

  /// After its construction: so either it sees that copies have been stopped, or who stops them sees it.
  static bool is_allowed();
};

/// Copies memory of the program. False if not all of it can be read. Only if Copying::is_allowed().
bool copy_from(std::uint64_t address, void* into, std::uint64_t bytes);

/// Copies the string at `address` into the texts of `units`, of which there are kTextUnits, and returns how many it
/// takes. 0 if it cannot be read, or must not be.
std::uint32_t put_string(TraceUnit* units, std::uint64_t address, unsigned argument);

/// From now on no string is copied. Waits for the copies that other threads have begun; not for ever, because a
/// debugger may have stopped such a thread.
void stop_copies();

/// The calling thread is about to make a call that may install a seccomp filter: as stop_copies(), and from now on
/// nothing of the stub makes a call for a question (file_kinds.h, stub_calls.h, call_files.h) or for a delay
/// (faults.h).
void stop_calls_of_ours();

/// Waits, not for ever, for what other threads have begun.
void wait_for_calls_of_ours();

/// As stop_calls_of_ours(), if a call by another way than the usual one (int $0x80, x32) may install a filter.
void note_unusual_call(std::uint64_t abi, std::uint64_t number);

}  // namespace syscost::signal_safe

// NOLINTBEGIN(readability-identifier-naming): beside the stub's
extern "C" {
extern syscost::signal_safe::CopyState syscost_string_copies;
}
// NOLINTEND(readability-identifier-naming)
