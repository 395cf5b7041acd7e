// SPDX-License-Identifier: MIT
#include <optional>

#include "extras/backend_wishes.h"
#include "extras/commands/dispatch/command_backend.h"

namespace syscost::session {
namespace {

std::optional<Failure> refusal_of_command(const BackendCandidate& candidate, const Options& options) {
  if (!is_dispatch(candidate.choice)) return std::nullopt;
  if (!candidate.is_named) {
    return Failure{
        "for a command as a whole, dispatch is taken only if it is named, because it does not see the dynamic "
        "loader's calls and static programs",
        "use --backend=dispatch"};
  }
  if (options.obstacle_inside_command->empty()) return std::nullopt;
  return Failure{candidate.name() + " counts inside the programs of a command, and " + *options.obstacle_inside_command,
                 "use --backend=ebpf or --backend=seccomp"};
}

std::optional<OpenedBackend> open_inside(const BackendCandidate& candidate, const Options& options) {
  if (!is_dispatch(candidate.choice)) return std::nullopt;
  return dispatch::open_command_backend(candidate.name(), options.filter.get());
}

}  // namespace

constinit const BackendWish kCommandWish{
    .is_wanted = [](const Options& options) { return options.obstacle_inside_command.has_value(); },
    .refusal = refusal_of_command,
    .open_instead = open_inside,
};

}  // namespace syscost::session
