// SPDX-License-Identifier: MIT
#include "backends/dispatch/stub/fault_hits.h"

#include <atomic>

#include "backends/dispatch/stub/fault_files.h"
#include "backends/dispatch/stub/record.h"
#include "backends/dispatch/stub/user_memory.h"

namespace syscost::signal_safe {
namespace {

constexpr std::uint32_t kArguments = 6;

/// False if the string at `address` cannot be read: the kernel will say so.
bool keep_path(HitPath& path, std::uint64_t address) {
  UserBytes memory;
  std::uint8_t bytes = 0;
  path.is_cut = 0;
  for (std::uint64_t at = address;; ++at) {
    unsigned char letter = 0;
    if (!memory.byte_at(at, letter)) return false;
    if (letter == 0) break;
    if (bytes == kHitPathBytes) {
      path.is_cut = 1;
      break;
    }
    path.text[bytes++] = static_cast<char>(letter);
  }
  path.bytes = bytes;
  return true;
}

}  // namespace

void keep_hit(const Guard& guard, FaultHit& hit, std::uint64_t generation, const Call& call, bool is_answered) {
  const auto number = static_cast<std::uint32_t>(call.number);
  hit.number = number;
  const Arguments& given = call.given;
  const std::uint64_t arguments[kArguments] = {given.rdi, given.rsi, given.rdx, given.r10, given.r8, given.r9};
  for (std::uint32_t i = 0; i < kArguments; ++i) hit.arguments[i] = arguments[i];
  for (HitPath& path : hit.path) path.is_kept = 0;
  std::uint32_t paths = 0;
  for (std::uint32_t i = 0; i < kArguments && paths < kHitPaths; ++i) {
    if ((syscost_file_arguments.paths[number] >> i & 1) == 0 || !keep_path(hit.path[paths], arguments[i])) continue;
    hit.path[paths].argument = static_cast<std::uint8_t>(i);
    hit.path[paths++].is_kept = 1;
  }
  hit.is_answered = is_answered ? 1 : 0;
  hit.result = static_cast<std::int64_t>(call.result);
  hit.thread = std::atomic_ref(call.thread->id).load();
  hit.stack = stack_before_call(guard, call);
  std::atomic_ref(hit.ready).store(generation, std::memory_order_release);
}

}  // namespace syscost::signal_safe
