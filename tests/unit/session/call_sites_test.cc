// SPDX-License-Identifier: MIT
//
// Tables of stacks become tables of sites.
#include "extras/where/session/call_sites.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/site_names.h"
#include "csv/window_rows.h"
#include "extras/where/core/call_stack.h"

namespace syscost::session {
namespace {

constexpr std::uint64_t kSignalReturn = 0x500;

class FakeStacks final : public StackSource {
 public:
  std::span<const StackFrame> frames(std::uint32_t stack) const override { return stacks[stack]; }
  StackEnd end(std::uint32_t /*stack*/) const override { return StackEnd::complete; }
  const Module& module(std::uint32_t index) const override { return modules[index]; }

  std::vector<Module> modules{{"/home/me/app", "00", std::pmr::get_default_resource()},
                              {"/usr/lib/libc.so.6", "11", std::pmr::get_default_resource()}};
  std::vector<std::vector<StackFrame>> stacks{{}};
};

/// Offset 0x1703 is line 0x17 of app.cc.
class FakeSymbolizer final : public symbols::Symbolizer {
 public:
  explicit FakeSymbolizer(std::vector<std::string>& log) : log_(log) {}
  Result<void> look_up(const Module& module, std::span<const symbols::Address> addresses,
                       symbols::Answer& answer) override {
    log_.push_back(std::string(module.path) + " " + std::to_string(addresses.size()));
    if (module.build_id == "dead") return Failure{"it has ended", "try again"};
    for (const symbols::Address& address : addresses) {
      symbols::Place& place = answer.places.emplace_back(std::pmr::get_default_resource());
      place.is_signal_frame = address.offset == kSignalReturn;
      symbols::SourceFrame& frame = place.frames.emplace_back(std::pmr::get_default_resource());
      frame.function = address.is_exact ? "exact" : "run";
      frame.file = "/nowhere/app.cc";
      frame.line = static_cast<std::uint32_t>(address.offset >> 8U);
    }
    return {};
  }

 private:
  std::vector<std::string>& log_;
};

class CallSitesTest : public ::testing::Test {
 protected:
  /// A stack of app that was in libc.
  std::uint32_t stack(const std::vector<std::uint64_t>& offsets) {
    std::vector<StackFrame> frames{{1, 0x99}};
    for (const std::uint64_t offset : offsets) frames.push_back({offset == kSignalReturn ? 1U : 0U, offset});
    stacks_.stacks.push_back(frames);
    return static_cast<std::uint32_t>(stacks_.stacks.size() - 1);
  }
  void count(std::uint32_t stack, std::uint64_t calls) {
    SyscallId write{Abi::x86_64, 1};
    write.detail.origin = stack;
    cost_.table.at(write).calls += calls;
  }
  /// Calls by the text of the site.
  std::map<std::string, std::uint64_t> sites() {
    cost_.make_extra().origins = &stacks_;
    detail::CostData of_sites(std::pmr::get_default_resource());
    sites_.name_origins(cost_, of_sites);
    EXPECT_EQ(of_sites.origins(), nullptr);
    std::map<std::string, std::uint64_t> found;
    for (const auto& [id, tally] : of_sites.table) found[std::string(text_of_site(id.detail.origin))] += tally.calls;
    EXPECT_EQ(found.size(), of_sites.table.size()) << "one entry for each text";
    return found;
  }

  std::vector<std::string> log_;
  FakeStacks stacks_;
  detail::CostData cost_{std::pmr::get_default_resource()};
  CallSites sites_{
      {.wanted = true, .skip = {}}, std::make_unique<FakeSymbolizer>(log_), *std::pmr::get_default_resource()};
};

using Found = std::map<std::string, std::uint64_t>;

TEST_F(CallSitesTest, AddsUpStacksOfOneSiteAndKeepsCallsWithoutAStack) {
  count(stack({0x1703, 0x2000}), 3);
  count(stack({0x1703, 0x3000}), 4);
  count(stack({0x1803}), 5);
  count(0, 6);
  EXPECT_EQ(sites(), (Found{{"at /nowhere/app.cc:23 run", 7}, {"at /nowhere/app.cc:24 run", 5}, {"", 6}}));
}

TEST_F(CallSitesTest, LooksEachAddressUpOnce) {
  count(stack({0x1703}), 1);
  sites();
  const std::size_t questions = log_.size();
  EXPECT_EQ(questions, 2U) << "one for each file";
  count(stack({0x1703}), 1);
  sites();
  EXPECT_EQ(log_.size(), questions);
}

TEST_F(CallSitesTest, TakesTheAddressThatASignalInterruptedAsItIs) {
  count(stack({kSignalReturn, 0x1700}), 1);
  EXPECT_EQ(sites(), (Found{{"at /nowhere/app.cc:23 exact", 1}}));
}

TEST_F(CallSitesTest, LeavesOffsetsAndOneMessageIfNothingCanBeLookedUp) {
  stacks_.modules[0].build_id = "dead";
  count(stack({0x1703}), 1);
  count(stack({0x1803}), 2);
  EXPECT_EQ(sites(), (Found{{"at app+0x1703", 1}, {"at app+0x1803", 2}}));
  const std::vector<Failure> failures = sites_.take_failures();
  ASSERT_EQ(failures.size(), 1U);
  EXPECT_EQ(failures[0].reason, "functions and lines of calls are missing: it has ended");
  count(stack({0x1903}), 2);
  sites();
  EXPECT_TRUE(sites_.take_failures().empty()) << "each failure once";
}

TEST_F(CallSitesTest, FoldsStacksForFlameGraphs) {
  count(stack({0x1703, 0x2000}), 3);
  count(stack({0x1703, 0x2000}), 4);
  count(0, 1);
  cost_.make_extra().origins = &stacks_;
  EXPECT_EQ(sites_.folded(cost_), "run;run;run;write /nowhere/app.cc:23 7\n");
}

TEST_F(CallSitesTest, MakesARowOfEachSite) {
  count(stack({0x1703, 0x2000}), 3);
  count(stack({0x1703, 0x3000}), 4);
  cost_.make_extra().origins = &stacks_;
  detail::CostData of_sites(std::pmr::get_default_resource());
  sites_.name_origins(cost_, of_sites);
  csv::WindowColumns window;
  window.test = "T.T";
  std::pmr::string rows;
  csv::WindowRows({}).append(rows, window, &of_sites, {.calls = true});
  EXPECT_NE(rows.find(",at /nowhere/app.cc:23 run,"), std::string::npos) << rows;
  EXPECT_EQ(std::count(rows.begin(), rows.end(), '\n'), 2) << "the test and one site";
}

}  // namespace
}  // namespace syscost::session
