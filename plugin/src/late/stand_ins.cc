// SPDX-License-Identifier: MIT
#include "late/stand_ins.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "syscost/loop.h"
#include "syscost/syscost.h"

namespace syscost::late {
namespace {

using Why = std::shared_ptr<const Unavailable>;

// The same members as in the public headers, where these are private.
struct BareLoop {
  void* run;
  bool has_run;
};
struct BareCount {
  std::uint64_t value;
  std::uint64_t lost;
  Why why;
};
struct BareCost {
  std::shared_ptr<const void> data;
  Why why;
};
struct BareScope {
  void* record;
  BareCost cost;
};
static_assert(sizeof(BareLoop) == sizeof(Loop) && sizeof(BareCount) == sizeof(Count) &&
              sizeof(BareCost) == sizeof(Cost) && sizeof(BareScope) == sizeof(Scope));

const Why& why() {
  static Why* const its = new Why;
  return *its;
}

// Functions of the same calling convention: `self` is passed as `this` is.

void begin_loop(BareLoop* self, std::string_view) {
  new (self) BareLoop{nullptr, false};
}
void end_loop(BareLoop*) {}
std::uint64_t next_pass(BareLoop* self) {
  if (self->has_run) return 0;
  self->has_run = true;
  return 1;
}

void begin_scope(BareScope* self, std::string_view, Reach) {
  new (self) BareScope{nullptr, {nullptr, why()}};
}
void end_scope(BareScope* self) {
  self->~BareScope();
}
BareCost stop_scope(BareScope* self) {
  return self->cost;
}
int cycles(int fallback) {
  return fallback;
}

void make_cost(BareCost* self, Unavailable reason) {
  new (self) BareCost{nullptr, std::make_shared<const Unavailable>(std::move(reason))};
}
bool is_available(const BareCost*) {
  return false;
}
const Unavailable* unavailable(const BareCost* self) {
  return self->why.get();
}
BareCount count(const BareCost* self, std::string_view) {
  return {0, 0, self->why};
}
BareCount count_of_errno(const BareCost* self, std::string_view, int) {
  return {0, 0, self->why};
}
BareCount lost(const BareCost* self) {
  return {0, 0, self->why};
}
std::vector<SyscallCost> syscalls(const BareCost*) {
  return {};
}
std::string to_string(const BareCost* self) {
  return "n/a (" + self->why->reason + ")";
}
std::ostream& print_cost(std::ostream& out, const BareCost& cost) {
  return out << to_string(&cost);
}

void make_count(BareCount* self, Why reason) {
  new (self) BareCount{0, 0, reason != nullptr ? std::move(reason) : why()};
}
/// No comparison holds.
unsigned compare(const BareCount*, const BareCount&) {
  return 0;
}
bool is_excused(const BareCount*) {
  return false;
}
std::ostream& print_count(std::ostream& out, const BareCount& count) {
  if (count.why == nullptr) return out << count.value;
  return out << "n/a (" << count.why->reason << "; " << count.why->how_to_fix << ')';
}

struct StandIn {
  const char* name;
  void* function;
};
#define SYSCOST_VIEW "St17basic_string_viewIcSt11char_traitsIcEE"
template <class Function>
void* address(Function* function) {
  return reinterpret_cast<void*>(function);
}

}  // namespace

void* stand_in(const char* name, const char* reason, const char* remedy) {
  static const StandIn kStandIns[] = {
      {"_ZN7syscost4LoopC1E" SYSCOST_VIEW, address(begin_loop)},
      {"_ZN7syscost4LoopC2E" SYSCOST_VIEW, address(begin_loop)},
      {"_ZN7syscost4LoopD1Ev", address(end_loop)},
      {"_ZN7syscost4LoopD2Ev", address(end_loop)},
      {"_ZN7syscost4Loop9next_passEv", address(next_pass)},
      {"_ZN7syscost5ScopeC1E" SYSCOST_VIEW "NS_5ReachE", address(begin_scope)},
      {"_ZN7syscost5ScopeC2E" SYSCOST_VIEW "NS_5ReachE", address(begin_scope)},
      {"_ZN7syscost5ScopeD1Ev", address(end_scope)},
      {"_ZN7syscost5ScopeD2Ev", address(end_scope)},
      {"_ZN7syscost5Scope4stopEv", address(stop_scope)},
      {"_ZN7syscost6cyclesEi", address(cycles)},
      {"_ZN7syscost4CostC1ENS_11UnavailableE", address(make_cost)},
      {"_ZN7syscost4CostC2ENS_11UnavailableE", address(make_cost)},
      {"_ZNK7syscost4Cost9availableEv", address(is_available)},
      {"_ZNK7syscost4Cost11unavailableEv", address(unavailable)},
      {"_ZNK7syscost4Cost5callsE" SYSCOST_VIEW, address(count)},
      {"_ZNK7syscost4Cost7entriesE" SYSCOST_VIEW, address(count)},
      {"_ZNK7syscost4Cost6errorsE" SYSCOST_VIEW, address(count)},
      {"_ZNK7syscost4Cost6errorsE" SYSCOST_VIEW "i", address(count_of_errno)},
      {"_ZNK7syscost4Cost9kernel_nsE" SYSCOST_VIEW, address(count)},
      {"_ZNK7syscost4Cost4lostEv", address(lost)},
      {"_ZNK7syscost4Cost8syscallsEv", address(syscalls)},
      {"_ZNK7syscost4Cost9to_stringB5cxx11Ev", address(to_string)},
      {"_ZN7syscostlsERSoRKNS_4CostE", address(print_cost)},
      {"_ZN7syscost5CountC1ESt10shared_ptrIKNS_11UnavailableEE", address(make_count)},
      {"_ZN7syscost5CountC2ESt10shared_ptrIKNS_11UnavailableEE", address(make_count)},
      {"_ZNK7syscost5Count7compareERKS0_", address(compare)},
      {"_ZNK7syscost5Count7excusedEv", address(is_excused)},
      {"_ZN7syscostlsERSoRKNS_5CountE", address(print_count)},
  };
  if (why() == nullptr) {
    const_cast<Why&>(why()) = std::make_shared<const Unavailable>(
        Unavailable{std::string("libsyscost.so.0 cannot be loaded into this program: ") + reason, remedy});
  }
  for (const StandIn& known : kStandIns) {
    if (std::strcmp(known.name, name) == 0) return known.function;
  }
  return nullptr;
}

}  // namespace syscost::late
