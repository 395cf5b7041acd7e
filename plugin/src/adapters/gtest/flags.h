// SPDX-License-Identifier: MIT
//
// GoogleTest's own flags, over its versions: since 1.12 they are read with GTEST_FLAG_GET and set with
// GTEST_FLAG_SET.
#pragma once

#include <gtest/gtest.h>

#ifdef GTEST_FLAG_GET
#define SYSCOST_GTEST_FLAG(name) GTEST_FLAG_GET(name)
#define SYSCOST_GTEST_SET_FLAG(name, value) GTEST_FLAG_SET(name, value)
#else
#define SYSCOST_GTEST_FLAG(name) ::testing::GTEST_FLAG(name)
#define SYSCOST_GTEST_SET_FLAG(name, value) (void)(::testing::GTEST_FLAG(name) = (value))
#endif
