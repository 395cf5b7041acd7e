// SPDX-License-Identifier: MIT
#include "extras/commands/options/command_options.h"

#include <string>
#include <string_view>

namespace syscost::session {

Result<void> prepare_for_command(Options& all) {
  if (all.backend == BackendChoice::none) {
    return Failure{"a command measured as a whole has only counts, and --backend none counts nothing",
                   "leave --backend out; or measure its tests: bench run --tests --backend none -- COMMAND"};
  }
  const auto refused = [](std::string_view why, const std::string& flag) {
    return Failure{"a command measured as a whole is seen from outside" + std::string(why) + " (" + flag + ")",
                   "measure its tests: bench run --tests " + flag + " -- COMMAND; or leave " + flag + " out"};
  };
  if (all.where.wanted) return refused(", without call stacks", "--where");
  if (all.trace.wanted) return refused(", without a file of its calls", "--trace");
  if (all.scheduler.wanted) return refused("; the scheduler's events are those of one process", "--sched");
  if (all.wants_faults()) {
    return Failure{"calls of a command measured as a whole cannot fail: a fault belongs to a test (--inject, --forbid)",
                   "measure its tests: bench run --tests --inject ... -- COMMAND; or use strace -f --inject"};
  }
  if (all.leaks) return refused("; what its processes leave open is not listed", "--leaks");
  if (all.details.any()) return refused("; no backend has details for the calls of other processes", "--detail");
  all.children = true;
  return {};
}

}  // namespace syscost::session
