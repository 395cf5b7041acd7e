// SPDX-License-Identifier: MIT
//
// The trace of the dispatch backend: makes the buffer that the stub keeps events in, and reads it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "backends/dispatch/ability.h"
#include "backends/dispatch/memory.h"
#include "backends/dispatch/segments.h"
#include "backends/dispatch/stub_calls.h"
#include "core/selector.h"
#include "extras/trace/core/call_trace.h"
#include "extras/trace/stub/trace.h"
#include "os/errors.h"

namespace syscost::dispatch {

class Trace final : public CallTrace, public Ability {
 public:
  /// Maps and touches room for the events; a string takes the room of one to three. Between windows. `lanes` must
  /// outlive it. `sees_all`: calls of threads older than the backend pass the stub, too.
  static Result<std::unique_ptr<Trace>> open(const CallTraceRequest& request, const Lanes& lanes, bool sees_all);
  ~Trace() override;
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  /// Events of the calls that `filter` does not select are not delivered.
  void select(const Filter& filter) { filter_ = &filter; }

  void* find(std::string_view name) override {
    if (name == CallTrace::kExtension) return static_cast<CallTrace*>(this);
    return name == CallKeeper::kExtension ? static_cast<CallKeeper*>(this) : nullptr;
  }
  /// Says so if events have addresses instead of strings.
  std::string remark() const override {
    return copies_.why_not().empty() ? "" : "the trace has addresses instead of paths: " + copies_.why_not();
  }

  std::uint64_t take_unkept(Lane lane) override;
  bool pause() override;
  void deliver(CallEventSink& sink) override;
  void restart() override;

 private:
  Trace(void* memory, std::size_t bytes, std::uint64_t chunks, const Lanes& lanes, bool sees_all,
        std::span<const RequestRule> rules);
  std::uint64_t collect();

  void* const memory_;
  const std::size_t bytes_;
  const signal_safe::TraceEvent** const order_;  // in the memory, after the chunks
  const Lanes& lanes_;
  const Filter* filter_ = nullptr;
  StringCopies copies_;
  Instant started_;
  bool is_given_up_ = false;
};

MadeAbility make_trace(const AbilityContext& context);

}  // namespace syscost::dispatch
