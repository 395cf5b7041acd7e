// SPDX-License-Identifier: MIT
#include "adapters/bodies/test_bodies.h"
#include "late/late.h"

// Every program of the consumer is linked with `-u syscost_catch2_registration`, which pulls this file out of its
// archive.
extern "C" {
// NOLINTBEGIN(readability-identifier-naming): a name of the linker's
extern const int syscost_catch2_registration;
const int syscost_catch2_registration = 1;
// NOLINTEND(readability-identifier-naming)
}

namespace syscost::catch2_adapter {
namespace {

void hook_if_asked() {
  bodies_adapter::hook_if_asked(
      hook,
      {"this program links syscost::catch2, and Catch2 was not found in it: it was compiled with -fno-rtti, or the "
       "program has no tests of Catch2",
       "compile its tests with RTTI, or leave syscost::catch2 out of this program"});
}

[[maybe_unused]] const bool kIsRegistered = [] {
  late::at_load(hook_if_asked);
  return true;
}();

}  // namespace
}  // namespace syscost::catch2_adapter
