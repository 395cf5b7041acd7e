// SPDX-License-Identifier: MIT
#include "extras/gpu/cupti/cupti_profiler.h"

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "extras/gpu/cupti/activity.h"
#include "extras/gpu/cupti/library.h"
#include "extras/gpu/cupti/report.h"

namespace syscost::gpu::cupti {
namespace {

/// No other process reads it.
std::atomic<std::uint64_t>& word() {
  static std::atomic<std::uint64_t> word{profilers::kDisarmed};
  return word;
}

class CuptiProfiler final : public profilers::Profiler {
 public:
  explicit CuptiProfiler(Library library) : Profiler(word()), library_(std::move(library)) {}

  std::string_view name() const override { return "cupti"; }
  bool runs_inside() const override { return true; }

  Result<void> check() override { return try_out(library_); }

  Result<void> attach() override {
    windows_.clear();
    const RecordingStart start = start_recording(library_);
    if (start.status == kSuccess) return {};
    return cupti_failure(start.is_subscribed ? "to record" : "a subscriber", start.status, library_);
  }

  Result<std::vector<profilers::Output>> detach() override {
    Result<Activity> stopped = stop_recording(library_);
    if (!stopped.ok()) return stopped.failure();
    const Activity& activity = stopped.value();
    const Figures figures = figures_of(activity, windows_);
    profilers::Output output;
    output.script = "cupti";
    output.summary = summary_of(figures, activity);
    output.times = times_of(figures);
    output.lost_events = figures.lost;
    output.artifacts.push_back(
        {"cupti.json", json_of(figures, activity, library_.path + ", " + version_text(library_.version))});
    return std::vector<profilers::Output>{std::move(output)};
  }

 protected:
  void before_arming() noexcept override {
    is_open_ = true;
    opened_ns_ = now_ns(0);
  }
  void after_disarming() noexcept override {
    if (std::exchange(is_open_, false)) windows_.push_back({opened_ns_, now_ns(UINT64_MAX)});
  }

 private:
  /// `otherwise` where CUPTI does not say: a window too wide holds too much of what was attached, one too narrow
  /// nothing.
  std::uint64_t now_ns(std::uint64_t otherwise) const {
    std::uint64_t now = 0;
    return library_.call.get_timestamp(&now) == kSuccess ? now : otherwise;
  }

  const Library library_;
  std::vector<Span> windows_;
  bool is_open_ = false;
  std::uint64_t opened_ns_ = 0;
};

}  // namespace

Result<std::unique_ptr<profilers::Profiler>> make_profiler(const std::string& library) {
  Result<Library> opened = open_library(library);
  if (!opened.ok()) return opened.failure();
  return std::unique_ptr<profilers::Profiler>(std::make_unique<CuptiProfiler>(std::move(opened.value())));
}

}  // namespace syscost::gpu::cupti
