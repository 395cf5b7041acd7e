// SPDX-License-Identifier: MIT
#include "os/confinement.h"

#include <gtest/gtest.h>
#include <linux/capability.h>
#include <stdlib.h>

#include <filesystem>

#include "csv/temporary_folder.h"

namespace syscost {
namespace {

/// A made-up root folder, so that the container these tests may run in does not matter.
class ConfinementTest : public ::testing::Test {
 protected:
  ConfinementTest() {
    unsetenv("KUBERNETES_SERVICE_HOST");
    file("proc/self/uid_map", "         0          0 4294967295\n");
    file("proc/self/cgroup", "0::/user.slice/session-1.scope\n");
  }
  void file(const std::string& name, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root_.file(name)).parent_path());
    testing::write_file(root_.file(name), text);
  }
  void namespace_link(const std::string& name, const std::string& target) {
    std::filesystem::create_directories(root_.file("proc/self/ns"));
    std::filesystem::create_symlink(target, root_.file("proc/self/ns/" + name));
  }
  Confinement read() { return read_confinement(root_.path()); }

  testing::TemporaryFolder root_;
};

TEST_F(ConfinementTest, AnOrdinaryMachineIsNoContainer) {
  EXPECT_EQ(read().container, Container::none);
}

TEST_F(ConfinementTest, AMachineWithAnEngineAsAServiceIsNoContainer) {
  file("proc/self/cgroup", "1:name=systemd:/system.slice/docker.service\n");
  EXPECT_EQ(read().container, Container::none);
}

TEST_F(ConfinementTest, DockerIsKnownByItsFile) {
  file(".dockerenv", "");
  EXPECT_EQ(read().container, Container::docker);
}

TEST_F(ConfinementTest, AMachineMadeOfAContainersImageIsNoContainer) {
  // Every kernel gives its first namespaces these numbers.
  namespace_link("cgroup", "cgroup:[4026531835]");
  namespace_link("ipc", "ipc:[4026531839]");
  namespace_link("pid", "pid:[4026531836]");
  namespace_link("uts", "uts:[4026531838]");
  file(".dockerenv", "");
  EXPECT_EQ(read().container, Container::none);
  file("run/.containerenv", "engine=\"podman-4.3.1\"\n");
  EXPECT_EQ(read().container, Container::none);
  file("proc/self/cgroup", "0::/system.slice/docker-0123456789abcdef.scope\n");
  EXPECT_EQ(read().container, Container::docker);
}

TEST_F(ConfinementTest, OneNamespaceOfItsOwnIsEnoughForAContainer) {
  namespace_link("cgroup", "cgroup:[4026531835]");
  namespace_link("ipc", "ipc:[4026531839]");
  namespace_link("pid", "pid:[4026532201]");
  namespace_link("uts", "uts:[4026531838]");
  file(".dockerenv", "");
  EXPECT_EQ(read().container, Container::docker);
}

TEST_F(ConfinementTest, DockerIsKnownByItsControlGroup) {
  file("proc/self/cgroup", "4:memory:/docker/0123456789abcdef\n");
  EXPECT_EQ(read().container, Container::docker);
}

TEST_F(ConfinementTest, PodmanIsKnownByItsFile) {
  file("run/.containerenv", "engine=\"podman-4.3.1\"\n");
  EXPECT_EQ(read().container, Container::podman);
}

TEST_F(ConfinementTest, KubernetesIsKnownWhateverEngineIsBelowIt) {
  file(".dockerenv", "");
  file("run/secrets/kubernetes.io/serviceaccount/token", "x");
  EXPECT_EQ(read().container, Container::kubernetes);
}

TEST_F(ConfinementTest, KubernetesIsKnownByItsVariableWhereNoTokenIsMounted) {
  setenv("KUBERNETES_SERVICE_HOST", "10.96.0.1", 1);
  EXPECT_EQ(read().container, Container::kubernetes);
  unsetenv("KUBERNETES_SERVICE_HOST");
}

TEST_F(ConfinementTest, AnotherManagersContainerIsOne) {
  file("run/systemd/container", "systemd-nspawn");
  EXPECT_EQ(read().container, Container::other);
}

TEST_F(ConfinementTest, ReadsWhatTheKernelSaysOfTheProcess) {
  file("proc/self/status",
       "Name:\tx\nCapInh:\t0000000000000000\nCapEff:\t0000000000000000\nCapBnd:\t000000c0a80425fb\n"
       "NoNewPrivs:\t1\nSeccomp:\t2\nSeccomp_filters:\t1\n");
  const Confinement here = read();
  EXPECT_FALSE(holds(here.effective, CAP_BPF));
  EXPECT_TRUE(holds(here.bounding, CAP_BPF));
  EXPECT_TRUE(holds(here.bounding, CAP_PERFMON));
  EXPECT_TRUE(here.no_new_privileges);
  EXPECT_TRUE(here.has_seccomp_filter);
  EXPECT_FALSE(here.in_user_namespace);
}

TEST_F(ConfinementTest, SysAdminStandsForTheOthers) {
  file("proc/self/status", "CapEff:\t0000000000200000\n");
  EXPECT_TRUE(holds(read().effective, CAP_BPF));
}

TEST_F(ConfinementTest, ARootlessEnginesRootIsInsideAUserNamespace) {
  file("proc/self/uid_map", "         0       1000          1\n         1     100000      65536\n");
  EXPECT_TRUE(read().in_user_namespace);
}

TEST_F(ConfinementTest, AUserNamespaceIsKnownByItsNumberWhateverItsMapSays) {
  namespace_link("user", "user:[4026533001]");
  EXPECT_TRUE(read().in_user_namespace);
  file("proc/self/uid_map", "");
  EXPECT_TRUE(read().in_user_namespace) << "no map is written yet";
}

TEST_F(ConfinementTest, TheInitialUserNamespaceIsNone) {
  namespace_link("user", "user:[4026531837]");
  EXPECT_FALSE(read().in_user_namespace);
}

TEST_F(ConfinementTest, WhatCannotBeReadIsTakenForUnconfined) {
  const Confinement here = read_confinement(root_.file("nothing"));
  EXPECT_EQ(here.container, Container::none);
  EXPECT_FALSE(here.in_user_namespace);
  EXPECT_FALSE(here.no_new_privileges);
}

TEST(Lines, NameWhatTheEngineCalls) {
  EXPECT_EQ(capability_setting(Container::docker, {"BPF", "PERFMON"}),
            "in compose.yaml cap_add: [BPF, PERFMON], or docker run --cap-add BPF --cap-add PERFMON");
  EXPECT_EQ(capability_setting(Container::podman, {"BPF"}), "sudo podman run --cap-add BPF");
  EXPECT_EQ(capability_setting(Container::kubernetes, {"PERFMON"}),
            "in the manifest securityContext: {capabilities: {add: [PERFMON]}}");
}

}  // namespace
}  // namespace syscost
