// SPDX-License-Identifier: MIT
//
// PassTracer: the tools (--syscost_profile bpftrace, perf, cupti) beside one pass of a benchmark, in a counting process
// that makes its passes for them. And the line of text by which that process sends their output to the process that
// writes rows.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "extras/profilers/session/tracing.h"
#include "os/errors.h"
#include "session/session.h"
#include "syscost/cost.h"

namespace syscost::session {

/// A TracedWindow as one line of text. Control characters may become spaces on the way.
std::string to_text(const TracedWindow& traced);
/// Reads the text of to_text(); none if it is cut or wrong.
std::optional<TracedWindow> traced_from_text(std::string_view text);

/// Not thread-safe, but for arm() and disarm().
class PassTracer {
 public:
  explicit PassTracer(Session& session) : session_(session) {}

  /// Starts the tools; takes long. If that fails, detach() reports it.
  bool attach();
  /// The tools' counting begins and ends here. No syscall.
  void arm() noexcept { profilers().tools().arm(); }
  void disarm() noexcept { profilers().tools().disarm(); }
  /// Stops the tools, writes their files, and compares with `counted`, the count of this process while they were armed
  /// (null: it did not count). Returns the result as to_text() makes it.
  std::string detach(std::string_view benchmark, const Cost* counted);

 private:
  ProfilerSession& profilers() { return session_.part<Tracing>().profilers(); }

  Session& session_;
  std::optional<Failure> attach_failure_;  ///< The failure of the last attach().
};

/// The name of the open backend; `none` without one.
std::string backend_name(const Session& session);

}  // namespace syscost::session
