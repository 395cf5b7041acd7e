// SPDX-License-Identifier: MIT
//
// Part: the half of an extra that lives in a session. The session makes one of each kind that extras/session_parts.cc
// lists, and calls all of them at the same points. So the session knows none of them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "os/errors.h"
#include "session/loops/loop_tools.h"
#include "session/windows/measurement.h"
#include "session/windows/window_observer.h"

namespace syscost::session {

/// A class of parts has `static constexpr std::string_view kPart`, its name.
class Part {
 public:
  virtual ~Part() = default;
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  virtual std::string_view name() const = 0;

  /// If the options ask for an answer instead of a run (--syscost_bpf list): gives it, and returns the exit code.
  virtual std::optional<int> answer() { return std::nullopt; }
  /// Opens what the options request, unless it is open. Fails if that is not possible. Options that are read later may
  /// start it again.
  virtual Result<void> start() { return {}; }
  /// The text about it after the backend's name in the header line; empty = none.
  virtual std::string note() const { return {}; }
  /// True if options that were read later come too late for it.
  virtual bool is_on() const { return false; }
  /// What follows windows; null = nothing.
  virtual WindowObserver* observer() { return nullptr; }
  /// What observes passes of loops; null = nothing.
  virtual LoopTools* loop_tools() { return nullptr; }

  /// The last step before a test begins.
  virtual void begin_test() {}
  /// The first step when it has ended. A second call does nothing.
  virtual void end_test() {}
  /// Where its body has ended, and may run again.
  virtual void pause_test() {}

  /// When the tests have ended, before their last rows are written.
  virtual void finish_tests() {}
  /// The same when the process ends, and only then.
  virtual void end_process() {}
  /// After that, when all rows are written.
  virtual void end_rows() {}

 protected:
  Part() = default;
};

/// What a part may use. All of it outlives the part.
struct PartContext {
  Measurement& shared;
  /// Ends a loop's timing, for which the backend is off. False when it stays off.
  std::function<bool()> attach_backend;
};

using Parts = std::vector<std::unique_ptr<Part>>;
/// Makes one of each kind, in the order in which the session calls them.
using PartMaker = std::function<Parts(const PartContext&)>;
Parts make_parts(const PartContext& context);

}  // namespace syscost::session
