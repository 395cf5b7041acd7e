// SPDX-License-Identifier: MIT
#include "backends/ebpf/diagnosis.h"

#include <gtest/gtest.h>
#include <linux/capability.h>

namespace syscost::ebpf {
namespace {

constexpr std::uint64_t kBpf = 1ULL << CAP_BPF;
constexpr std::uint64_t kPerfmon = 1ULL << CAP_PERFMON;
constexpr std::uint64_t kChown = 1ULL << CAP_CHOWN;

Confinement docker(std::uint64_t bounding, std::uint64_t effective, bool is_root) {
  Confinement here;
  here.container = Container::docker;
  here.bounding = bounding;
  here.effective = effective;
  here.is_root = is_root;
  here.has_seccomp_filter = true;
  return here;
}

void expect_missing(const Confinement& here, const char* reason, const char* fix) {
  const std::optional<Failure> missing = missing_permission(here);
  ASSERT_TRUE(missing.has_value());
  EXPECT_EQ(missing->reason, reason);
  EXPECT_EQ(missing->how_to_fix, fix);
}

TEST(Permission, NothingIsMissingWhereBothAreHeld) {
  EXPECT_FALSE(missing_permission(docker(kBpf | kPerfmon, kBpf | kPerfmon, true)).has_value());
  Confinement outside;
  outside.effective = kBpf | kPerfmon;
  EXPECT_FALSE(missing_permission(outside).has_value());
}

TEST(Permission, OfAContainerGrantedNothingBothAreNamed) {
  expect_missing(docker(kChown, kChown, true),
                 "eBPF needs CAP_BPF and CAP_PERFMON; this Docker container was not granted CAP_BPF and CAP_PERFMON",
                 "in compose.yaml cap_add: [BPF, PERFMON], or docker run --cap-add BPF --cap-add PERFMON");
}

TEST(Permission, OfAContainerGrantedOneOnlyTheOtherIsNamed) {
  expect_missing(docker(kChown | kBpf, kChown | kBpf, true),
                 "eBPF needs CAP_BPF and CAP_PERFMON; this Docker container was not granted CAP_PERFMON",
                 "in compose.yaml cap_add: [PERFMON], or docker run --cap-add PERFMON");
}

TEST(Permission, AnOrdinaryUserOfAGrantedContainerKeepsThemAsAmbientOnes) {
  expect_missing(docker(kBpf | kPerfmon, 0, false),
                 "eBPF needs CAP_BPF and CAP_PERFMON; this Docker container was granted them, but this process lacks "
                 "CAP_BPF and CAP_PERFMON, as an ordinary user does",
                 "start as root and run: setpriv --reuid 1000 --regid 1000 --clear-groups "
                 "--inh-caps +bpf,+perfmon --ambient-caps +bpf,+perfmon COMMAND");
}

TEST(Permission, UnderNoNewPrivilegesAFilesCapabilitiesAreNotAdvised) {
  Confinement here = docker(kBpf | kPerfmon, 0, false);
  here.no_new_privileges = true;
  const std::optional<Failure> missing = missing_permission(here);
  ASSERT_TRUE(missing.has_value());
  EXPECT_EQ(missing->how_to_fix.find("setcap"), std::string::npos) << missing->how_to_fix;
  EXPECT_NE(missing->how_to_fix.find("no-new-privileges"), std::string::npos) << missing->how_to_fix;
}

TEST(Permission, AnOrdinaryUserOfAContainerGrantedNothingIsToldOfBothSteps) {
  Confinement here = docker(kChown, 0, false);
  expect_missing(here,
                 "eBPF needs CAP_BPF and CAP_PERFMON; this Docker container was not granted CAP_BPF and CAP_PERFMON",
                 "in compose.yaml cap_add: [BPF, PERFMON], or docker run --cap-add BPF --cap-add PERFMON; and, for an "
                 "ordinary user, ambient capabilities");
  here.no_new_privileges = true;
  const std::optional<Failure> missing = missing_permission(here);
  ASSERT_TRUE(missing.has_value());
  EXPECT_NE(missing->how_to_fix.find("rules out setcap"), std::string::npos) << missing->how_to_fix;
}

TEST(Permission, InAUserNamespaceNoCapabilityIsAdvised) {
  Confinement here = docker(kBpf | kPerfmon, kBpf | kPerfmon, true);
  here.container = Container::podman;
  here.in_user_namespace = true;
  const std::optional<Failure> missing = missing_permission(here);
  ASSERT_TRUE(missing.has_value());
  EXPECT_NE(missing->reason.find("user namespace"), std::string::npos) << missing->reason;
  EXPECT_NE(missing->how_to_fix.find("sudo podman run"), std::string::npos) << missing->how_to_fix;
}

TEST(Permission, NoTestProgramIsAdvisedToHaveCapabilitiesOfItsFile) {
  Confinement here;
  here.effective = kBpf;
  expect_missing(here, "eBPF needs CAP_BPF and CAP_PERFMON; this process lacks CAP_PERFMON",
                 "run as root, or start as root and run: setpriv --reuid 1000 --regid 1000 --clear-groups --inh-caps "
                 "+bpf,+perfmon "
                 "--ambient-caps +bpf,+perfmon COMMAND; in a container add cap_add: [BPF, PERFMON]");
}

TEST(Permission, AFilesCapabilitiesCountWhereTheyCanBeHad) {
  Confinement here = docker(kBpf | kPerfmon, 0, false);
  EXPECT_TRUE(gets_capabilities_of_files(here));
  EXPECT_FALSE(gets_capabilities_of_files(docker(kBpf, 0, false))) << "exec would fail";
  here.no_new_privileges = true;
  EXPECT_FALSE(gets_capabilities_of_files(here));
  here.no_new_privileges = false;
  here.in_user_namespace = true;
  EXPECT_FALSE(gets_capabilities_of_files(here));
}

TEST(Permission, ADenialDespiteCapabilitiesNamesTheSeccompProfile) {
  EXPECT_EQ(remedy_of_denial(docker(kBpf | kPerfmon, kBpf | kPerfmon, true)),
            "allow bpf in the container's seccomp profile, or run without one: in compose.yaml security_opt: "
            "[seccomp=unconfined], or docker run --security-opt seccomp=unconfined");
}

}  // namespace
}  // namespace syscost::ebpf
