// SPDX-License-Identifier: MIT
//
// Leaks: what windows leave open, with --syscost_leaks: descriptors, threads, child processes.
//
// A test leaves what is open at its end and was not open at its begin. The set-up of a suite opens things for the
// suite's tests, so it leaves nothing itself. They belong to the suite: if they are still open when its tear-down has
// ended, the tear-down leaves them. The same holds for environments.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "extras/leaks/core/mapped_peak.h"
#include "extras/leaks/session/open_things.h"
#include "session/part.h"
#include "session/windows/measurement.h"
#include "session/windows/open_window.h"
#include "session/windows/window_observer.h"

namespace syscost::session {

class Leaks final : public Part, public WindowObserver {
 public:
  static constexpr std::string_view kPart = "leaks";

  explicit Leaks(Measurement& shared) : shared_(shared) {}

  std::string_view name() const override { return kPart; }
  WindowObserver* observer() override { return this; }
  bool takes_windows() const override { return shared_.options.leaks; }
  void prepare(OpenWindow& window) override;
  void begin(OpenWindow& window) noexcept override;
  void read(OpenWindow& window) noexcept override;
  void end(OpenWindow& window, const detail::CostData* cost) override;
  void add_columns(ClosedWindow& closed) override;

  /// For syscost::LeakCheck: what is open now; null = it could not be read. Any thread; makes syscalls, which are not
  /// counted.
  std::shared_ptr<const OpenThings> open_things();
  /// Frees what open_things() returned. Any thread; its calls are not counted.
  void drop(std::shared_ptr<const void> things);
  /// The text of what is open now and was not in `before`; `n/a (reason)` if it is not known. As open_things().
  std::string left_since(const OpenThings* before);

 private:
  using Owner = std::pair<adapter::Kind, std::string>;  // a suite, or the environments

  void forget();
  void add_left(ClosedWindow& closed) const;
  MappedPeakMeter* meter(const OpenWindow& window) const;
  std::optional<std::uint64_t> peak_after_calls(const OpenThings& after, const LeftOpen& left,
                                                const detail::CostData* cost) const;

  Measurement& shared_;
  // The open window's; empty if /proc could not be read.
  std::optional<OpenThings> before_;
  std::optional<std::uint64_t> most_mapped_;  // bytes, after its calls
  std::optional<LeftOpen> left_;
  std::map<Owner, OpenThings> of_set_ups_;  // what they opened, and what was open at each begin of a window since then
};

}  // namespace syscost::session
