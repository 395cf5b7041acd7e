// SPDX-License-Identifier: MIT
//
// GoogleTest's own flags, over its versions: since 1.12 they are read with GTEST_FLAG_GET.
#pragma once

#include <gtest/gtest.h>

#ifdef GTEST_FLAG_GET
#define SYSCOST_GTEST_FLAG(name) GTEST_FLAG_GET(name)
#else
#define SYSCOST_GTEST_FLAG(name) ::testing::GTEST_FLAG(name)
#endif
