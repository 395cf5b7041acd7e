// SPDX-License-Identifier: MIT
#include "backends/ebpf/diagnosis.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>

namespace syscost::ebpf {
namespace {

TEST(Diagnosis, AFailedStepIsASentenceThatNamesEbpf) {
  if (access("/sys/kernel/btf/vmlinux", R_OK) != 0) GTEST_SKIP() << "that the kernel has no BTF would be named first";
  const Failure failure = explain_failure("load the programs", EINVAL, "a line of libbpf's");
  EXPECT_EQ(failure.reason, "Cannot load the programs for eBPF: Invalid argument (EINVAL) (a line of libbpf's)");
}

}  // namespace
}  // namespace syscost::ebpf
