// SPDX-License-Identifier: MIT
//
// The critical path as a picture: a lane for each thread, the path in strong colours, and a line at each wake-up on it.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "commands/critical_path/critical_path.h"
#include "csv/text.h"
#include "render/numbers.h"
#include "render/svg.h"
#include "render/terminal.h"

namespace syscost::bench::commands {
namespace {

using trace::PathStep;
using StepKind = trace::PathStep::Kind;

constexpr double kWidth = 1000;
constexpr double kMargin = 16;
constexpr double kNameRoom = 196;  ///< Room for the longest name of a thread, with its number.
constexpr double kTop = 84;
constexpr double kLane = 34;
constexpr double kBar = 20;
constexpr double kAxis = 30;
constexpr double kNarrowest = 0.1;  ///< Narrower bars cannot be seen.
constexpr std::size_t kMostLanes = 200;

struct Colours {
  const char* beside;
  const char* on_path;
};

Colours colours_of(StepKind kind) {
  switch (kind) {
    case StepKind::runs:
      return {"#c6dbef", "#2171b5"};
    case StepKind::preempted:
    case StepKind::waits:
      return {"#fbe3b5", "#e69500"};
    case StepKind::blocked:
      return {"#ececec", "#c0392b"};
    case StepKind::unknown:
      break;
  }
  return {"#e2d4f0", "#7d3c98"};
}

class Drawing {
 public:
  explicit Drawing(const ShownPath& shown) : shown_(shown), all_(trace::all_threads(shown.file)) {
    // Threads of the path first, in the order in which they come.
    for (const PathStep& step : shown.path.steps) add_lane(step.thread);
    for (const PathStep& step : all_) add_lane(step.thread);
  }

  std::string svg() const {
    const double height = kTop + static_cast<double>(lanes_.size()) * kLane + kAxis + kMargin;
    std::string text = render::svg_head(kWidth, height) +
                       render::svg_text(kMargin, 24, shown_.test, "font-size=\"15\" font-weight=\"600\"") + legend();
    for (const auto& [thread, lane] : lanes_) {
      text += render::svg_text(kMargin, y_of(lane) + 14, render::shortened_end(thread_text(shown_.file, thread), 24));
    }
    for (const PathStep& step : all_) text += bar(step, false);
    for (const PathStep& step : shown_.path.steps) text += bar(step, true);
    for (const PathStep& step : shown_.path.steps) text += hop(step);
    return text + axis() + "</svg>\n";
  }

 private:
  void add_lane(std::uint32_t thread) {
    if (lanes_.size() < kMostLanes) lanes_.try_emplace(thread, lanes_.size());
  }
  double x_of(std::uint64_t ns) const {
    return kNameRoom + (kWidth - kNameRoom - kMargin) * static_cast<double>(ns) /
                           static_cast<double>(std::max<std::uint64_t>(shown_.file.wall_ns, 1));
  }
  static double y_of(std::size_t lane) { return kTop + static_cast<double>(lane) * kLane; }

  std::string bar(const PathStep& step, bool is_on_path) const {
    const auto lane = lanes_.find(step.thread);
    const double width = x_of(step.to_ns) - x_of(step.from_ns);
    if (lane == lanes_.end() || width < kNarrowest) return {};
    const Colours colours = colours_of(step.kind);
    // A thread that is blocked beside the path is a thin line.
    const bool is_thin = !is_on_path && step.kind == StepKind::blocked;
    const double y = y_of(lane->second) + (is_thin ? kBar / 2 - 2 : 0);
    const std::string what = is_on_path                       ? what_text(step)
                             : step.kind == StepKind::blocked ? "blocked"
                                                              : what_text(step);
    return fmt::format(
        "<g><title>{}: {}, {}</title><rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.0f}\" "
        "fill=\"{}\"/></g>\n",
        render::xml_text(thread_text(shown_.file, step.thread)), render::xml_text(what),
        render::duration(static_cast<double>(step.took_ns())), x_of(step.from_ns), y, width, is_thin ? 4 : kBar,
        is_on_path ? colours.on_path : colours.beside);
  }

  /// From the waker's lane to that of the thread that it woke.
  std::string hop(const PathStep& step) const {
    const auto from = lanes_.find(step.woken_by);
    const auto to = lanes_.find(step.thread);
    if (step.woken_by == 0 || from == lanes_.end() || to == lanes_.end()) return {};
    return fmt::format(
        "<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\" stroke=\"#222222\" "
        "stroke-width=\"1\"/>\n<circle cx=\"{0:.1f}\" cy=\"{2:.1f}\" r=\"2.5\" fill=\"#222222\"/>\n",
        x_of(step.from_ns), y_of(from->second) + kBar / 2, y_of(to->second) + kBar / 2);
  }

  std::string legend() const {
    std::string text = render::svg_text(
        kMargin, 42,
        "critical path of " + render::duration(static_cast<double>(shown_.file.wall_ns)) +
            " (strong colours); a line with a dot: the thread at the dot was woken or created by the other",
        "fill=\"#555555\"");
    double x = kMargin;
    for (const auto& [kind, name] :
         {std::pair{StepKind::runs, "runs"}, std::pair{StepKind::waits, "preempted, waits for a CPU"},
          std::pair{StepKind::blocked, "blocked"}, std::pair{StepKind::unknown, "unknown"}}) {
      text += fmt::format("<rect x=\"{:.0f}\" y=\"54\" width=\"12\" height=\"12\" fill=\"{}\"/>\n", x,
                          colours_of(kind).on_path);
      text += render::svg_text(x + 17, 64, name);
      x += 40 + 6.6 * static_cast<double>(std::string_view(name).size());
    }
    return text;
  }

  std::string axis() const {
    const double y = y_of(lanes_.size()) + 4;
    std::string text =
        fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#999999\"/>\n", kNameRoom,
                    y, kWidth - kMargin, y);
    constexpr int kParts = 4;
    for (int i = 0; i <= kParts; ++i) {
      const std::uint64_t ns = shown_.file.wall_ns / kParts * static_cast<std::uint64_t>(i);
      text += render::svg_text(x_of(ns), y + 18, i == 0 ? "0" : render::duration(static_cast<double>(ns)),
                               i == kParts ? "text-anchor=\"end\" fill=\"#555555\"" : "fill=\"#555555\"");
    }
    return text;
  }

  const ShownPath& shown_;
  std::vector<PathStep> all_;
  std::map<std::uint32_t, std::size_t> lanes_;
};

}  // namespace

std::string path_svg(const ShownPath& shown) {
  return Drawing(shown).svg();
}

}  // namespace syscost::bench::commands
