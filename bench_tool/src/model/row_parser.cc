// SPDX-License-Identifier: MIT
#include "model/row_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <optional>

#include "model/choice.h"
#include "model/dataset.h"
#include "model/run_selection.h"
#include "model/site.h"

namespace syscost::bench::model {
namespace {

using schema::Column;

std::string_view column_name(Column column) {
  return schema::kColumnNames[static_cast<std::size_t>(column)];
}

std::string bad_cell(const csv::Row& row, Column column, std::string_view wanted) {
  return fmt::format("column {} holds \"{}\": {} expected", column_name(column), row.text(column).substr(0, 60),
                     wanted);
}

/// Another word would be neither green nor red.
std::string check_outcome(const csv::Row& row) {
  const std::string_view outcome = row.text(Column::kOutcome);
  if (outcome.empty() || schema::is_outcome(outcome)) return {};
  return bad_cell(row, Column::kOutcome, "passed, failed or skipped");
}

/// Returns the fault of a cell that is no number up to `largest`.
std::string bad_number(const csv::Row& row, Column column, std::uint64_t largest = Measured::kLargest) {
  const std::string_view text = row.text(column);
  const bool is_whole =
      !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  return bad_cell(row, column,
                  is_whole ? fmt::format("a whole number up to {}", largest) : std::string("a whole number"));
}

bool parse_number(const csv::Row& row, Column column, Measured& number) {
  return parse_measured(row.text(column), number);
}

/// nullopt where no number of 64 bits holds it.
std::optional<std::uint64_t> sum_of(std::initializer_list<std::uint64_t> parts) {
  std::uint64_t sum = 0;
  for (const std::uint64_t part : parts) {
    if (__builtin_add_overflow(sum, part, &sum)) return std::nullopt;
  }
  return sum;
}

struct Field {
  Column column;
  Measured* number;
};

std::string parse_fields(const csv::Row& row, std::initializer_list<Field> fields) {
  for (const Field& field : fields) {
    if (!parse_number(row, field.column, *field.number)) return bad_number(row, field.column);
  }
  return {};
}

/// Name of the first filled column of [first, last], or "": the two records' measures are disjoint.
std::string_view filled_column(const csv::Row& row, Column first, Column last) {
  if (row.are_empty(first, last)) return {};
  auto column = static_cast<std::size_t>(first);
  while (row.text(static_cast<Column>(column)).empty()) ++column;
  return schema::kColumnNames[column];
}

/// Checks the columns that name the row's run. All records have them. Returns the fault as a sentence, or "".
std::string check_run_columns(const csv::Row& row) {
  Measured version;
  if (!parse_number(row, Column::kSchemaVersionColumn, version) || !version.has_value()) {
    return bad_number(row, Column::kSchemaVersionColumn);
  }
  if (*version != schema::kSchemaVersion) return csv::version_fault(*version);
  if (row.text(Column::kRunId).empty()) return "column run_id is empty: nothing says which run this row belongs to";
  if (!is_time(row.text(Column::kStartedAt))) {
    return bad_cell(row, Column::kStartedAt, "a time as 2026-11-21T01:52:31.123Z");
  }
  return {};
}

}  // namespace

bool parse_measured(std::string_view cell, Measured& number) {
  constexpr std::size_t kAlwaysFits = 19;  // digits
  std::uint64_t value = 0;
  if (cell.size() <= kAlwaysFits) {
    if (cell.empty()) {
      number = Measured();
      return true;
    }
    for (const char c : cell) {
      const auto digit = static_cast<unsigned char>(c - '0');
      if (digit > 9) return false;
      value = value * 10 + digit;
    }
  } else {
    const auto [rest, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (error != std::errc() || rest != cell.data() + cell.size() || value > Measured::kLargest) return false;
  }
  number = Measured(value);
  return true;
}

NameId RowParser::name(const csv::Row& row, Column column) {
  return name(row.text(column), column);
}

NameId RowParser::name(std::string_view text, Column column) {
  NameId& last = last_name_[static_cast<std::size_t>(column)];
  if (data_.names.text(last) != text) last = data_.names.intern(text);
  return last;
}

std::uint32_t RowParser::context_of(const csv::Row& row) {
  Context context;
  context.run_id = name(row, Column::kRunId);
  context.started_at = name(row, Column::kStartedAt);
  context.label = name(row, Column::kLabel);
  context.host = name(row, Column::kHost);
  context.kernel_release = name(row, Column::kKernelRelease);
  context.commit = name(row, Column::kCommit);
  context.build_id = name(row, Column::kBuildId);
  context.build_type = name(row, Column::kBuildType);
  context.backend = name(row, Column::kBackend);
  context.selection = name(row, Column::kSelection);
  context.filter = name(row, Column::kFilter);
  context.program = data_.names.intern(program_name(row.text(Column::kProgram)));
  context.file = file_;
  if (last_context_ != kNoContext && data_.contexts[last_context_] == context) return last_context_;
  // Few programs write to one file at a time, so the context of a row is near the end.
  for (std::size_t i = data_.contexts.size(); i-- > 0;) {
    if (data_.contexts[i] == context) return last_context_ = static_cast<std::uint32_t>(i);
  }
  data_.contexts.push_back(context);
  return last_context_ = static_cast<std::uint32_t>(data_.contexts.size() - 1);
}

std::string RowParser::parse_key(const csv::Row& row, Sample& key, bool& is_test_row) {
  has_key_ = false;
  if (std::string fault = check_run_columns(row); !fault.empty()) return fault;
  const std::string_view kind = row.text(Column::kKind);
  if (std::find(schema::kKinds.begin(), schema::kKinds.end(), kind) == schema::kKinds.end()) {
    return bad_cell(row, Column::kKind, fmt::format("one of {}", fmt::join(schema::kKinds, ", ")));
  }
  if (std::string fault = parse_record(row, is_test_row); !fault.empty()) return fault;
  const std::string_view origin = row.text(Column::kOrigin);
  if (origin != schema::kOriginSyscost && origin != schema::kOriginBpftrace) {
    return bad_cell(row, Column::kOrigin, "syscost or bpftrace");
  }
  Measured pid;
  Measured repetition;
  if (!parse_number(row, Column::kPid, pid) || !pid.has_value()) {
    return bad_number(row, Column::kPid);
  }
  if (!parse_number(row, Column::kRepetition, repetition) || repetition.value_or(UINT64_MAX) > UINT32_MAX) {
    return bad_number(row, Column::kRepetition, UINT32_MAX);
  }
  key.context = context_of(row);
  key.pid = *pid;
  key.repetition = static_cast<std::uint32_t>(*repetition);
  key.kind = name(kind, Column::kKind);
  key.test = name(row, Column::kTest);
  key.window = name(row, Column::kWindow);
  key.parent = name(row, Column::kParent);
  key.origin = name(row, Column::kOrigin);
  last_origin_ = origin;
  has_key_ = true;
  return {};
}

std::string RowParser::parse_run(const csv::Row& row, RunFacts& run) {
  has_key_ = false;
  if (std::string fault = check_run_columns(row); !fault.empty()) return fault;
  Measured pid;
  if (!parse_number(row, Column::kPid, pid) || !pid.has_value()) return bad_number(row, Column::kPid);
  run.context = context_of(row);
  run.surroundings = data_.names.intern(row.text(Column::kDetail));
  run.pid = *pid;
  const std::string_view window = row.text(Column::kWindow);
  run.mark = window == schema::kRunBegins ? RunFacts::Mark::begin
             : window == schema::kRunEnds ? RunFacts::Mark::end
             : window == schema::kRunExit ? RunFacts::Mark::exit
                                          : RunFacts::Mark::none;
  if (run.mark != RunFacts::Mark::exit) {
    if (std::string fault = check_outcome(row); !fault.empty()) return fault;
  }
  run.only_test = data_.names.intern(row.text(Column::kTest));
  run.outcome = data_.names.intern(row.text(Column::kOutcome));
  return {};
}

std::string RowParser::parse_record(const csv::Row& row, bool& is_test_row) const {
  const std::string_view record = row.text(Column::kRecord);
  is_test_row = record == schema::kRecordTest;
  if (!is_test_row && record != schema::kRecordSyscall) return bad_cell(row, Column::kRecord, "test or syscall");
  return {};
}

std::string RowParser::parse_totals(const csv::Row& row, Totals& totals) {
  if (std::string_view filled = filled_column(row, Column::kClass, Column::kHistogram); !filled.empty()) {
    return fmt::format("column {} is filled on a `test` row: it belongs to `syscall` rows", filled);
  }
  if (std::string fault = check_outcome(row); !fault.empty()) return fault;
  totals.outcome = name(row, Column::kOutcome);
  totals.excludes = name(row, Column::kDetail);
  totals.unclosed = name(row, Column::kLeftOpen);
  Measured unused;  // no command prints these, but a cell that is not a number is a fault of the file
  return parse_fields(row, {{Column::kIterations, &totals.iterations},
                            {Column::kCountedIterations, &totals.counted_iterations},
                            {Column::kWallNs, &totals.wall_ns},
                            {Column::kUserNs, &totals.user_ns},
                            {Column::kSystemNs, &totals.system_ns},
                            {Column::kCpuNs, &totals.cpu_ns},
                            {Column::kOverheadEstimateNs, &totals.overhead_estimate_ns},
                            {Column::kVoluntarySwitches, &unused},
                            {Column::kInvoluntarySwitches, &unused},
                            {Column::kMinorFaults, &unused},
                            {Column::kMajorFaults, &unused},
                            {Column::kTotalEntries, &totals.entries},
                            {Column::kTotalCalls, &totals.calls},
                            {Column::kTotalErrors, &totals.errors},
                            {Column::kTotalKernelNs, &totals.kernel_ns},
                            {Column::kPeakRssBytes, &totals.peak_rss_bytes},
                            {Column::kTotalBytesRead, &totals.bytes_read},
                            {Column::kTotalBytesWritten, &totals.bytes_written},
                            {Column::kTotalBytesMapped, &totals.bytes_mapped},
                            {Column::kTotalBytesUnmapped, &totals.bytes_unmapped},
                            {Column::kDescriptorsLeft, &totals.descriptors_left},
                            {Column::kThreadsLeft, &totals.threads_left},
                            {Column::kChildrenLeft, &totals.children_left},
                            {Column::kMappedBytesLeft, &totals.mapped_bytes_left},
                            {Column::kPeakMappedBytes, &totals.peak_mapped_bytes},
                            {Column::kLate, &totals.late},
                            {Column::kLost, &totals.lost}});
}

std::string RowParser::parse_syscall(const csv::Row& row, bool keeps_histogram, SyscallRow& parsed) {
  if (std::string_view filled = filled_column(row, Column::kOutcome, Column::kLost); !filled.empty()) {
    return fmt::format("column {} is filled on a `syscall` row: it belongs to `test` rows", filled);
  }
  const std::string_view syscall = row.text(Column::kSyscall);
  if (syscall.empty()) return "column syscall is empty on a `syscall` row";
  if (syscall.size() > kLongestSyscall) {
    return fmt::format("column syscall has {} bytes, and no syscall's name has more than {}", syscall.size(),
                       kLongestSyscall);
  }
  std::string fault = parse_fields(row, {{Column::kEntries, &parsed.entries},
                                         {Column::kByStartedThreads, &parsed.by_started_threads},
                                         {Column::kByOlderThreads, &parsed.by_older_threads},
                                         {Column::kCalls, &parsed.calls},
                                         {Column::kRestarts, &parsed.restarts},
                                         {Column::kInFlight, &parsed.in_flight},
                                         {Column::kNoReturn, &parsed.no_return},
                                         {Column::kCarriedIn, &parsed.carried_in},
                                         {Column::kDenied, &parsed.denied},
                                         {Column::kErrors, &parsed.errors},
                                         {Column::kInjected, &parsed.altered},
                                         {Column::kPerRunCalls, &parsed.per_run_calls},
                                         {Column::kPerRunErrors, &parsed.per_run_errors},
                                         {Column::kBytes, &parsed.bytes},
                                         {Column::kBytesReleased, &parsed.bytes_released},
                                         {Column::kShortCalls, &parsed.short_calls},
                                         {Column::kPerRunBytes, &parsed.per_run_bytes},
                                         {Column::kKernelFiles, &parsed.kernel_files},
                                         {Column::kSyncOpens, &parsed.sync_opens},
                                         {Column::kLatencyCount, &parsed.latency_count},
                                         {Column::kLatencySumNs, &parsed.latency_sum_ns},
                                         {Column::kLatencyMinNs, &parsed.latency_min_ns},
                                         {Column::kLatencyMaxNs, &parsed.latency_max_ns}});
  if (!fault.empty()) return fault;
  for (const auto& [column, list] :
       {std::pair(Column::kErrnos, &parsed.errnos), std::pair(Column::kPerRunErrnos, &parsed.per_run_errnos)}) {
    if (!parse_errno_list(row, column, *list)) return bad_cell(row, column, "NAME:count NAME:count ...");
  }
  const Measured& counted = parsed.calls.has_value() ? parsed.calls : parsed.entries;
  if (parsed.per_run_calls.value_or(0) > counted.value_or(0)) {
    return fmt::format("per_run_calls ({}) is more than the calls it is a part of", *parsed.per_run_calls);
  }
  if (parsed.per_run_errors.value_or(0) > parsed.errors.value_or(0)) {
    return fmt::format("per_run_errors ({}) is more than the errors it is a part of", *parsed.per_run_errors);
  }
  if (parsed.altered.value_or(0) > counted.value_or(0)) {
    return fmt::format("injected ({}) is more than the calls it is a part of", *parsed.altered);
  }
  const Measured& entries = parsed.entries;
  const std::optional<std::uint64_t> others =
      sum_of({parsed.by_started_threads.value_or(0), parsed.by_older_threads.value_or(0)});
  if (!others.has_value() || *others > (entries.has_value() ? entries : counted).value_or(0)) {
    return "by_started_threads + by_older_threads are more than the calls they are a part of";
  }
  if (entries.has_value() && parsed.calls.has_value() && parsed.restarts.has_value() && parsed.in_flight.has_value() &&
      parsed.no_return.has_value() &&
      *entries != sum_of({*parsed.calls, *parsed.restarts, *parsed.in_flight, *parsed.no_return})) {
    return fmt::format("entries ({}) is not calls + restarts + in_flight + no_return ({} + {} + {} + {})", *entries,
                       *parsed.calls, *parsed.restarts, *parsed.in_flight, *parsed.no_return);
  }
  name_call(row, parsed);
  if (keeps_histogram) parsed.histogram = data_.names.intern(row.text(Column::kHistogram));
  return {};
}

/// False when the cell is no list.
bool RowParser::parse_errno_list(const csv::Row& row, Column column, NameId& list) {
  const std::string_view text = row.text(column);
  NameId& last = last_name_[static_cast<std::size_t>(column)];
  if (data_.names.text(last) != text) {
    if (!text.empty() && !is_errnos(text)) return false;
    last = data_.names.intern(text);
  }
  list = last;
  return true;
}

void RowParser::name_call(const csv::Row& row, SyscallRow& parsed) {
  const std::string_view syscall = row.text(Column::kSyscall);
  const std::string_view detail = row.text(Column::kDetail);
  const std::string_view classes = row.text(Column::kClass);
  std::uint32_t at = calls_[last_call_].next;
  const Call& guess = calls_[at];
  if (guess.syscall_text != syscall || guess.classes_text != classes || guess.detail_text != detail) {
    const auto find = [&](std::uint64_t key) {
      const auto [found, is_new] = call_of_names_.try_emplace(key, static_cast<std::uint32_t>(calls_.size()));
      if (is_new) calls_.emplace_back();
      return found->second;
    };
    Call call{data_.names.intern(syscall), data_.names.intern(detail), data_.names.intern(classes), {}, {}, {}, 0};
    // Two of the three names are one entry. That entry and the third name are another one.
    data_.has_sites = data_.has_sites || is_site(detail);
    const std::uint64_t call_and_detail = find(std::uint64_t{call.syscall} << 32U | call.detail);
    at = find(1ULL << 63U | call_and_detail << 32U | call.classes);
    if (calls_[at].syscall == kNoName) {
      call.syscall_text = data_.names.text(call.syscall);
      call.detail_text = data_.names.text(call.detail);
      call.classes_text = data_.names.text(call.classes);
      calls_[at] = call;
    }
    calls_[last_call_].next = at;
  }
  last_call_ = at;
  parsed.syscall = calls_[at].syscall;
  parsed.detail = calls_[at].detail;
  parsed.classes = calls_[at].classes;
}

namespace {

bool parse_count(std::string_view text, std::uint64_t& count) {
  auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  return !text.empty() && error == std::errc() && rest == text.data() + text.size();
}

/// Calls `take(key, count)` for each `key:count` of a space-separated list; false when the text is not one, or when
/// `take` says so.
template <class Take>
bool for_each_pair(std::string_view text, Take take) {
  while (!text.empty()) {
    std::string_view item = text.substr(0, text.find(' '));
    text.remove_prefix(item.size());
    if (!text.empty()) {
      text.remove_prefix(1);
      if (text.empty()) return false;
    }
    const std::size_t colon = item.find(':');
    std::uint64_t count = 0;
    if (colon == 0 || colon == std::string_view::npos || !parse_count(item.substr(colon + 1), count)) return false;
    if (!take(item.substr(0, colon), count)) return false;
  }
  return true;
}

}  // namespace

std::optional<std::vector<std::pair<std::string_view, std::uint64_t>>> parse_errnos(std::string_view text) {
  std::vector<std::pair<std::string_view, std::uint64_t>> errnos;
  bool is_list = for_each_pair(text, [&](std::string_view name, std::uint64_t count) {
    errnos.emplace_back(name, count);
    return true;
  });
  if (!is_list) return std::nullopt;
  return errnos;
}

bool is_errnos(std::string_view text) {
  return for_each_pair(text, [](std::string_view, std::uint64_t) { return true; });
}

bool is_errno(std::string_view word) {
  constexpr std::string_view kNumbered = "errno_";
  const bool is_numbered = word.starts_with(kNumbered);
  if (!is_numbered && !word.starts_with('E')) return false;
  const std::string_view rest = word.substr(is_numbered ? kNumbered.size() : 1);
  return !rest.empty() && std::all_of(rest.begin(), rest.end(), [&](char one) {
    return (one >= '0' && one <= '9') || (!is_numbered && ((one >= 'A' && one <= 'Z') || one == '_'));
  });
}

bool add_histogram_text(std::string_view text, Histogram& histogram) {
  return for_each_pair(text, [&](std::string_view bound, std::uint64_t count) {
    std::uint64_t lower_ns = 0;
    if (!parse_count(bound, lower_ns)) return false;
    const std::size_t bucket = histogram_bucket(lower_ns);
    if (histogram_lower_ns(bucket) != lower_ns) return false;
    histogram.add_bucket(bucket, count);
    return true;
  });
}

bool has_class(std::string_view classes, std::string_view word) {
  while (!classes.empty()) {
    std::string_view item = classes.substr(0, classes.find(';'));
    if (item == word) return true;
    classes.remove_prefix(std::min(classes.size(), item.size() + 1));
  }
  return false;
}

}  // namespace syscost::bench::model
