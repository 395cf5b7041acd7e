// SPDX-License-Identifier: MIT
#include "adapters/bodies/test_bodies.h"

#include "late/late.h"
#include "syscost/adapter.h"
#include "syscost/counting.h"

namespace syscost::bodies_adapter {

void hook_if_asked(bool (*hook)(const agent::Modules& modules), const Unavailable& why_not) {
  const bool is_asked = late::is_loaded() && adapter::requested();
  // A Forbid makes its test fail, also where nothing is measured.
  if (!is_asked && !(late::is_loaded() && late::uses_faults())) return;
  if (is_asked) test_bodies().prepare(adapter::build_type());
  if (!hook(agent::framework_modules()) && is_asked) adapter::refuse(why_not);
}

}  // namespace syscost::bodies_adapter
