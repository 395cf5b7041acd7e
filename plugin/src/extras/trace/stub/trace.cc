// SPDX-License-Identifier: MIT
#include "extras/trace/stub/trace.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <atomic>

#include "backends/dispatch/stub/arming.h"
#include "backends/dispatch/stub/common/raw.h"
#include "backends/dispatch/stub/user_memory.h"

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

namespace syscost::signal_safe {
namespace {

/// As the kernel packs it, from how it gives it to programs.
std::uint32_t packed_device(std::uint64_t device) {
  const auto major = static_cast<std::uint32_t>((device >> 8 & 0xfff) | (device >> 32 & ~0xfffULL));
  const auto minor = static_cast<std::uint32_t>((device & 0xff) | (device >> 12 & ~0xffULL));
  return major << 20 | minor;
}

bool fits(const DetailRule& rule, std::uint32_t device, std::uint32_t request) {
  return (device & rule.device_mask) == rule.device && (request & rule.request_mask) == rule.request;
}

/// The 32 bits at an offset of the argument. False if they cannot be read.
bool copy_at(std::uint64_t argument, std::uint16_t offset, std::uint32_t& into) {
  return offset != DetailRule::kNowhere && copy_from(argument + offset, &into, sizeof into);
}

void apply_rules(TraceDetail& detail, const Call& call) {
  const auto request = static_cast<std::uint32_t>(call.given.rsi);
  for (std::uint32_t i = 0; i < syscost_detail_rules.count; ++i) {
    const DetailRule& rule = syscost_detail_rules.rule[i];
    if (!fits(rule, detail.device, request)) continue;
    // The kernel has read the argument of a call that succeeded.
    if (static_cast<std::int64_t>(call.result) < 0) return;
    detail.has_command = copy_at(call.given.rdx, rule.command_at, detail.command) ? 1 : 0;
    if (!copy_at(call.given.rdx, rule.status_at, detail.status)) detail.status = 0;
    return;
  }
}

}  // namespace

std::uint32_t put_detail(TraceUnit& unit, const Call& call) {
  const Copying copying;
  if (!Copying::is_allowed() || !syscost_string_copies.has_no_filter) return 0;
  struct stat status;
  const auto descriptor = static_cast<long>(static_cast<int>(call.given.rdi));
  if (syscost_raw_syscall(SYS_fstat, descriptor, reinterpret_cast<long>(&status)) != 0) return 0;
  const bool is_character = S_ISCHR(status.st_mode);
  if (!is_character && !S_ISBLK(status.st_mode)) return 0;
  TraceDetail& detail = unit.detail;
  detail.is_block = is_character ? 0 : 1;
  detail.has_command = 0;
  detail.device = packed_device(status.st_rdev);
  detail.command = detail.status = 0;
  if (is_character) apply_rules(detail, call);
  detail.kind = TraceKind::detail;
  return 1;
}

}  // namespace syscost::signal_safe

// NOLINTBEGIN(readability-identifier-naming): beside the stub's
extern "C" {
syscost::signal_safe::DetailRules syscost_detail_rules{};
}
// NOLINTEND(readability-identifier-naming)

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
  const long copied = syscost_raw_syscall(SYS_process_vm_readv, number_for_memory(), reinterpret_cast<long>(into),
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
  return syscost_raw_syscall(SYS_process_vm_readv, number_for_memory(), reinterpret_cast<long>(&room), 1,
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
