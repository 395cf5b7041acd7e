// SPDX-License-Identifier: MIT
#include "model/collector.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>
#include <vector>

#include "csv/printable.h"
#include "model/group.h"
#include "model/start_time.h"
#include "model/suggestion.h"
#include "syscost/schema.h"

namespace syscost::bench::model {
namespace {

constexpr std::uint32_t kDropped = 0xFFFFFFFF;

}  // namespace

std::size_t SampleKeyHash::operator()(const SampleKey& key) const {
  std::uint64_t hash = key.pid;
  for (std::uint32_t part : {key.run_id, key.kind, key.test, key.window, key.parent, key.origin, key.repetition}) {
    hash = (hash ^ part) * 0x9E3779B97F4A7C15U;
    hash ^= hash >> 32U;
  }
  return static_cast<std::size_t>(hash);
}

void Collector::begin_file(const std::string& file) {
  data_.files.push_back(file);
  parser_.begin_file(static_cast<std::uint32_t>(data_.files.size() - 1));
}

std::string Collector::take(const csv::Row& row) {
  bool is_test_row = false;
  if (parser_.repeats_key(row)) {
    if (std::string fault = parser_.parse_record(row, is_test_row); !fault.empty()) return fault;
  } else if (row.text(schema::Column::kRecord) == schema::kRecordRun) {
    RunFacts run;
    std::string fault = parser_.parse_run(row, run);
    if (fault.empty()) data_.runs.push_back(run);
    return fault;
  } else {
    Sample key;
    if (std::string fault = parser_.parse_key(row, key, is_test_row); !fault.empty()) return fault;
    const bool is_left_out = !options_.tests.is_everything() && !is_chosen(key);
    row_sample_ = is_left_out ? kDropped : sample_of(key);
    if (is_left_out) left_out_tests_.insert(key.test);
    keeps_histogram_ = options_.keep_histograms && keeps_histogram_of(key);
  }
  if (row_sample_ == kDropped || (!is_test_row && !options_.keep_rows)) return {};
  const auto file = static_cast<std::uint32_t>(data_.files.size() - 1);
  const auto line = static_cast<std::uint32_t>(row.line());
  if (is_test_row) {
    Sample& sample = data_.samples[row_sample_];
    if (sample.totals_line != 0) {
      duplicates_.push_back({file, line, sample.totals_file, sample.totals_line});
      return {};
    }
    Totals totals;
    if (std::string fault = parser_.parse_totals(row, totals); !fault.empty()) return fault;
    sample.totals = totals;
    sample.totals_line = line;
    sample.totals_file = file;
    return {};
  }
  SyscallRow& parsed = data_.rows.emplace_back();
  parsed.sample = row_sample_;
  parsed.file = file;
  parsed.line = line;
  std::string fault = parser_.parse_syscall(row, keeps_histogram_, parsed);
  if (!fault.empty()) data_.rows.pop_back();
  return fault;
}

void Collector::take_plain(const PlainRepetition& one) {
  Context context;
  context.run_id = context.started_at = data_.names.intern(one.started_at);
  context.host = data_.names.intern(one.host);
  context.program = data_.names.intern(one.program);
  context.file = static_cast<std::uint32_t>(data_.files.size() - 1);
  context.is_plain = true;
  if (data_.contexts.empty() || data_.contexts.back() != context) data_.contexts.push_back(context);
  Sample key;
  key.context = static_cast<std::uint32_t>(data_.contexts.size() - 1);
  key.repetition = one.repetition;
  key.pid = context.file;  // unknown; it keeps the processes of several files apart
  key.kind = data_.names.intern("benchmark");
  key.test = data_.names.intern(one.test);
  key.origin = data_.names.intern(schema::kOriginSyscost);  // as linked benchmarks have it, so that the two pair
  if (!options_.tests.is_everything() && !is_chosen(key)) {
    left_out_tests_.insert(key.test);
    return;
  }
  Sample& sample = data_.samples[sample_of(key)];
  sample.totals.outcome = data_.names.intern(one.outcome);
  sample.totals.iterations = one.iterations;
  sample.totals.wall_ns = one.wall_ns;
  sample.totals.cpu_ns = one.cpu_ns;
  sample.totals_line = 1;
  sample.totals_file = context.file;
}

void Collector::absorb(Collector& part, std::uint64_t lines_before) {
  const auto shift = static_cast<std::uint32_t>(lines_before);
  const auto file = static_cast<std::uint32_t>(data_.files.size() - 1);
  std::vector<NameId> names(part.data_.names.size());
  for (NameId id = 0; id < names.size(); ++id) names[id] = data_.names.intern(part.data_.text(id));

  const auto first_context = static_cast<std::uint32_t>(data_.contexts.size());
  for (Context context : part.data_.contexts) {
    for (NameId Context::*field : {&Context::run_id, &Context::started_at, &Context::label, &Context::host,
                                   &Context::kernel, &Context::commit, &Context::build_id, &Context::build_type,
                                   &Context::backend, &Context::selection, &Context::filter, &Context::program}) {
      context.*field = names[context.*field];
    }
    context.file = file;
    data_.contexts.push_back(context);
  }

  for (RunFacts run : part.data_.runs) {
    data_.runs.push_back({run.context + first_context, names[run.surroundings]});
  }

  std::vector<std::uint32_t> samples(part.data_.samples.size());
  for (std::uint32_t i = 0; i < samples.size(); ++i) {
    Sample sample = part.data_.samples[i];
    sample.context += first_context;
    for (NameId Sample::*field : {&Sample::kind, &Sample::test, &Sample::window, &Sample::parent, &Sample::origin}) {
      sample.*field = names[sample.*field];
    }
    sample.totals.outcome = names[sample.totals.outcome];
    sample.totals.excludes = names[sample.totals.excludes];
    samples[i] = sample_of(sample);
    if (sample.totals_line == 0) continue;
    sample.totals_line += shift;
    Sample& kept = data_.samples[samples[i]];
    if (kept.totals_line != 0) {
      duplicates_.push_back({file, sample.totals_line, kept.totals_file, kept.totals_line});
      continue;
    }
    kept.totals = sample.totals;
    kept.totals_line = sample.totals_line;
    kept.totals_file = file;
  }

  data_.rows.reserve(data_.rows.size() + part.data_.rows.size());
  for (SyscallRow row : part.data_.rows) {
    row.sample = samples[row.sample];
    row.file = file;
    row.line += shift;
    for (NameId SyscallRow::*field : {&SyscallRow::syscall, &SyscallRow::detail, &SyscallRow::classes,
                                      &SyscallRow::errnos, &SyscallRow::fixed_errnos, &SyscallRow::histogram}) {
      row.*field = names[row.*field];
    }
    data_.rows.push_back(row);
  }
  part.data_.rows = {};
  for (const NameId test : part.left_out_tests_) left_out_tests_.insert(names[test]);
  for (const Duplicate& one : part.duplicates_) {
    duplicates_.push_back({file, one.line + shift, file, one.first_line + shift});
  }
}

Dataset Collector::finish(const std::string& name) {
  data_.name = name;
  select_runs();
  data_.index();
  drop_duplicates();
  report_duplicates();
  for (const NameId test : left_out_tests_) data_.left_out_tests.push_back(data_.text(test));
  return std::move(data_);
}

/// The sample with `wanted`'s key; a new one when it is the first of it.
std::uint32_t Collector::sample_of(const Sample& wanted) {
  const SampleKey key{data_.contexts[wanted.context].run_id,
                      wanted.kind,
                      wanted.test,
                      wanted.window,
                      wanted.parent,
                      wanted.origin,
                      wanted.repetition,
                      wanted.pid};
  if (!data_.samples.empty() && key == last_key_) return last_sample_;
  auto [found, is_new] = samples_.try_emplace(key, static_cast<std::uint32_t>(data_.samples.size()));
  if (is_new) {
    Sample& sample = data_.samples.emplace_back(wanted);
    sample.totals = Totals();
    sample.totals_line = 0;
  }
  last_key_ = key;
  return last_sample_ = found->second;
}

/// A test's loops and scopes go with it; what is no test's goes by the name that is printed.
bool Collector::is_chosen(const Sample& key) {
  Group group{key.kind, key.test, key.window, key.parent, key.origin, kNoName, {}, false, {}};
  group.program = data_.names.intern(program_name(data_.text(data_.context(key).program)));
  std::vector<std::string> names = {base_name(data_, group), full_name(data_, group)};
  const std::string& kind = data_.text(key.kind);
  if (kind != "suite" && kind != "environment") {
    names.push_back(data_.text(key.test));
    names.push_back(fmt::format("{} ({})", data_.text(key.test), data_.text(group.program)));
  }
  if (group.is_loop(data_)) names.push_back(owner_name(data_, group));
  // As they are printed as well.
  for (std::size_t i = 0, count = names.size(); i < count; ++i) {
    if (std::string shown = csv::printable(names[i]); shown != names[i]) names.push_back(std::move(shown));
  }
  return options_.tests.matches(names);
}

/// True for a test that `histograms_of`, a part of its name, may mean.
bool Collector::keeps_histogram_of(const Sample& key) {
  Group group{key.kind, key.test, key.window, key.parent, key.origin, kNoName, {}, false, {}};
  group.program = data_.names.intern(program_name(data_.text(data_.context(key).program)));
  const std::string wanted = csv::printable(options_.histograms_of);
  auto may_be_meant = [&](const std::string& name) { return csv::printable(name).find(wanted) != std::string::npos; };
  if (may_be_meant(full_name(data_, group))) return true;
  // Who asks for a window asks for what tools saw of it.
  if (const NameId ours = data_.names.intern(schema::kOriginSyscost); group.origin != ours) {
    group.origin = ours;
    if (may_be_meant(full_name(data_, group))) return true;
  }
  // Who asks for a test asks for its loops.
  return group.is_loop(data_) &&
         may_be_meant(fmt::format("{} ({})", owner_name(data_, group), data_.text(group.program)));
}

/// In the order of the files and their lines.
void Collector::report_duplicates() {
  std::sort(duplicates_.begin(), duplicates_.end(), [](const Duplicate& a, const Duplicate& b) {
    return std::pair(a.file, a.line) < std::pair(b.file, b.line);
  });
  for (const Duplicate& one : duplicates_) {
    problems_.add(data_.files[one.file], one.line,
                  fmt::format("the same key as {}:{}; left out, it would count twice", data_.files[one.first_file],
                              one.first_line));
  }
}

/// Leaves the samples of the runs that were asked for: of each file the newest one, unless told otherwise.
void Collector::select_runs() {
  if (options_.all_runs) return;
  // The newest run is the one whose programs started last; equal times are decided by run_id.
  std::map<std::uint32_t, std::pair<std::string_view, NameId>> newest;
  for (const Context& context : data_.contexts) {
    auto& best = newest[context.file];
    const std::string_view started = sortable_time(data_.text(context.started_at));
    if (std::pair(started, std::string_view(data_.text(context.run_id))) >=
        std::pair(best.first, std::string_view(data_.text(best.second)))) {
      best = {started, context.run_id};
    }
  }
  const NameId asked = options_.run_id.empty() ? kNoName : asked_run();
  auto is_wanted = [&](const Sample& sample) {
    const Context& context = data_.context(sample);
    return asked == kNoName ? newest[context.file].second == context.run_id : context.run_id == asked;
  };
  std::vector<std::uint32_t> moved(data_.samples.size(), 0);
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < data_.samples.size(); ++i) {
    moved[i] = is_wanted(data_.samples[i]) ? kept : kDropped;
    if (moved[i] != kDropped) data_.samples[kept++] = data_.samples[i];
  }
  if (asked != kNoName && kept == 0 && !data_.samples.empty()) report_unknown_run();
  if (kept == data_.samples.size()) return;
  data_.samples.resize(kept);
  std::erase_if(data_.rows, [&](SyscallRow& row) { return (row.sample = moved[row.sample]) == kDropped; });
}

/// One context of each run, the newest run first: it is what people ask about.
std::vector<const Context*> Collector::runs() const {
  std::map<NameId, const Context*> last;
  const auto key = [&](const Context& context) {
    return std::pair(sortable_time(data_.text(context.started_at)), std::string_view(data_.text(context.run_id)));
  };
  for (const Context& context : data_.contexts) {
    const Context*& one = last[context.run_id];
    if (one == nullptr || key(*one) < key(context)) one = &context;
  }
  std::vector<const Context*> runs;
  for (const auto& [id, context] : last) runs.push_back(context);
  std::sort(runs.begin(), runs.end(), [&](const Context* a, const Context* b) { return key(*b) < key(*a); });
  return runs;
}

/// The run that --run means; its own text where there is none.
NameId Collector::asked_run() {
  const std::string& asked = options_.run_id;
  const std::vector<const Context*> all = runs();
  const auto first = [&](auto is_meant) {
    const auto found = std::find_if(all.begin(), all.end(), is_meant);
    return found == all.end() ? data_.names.intern(asked) : (*found)->run_id;
  };
  const auto is_id = [&](const Context* run) { return data_.text(run->run_id) == asked; };
  if (std::any_of(all.begin(), all.end(), is_id) || all.empty()) return data_.names.intern(asked);
  if (asked.starts_with("label:")) {
    return first([&](const Context* run) { return data_.text(run->label) == asked.substr(6); });
  }
  if (asked.starts_with("commit:") && asked.size() > 7) {
    return first([&](const Context* run) { return data_.text(run->commit).starts_with(asked.substr(7)); });
  }
  if (asked == "oldest") return all.back()->run_id;
  if (asked == "newest") return all.front()->run_id;
  if (constexpr std::string_view kBefore = "newest~"; asked.starts_with(kBefore)) {
    std::size_t steps = 0;
    const auto [rest, error] = std::from_chars(asked.data() + kBefore.size(), asked.data() + asked.size(), steps);
    if (error == std::errc() && rest == asked.data() + asked.size() && steps < all.size()) return all[steps]->run_id;
  }
  return data_.names.intern(asked);
}

void Collector::report_unknown_run() {
  std::vector<std::string> names;
  for (const Context* run : runs()) names.push_back(data_.text(run->run_id));
  const std::vector<std::string> ids = names;
  for (const Context* run : runs()) {
    if (run->label != kNoName) names.push_back("label:" + data_.text(run->label));
    if (run->commit != kNoName) names.push_back("commit:" + data_.text(run->commit));
  }
  constexpr std::size_t kMostNamed = 3;
  std::string named = did_you_mean(options_.run_id, names);
  if (named.empty()) {
    named = fmt::format(
        "it holds {}",
        fmt::join(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(std::min(ids.size(), kMostNamed)), ", "));
    if (ids.size() > kMostNamed) named += fmt::format(" and {} older runs", ids.size() - kMostNamed);
  }
  problems_.add(data_.name, 0,
                fmt::format("no run \"{}\" in it; {} (`bench runs` lists them)", options_.run_id, named));
}

/// Two rows of one window for the same syscall: the first counts, the others are reported.
void Collector::drop_duplicates() {
  auto call_of = [](const SyscallRow& row) { return std::uint64_t{row.syscall} << 32U | row.detail; };
  std::vector<std::uint64_t> calls;
  std::unordered_map<std::uint64_t, const SyscallRow*> seen;
  bool has_duplicates = false;
  for (std::uint32_t sample = 0; sample < data_.samples.size(); ++sample) {
    const auto rows = data_.rows_of(sample);
    calls.clear();
    for (const SyscallRow& row : rows) calls.push_back(call_of(row));
    std::sort(calls.begin(), calls.end());
    if (std::adjacent_find(calls.begin(), calls.end()) == calls.end()) continue;
    has_duplicates = true;
    seen.clear();
    for (const SyscallRow& row : rows) {
      auto [first, is_new] = seen.try_emplace(call_of(row), &row);
      if (is_new) continue;
      duplicates_.push_back({row.file, row.line, first->second->file, first->second->line});
      data_.rows[static_cast<std::size_t>(&row - data_.rows.data())].sample = kDropped;
    }
  }
  if (!has_duplicates) return;
  std::erase_if(data_.rows, [](const SyscallRow& row) { return row.sample == kDropped; });
  data_.index();
}

}  // namespace syscost::bench::model
