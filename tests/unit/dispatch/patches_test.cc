// SPDX-License-Identifier: MIT
//
// Patching libc: only what is proven, everything put back.
#include "backends/dispatch/patches.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "backends/dispatch/sites.h"
#include "opened.h"

namespace syscost::dispatch {
namespace {

std::vector<unsigned char> text_now() {
  const Text text = libc_text();
  return {text.begin, text.end};
}

/// The protections of libc's mappings, in order of address, neighbours of one kind together.
std::vector<std::string> protections_of_text() {
  const Text text = libc_text();
  std::vector<std::string> found;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::size_t end = 0;
    const unsigned long long begin = std::stoull(line, &end, 16);
    const auto* at = reinterpret_cast<const unsigned char*>(begin);
    if (at < text.begin || at >= text.end) continue;
    const std::string protection = line.substr(line.find(' ') + 1, 3);
    if (found.empty() || found.back() != protection) found.push_back(protection);
  }
  return found;
}

TEST(Sites, ProvesOnlyWhatEndsAtASyscall) {
  const Text text = libc_text();
  ASSERT_NE(text.begin, nullptr);
  int proven = 0;
  int syscalls = 0;
  for (const unsigned char* at = text.begin + kLongestInstruction; at + 2 <= text.end; ++at) {
    if (at[0] != 0x0f || at[1] != 0x05) continue;
    ++syscalls;
    const std::optional<Site> site = prove_site(at + 2);
    if (!site.has_value()) continue;
    ++proven;
    EXPECT_EQ(site->displaced + site->displaced_bytes, at);
    EXPECT_GE(site->displaced_bytes, kJumpBytes);
    EXPECT_EQ(site->return_address, at + 2);
  }
  EXPECT_GT(proven, 50) << "of " << syscalls;
  RecordProperty("proven", proven);
  RecordProperty("syscalls", syscalls);
}

TEST(Sites, RefusesWhatIsNotASyscallOfLibc) {
  static const unsigned char kElsewhere[] = {0xb8, 110, 0, 0, 0, 0x0f, 0x05, 0xc3};
  EXPECT_FALSE(prove_site(kElsewhere + 7).has_value());
  EXPECT_FALSE(prove_site(libc_text().begin + 64).has_value());
  EXPECT_FALSE(prove_site(nullptr).has_value());
}

TEST(Patches, ChangesTheHotSiteAndPutsEverythingBack) {
  if (const std::string obstacle = Patches::obstacle(); !obstacle.empty()) GTEST_SKIP() << obstacle;
  const std::vector<unsigned char> before = text_now();
  const std::vector<std::string> protections = protections_of_text();
  {
    OpenedDispatch opened;
    ASSERT_NE(opened.backend, nullptr);
    EXPECT_NE(text_now(), before) << "nothing was patched: this test tests nothing";
    EXPECT_EQ(protections_of_text(), protections);
    EXPECT_EQ(opened.count(SYS_getppid, [] { syscall(SYS_getppid); }), 1U);
  }
  EXPECT_EQ(text_now(), before);
  EXPECT_EQ(protections_of_text(), protections);
}

TEST(Patches, NeverTouchesLibcWhenItMayNot) {
  const std::vector<unsigned char> before = text_now();
  OpenedDispatch opened(Patching::never);
  ASSERT_NE(opened.backend, nullptr);
  ASSERT_TRUE(opened.backend->hidden_losses().ok());
  EXPECT_EQ(text_now(), before);
}

}  // namespace
}  // namespace syscost::dispatch
