// SPDX-License-Identifier: MIT
#include "adapters/benchmark/record.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include "adapters/benchmark/passes.h"
#include "libc/symbols.h"
#include "syscost/counting.h"

namespace syscost::benchmark_adapter {
namespace {

std::string line_of(const std::vector<std::string>& fields) {
  std::string line;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) line += '\t';
    for (const char c : fields[i]) line += c == '\t' ? ' ' : c;
  }
  return line;
}

std::int64_t number_of(std::string_view text) {
  return SYSCOST_LIBC(strtoll)(std::string(text).c_str(), nullptr, 10);
}

}  // namespace

std::vector<std::string_view> split_fields(std::string_view line) {
  std::vector<std::string_view> fields;
  for (;;) {
    const std::size_t tab = line.find('\t');
    fields.push_back(line.substr(0, tab));
    if (tab == std::string_view::npos) return fields;
    line.remove_prefix(tab + 1);
  }
}

void send_start(const std::string& backend, const std::string& note, const std::optional<Unavailable>& why_not) {
  adapter::send_line(why_not.has_value() ? line_of({"unavailable", why_not->reason, why_not->how_to_fix})
                                         : line_of({"start", backend, note}));
}

void send_names(const std::vector<std::string>& names) {
  for (const std::string& name : names) adapter::send_line(line_of({"name", name}));
  adapter::send_line("listed");
}

void send_running(std::size_t position) {
  adapter::send_line(line_of({"running", std::to_string(position)}));
}

void send_record(const Record& record) {
  const Unavailable why_not = record.why_not.value_or(Unavailable{});
  for (const Pass& pass : record.passes) {
    adapter::send_line(line_of({"pass", std::to_string(pass.iterations), adapter::to_text(pass.cost)}));
  }
  const Key key = record.key.value_or(Key{-1, -1});  // there are no negative ones
  adapter::send_line(
      line_of({"done", std::to_string(record.position), std::to_string(key.family), std::to_string(key.instance),
               std::to_string(record.repetitions), why_not.reason, why_not.how_to_fix, record.name}));
}

bool receive(std::string_view line, Record& record) {
  const std::vector<std::string_view> fields = split_fields(line);
  if (fields[0] == "pass" && fields.size() == 3) {
    record.passes.push_back({static_cast<std::uint64_t>(number_of(fields[1])), adapter::cost_from_text(fields[2])});
  }
  if (fields[0] != "done" || fields.size() != 8) return false;
  record.position = static_cast<std::size_t>(number_of(fields[1]));
  record.key.reset();
  if (number_of(fields[2]) >= 0) record.key = Key{number_of(fields[2]), number_of(fields[3])};
  record.repetitions = static_cast<std::size_t>(number_of(fields[4]));
  if (!fields[5].empty()) record.why_not = Unavailable{std::string(fields[5]), std::string(fields[6])};
  record.name = fields[7];
  return true;
}

RecordSender::RecordSender(PositionOf position_of, bool has_keys, std::string stop_message,
                           std::optional<Unavailable> unseen)
    : position_of_(std::move(position_of)),
      has_keys_(has_keys),
      stop_message_(std::move(stop_message)),
      unseen_(std::move(unseen)) {
  expect_next();
}

void RecordSender::report(const std::vector<TimedRun>& runs) {
  Record record;
  for (const TimedRun& run : runs) {
    if (!run.is_repetition) continue;
    ++record.repetitions;
    record.key = run.key;
    record.name = run.name;
    if (!run.has_passed() && run.message != stop_message_) {
      record.why_not = Unavailable{"It did not run while it was counted: " + run.message + ".", ""};
    }
  }
  std::optional<Unavailable> why_not;
  record.passes = Passes::instance().take(why_not);
  if (record.passes.empty() && unseen_.has_value()) why_not = unseen_;
  if (record.repetitions == 0) {
    // Aggregates come after the repetitions, and then the passes were taken already; or instead of them.
    if (record.passes.empty() || runs.empty()) return;
    const TimedRun& run = runs.front();
    record.repetitions = static_cast<std::size_t>(std::max<std::int64_t>(run.repetitions, 1));
    record.key = run.key;
    record.name = run.name;
  }
  if (!record.why_not.has_value()) record.why_not = why_not;
  if (!has_keys_) record.key.reset();
  record.position = position_of_(done_).value_or(done_);
  send_record(record);
  ++done_;
  expect_next();
}

void RecordSender::expect_next() const {
  if (const std::optional<std::size_t> next = position_of_(done_)) Passes::instance().expect(*next);
}

}  // namespace syscost::benchmark_adapter
