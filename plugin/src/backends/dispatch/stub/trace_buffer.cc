// SPDX-License-Identifier: MIT
#include "backends/dispatch/stub/trace_buffer.h"

#include <errno.h>

#include <atomic>

#include "backends/dispatch/stub/raw.h"
#include "backends/dispatch/stub/user_memory.h"

namespace syscost::signal_safe {
namespace {

constexpr std::uint64_t kPage = 4096;

/// The next chunk for a thread; null if none is left.
__attribute__((noinline)) TraceUnit* take_units_of_next_chunk(TraceChunk*& own, std::uint64_t units) {
  std::atomic_ref taken(syscost_trace.taken);
  if (taken.load(std::memory_order_relaxed) >= syscost_trace.count) return nullptr;
  const std::uint64_t index = taken.fetch_add(1, std::memory_order_relaxed);
  if (index >= syscost_trace.count) return nullptr;
  TraceChunk& fresh = syscost_trace.chunks[index];
  fresh.used = units;
  // A handler in between may have taken a chunk of its own, of which the rest stays unused.
  std::atomic_ref(own).store(&fresh, std::memory_order_relaxed);
  return fresh.units;
}

/// `units` that lie together; null if there is no room.
TraceUnit* take_units(const Thread& thread, std::uint64_t units) {
  TraceChunk*& own = syscost_trace.chunk_of[&thread - syscost_threads];
  TraceChunk* chunk = std::atomic_ref(own).load(std::memory_order_relaxed);
  if (chunk != nullptr) {
    std::uint64_t at = units;
    // One instruction, so that a handler of this thread takes others. No other thread writes to it.
    asm volatile("xaddq %0, %1" : "+r"(at), "+m"(chunk->used) : : "cc");
    if (at + units <= kTraceChunkUnits) return chunk->units + at;
  }
  return take_units_of_next_chunk(own, units);
}

// ---- strings --------------------------------------------------------------------------------------------------------

std::uint64_t argument_of(const Arguments& all, unsigned index) {
  const std::uint64_t values[] = {all.rdi, all.rsi, all.rdx, all.r10, all.r8, all.r9};
  return values[index];
}

/// These errors come from looking a path up, which begins when all of it has been read.
bool is_error_of_lookup(std::int64_t result) {
  return result == -ENOENT || result == -ENOTDIR || result == -ELOOP || result == -EEXIST || result == -EISDIR;
}

/// True if the kernel has read the strings of a call that ended with `result`.
bool shows_strings_read(std::int64_t result) {
  return result >= 0 || is_error_of_lookup(result);
}

struct String {
  std::uint64_t address;
  std::uint32_t bytes;  ///< That are kept.
  bool is_cut;
};

/// Measures the string at `address`, as far as it is kept. Where a result proves nothing it asks the kernel for each
/// page. 0 bytes, and no address, if it cannot be read.
String measure_string(std::uint64_t address, bool asks) {
  String found{address, 0, false};
  if (address < kPage) return {};  // null: a call that takes none
  for (; found.bytes < kTextBytes; ++found.bytes) {
    const std::uint64_t at = address + found.bytes;
    const bool is_new_page = found.bytes == 0 || at % kPage == 0;
    if (asks && is_new_page && !is_readable(at & ~std::uint64_t{7}, sizeof(std::uint64_t))) return {};
    if (read_at<char>(at) == 0) return found;
  }
  found.is_cut = read_at<char>(address + kTextBytes - 1) != 0;
  return found;
}

std::uint32_t units_of(const String& string) {
  if (string.address == 0) return 0;
  return string.bytes == 0 ? 1 : (string.bytes + TraceText::kBytes - 1) / TraceText::kBytes;
}

TraceUnit* put_string(TraceUnit* at, const String& string, unsigned argument) {
  std::uint32_t done = 0;
  for (std::uint32_t unit = 0; unit < units_of(string); ++unit, ++at) {
    TraceText& part = at->text;
    const std::uint32_t left = string.bytes - done;
    const std::uint32_t bytes = left < TraceText::kBytes ? left : TraceText::kBytes;
    part.argument = static_cast<std::uint8_t>(argument);
    part.bytes = static_cast<std::uint8_t>(bytes);
    part.is_cut = string.is_cut ? 1 : 0;
    copy_bytes(reinterpret_cast<std::uint64_t>(part.text), string.address + done, bytes);
    part.kind = TraceKind::text;
    done += bytes;
  }
  return at;
}

void put_event(TraceEvent& event, const Call& call, std::uint64_t now, Control returned, bool has_result) {
  event.number = static_cast<std::uint32_t>(call.number);
  event.thread = call.thread->id;
  event.abi = static_cast<std::uint8_t>(call.abi);
  event.has_result = has_result ? 1 : 0;
  event.texts = 0;
  event.start = call.start;
  event.end = now;
  event.result = call.result;
  event.given = call.given;
  event.entered = call.control;
  event.returned = returned;
}

void show(TraceEvent& event) {
  // The reader waits until no recording is under way; a handler of this thread reads nothing.
  asm volatile("" : : : "memory");
  event.kind = TraceKind::event;
}

constexpr unsigned kArguments = 6;

__attribute__((noinline)) bool keep_with_strings(const Call& call, std::uint64_t now, Control returned,
                                                 unsigned arguments) {
  // A call that failed may have read one of two strings only.
  const bool has_two = (arguments & (arguments - 1)) != 0;
  const bool asks = (has_two && static_cast<std::int64_t>(call.result) < 0) || syscost_trace.doubts_results ||
                    syscost_state.has_filter;
  String strings[kArguments] = {};
  std::uint32_t units = 0;
  for (unsigned i = 0; i < kArguments; ++i) {
    if ((arguments >> i & 1) != 0) strings[i] = measure_string(argument_of(call.given, i), asks);
    units += units_of(strings[i]);
  }
  TraceUnit* at = take_units(*call.thread, 1 + units);
  if (at == nullptr) return false;
  put_event(at->event, call, now, returned, true);
  at->event.texts = static_cast<std::uint8_t>(units);
  TraceUnit* next = at + 1;
  for (unsigned i = 0; i < kArguments; ++i) next = put_string(next, strings[i], i);
  show(at->event);
  return true;
}

/// Bits of the arguments that are strings which the kernel has read.
unsigned strings_of(const Call& call) {
  if (call.number >= kNumbers || call.abi != 0) return 0;
  return syscost_trace.strings[call.number];
}

/// A return from a handler has no stamps: it never comes back.
__attribute__((noinline)) bool keep_return(const Call& call, Control returned) {
  TraceUnit* at = take_units(*call.thread, 1);
  if (at == nullptr) return false;
  const std::uint64_t ticks = read_ticks();
  put_event(at->event, call, ticks, returned, false);
  at->event.start = ticks;
  at->event.given = {};
  show(at->event);
  return true;
}

}  // namespace

bool keep_event(const Guard& /*guard*/, const Call& call, std::uint64_t now, Control returned, bool has_result) {
  if (!has_result) [[unlikely]]
    return keep_return(call, returned);
  const unsigned strings = strings_of(call);
  if (strings != 0 && shows_strings_read(static_cast<std::int64_t>(call.result))) [[unlikely]] {
    return keep_with_strings(call, now, returned, strings);
  }
  TraceUnit* at = take_units(*call.thread, 1);
  if (at == nullptr) [[unlikely]]
    return false;
  put_event(at->event, call, now, returned, true);
  show(at->event);
  return true;
}

}  // namespace syscost::signal_safe

// NOLINTBEGIN(readability-identifier-naming): beside the stub's
extern "C" {
syscost::signal_safe::TraceBuffer syscost_trace{};
syscost::signal_safe::TraceMode syscost_trace_mode{};
}
// NOLINTEND(readability-identifier-naming)
