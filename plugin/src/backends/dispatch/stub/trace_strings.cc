// SPDX-License-Identifier: MIT
#include "backends/dispatch/stub/trace_strings.h"

#include <sys/syscall.h>

#include <atomic>

#include "backends/dispatch/stub/mapped_peak.h"
#include "backends/dispatch/stub/raw.h"
#include "backends/dispatch/stub/user_memory.h"

namespace syscost::signal_safe {
namespace {

constexpr std::uint64_t kPage = 4096;

std::uint64_t least(std::uint64_t a, std::uint64_t b) {
  return a < b ? a : b;
}

/// Copies the bytes [from, to) of the string at `address`. False if not all of them can be read.
bool copy_bytes_of(TraceUnit* units, std::uint64_t address, std::uint64_t from, std::uint64_t to) {
  Stretch into[kTextUnits];
  long stretches = 0;
  for (std::uint64_t at = from; at < to;) {
    const std::uint64_t offset = at % TraceText::kBytes;
    const std::uint64_t bytes = least(TraceText::kBytes - offset, to - at);
    into[stretches++] = {reinterpret_cast<std::uint64_t>(units[at / TraceText::kBytes].text.text + offset), bytes};
    at += bytes;
  }
  const Stretch string{address + from, to - from};
  const long copied = syscost_raw_syscall(SYS_process_vm_readv, syscost_state.process, reinterpret_cast<long>(into),
                                          stretches, reinterpret_cast<long>(&string), 1, 0);
  return copied == static_cast<long>(to - from);
}

/// Where the string ends, if that is in [from, to); else `to`.
std::uint64_t end_of(const TraceUnit* units, std::uint64_t from, std::uint64_t to) {
  std::uint64_t at = from;
  while (at < to && units[at / TraceText::kBytes].text.text[at % TraceText::kBytes] != 0) ++at;
  return at;
}

/// Sets `length` to what is kept of the string. No page is touched beyond the string's end: the program may be told of
/// it (userfaultfd).
bool copy_string(TraceUnit* units, std::uint64_t address, std::uint64_t& length) {
  std::uint64_t known = 0;
  while (known < kTextBytes) {
    const std::uint64_t to = least(kTextBytes, known + kPage - (address + known) % kPage);
    if (!copy_bytes_of(units, address, known, to)) return false;
    length = end_of(units, known, to);
    if (length < to) return true;
    known = to;
  }
  return true;
}

}  // namespace

Copying::Copying() {
  std::atomic_ref(syscost_string_copies.under_way).fetch_add(1);
}
Copying::~Copying() {
  std::atomic_ref(syscost_string_copies.under_way).fetch_sub(1);
}
bool Copying::is_allowed() {
  return std::atomic_ref(syscost_string_copies.are_possible).load();
}

bool copy_from(std::uint64_t address, void* into, std::uint64_t bytes) {
  const Stretch room{reinterpret_cast<std::uint64_t>(into), bytes};
  const Stretch memory{address, bytes};
  return syscost_raw_syscall(SYS_process_vm_readv, syscost_state.process, reinterpret_cast<long>(&room), 1,
                             reinterpret_cast<long>(&memory), 1, 0) == static_cast<long>(bytes);
}

std::uint32_t put_string(TraceUnit* units, std::uint64_t address, unsigned argument) {
  if (address < kPage) return 0;  // null: a call that takes none
  const Copying copying;
  std::uint64_t length = 0;
  if (!Copying::is_allowed() || !copy_string(units, address, length)) return 0;
  std::uint32_t used = 0;
  for (std::uint64_t done = 0; used == 0 || done < length; ++used) {
    TraceText& part = units[used].text;
    const std::uint64_t bytes = least(TraceText::kBytes, length - done);
    part.argument = static_cast<std::uint8_t>(argument);
    part.bytes = static_cast<std::uint8_t>(bytes);
    part.is_cut = length == kTextBytes ? 1 : 0;
    part.kind = TraceKind::text;
    done += bytes;
  }
  return used;
}

void wait_for_calls_of_ours() {
  constexpr int kPatience = 1 << 22;  // some 100 ms
  for (int i = 0; i < kPatience && std::atomic_ref(syscost_string_copies.under_way).load() != 0; ++i) {
    asm volatile("pause");
  }
}

void stop_copies() {
  if (std::atomic_ref(syscost_string_copies.are_possible).exchange(false)) wait_for_calls_of_ours();
}

void stop_calls_of_ours() {
  const bool was_copying = std::atomic_ref(syscost_string_copies.are_possible).exchange(false);
  const bool was_asking = std::atomic_ref(syscost_string_copies.may_ask_kinds).exchange(false);
  const bool was_filtered = std::atomic_ref(syscost_string_copies.may_be_filtered).exchange(true);
  const bool was_noting = stop_noting_mapped();
  if (was_copying || was_asking || was_noting || !was_filtered) wait_for_calls_of_ours();
}

void note_unusual_call(std::uint64_t abi, std::uint64_t number) {
  constexpr std::uint64_t kX32Bit = 0x4000'0000;
  constexpr std::uint64_t kPrctl32 = 172;
  constexpr std::uint64_t kSeccomp32 = 354;
  const std::uint64_t usual = number & ~kX32Bit;
  if (abi == 1 ? number == kPrctl32 || number == kSeccomp32 : usual == SYS_prctl || usual == SYS_seccomp)
    stop_calls_of_ours();
}

}  // namespace syscost::signal_safe

// NOLINTBEGIN(readability-identifier-naming): beside the stub's
extern "C" {
syscost::signal_safe::CopyState syscost_string_copies{};
}
// NOLINTEND(readability-identifier-naming)
