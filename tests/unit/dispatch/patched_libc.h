// SPDX-License-Identifier: MIT
//
// Tests of patching: they are skipped where nothing can be patched, and they compare libc's code with what it was.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "backends/dispatch/patches.h"
#include "backends/dispatch/sites.h"
#include "opened.h"

namespace syscost::dispatch {

class PatchedLibc : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string obstacle = Patches::obstacle(); !obstacle.empty()) GTEST_SKIP() << obstacle;
  }
};
using PatchedLibcDeathTest = PatchedLibc;

inline std::vector<unsigned char> text_now() {
  const Text text = libc_text();
  return {text.begin, text.end};
}

}  // namespace syscost::dispatch
