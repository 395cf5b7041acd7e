// SPDX-License-Identifier: MIT
//
// Included first in tests that are compiled against each GoogleTest from 1.8.1 on: the newer names, where it lacks
// them.
#pragma once

#include <gtest/gtest.h>

#include <iostream>

#ifndef GTEST_SKIP
#define GTEST_SKIP()                      \
  if (true) return; /* no such outcome */ \
  std::cerr
#endif
#ifndef TYPED_TEST_SUITE
#define TYPED_TEST_SUITE TYPED_TEST_CASE
#define INSTANTIATE_TEST_SUITE_P INSTANTIATE_TEST_CASE_P
#define SetUpTestSuite SetUpTestCase
#define TearDownTestSuite TearDownTestCase
#endif
