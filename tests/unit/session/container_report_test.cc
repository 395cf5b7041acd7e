// SPDX-License-Identifier: MIT
#include "session/backends/doctor.h"

#include <gtest/gtest.h>
#include <linux/capability.h>

namespace syscost::session {
namespace {

TEST(ContainerReport, SaysNothingOutsideOfContainers) {
  EXPECT_EQ(describe_container({}, false), "");
}

TEST(ContainerReport, SaysWhatTheContainerWasGranted) {
  Confinement here;
  here.container = Container::docker;
  here.bounding = 1ULL << CAP_BPF;
  here.has_seccomp_filter = true;
  EXPECT_EQ(describe_container(here, true),
            "  container of Docker: CAP_BPF granted, CAP_PERFMON not granted, seccomp profile on\n");
}

TEST(ContainerReport, NamesTheLineThatMountsTracefs) {
  Confinement here;
  here.container = Container::docker;
  EXPECT_EQ(describe_container(here, false),
            "  container of Docker: CAP_BPF not granted, CAP_PERFMON not granted, no seccomp profile\n"
            "  container without tracefs: --syscost_profile bpftrace finds no tracepoints; "
            "before Linux 7.0 counting does not need it\n"
            "         fix: in compose.yaml volumes: [\"/sys/kernel/tracing:/sys/kernel/tracing:ro\"], or docker run -v "
            "/sys/kernel/tracing:/sys/kernel/tracing:ro\n");
}

}  // namespace
}  // namespace syscost::session
