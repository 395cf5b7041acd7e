// SPDX-License-Identifier: MIT
//
// A backend in which calls can fail, for tests of its rules.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <initializer_list>

#include "extras/faults/core/fault_rule.h"
#include "opened.h"

namespace syscost::dispatch {

/// A backend whose rules a test opens.
class FaultedDispatch : public testing::TestWithParam<Patching> {
 protected:
  void SetUp() override {
    ASSERT_NE(opened_.backend, nullptr);
    injector_ = opened_.backend->extension<FaultInjector>();
    ASSERT_NE(injector_, nullptr);
  }

  static FaultRule rule_for(std::initializer_list<long> numbers, int error) {
    FaultRule rule;
    for (const long number : numbers) rule.numbers.set(static_cast<std::size_t>(number));
    if (error != 0) rule.result = -error;
    return rule;
  }
  FaultId open(const FaultRule& rule) {
    Result<FaultId> id = injector_->open(rule);
    EXPECT_TRUE(id.ok()) << id.failure().reason;
    return id.ok() ? id.value() : FaultId{};
  }

  OpenedDispatch opened_{GetParam()};
  FaultInjector* injector_ = nullptr;
};

/// The errno of one getppid by libc's function, which does not set errno: without faults it cannot fail. 0 for success.
inline int error_of_getppid() {
  const pid_t result = getppid();
  return result < 0 ? -result : 0;
}

}  // namespace syscost::dispatch
