// SPDX-License-Identifier: MIT
#include "adapters/bodies/test_bodies.h"
#include "late/late.h"

// Every program of the consumer is linked with `-u syscost_doctest_registration`, which pulls this file out of its
// archive.
extern "C" {
// NOLINTBEGIN(readability-identifier-naming): a name of the linker's
extern const int syscost_doctest_registration;
const int syscost_doctest_registration = 1;
// NOLINTEND(readability-identifier-naming)
}

namespace syscost::doctest_adapter {
namespace {

void hook_if_asked() {
  bodies_adapter::hook_if_asked(
      hook,
      {"this program links syscost::doctest, and doctest was not found in it: it was compiled with -fno-rtti, or the "
       "program has no tests of doctest",
       "compile its tests with RTTI, or leave syscost::doctest out of this program"});
}

[[maybe_unused]] const bool kIsRegistered = [] {
  late::at_load(hook_if_asked);
  return true;
}();

}  // namespace
}  // namespace syscost::doctest_adapter
