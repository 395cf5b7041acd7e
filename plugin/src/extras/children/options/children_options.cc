// SPDX-License-Identifier: MIT
//
// --syscost_children: child processes, in rows of their own.
#include "extras/option_parts.h"

#include <array>

#include "os/errors.h"

namespace syscost::session {
namespace {

using Group = OptionGroup;
using Kind = ValueKind;

constexpr std::array kChildrenEntries = {
    OptionEntry{.group = Group::counting,
                .name = "children",
                .kind = Kind::on_off,
                .about = "count child processes too, in rows of their own",
                .target = &Options::children,
                .more = "#children"},
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

}  // namespace

constinit const OptionPart kChildrenOptions = {kChildrenEntries, check_children};

}  // namespace syscost::session
