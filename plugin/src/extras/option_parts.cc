// SPDX-License-Identifier: MIT
//
// The list of the extras, and the options of those that have few.
#include "extras/option_parts.h"

#include <array>
#include <span>

#include "os/errors.h"

namespace syscost::session {
namespace {

using Group = OptionGroup;
using Kind = ValueKind;

constexpr std::array kLeakEntries = {
    OptionEntry{.group = Group::results,
                .name = "leaks",
                .kind = Kind::on_off,
                .about = "report the descriptors, threads and child processes that each test leaves open",
                .target = &Options::leaks,
                .more = "leaks.md"},
};
constexpr std::array kChildrenEntries = {
    OptionEntry{.group = Group::counting,
                .name = "children",
                .kind = Kind::on_off,
                .about = "count child processes too, in rows of their own",
                .target = &Options::children,
                .more = "#children"},
};
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

Result<void> check_children(const Options& all) {
  if (all.children && all.backend == BackendChoice::none) {
    return Failure{"--syscost_children counts child processes, but --syscost_backend none counts nothing",
                   "use --syscost_backend ebpf or --syscost_backend seccomp, or leave --syscost_children out"};
  }
  if (all.children && all.details.any()) {
    return Failure{
        "--syscost_children and --syscost_detail do not work together: no backend has details for the calls of "
        "children",
        "leave one of them out, or make two runs"};
  }
  return {};
}

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

constinit const OptionPart kLeakOptions = {kLeakEntries};
constinit const OptionPart kChildrenOptions = {kChildrenEntries, check_children};
constinit const OptionPart kArtifactsOptions = {kArtifactsEntries, check_artifacts};

}  // namespace

std::span<const OptionPart* const> option_parts() {
  // In the order in which people read them, and in which their checks are made.
  static constexpr std::array kParts = {&kToolOptions,  &kLeakOptions,  &kChildrenOptions,  &kWhereOptions,
                                        &kFaultOptions, &kTraceOptions, &kSchedulerOptions, &kArtifactsOptions};
  return kParts;
}

}  // namespace syscost::session
