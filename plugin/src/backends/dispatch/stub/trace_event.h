// SPDX-License-Identifier: MIT
//
// The common case of keeping an event, inline: each call of a trace pays for it.
#pragma once

#include <atomic>
#include <cstdint>

#include "backends/dispatch/stub/trace_buffer.h"

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

/// What its event has beside numbers: bits of TraceBuffer::parts.
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

}  // namespace syscost::signal_safe
