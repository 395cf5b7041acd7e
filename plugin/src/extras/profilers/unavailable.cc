// SPDX-License-Identifier: MIT
//
// The profilers of a build without profilers: a request for one is an error with its cause, as for every missing
// capability.
#include "extras/profilers/profiler.h"

namespace syscost::profilers {
namespace {

Failure left_out() {
  return Failure{"syscost was built without profilers: nlohmann-json was not found then",
                 "install it (Debian: apt-get install nlohmann-json3-dev) and build syscost again"};
}

}  // namespace

Result<std::unique_ptr<Profiler>> make_bpftrace(const ProfilerOptions& /*options*/) {
  return left_out();
}

Result<std::unique_ptr<Profiler>> make_perf(const ProfilerOptions& /*options*/) {
  return left_out();
}

}  // namespace syscost::profilers
