// SPDX-License-Identifier: MIT
#include "report/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "model/row_parser.h"
#include "render/numbers.h"
#include "report/page.h"

namespace syscost::bench::report {
namespace {

using trace::Call;
using trace::TraceFile;

constexpr double kNames = 90;  ///< Room for the numbers of threads.
constexpr double kTimelineWidth = 1000;
constexpr double kLane = 26;
constexpr double kBar = 18;
constexpr double kNarrowest = 0.6;  ///< Calls that are closer than this are one bar.
constexpr double kTold = 4;         ///< A mouse finds no narrower bar.
constexpr std::size_t kMostLanes = 16;
constexpr std::size_t kSlowest = 20;

std::uint64_t since_begin(const TraceFile& file, const Call& call) {
  return call.start_ns > file.origin_ns() ? call.start_ns - file.origin_ns() : 0;
}

/// `openat("/etc/passwd", O_RDONLY) = 3`
std::string call_text(const TraceFile& file, const Call& call) {
  constexpr std::size_t kLongest = 160;
  std::string out = std::string(call.name) + '(';
  for (std::size_t i = 0; i < call.note_count; ++i) {
    out.append(i == 0 ? "" : ", ").append(file.notes[call.first_note + i].text);
  }
  if (out.size() > kLongest) out = out.substr(0, kLongest) + "...";
  return out + ")" + (call.result.empty() ? "" : " = ") + std::string(call.result);
}

bool is_wait(const TraceFile& file, const Call& call) {
  return model::has_class(file.categories[call.categories], "wait");
}

/// The bars of one kind of calls of a thread, which come in the order of their starts.
class Lane {
 public:
  void add(double from, double to, const std::string& title) {
    if (to - from >= kTold) {
      told_ += fmt::format("<path d=\"M{:.1f} {:.0f}h{:.1f}v{:.0f}h-{:.1f}z\"><title>{}</title></path>", from, y,
                           to - from, kBar, to - from, text(title));
      return;
    }
    if (from_ >= 0 && from - to_ < kNarrowest) {
      to_ = std::max(to_, to);
      return;
    }
    close();
    from_ = from;
    to_ = to;
  }
  std::string svg(const char* kind) {
    close();
    const std::string bars = bars_.empty() ? "" : fmt::format("<path d=\"{}\"/>", bars_);
    return bars.empty() && told_.empty() ? "" : fmt::format("<g class=\"{}\">{}{}</g>\n", kind, bars, told_);
  }

  double y = 0;

 private:
  void close() {
    if (from_ < 0) return;
    const double width = std::max(to_ - from_, kNarrowest);
    bars_ += fmt::format("M{:.1f} {:.0f}h{:.1f}v{:.0f}h-{:.1f}z", from_, y, width, kBar, width);
    from_ = -1;
  }

  double from_ = -1, to_ = -1;
  std::string bars_, told_;
};

std::string picture(const TraceFile& file, std::uint64_t end_ns) {
  std::map<std::uint32_t, std::size_t> lanes;
  std::vector<Lane> work, waits;
  std::string names;
  const double scale = (kTimelineWidth - kNames) / static_cast<double>(std::max<std::uint64_t>(end_ns, 1));
  for (const Call& call : file.calls) {
    const auto [found, is_new] = lanes.try_emplace(call.thread, lanes.size());
    if (found->second >= kMostLanes) continue;
    if (is_new) {
      for (std::vector<Lane>* kind : {&work, &waits})
        kind->emplace_back().y = 4 + kLane * static_cast<double>(found->second);
      names += fmt::format("<text x=\"0\" y=\"{:.0f}\">{}</text>", work.back().y + 13, call.thread);
    }
    const double from = kNames + scale * static_cast<double>(since_begin(file, call));
    const double to = from + scale * static_cast<double>(call.took_ns.value_or(0));
    const std::string title =
        to - from < kTold ? "" : call_text(file, call) + ", " + render::duration(static_cast<double>(*call.took_ns));
    (is_wait(file, call) ? waits : work)[found->second].add(from, to, title);
  }
  const std::size_t shown = std::min(lanes.size(), kMostLanes);
  const double bottom = 4 + kLane * static_cast<double>(shown);
  std::string out = fmt::format(
      "<div class=\"wide\"><svg class=\"timeline\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" "
      "aria-label=\"Timeline of {} calls in {} threads\">",
      kTimelineWidth, bottom + 24, file.calls.size(), lanes.size());
  constexpr int kParts = 5;
  for (int i = 0; i <= kParts; ++i) {
    const double x = kNames + (kTimelineWidth - kNames) * i / kParts;
    out += fmt::format(
        "<path class=\"grid\" d=\"M{0:.1f} 0v{1:.0f}\"/><text x=\"{0:.1f}\" y=\"{2:.0f}\" "
        "text-anchor=\"{3}\">{4}</text>",
        x, bottom, bottom + 16,
        i == 0        ? "start"
        : i == kParts ? "end"
                      : "middle",
        i == 0 ? "0" : render::duration(static_cast<double>(end_ns) * i / kParts));
  }
  for (std::size_t lane = 0; lane < shown; ++lane) out += work[lane].svg("work") + waits[lane].svg("waiting");
  out += names + "</svg></div>\n";
  if (lanes.size() > kMostLanes)
    out += fmt::format("<p class=\"quiet\">and {} more threads.</p>\n", lanes.size() - kMostLanes);
  return out;
}

std::string slowest(const TraceFile& file) {
  std::vector<const Call*> calls;
  for (const Call& call : file.calls) calls.push_back(&call);
  std::stable_sort(calls.begin(), calls.end(), [](const Call* a, const Call* b) { return a->took_ns > b->took_ns; });
  calls.resize(std::min(calls.size(), kSlowest));
  std::string out =
      "<div class=\"wide\"><table>\n<thead><tr><th class=\"n\">At</th><th class=\"n\">Took</th><th>Thread</th><th>The "
      "calls that took "
      "longest</th></tr></thead>\n<tbody>\n";
  for (const Call* call : calls) {
    const std::string took = call->took_ns ? render::duration(static_cast<double>(*call->took_ns)) : "did not return";
    out += "<tr>" + number_cell(render::duration(static_cast<double>(since_begin(file, *call)))) + number_cell(took) +
           fmt::format("<td>{}</td><td class=\"name\">{}{}</td></tr>\n", call->thread, text(call_text(file, *call)),
                       call->site.empty() ? "" : "<br><span class=\"quiet\">" + text(call->site) + "</span>");
  }
  return out + "</tbody></table></div>\n";
}

}  // namespace

std::string timeline(const TraceFile& file) {
  if (file.calls.empty()) return {};
  std::uint64_t end_ns = 0;
  for (const Call& call : file.calls) end_ns = std::max(end_ns, since_begin(file, call) + call.took_ns.value_or(0));
  const trace::Slice* window = file.window();
  if (window != nullptr && window->took_ns) end_ns = *window->took_ns;
  std::string out = "<h3>Timeline</h3>\n";
  out += fmt::format(
      "<p class=\"quiet\">{} calls; grey calls wait by design. Calls that are too close to be told apart are one "
      "bar.</p>\n",
      file.calls.size());
  if (window != nullptr && window->lost.value_or(0) > 0) {
    out += fmt::format("<p class=\"bad\">{} calls found no room in the trace and are not drawn.</p>\n", *window->lost);
  }
  return out + picture(file, end_ns) + slowest(file);
}

}  // namespace syscost::bench::report
