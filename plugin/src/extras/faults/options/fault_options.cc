// SPDX-License-Identifier: MIT
//
// --syscost_inject and --syscost_forbid: calls of tests that fail.
#include "extras/option_parts.h"

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "os/environment.h"
#include "os/errors.h"

namespace syscost::session {
namespace {

using Group = OptionGroup;
using Kind = ValueKind;

std::string take_inject(Options& options, std::string_view value) {
  Result<std::vector<InjectRequest>> requests = parse_inject(value);
  if (!requests.ok()) return requests.failure().reason + "; " + requests.failure().how_to_fix;
  options.inject = std::move(requests.value());
  return {};
}

std::string take_forbid(Options& options, std::string_view value) {
  options.forbid = value;
  return fault_of_forbidden(value);
}

constexpr std::array kFaultEntries = {
    OptionEntry{
        .group = Group::tools,
        .name = "inject",
        .kind = Kind::text,
        .value = "FAULTS",
        .about =
            "let calls of each test fail: `write:ENOSPC:3`, or `write:error=ENOSPC:when=3` as in strace; needs the "
            "backend dispatch or seccomp",
        .target = take_inject,
        .more = "faults.md"},
    OptionEntry{
        .group = Group::tools,
        .name = "forbid",
        .kind = Kind::selector,
        .value = "SELECTOR",
        .about = "a test fails if it makes one of these syscalls: `%network`; needs the backend dispatch or seccomp",
        .target = take_forbid,
        .more = "faults.md"},
};

/// Refuses options that do not go together with calls that fail.
Result<void> check_faults(const Options& all) {
  if (!all.wants_faults()) return {};
  const std::string flag = all.inject.empty() ? "--syscost_forbid" : "--syscost_inject";
  // In Catch2 and doctest, a forbidden call throws an exception.
  if (has_more_rights_than_caller()) {
    return Failure{
        flag + " decides what happens inside this program, and this program has rights that its caller lacks",
        "run it without those rights, as a copy without file capabilities (cp keeps none), or as root"};
  }
  const char* other = all.backend == BackendChoice::none ? "--syscost_backend none, which makes no calls"
                      : all.details.any()                ? "--syscost_detail"
                      : all.children && all.backend != BackendChoice::seccomp
                          ? "--syscost_children, unless --syscost_backend seccomp is named: dispatch ends in a child"
                      : all.scheduler.wanted ? "--syscost_sched, which only ebpf has"
                                             : nullptr;
  if (other == nullptr) return {};
  return Failure{flag + " needs the backend dispatch or seccomp, and does not work together with " + other,
                 "leave one of them out, or make two runs"};
}

}  // namespace

constinit const OptionPart kFaultOptions = {kFaultEntries, check_faults};

}  // namespace syscost::session
