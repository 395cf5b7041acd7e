// SPDX-License-Identifier: MIT
#include "csv/window_rows.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <memory_resource>
#include <vector>

#include "core/bytes.h"
#include "core/site_names.h"
#include "core/syscall_table.h"
#include "csv/row.h"
#include "os/errors.h"
#include "os/memory.h"

namespace syscost::csv {
namespace {

using schema::Column;
using Number = std::optional<std::uint64_t>;

/// A number where the backend measures such, else nothing.
Number measured(bool can, std::uint64_t number) {
  return can ? Number(number) : std::nullopt;
}

void set_key(Row& row, const WindowColumns& window, std::string_view record) {
  row.set(Column::kKind, window.kind);
  row.set(Column::kTest, window.test);
  row.set(Column::kWindow, window.window);
  row.set(Column::kParent, window.parent);
  row.set(Column::kRepetition, window.repetition);
  row.set(Column::kRecord, record);
}

void append_number(std::pmr::string& text, std::uint64_t number) {
  std::array<char, 20> digits{};
  text.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr);
}

void append_errno(std::pmr::string& text, int error, std::uint64_t count) {
  if (!text.empty()) text += ' ';
  text.append(errno_name(error)).append(":");
  append_number(text, count);
}

/// `ENOENT:3 EINTR:1`.
std::pmr::string errnos_text(const ErrnoCounts& errors) {
  std::pmr::string text(&mapped_memory());
  for (const ErrnoCounts::Entry& error : errors) append_errno(text, error.error, error.count);
  return text;
}

/// `512:128 576:3`.
std::pmr::string histogram_text(const Histogram& latency) {
  std::pmr::string text(&mapped_memory());
  for (std::size_t bucket = 0; bucket < kHistogramBuckets; ++bucket) {
    const std::uint64_t count = latency.bucket_count(bucket);
    if (count == 0) continue;
    if (!text.empty()) text += ' ';
    append_number(text, histogram_lower_ns(bucket));
    text += ':';
    append_number(text, count);
  }
  return text;
}

/// The part of `calls`, `errors` and `errnos` that a run of the loop makes whatever its length.
void set_per_run(Row& row, const PerRunPart& part) {
  row.set(Column::kPerRunCalls, part.calls);
  if (!part.errors.has_value()) return;
  std::uint64_t total = 0;
  std::pmr::string text(&mapped_memory());
  for (const auto& [error, count] : *part.errors) {
    total += count;
    append_errno(text, error, count);
  }
  row.set(Column::kPerRunErrors, total);
  row.set(Column::kPerRunErrnos, text);
}

void set_bytes(Row& row, SyscallId id, const Tally& tally, Number per_run, BytesKnown known) {
  const ByteNumbers bytes = byte_numbers(id, tally, known);
  row.set(Column::kBytes, bytes.bytes);
  row.set(Column::kBytesReleased, bytes.released);
  row.set(Column::kShortCalls, bytes.short_calls);
  row.set(Column::kKernelFiles, bytes.kernel_files);
  row.set(Column::kSyncOpens, bytes.sync_opens);
  row.set(Column::kPerRunBytes, bytes.bytes.has_value() ? per_run : std::nullopt);
}

void set_latency(Row& row, const Histogram& latency) {
  const bool has_values = latency.count() > 0;
  row.set(Column::kLatencyCount, latency.count());
  row.set(Column::kLatencySumNs, latency.sum_ns());
  row.set(Column::kLatencyMinNs, measured(has_values, latency.min_ns()));
  row.set(Column::kLatencyMaxNs, measured(has_values, latency.max_ns()));
  row.set(Column::kP50Ns, measured(has_values, latency.percentile_ns(0.50)));
  row.set(Column::kP75Ns, measured(has_values, latency.percentile_ns(0.75)));
  row.set(Column::kP90Ns, measured(has_values, latency.percentile_ns(0.90)));
  row.set(Column::kP95Ns, measured(has_values, latency.percentile_ns(0.95)));
  row.set(Column::kP99Ns, measured(has_values, latency.percentile_ns(0.99)));
  row.set(Column::kHistogram, histogram_text(latency));
}

void set_totals(Row& row, const CallTable& table, const Capabilities& can) {
  std::uint64_t entries = 0;
  std::uint64_t calls = 0;
  std::uint64_t errors = 0;
  std::uint64_t kernel_ns = 0;
  for (const auto& [id, tally] : table) {
    entries += tally.entries;
    calls += tally.calls;
    errors += tally.errors.total();
    kernel_ns += tally.latency.sum_ns();
  }
  row.set(Column::kTotalEntries, measured(can.entries, entries));
  row.set(Column::kTotalCalls, measured(can.calls, calls));
  row.set(Column::kTotalErrors, measured(can.errors, errors));
  row.set(Column::kTotalKernelNs, measured(can.latency, kernel_ns));
  const ByteTotals bytes = byte_totals(table, can.bytes);
  row.set(Column::kTotalBytesRead, bytes.read);
  row.set(Column::kTotalBytesWritten, bytes.written);
  row.set(Column::kTotalBytesMapped, bytes.mapped);
  row.set(Column::kTotalBytesUnmapped, bytes.unmapped);
}

/// Without the number of a site, which depends on what was measured before.
SyscallId without_site(SyscallId id) {
  id.detail.origin = 0;
  return id;
}

void set_tally(Row& row, SyscallId id, const Tally& tally, const PerRunParts* per_run, const Capabilities& can) {
  row.set(Column::kClass, class_list(id));
  row.set(Column::kEntries, measured(can.entries, tally.entries));
  // An entry's request may become known at its end, when no one asks any more which thread made it.
  const bool tells_threads = can.threads && without_site(id).detail.empty();
  row.set(Column::kByStartedThreads, measured(tells_threads, tally.by_started_threads));
  row.set(Column::kByOlderThreads, measured(tells_threads, tally.by_older_threads));
  row.set(Column::kCalls, measured(can.calls, tally.calls));
  // A backend knows how an entry ended only if it sees the end.
  const bool sees_ends = can.entries && can.calls;
  row.set(Column::kRestarts, measured(sees_ends, tally.restarts));
  row.set(Column::kInFlight, measured(sees_ends, tally.in_flight()));
  row.set(Column::kNoReturn, measured(sees_ends, tally.no_return));
  row.set(Column::kCarriedIn, measured(can.carried_in, tally.carried_in));
  row.set(Column::kDenied, measured(can.denied, tally.denied));
  row.set(Column::kErrors, measured(can.errors, tally.errors.total()));
  if (can.errors) row.set(Column::kErrnos, errnos_text(tally.errors));
  row.set(Column::kInjected, measured(can.altered, tally.altered));
  if (per_run != nullptr) {
    const auto part = per_run->find(id);
    if (part != per_run->end()) set_per_run(row, part->second);
    set_bytes(row, id, tally, part != per_run->end() ? part->second.bytes : std::nullopt, can.bytes);
  } else {
    set_bytes(row, id, tally, std::nullopt, can.bytes);
  }
  if (can.latency) set_latency(row, tally.latency.dense());
}

/// `nvidiactl RM_ALLOC`, `at src/log.cc:17 Log::batch+3`.
std::pmr::string text_of_detail(const CallDetail& detail) {
  std::pmr::string text(&mapped_memory());
  CallDetail request = detail;
  request.origin = 0;
  if (!request.empty()) text.append(detail_text(request));
  if (detail.origin == 0) return text;
  text.append(text.empty() ? "" : " ").append(text_of_site(detail.origin));
  return text;  // not what append() returns: a copy of that is in the heap
}

/// By syscall and detail, and calls of different sites by the sites' texts: two runs have the same order.
std::pmr::vector<const CallTable::Entry*> in_order_of_rows(const CallTable& table) {
  std::pmr::vector<const CallTable::Entry*> entries(&mapped_memory());
  entries.reserve(table.size());
  for (const CallTable::Entry& entry : table) entries.push_back(&entry);
  std::sort(entries.begin(), entries.end(), [](const CallTable::Entry* a, const CallTable::Entry* b) {
    const SyscallId left = without_site(a->id);
    const SyscallId right = without_site(b->id);
    if (left != right) return left < right;
    return text_of_site(a->id.detail.origin) < text_of_site(b->id.detail.origin);
  });
  return entries;
}

}  // namespace

WindowRows::WindowRows(const RunColumns& run) : run_(&mapped_memory()), surroundings_(run.surroundings) {
  if (!run.shard.empty()) surroundings_ += (surroundings_.empty() ? "shard=" : ";shard=") + run.shard;
  Row row(run_);
  row.set(Column::kSchemaVersionColumn, std::uint64_t{schema::kSchemaVersion});
  row.set(Column::kRunId, run.run_id);
  row.set(Column::kStartedAt, run.started_at);
  row.set(Column::kLabel, run.label);
  row.set(Column::kHost, run.host);
  row.set(Column::kKernelRelease, run.kernel_release);
  row.set(Column::kCommit, run.commit);
  row.set(Column::kBuildId, run.build_id);
  row.set(Column::kBuildType, run.build_type);
  row.set(Column::kBackend, run.backend);
  row.set(Column::kSelection, run.selection);
  row.set(Column::kFilter, run.filter);
  row.set(Column::kProgram, run.program);
  row.set(Column::kPid, run.pid);
}

void WindowRows::append_run_row(std::pmr::string& out, std::string_view window, std::string_view test,
                                std::string_view detail, std::string_view outcome) const {
  Row row(out, run_, Column::kKind);
  row.set(Column::kKind, schema::kKindRun);
  row.set(Column::kTest, test);
  row.set(Column::kWindow, window);
  row.set(Column::kRepetition, std::uint64_t{0});
  row.set(Column::kRecord, schema::kRecordRun);
  row.set(Column::kDetail, detail);
  row.set(Column::kOrigin, schema::kOriginSyscost);
  row.set(Column::kOutcome, outcome);
  row.end();
}

void WindowRows::append_run(std::pmr::string& out) const {
  if (!surroundings_.empty()) append_run_row(out, {}, {}, surroundings_, {});
}

void WindowRows::append_begin(std::pmr::string& out, std::string_view only_test) const {
  append_run_row(out, schema::kRunBegins, only_test, surroundings_, {});
}

void WindowRows::append_end(std::pmr::string& out, std::string_view outcome) const {
  append_run_row(out, schema::kRunEnds, {}, {}, outcome);
}

std::size_t WindowRows::append_exit(std::pmr::string& out, std::string_view how) const {
  const std::size_t begin = out.size() + run_.size();
  append_run_row(out, schema::kRunExit, {}, {}, how);
  return begin;
}

std::size_t WindowRows::append(std::pmr::string& out, const WindowColumns& window, const detail::CostData* cost,
                               const Capabilities& capabilities) const {
  Row row(out, run_, Column::kKind);
  set_key(row, window, schema::kRecordTest);
  row.set(Column::kDetail, window.excluded);
  row.set(Column::kOrigin, schema::kOriginSyscost);
  row.set(Column::kOutcome, window.outcome);
  const std::size_t outcome_at = out.size() - window.outcome.size();
  row.set(Column::kIterations, window.iterations);
  row.set(Column::kCountedIterations, window.counted_iterations);
  row.set(Column::kWallNs, window.wall_ns);
  row.set(Column::kUserNs, window.user_ns);
  row.set(Column::kSystemNs, window.system_ns);
  row.set(Column::kCpuNs, window.cpu_ns);
  row.set(Column::kOverheadEstimateNs, window.overhead_estimate_ns);
  row.set(Column::kVoluntarySwitches, window.voluntary_switches);
  row.set(Column::kInvoluntarySwitches, window.involuntary_switches);
  row.set(Column::kMinorFaults, window.minor_faults);
  row.set(Column::kMajorFaults, window.major_faults);
  row.set(Column::kPeakRssBytes, window.peak_rss_bytes);
  if (cost != nullptr) set_totals(row, cost->table, capabilities);
  for (const auto& [column, value] : window.added) row.set(column, value);
  if (cost != nullptr) {
    row.set(Column::kLate, cost->late);
    row.set(Column::kLost, cost->lost);
  }
  row.end();
  if (cost == nullptr) return outcome_at;
  Capabilities its = capabilities;
  its.threads = its.threads && cost->measured.threads;
  if (!window.has_sum_alone) append_syscalls(out, window, cost->table, its);
  its.threads = false;
  append_children(out, window, *cost, its);
  return outcome_at;
}

void WindowRows::append_children(std::pmr::string& out, const WindowColumns& window, const detail::CostData& cost,
                                 const Capabilities& capabilities) const {
  for (const auto& [program, table] : cost.programs) {
    if (table.empty()) continue;
    WindowColumns child;
    child.kind = "process";
    child.test = window.test;
    child.window = program;
    child.parent = window.kind == schema::kKindBetween ? window.kind : window.window;
    child.repetition = window.repetition;
    if (window.per_run_of_programs != nullptr) {
      const auto parts = window.per_run_of_programs->find(std::string_view(program));
      if (parts != window.per_run_of_programs->end()) child.per_run = &parts->second;
    }
    Row row(out, run_, Column::kKind);
    set_key(row, child, schema::kRecordTest);
    row.set(Column::kOrigin, schema::kOriginSyscost);
    row.set(Column::kCountedIterations, window.counted_iterations);
    set_totals(row, table, capabilities);
    // Losses are known of all that was counted together: they stand on the window's own row.
    row.end();
    append_syscalls(out, child, table, capabilities);
  }
}

void WindowRows::append_syscalls(std::pmr::string& out, const WindowColumns& window, const CallTable& table,
                                 const Capabilities& capabilities) const {
  for (const CallTable::Entry* const entry : in_order_of_rows(table)) {
    const auto& [id, tally] = *entry;
    if (tally.empty()) continue;
    Row syscall(out, run_, Column::kKind);
    set_key(syscall, window, schema::kRecordSyscall);
    syscall.set(Column::kSyscall, syscall_name(id));
    if (!id.detail.empty()) syscall.set(Column::kDetail, text_of_detail(id.detail));
    syscall.set(Column::kOrigin, schema::kOriginSyscost);
    set_tally(syscall, id, tally, window.per_run, capabilities);
    syscall.end();
  }
}

std::size_t WindowRows::append(std::pmr::string& out, const WindowColumns& window, const ToolWindow& tool) const {
  Number entries = 0;
  Number errors = 0;
  for (const ToolSyscall& syscall : tool.syscalls) {
    entries = entries && syscall.entries ? Number(*entries + *syscall.entries) : std::nullopt;
    errors = errors && syscall.errors ? Number(*errors + *syscall.errors) : std::nullopt;
  }
  Row row(out, run_, Column::kKind);
  set_key(row, window, schema::kRecordTest);
  row.set(Column::kDetail, window.excluded);
  row.set(Column::kOrigin, tool.origin);
  row.set(Column::kOutcome, window.outcome);
  const std::size_t outcome_at = out.size() - window.outcome.size();
  row.set(Column::kIterations, window.iterations);
  row.set(Column::kCountedIterations, window.counted_iterations);
  row.set(Column::kTotalEntries, entries);
  row.set(Column::kTotalErrors, errors);
  row.set(Column::kLost, tool.lost);
  row.end();

  for (const ToolSyscall& syscall : tool.syscalls) {
    Row one(out, run_, Column::kKind);
    set_key(one, window, schema::kRecordSyscall);
    one.set(Column::kSyscall, syscall_name(syscall.id));
    one.set(Column::kOrigin, tool.origin);
    one.set(Column::kClass, class_list(syscall.id));
    one.set(Column::kEntries, syscall.entries);
    one.set(Column::kErrors, syscall.errors);
    one.set(Column::kErrnos, syscall.errnos);
    one.set(Column::kLatencyCount, syscall.latency_count);
    one.set(Column::kLatencySumNs, syscall.latency_sum_ns);
    one.set(Column::kLatencyMinNs, syscall.latency_min_ns);
    one.set(Column::kLatencyMaxNs, syscall.latency_max_ns);
    one.set(Column::kHistogram, syscall.histogram);
    one.end();
  }
  return outcome_at;
}

}  // namespace syscost::csv
