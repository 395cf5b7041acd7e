// SPDX-License-Identifier: MIT
#include "backends/dispatch/stub/trace_details.h"

#include <sys/stat.h>
#include <sys/syscall.h>

#include "backends/dispatch/stub/raw.h"
#include "backends/dispatch/stub/trace_strings.h"

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
