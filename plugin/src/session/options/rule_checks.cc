// SPDX-License-Identifier: MIT
#include "session/options/rule_checks.h"

#include <algorithm>
#include <filesystem>

#include "core/selector.h"
#include "core/syscall_table.h"
#include "os/paths.h"
#include "os/quiet_memory.h"

namespace syscost::session {
namespace {

/// True if the rule can ever hit a call of this number.
bool can_hit(const FaultRule& rule, std::uint32_t number) {
  return (!rule.most_bytes.has_value() || can_be_shortened(number)) &&
         (!rule.after_bytes.has_value() || moves_bytes(number));
}

/// Fails if the rule could hit no call, whatever the program does.
Result<void> check_bytes(const FaultRule& rule) {
  for (std::uint32_t number = 0; number < FaultRule::kNumbers; ++number) {
    if (rule.numbers.test(number) && can_hit(rule, number)) return {};
  }
  if (rule.after_bytes.has_value()) {
    return Failure{"the fault begins after some bytes, and no call that is selected reads or writes any",
                   "select read or write, too"};
  }
  return Failure{"no call that is selected can be shortened",
                 "select read, write or another call that docs/faults.md lists"};
}

}  // namespace

std::string quoted_selector(std::string_view selector) {
  return "\"" + std::string(selector) + "\"";
}

bool fails(const FaultRule& rule) {
  return rule.result.has_value() && *rule.result < 0;
}

bool counts_calls(const FaultRule& rule) {
  return rule.first != 1 || rule.last != FaultRule::kEver || rule.step != 1;
}

Result<void> check(const FaultRule& rule) {
  if (rule.result.has_value() && *rule.result < -FaultRule::kMostErrno) {
    return Failure{std::to_string(*rule.result) + " is no result of a call: an error is from -1 to -4095",
                   "give -ENOSPC, for example"};
  }
  if (std::max(rule.delay_enter_ns, rule.delay_exit_ns) > FaultRule::kMostDelayNs) {
    return Failure{"the delay of a fault is negative, or longer than an hour", "give one from 0 to an hour"};
  }
  if (rule.first == 0 || rule.step == 0) {
    return Failure{"calls are numbered from 1 on, and a fault begins at the call with number 0 or has a step of 0",
                   "write nth(1) for the first call, every(1) for each"};
  }
  if (rule.last < rule.first) return Failure{"the last call of the fault is before its first", "exchange them"};
  if (!(rule.probability >= 0 && rule.probability <= 1)) {
    return Failure{"a probability is from 0 to 1", "write 0.25 for a quarter"};
  }
  if (rule.most_bytes == std::uint64_t{0}) {
    return Failure{"a call cannot be shortened to 0 bytes: the program would take it for the end of a file",
                   "give 1 or more, or let the call fail"};
  }
  return {};
}

Result<void> find_path(FaultRule& rule) {
  if (rule.path.empty()) return {};
  const auto without_slash = [](std::string text) {
    while (text.size() > 1 && text.back() == '/') text.pop_back();
    return text;
  };
  const std::filesystem::path absolute = std::filesystem::path(absolute_path(rule.path)).lexically_normal();
  const std::string named = without_slash(absolute.string());
  const std::string real = without_links(absolute.string());
  if (real.empty() || named.empty() || named == "/") {
    return Failure{"\"" + rule.path + "\" is no path of a fault", "name a file, or a folder below /"};
  }
  rule.path = named;
  rule.real_path = without_slash(real);
  return {};
}

Failure has_unreached_threads(std::string_view backend, std::size_t threads) {
  return {"backend " + std::string(backend) + " does not see the calls of " + std::to_string(threads) +
              (threads == 1 ? " thread" : " threads") +
              ", which began while it was off, so nothing can be promised of all threads (Reach::process)",
          "start them when the tests have begun; or set SYSCOST_BACKEND=seccomp, which sees them; or use Reach::thread "
          "(docs/faults.md)"};
}

Result<void> find_numbers(std::string_view selector, FaultRule& rule, bool is_brk_refused) {
  const Result<Selector> wanted = Selector::parse(selector, &quiet_memory());
  if (!wanted.ok()) return wanted.failure();
  const FaultNumbers found = fault_numbers(selector, wanted.value(), is_brk_refused && fails(rule));
  if (!found.refused.empty()) {
    return Failure{
        quoted_selector(selector) + " names " + found.refused + ", which cannot fail: no program could go on",
        "leave it out"};
  }
  if (found.numbers.none()) {
    return Failure{quoted_selector(selector) + " selects no syscall of 64-bit programs",
                   "calls by int $0x80 and those of x32 cannot fail"};
  }
  rule.numbers = found.numbers;
  return check_bytes(rule);
}

std::vector<std::string> names_of(std::string_view selector, const FaultRule& rule, bool is_brk_refused) {
  std::vector<std::string> names;
  const Result<Selector> wanted = Selector::parse(selector, &quiet_memory());
  if (!wanted.ok()) return names;
  const FaultNumbers found = fault_numbers(selector, wanted.value(), is_brk_refused);
  for (std::uint32_t number = 0; number < FaultRule::kNumbers; ++number) {
    if (found.numbers.test(number) && can_hit(rule, number)) names.push_back(syscall_name({Abi::x86_64, number}));
  }
  return names;
}

}  // namespace syscost::session
