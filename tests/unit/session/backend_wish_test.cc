// SPDX-License-Identifier: MIT
//
// The wishes of the extras, and what is told to a backend.
#include "session/backends/backend_wish.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/cost_data.h"
#include "session/windows/origin_namer.h"

namespace syscost::session {
namespace {

constexpr BackendChoice kAutomatic[] = {BackendChoice::ebpf, BackendChoice::dispatch, BackendChoice::seccomp};

Options options_of(const std::vector<std::string>& flags) {
  std::vector<std::string> arguments{"program", "--syscost_csv=x"};
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  Result<ParsedOptions> parsed = parse_options(arguments, {}, Spelling::prefixed);
  EXPECT_TRUE(parsed.ok()) << parsed.failure().reason;
  return parsed.ok() ? parsed.value().options : Options{};
}

std::vector<const BackendWish*> wanted_by(const Options& options) {
  std::vector<const BackendWish*> wanted;
  for (const BackendWish* wish : backend_wishes()) {
    if (wish->is_wanted(options)) wanted.push_back(wish);
  }
  return wanted;
}

TEST(BackendWishes, AreNotWantedWithoutFlags) {
  EXPECT_TRUE(wanted_by(options_of({})).empty());
}

TEST(BackendWishes, AreRefusedByTheBackendsThatCannotFulfilThem) {
  for (const char* flag : {"--syscost_trace", "--syscost_where", "--syscost_sched", "--syscost_inject=write:EIO:1"}) {
    const Options options = options_of({flag});
    const std::vector<const BackendWish*> wanted = wanted_by(options);
    ASSERT_EQ(wanted.size(), 1U) << flag;
    ASSERT_NE(wanted[0]->can_fulfil, nullptr) << flag;
    for (const BackendChoice choice : kAutomatic) {
      const BackendCandidate candidate{choice, true};
      const std::optional<Failure> refused = wanted[0]->refusal(candidate, options);
      EXPECT_EQ(refused.has_value(), !wanted[0]->can_fulfil(choice)) << flag << " " << candidate.name();
      const std::string reason = refused ? refused->reason : "backend " + candidate.name();
      EXPECT_EQ(reason.rfind("backend " + candidate.name(), 0), 0U) << reason;
    }
  }
}

TEST(BackendWishes, ThatSeveralBackendsCanFulfilSayWhatFor) {
  for (const BackendWish* wish : backend_wishes()) {
    if (wish->can_fulfil == nullptr) continue;
    const auto fulfilling = std::count_if(std::begin(kAutomatic), std::end(kAutomatic), wish->can_fulfil);
    EXPECT_EQ(wish->purpose != nullptr, fulfilling > 1);
  }
}

TEST(BackendWishes, OfSeccompMayBeRefusedForOneRuleAndStayPossible) {
  const Options options = options_of({"--syscost_inject=write:shorten=1"});
  const std::vector<const BackendWish*> wanted = wanted_by(options);
  ASSERT_EQ(wanted.size(), 1U);
  EXPECT_TRUE(wanted[0]->can_fulfil(BackendChoice::seccomp));
#if SYSCOST_HAS_SECCOMP
  EXPECT_TRUE(wanted[0]->refusal({BackendChoice::seccomp, false}, options).has_value());
#endif
}

TEST(BackendWishes, OfACommandAreForDispatchIfItIsNamed) {
  Options options;
  options.obstacle_inside_command = "";
  const std::vector<const BackendWish*> wanted = wanted_by(options);
#if SYSCOST_HAS_DISPATCH
  ASSERT_EQ(wanted.size(), 1U);
  EXPECT_TRUE(wanted[0]->refusal({BackendChoice::dispatch, false}, options).has_value());
  EXPECT_FALSE(wanted[0]->refusal({BackendChoice::dispatch, true}, options).has_value());
  EXPECT_FALSE(wanted[0]->refusal({BackendChoice::ebpf, false}, options).has_value());
  options.obstacle_inside_command = "nothing can be preloaded";
  EXPECT_TRUE(wanted[0]->refusal({BackendChoice::dispatch, true}, options).has_value());
#endif
}

struct Much {
  static constexpr std::string_view kWish = "much";
  int number = 0;
};

TEST(BackendRequests, HaveTheWishesThatWereAdded) {
  BackendRequest request;
  EXPECT_EQ(request.find<Much>(), nullptr);
  request.add(Much{1}).add(OtherProgramsWish{}).add(Much{2});
  ASSERT_NE(request.find<Much>(), nullptr);
  EXPECT_EQ(request.find<Much>()->number, 2);
  EXPECT_NE(request.find<OtherProgramsWish>(), nullptr);
  EXPECT_EQ(request.find<UnselectedCallsWish>(), nullptr);
}

TEST(Origins, AreAddedUpIfNothingNamesThem) {
  detail::CostData cost(std::pmr::get_default_resource());
  SyscallId write{Abi::x86_64, 1};
  write.detail.origin = 3;
  cost.table.at(write).calls = 2;
  write.detail.origin = 4;
  cost.table.at(write).calls = 5;
  detail::CostData into(std::pmr::get_default_resource());
  name_origins(nullptr, cost, into);
  EXPECT_EQ(into.table.size(), 1U);
  EXPECT_EQ(into.table.at({Abi::x86_64, 1}).calls, 7U);
}

}  // namespace
}  // namespace syscost::session
