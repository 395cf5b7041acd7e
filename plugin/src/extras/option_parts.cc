// SPDX-License-Identifier: MIT
//
// The list of the options of extras, and those that several share.
#include "extras/option_parts.h"

#include <array>
#include <span>

#include "os/errors.h"

namespace syscost::session {
namespace {

using Group = OptionGroup;
using Kind = ValueKind;

constexpr std::array kArtifactsEntries = {
    OptionEntry{
        .group = Group::tools,
        .name = "artifacts",
        .kind = Kind::folder,
        .value = "DIR",
        .about = "where the output of tools and traces goes, and call stacks if calls are told apart by `where`",
        .target = &Options::artifacts,
        .preset = "`syscost_artifacts` in the folder of the CSV, or here if there is no CSV",
        .source = &Options::artifacts_source},
};

Result<void> check_artifacts(const Options& all) {
  if (all.artifacts_source == Source::command_line && !all.wants_tools() && !all.trace.wanted &&
      !all.scheduler.wanted && !all.where.wanted) {
    return Failure{
        "--syscost_artifacts requires --syscost_profile bpftrace, perf or cupti, --syscost_trace, --syscost_sched or "
        "--syscost_where",
        "add --syscost_profile=bpftrace, or leave the folder out"};
  }
  return {};
}

constinit const OptionPart kArtifactsOptions = {kArtifactsEntries, check_artifacts};

}  // namespace

std::span<const OptionPart* const> option_parts() {
  // In the order in which people read them, and in which their checks are made.
  static constexpr std::array kParts = {
      &kToolOptions,       //
      &kLeakOptions,       //
      &kChildrenOptions,   //
      &kWhereOptions,      //
      &kFaultOptions,      //
      &kTraceOptions,      //
      &kSchedulerOptions,  //
      &kArtifactsOptions,  //
  };
  return kParts;
}

}  // namespace syscost::session
