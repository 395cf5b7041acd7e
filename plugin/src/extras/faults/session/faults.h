// SPDX-License-Identifier: MIT
//
// Faults: syscost::Fault and Forbid, from their opening to what they report.
//
// One may open and close inside a window, so opening neither takes memory of the heap nor enters the kernel, unless it
// fails. Reporting is syscost's own work, which no window is charged for.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory_resource>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "extras/faults/core/fault_rule.h"
#include "os/errors.h"
#include "os/spin_lock.h"
#include "session/part.h"
#include "session/windows/measurement.h"
#include "syscost/adapter.h"
#include "syscost/failures.h"

namespace syscost::session {

/// From now on `automatic` tries first the backends by which calls can fail.
void expect_faults();

struct OpenFault {
  explicit OpenFault(std::pmr::memory_resource& memory) : selector(&memory) {}

  OpenBackend* opened = nullptr;
  FaultInjector* injector = nullptr;
  FaultRule rule;
  FaultId id;
  ScopeRecord* scope = nullptr;  ///< While it exists, loops keep the backend.
  std::pmr::string selector;
  adapter::SourceLine at;  ///< The place of the Fault or Forbid in the program.
  bool is_reported = false;
  std::string why_no_lines;
};

class Faults final : public Part {
 public:
  static constexpr std::string_view kPart = "faults";

  /// `attach_backend`: the backend is off for a loop's timed passes. False when it stays off.
  Faults(Measurement& shared, std::function<bool()> attach_backend)
      : shared_(shared), attach_backend_(std::move(attach_backend)) {}

  std::string_view name() const override { return kPart; }
  /// Opens `rule` for what `selector` selects. Null in a fork child.
  Result<OpenFault*> open(std::string_view selector, const FaultRule& rule);
  /// Replaces the rule of an open fault; counts go on from 0.
  Result<void> replace(OpenFault& fault, const FaultRule& rule);
  FaultCounts counts(const OpenFault& fault) const;
  /// From now on no call meets it, and what it has seen can still be read.
  void stop(OpenFault& fault);
  void close(OpenFault* fault);

  /// Opens what --syscost_inject and --syscost_forbid ask for: the last thing before a test begins. Counts begin anew.
  void begin_test() override;
  /// Where a test's body has ended, which may run again: forbidden calls are reported if the framework can still be
  /// told.
  void pause_test() override;
  /// Closes them, and reports forbidden calls. The first thing when a test has ended; a second call does nothing.
  void end_test() override;
  /// Says of each --syscost_inject how many calls it hit in all tests.
  void finish_tests() override;

  /// Runs `body` in a fork child, where calls can fail and are not counted, and returns what it said. None of it is
  /// charged to a window. Needs a process with one thread.
  failure_detail::ChildRun run_in_child(const std::function<std::string()>& body, std::chrono::nanoseconds limit);

  /// A hit, for people.
  struct Call {
    std::string text;  ///< `write(3, 0x..., 5) = -1 EPERM (injected)`
    std::string line;
    std::vector<std::string> frames;  ///< The user's, from that of the line on.
    std::uint32_t thread = 0;
  };
  std::vector<Call> calls(const OpenFault& fault);
  /// `"%network" is forbidden, and 2 calls were made: ...`; empty without hits.
  std::string report(const OpenFault& fault);

 private:
  Measurement& shared_;
  std::function<bool()> attach_backend_;
  SpinLock lock_;
  std::pmr::list<OpenFault> open_{&quiet_memory()};

  struct OfTest {
    OpenFault* fault;
    std::size_t request;              ///< Its place among --syscost_inject's; beyond these = --syscost_forbid.
    std::uint64_t reported_hits = 0;  ///< The framework has heard of these.
  };
  std::vector<OfTest> of_test_;
  std::vector<FaultCounts> of_tests_;  // of each --syscost_inject, in the tests that have ended
};

}  // namespace syscost::session
