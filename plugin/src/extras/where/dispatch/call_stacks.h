// SPDX-License-Identifier: MIT
//
// The call stacks of --syscost_where, outside of the user's calls: their memory, and what was seen of them.
#pragma once

#include <map>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <span>
#include <vector>

#include "backends/dispatch/ability.h"
#include "backends/dispatch/stub/common/state.h"
#include "extras/where/core/call_stack.h"
#include "os/errors.h"
#include "os/memory.h"

namespace syscost::dispatch {

enum class StacksOf {
  each_call,   ///< That is counted (--syscost_where).
  rare_calls,  ///< Only those of which the stub asks for one: forbidden calls.
};

/// Reads what the stub has noted. Thread-safe.
class CallStacks final : public StackSource {
  class Key {
    friend class CallStacks;
    Key() = default;
  };

 public:
  CallStacks(Key /*only start() has one*/, StacksOf which) : which_(which) {}
  /// From now on `which` calls get their stacks. `opener` is the calling thread. Fails where the C library does not say
  /// where a function's unwind table is (glibc before 2.35, musl), or where there is no memory. Between windows, or as
  /// syscost's own work.
  static Result<std::shared_ptr<CallStacks>> start(signal_safe::Thread& opener, StacksOf which);
  /// Calls get no stack any more. The stacks that were seen stay, for the next one.
  ~CallStacks() override;
  CallStacks(const CallStacks&) = delete;
  CallStacks& operator=(const CallStacks&) = delete;

  std::span<const StackFrame> frames(std::uint32_t stack) const override;
  StackEnd end(std::uint32_t stack) const override;
  const Module& module(std::uint32_t index) const override;
  std::uint64_t calls_beyond_limits() const override;
  void begin_openers() const override;
  std::uint32_t opener_of(int descriptor) const override;
  std::uint32_t starter_of(int id) const override;

  /// Files may have been unloaded while no call was seen. Between windows.
  static void check_modules();

 private:
  const StacksOf which_;
  mutable std::mutex mutex_;
  // Not in the heap: a test must not find it changed by the number of stacks that were seen.
  mutable std::pmr::map<std::uint32_t, std::pmr::vector<StackFrame>> frames_{&mapped_memory()};
  mutable std::pmr::map<std::uint32_t, Module> modules_{&mapped_memory()};
};

MadeAbility make_call_stacks(const AbilityContext& context);

}  // namespace syscost::dispatch
