// SPDX-License-Identifier: MIT
//
// PowerCuts: syscost::for_each_crash, from the recording of the body to the report.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "extras/crash/core/file_calls.h"
#include "extras/crash/states/trials.h"
#include "os/errors.h"
#include "session/part.h"
#include "session/windows/measurement.h"
#include "syscost/crash.h"

namespace syscost::session {

class PowerCuts final : public Part {
 public:
  static constexpr std::string_view kPart = "power cuts";

  using Check = std::function<crash_detail::Verdict(const CrashPoint&)>;

  /// `attach_backend`: the backend is off for a loop's timed passes. False when it stays off.
  PowerCuts(Measurement& shared, std::function<bool()> attach_backend)
      : shared_(shared), attach_backend_(std::move(attach_backend)) {}

  std::string_view name() const override { return kPart; }
  /// Records the body and tries all states; the report has the reason if that is not possible. An exception of the body
  /// passes through.
  CrashReport run(const std::string& directory, const std::function<void()>& body, const Check& check,
                  const CrashOptions& options);
  /// Any thread.
  void mark(std::string_view name);

 private:
  /// The calls of the body, and the files before and after it, made into operations.
  Result<crash::Recording> record(const std::string& directory, const std::function<void()>& body,
                                  const CrashOptions& options);
  Result<FileRecorder*> find_recorder();
  std::map<std::uint32_t, std::string> lines_of(std::span<const FileCall> calls);
  Result<void> try_states(const crash::Trials& trials, const std::string& directory, const Check& check,
                          const CrashOptions& options, CrashReport& report);
  crash_detail::Verdict verdict_of_child(const Check& check, const CrashPoint& point);

  Measurement& shared_;
  std::function<bool()> attach_backend_;
  std::size_t assertions_failed_ = 0;  ///< Checks in children in which the framework saw an assertion fail.
};

}  // namespace syscost::session
