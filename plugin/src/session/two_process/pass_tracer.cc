// SPDX-License-Identifier: MIT
#include "session/two_process/pass_tracer.h"

#include <charconv>
#include <sstream>
#include <utility>

#include "core/cost_data.h"

namespace syscost::session {

std::string backend_name(const Session& session) {
  const OpenBackend* opened = session.backend().current();
  return opened != nullptr ? std::string(opened->backend->name()) : "none";
}

bool PassTracer::attach() {
  const Result<void> attached = profilers().tools().attach();
  attach_failure_ = attached.ok() ? std::nullopt : std::optional(attached.failure());
  return attached.ok();
}

std::string PassTracer::detach(std::string_view benchmark, const Cost* counted) {
  TracedWindow traced;
  Findings findings;
  const Result<void> detached = profilers().tools().detach(findings);
  if (attach_failure_.has_value()) {
    traced.problems.push_back(*std::exchange(attach_failure_, std::nullopt));
  } else if (!detached.ok()) {
    traced.problems.push_back(detached.failure());
  } else {
    const detail::CostData* data = counted != nullptr ? detail::CostAccess::data(*counted) : nullptr;
    const std::string name(benchmark);
    traced = profilers().conclude(std::move(findings), {"benchmark " + name, profilers().make_folder({}, name)}, data,
                                  backend_name(session_));
  }
  return to_text(traced);
}

//     <fields>. = for each its mark, its length, a colon, and so many bytes
//     l line   d difference   p problem   f its fix
//     o origin of the rows that follow   n lost events
//     k figure of a GPU   m its note   v one of its rows: iterations, ns   u it is a sum
//     s syscall: number entries errors latency_count sum min max, - for unknown   e errnos   h histogram

namespace {

using Number = std::optional<std::uint64_t>;

void put_field(std::string& text, char mark, std::string_view field) {
  text.append(1, mark).append(std::to_string(field.size())).append(1, ':').append(field);
}

std::string numbers_of(const csv::ToolSyscall& row) {
  std::string text = std::to_string(row.id.number);
  for (const Number& number :
       {row.entries, row.errors, row.latency_count, row.latency_sum_ns, row.latency_min_ns, row.latency_max_ns}) {
    text += number.has_value() ? " " + std::to_string(*number) : " -";
  }
  return text;
}

bool take_numbers(const std::string& text, csv::ToolSyscall& row) {
  std::istringstream words(text);
  row.id.abi = kNativeAbi;
  words >> row.id.number;
  for (Number* number :
       {&row.entries, &row.errors, &row.latency_count, &row.latency_sum_ns, &row.latency_min_ns, &row.latency_max_ns}) {
    std::string word;
    words >> word;
    if (word == "-") continue;
    std::uint64_t value = 0;
    auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size()) return false;
    *number = value;
  }
  return !words.fail();
}

bool take_time(const std::string& text, profilers::TimeFigure& figure) {
  profilers::TimeRow row;
  const char* const end = text.data() + text.size();
  const auto [middle, error] = std::from_chars(text.data(), end, row.iterations);
  if (error != std::errc() || middle == end || *middle != ' ') return false;
  const auto [rest, other] = std::from_chars(middle + 1, end, row.total_ns);
  if (other != std::errc() || rest != end) return false;
  figure.rows.push_back(row);
  return true;
}

/// False when the field has no place.
bool take(TracedWindow& traced, char mark, std::string field) {
  const bool has_rows = !traced.rows.empty();
  const bool has_times = !traced.times.empty();
  const bool has_syscall = has_rows && !traced.rows.back().syscalls.empty();
  switch (mark) {
    case 'l':
      traced.lines.push_back(std::move(field));
      return true;
    case 'd':
      traced.differences.push_back(std::move(field));
      return true;
    case 'p':
      traced.problems.push_back({std::move(field), {}});
      return true;
    case 'f':
      if (!traced.problems.empty()) traced.problems.back().how_to_fix = std::move(field);
      return !traced.problems.empty();
    case 'o':
      traced.rows.emplace_back().origin = std::move(field);
      return true;
    case 'k':
      traced.times.emplace_back().name = std::move(field);
      return true;
    case 'm':
      if (has_times) traced.times.back().note = std::move(field);
      return has_times;
    case 'u':
      if (has_times) traced.times.back().is_sum = true;
      return has_times;
    case 'v':
      return has_times && take_time(field, traced.times.back());
    case 'n': {
      if (!has_rows) return false;
      const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), traced.rows.back().lost);
      return error == std::errc() && end == field.data() + field.size();
    }
    case 's':
      return has_rows && take_numbers(field, traced.rows.back().syscalls.emplace_back());
    case 'e':
      if (has_syscall) traced.rows.back().syscalls.back().errnos = std::move(field);
      return has_syscall;
    case 'h':
      if (has_syscall) traced.rows.back().syscalls.back().histogram = std::move(field);
      return has_syscall;
    default:
      return false;
  }
}

}  // namespace

std::string to_text(const TracedWindow& traced) {
  std::string text;
  for (const std::string& line : traced.lines) put_field(text, 'l', line);
  for (const std::string& difference : traced.differences) put_field(text, 'd', difference);
  for (const Failure& problem : traced.problems) {
    put_field(text, 'p', problem.reason);
    put_field(text, 'f', problem.how_to_fix);
  }
  for (const csv::ToolWindow& rows : traced.rows) {
    put_field(text, 'o', rows.origin);
    put_field(text, 'n', std::to_string(rows.lost));
    for (const csv::ToolSyscall& row : rows.syscalls) {
      put_field(text, 's', numbers_of(row));
      put_field(text, 'e', row.errnos);
      put_field(text, 'h', row.histogram);
    }
  }
  for (const profilers::TimeFigure& figure : traced.times) {
    put_field(text, 'k', figure.name);
    put_field(text, 'm', figure.note);
    if (figure.is_sum) put_field(text, 'u', {});
    for (const profilers::TimeRow& row : figure.rows) {
      put_field(text, 'v', std::to_string(row.iterations) + " " + std::to_string(row.total_ns));
    }
  }
  return text + '.';  // without it the text was cut
}

std::optional<TracedWindow> traced_from_text(std::string_view text) {
  TracedWindow traced;
  while (!text.empty() && text.front() != '.') {
    const char mark = text.front();
    std::size_t length = 0;
    auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), length);
    if (error != std::errc() || end == text.data() + text.size() || *end != ':') return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end + 1 - text.data()));
    if (length > text.size() || !take(traced, mark, std::string(text.substr(0, length)))) return std::nullopt;
    text.remove_prefix(length);
  }
  return text == "." ? std::optional(std::move(traced)) : std::nullopt;
}

}  // namespace syscost::session
