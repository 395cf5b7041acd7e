// SPDX-License-Identifier: MIT
#include "backends/dispatch/stub/trace_buffer.h"

#include <errno.h>

#include <atomic>

#include "backends/dispatch/stub/raw.h"
#include "backends/dispatch/stub/trace_details.h"
#include "backends/dispatch/stub/trace_event.h"
#include "backends/dispatch/stub/trace_strings.h"

namespace syscost::signal_safe {
namespace {

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

/// Units that lie together; null if there is no room.
TraceUnit* take_units(const Thread& thread, std::uint64_t units) {
  TraceChunk*& own = syscost_trace.chunk_of[&thread - syscost_threads];
  TraceChunk* chunk = std::atomic_ref(own).load(std::memory_order_relaxed);
  TraceUnit* at = chunk != nullptr ? take_units_of(*chunk, units) : nullptr;
  if (at != nullptr) return at;
  return take_units_of_next_chunk(own, units);
}

/// Gives back those of `taken` units from `first` on that are not used, unless a handler has taken others meanwhile.
void give_back(TraceUnit* first, std::uint64_t taken, std::uint64_t used) {
  const std::uint64_t address = reinterpret_cast<std::uint64_t>(first) & ~(kTraceChunkBytes - 1);
  auto* chunk = reinterpret_cast<TraceChunk*>(address);
  const auto index = static_cast<std::uint64_t>(first - chunk->units);
  std::uint64_t expected = index + taken;
  asm volatile("cmpxchgq %2, %1" : "+a"(expected), "+m"(chunk->used) : "r"(index + used) : "cc");
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

/// True unless the error may come before a call of kReadsStringsFirst has read its strings: from its flags and sizes,
/// from memory, from a kernel that does not have it. A descriptor's error: only in some calls.
bool comes_after_strings(std::int64_t result, bool descriptor_comes_after) {
  switch (-result) {
    case EFAULT:
    case EINVAL:
    case ENOMEM:
    case ENOSYS:
    case E2BIG:
      return false;
    case EBADF:
      return descriptor_comes_after;
    default:
      return true;
  }
}

/// Bits of the arguments that are strings which the kernel has read, in a call that ended with `result`. `bits`: of
/// TraceBuffer::parts.
unsigned strings_read(unsigned bits, std::int64_t result) {
  // A seccomp filter gives any error that it likes, before the kernel has read anything.
  const bool shows = result >= 0 || is_error_of_lookup(result) ||
                     ((bits & kReadsStringsFirst) != 0 && syscost_string_copies.has_no_filter &&
                      comes_after_strings(result, (bits & kReadsStringsBeforeDescriptor) != 0));
  return shows ? bits & kStringArguments : 0;
}

/// `bits`: of TraceBuffer::parts.
__attribute__((noinline)) bool keep_with_parts(const Traced& traced, unsigned bits) {
  const Call& call = traced.call;
  const unsigned arguments = strings_read(bits, static_cast<std::int64_t>(call.result));
  const bool has_detail = (bits & kHasDetail) != 0;
  std::uint64_t taken = has_detail ? 2 : 1;
  for (unsigned left = arguments; left != 0; left &= left - 1) taken += kTextUnits;
  TraceUnit* at = take_units(*call.thread, taken);
  if (at == nullptr) return false;
  put_event(at->event, traced);
  std::uint64_t used = 1;
  for (unsigned i = 0; arguments >> i != 0; ++i) {
    if ((arguments >> i & 1) != 0) used += put_string(at + used, argument_of(call.given, i), i);
  }
  if (has_detail) used += put_detail(at[used], call);
  at->event.parts = static_cast<std::uint8_t>(used - 1);
  give_back(at, taken, used);
  show(at->event);
  return true;
}

/// A return from a handler has no stamps: it never comes back.
__attribute__((noinline)) bool keep_return(const Traced& traced) {
  TraceUnit* at = take_units(*traced.call.thread, 1);
  if (at == nullptr) return false;
  put_event(at->event, traced);
  at->event.start = at->event.end = read_ticks();
  at->event.given = {};
  show(at->event);
  return true;
}

}  // namespace

bool keep_event(const Guard& /*guard*/, const Traced& traced) {
  const Call& call = traced.call;
  if (!traced.has_result) [[unlikely]]
    return keep_return(traced);
  const unsigned parts = parts_of(call);
  if (parts != 0) [[unlikely]]
    return keep_with_parts(traced, parts);
  TraceUnit* at = take_units(*call.thread, 1);
  if (at == nullptr) [[unlikely]]
    return false;
  put_event(at->event, traced);
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
