// SPDX-License-Identifier: MIT
//
// trace for people: a line for each call, as strace has it, after when it began and how long it took.

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "commands/shared/site_text.h"
#include "commands/trace/trace.h"
#include "csv/text.h"
#include "model/site.h"
#include "render/numbers.h"
#include "render/table.h"
#include "render/terminal.h"

namespace syscost::bench::commands {
namespace {

using render::Align;
using trace::Call;
using trace::TraceFile;

/// `12.345`: microseconds. Three digits would not tell two calls apart.
std::string microseconds(std::int64_t ns) {
  constexpr std::uint64_t kNs = 1000;
  const bool is_before = ns < 0;
  const auto size = is_before ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
  return fmt::format("{}{}.{:03}", is_before ? "-" : "", size / kNs, size % kNs);
}

std::string took_text(const Call& call) {
  return call.took_ns ? render::duration(static_cast<double>(*call.took_ns)) : render::kNotMeasured;
}

/// `openat(AT_FDCWD, "app.log...) = 3`: the arguments give way, the result does not.
std::string call_text(const TraceFile& file, const Call& call, std::size_t width) {
  const std::string error(call.error());
  const std::string result = csv::printable(" = " + (error.empty() ? std::string(call.result) : "-1 " + error));
  const std::string text = csv::printable(fmt::format("{}({})", call.name, arguments_text(file, call)));
  constexpr std::size_t kLeast = 12;
  const std::size_t room = std::max(width, render::display_width(result) + kLeast) - render::display_width(result);
  if (width == 0 || render::display_width(text) <= room) return text + result;
  return render::shortened_end(text, room - 1) + ')' + result;
}

/// `at src/log.cc:17 Log::batch`; `width` 0: any.
std::string site_text(const Call& call, std::size_t width) {
  constexpr std::string_view kAt = "at ";
  if (!model::is_site(call.site)) return csv::printable(call.site);
  return std::string(kAt) +
         csv::printable(fitted_site(model::parse_site(call.site), width == 0 ? 0 : width - kAt.size()));
}

/// The same, and where the call came from. If both do not fit, the site gets at most half.
std::string line_text(const TraceFile& file, const Call& call, std::size_t width, const render::Paint& paint) {
  constexpr std::size_t kGap = 2;
  constexpr std::size_t kLeastSite = 16;
  std::string site = call.site.empty() ? std::string() : site_text(call, 0);
  std::size_t room = width;
  if (width != 0 && !site.empty()) {
    const std::size_t call_width = render::display_width(call_text(file, call, 0));
    const std::size_t left = width > call_width + kGap ? width - call_width - kGap : 0;
    const std::size_t most = std::max({left, width / 2, kLeastSite});
    if (render::display_width(site) > most) site = site_text(call, most);
    const std::size_t used = render::display_width(site) + kGap;
    room = width > used + 1 ? width - used : 1;
  }
  const std::string text = call_text(file, call, room);
  const std::string line = call.error().empty() ? text : paint.red(text);
  return site.empty() ? line : line + std::string(kGap, ' ') + paint.dim(site);
}

std::string counted(std::uint64_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string heading(const ShownTrace& shown, std::size_t threads, const render::Paint& paint) {
  const TraceFile& file = shown.file;
  const trace::Slice* window = file.window();
  std::string text = paint.bold(csv::printable(name_of(file))) + "  ";
  if (shown.calls.size() != file.calls.size()) text += fmt::format("{} of ", shown.calls.size());
  text += counted(file.calls.size(), "event");
  if (window != nullptr && window->took_ns) {
    text += " in " + render::duration(static_cast<double>(*window->took_ns));
  }
  text += ", " + counted(threads, "thread");
  if (!file.program.empty() && window != nullptr) {
    text += csv::printable(fmt::format(", process {} ({})", file.process, file.program));
  }
  return text + '\n';
}

/// How many calls have no event; empty if all have one.
std::string losses(const TraceFile& file, const render::Paint& paint) {
  const trace::Slice* window = file.window();
  std::string text;
  for (const trace::Slice& slice : file.slices) {
    if ((window != nullptr && &slice != window) || slice.lost.value_or(0) == 0) continue;
    const std::string of_slice = window != nullptr ? "" : csv::printable(fmt::format("{}: ", slice.name));
    const std::string all = slice.calls ? fmt::format(" of {}", *slice.calls) : "";
    const bool is_one = *slice.lost == 1;
    text += paint.yellow(
                fmt::format("{}{}{} call{} {} no event: the trace was full; --syscost_trace=events=N makes room for N",
                            of_slice, *slice.lost, all, is_one && all.empty() ? "" : "s", is_one ? "has" : "have")) +
            '\n';
  }
  return text;
}

}  // namespace

std::string trace_text(const ShownTrace& shown, const render::Paint& paint, std::size_t width) {
  const TraceFile& file = shown.file;
  std::set<std::uint32_t> threads;
  for (const Call& call : file.calls) threads.insert(call.thread);
  std::string text = render::wrapped(heading(shown, threads.size(), paint), width, 2);
  text += render::wrapped(losses(file, paint), width, 2);
  if (shown.calls.empty()) return text;
  using Row = const Call*;
  render::ColumnTable<Row> table({
      {{"at us", Align::right}, [&](const Row& call) { return microseconds(at_ns(file, *call)); }},
      {{"took", Align::right}, [](const Row& call) { return took_text(*call); }},
      {{"thread", Align::right}, [](const Row& call) { return std::to_string(call->thread); }, {}, threads.size() > 1},
  });
  for (const Call* call : shown.calls) table.add(call);
  constexpr std::size_t kGap = 2;
  const std::size_t used = table.table().width(kGap, kGap) + kGap;
  const std::string times = table.table().text(kGap, kGap);
  text += '\n';
  std::string_view rest = times;
  for (std::size_t line = 0; line <= shown.calls.size(); ++line) {
    const std::size_t end = rest.find('\n');
    text.append(rest.substr(0, end)).append(kGap, ' ');
    rest.remove_prefix(end + 1);
    if (line == 0) {
      text += "call";
    } else {
      text += line_text(file, *shown.calls[line - 1], width == 0 ? 0 : std::max(width, used + 1) - used, paint);
    }
    text += '\n';
  }
  return text;
}

}  // namespace syscost::bench::commands
