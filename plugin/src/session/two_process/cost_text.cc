// SPDX-License-Identifier: MIT
//
// A Cost as one line of text: a counting process sends its numbers this way to the process that writes rows.
//
//     8 <entries calls errors latency altered threads: measured?> <bytes: BytesKnown> <late> <lost> <site> <site>
//     ;<syscall>;<syscall> <child> <child>. <site>    = @number:length:text <syscall> = abi number <detail: file to
//     kind_only driver_thread has_command device request command status site> entries calls restarts no_return
//     carried_in denied bytes bytes_released short_calls kernel_files sync_opens altered
//     by_started_threads by_older_threads | errno:count ... | count sum min max
//                 bucket:count ...
//     <child>   = >length:program;<syscall>;<syscall>
#include <charconv>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "core/cost_data.h"
#include "core/site_names.h"
#include "session/process/messages.h"
#include "session/session.h"
#include "syscost/counting.h"

namespace syscost::adapter {
namespace {

constexpr std::uint64_t kVersion = 8;

void put(std::string& text, std::uint64_t number) {
  text += std::to_string(number);
  text += ' ';
}

/// Takes numbers and marks from the front of a text. After the first one that is missing, it takes nothing.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  bool failed() const { return failed_; }
  bool at_end() const { return rest_.empty(); }
  void fail() { failed_ = true; }
  /// Takes `mark` if it comes next.
  bool take(char mark) {
    if (rest_.empty() || rest_.front() != mark) return false;
    rest_.remove_prefix(1);
    return true;
  }
  /// True before a mark that ends a syscall's numbers.
  bool ends_part() const { return !rest_.empty() && std::string_view(";>.").find(rest_.front()) != rest_.npos; }
  std::string_view text(std::size_t length) {
    failed_ = failed_ || length > rest_.size();
    if (failed_) return {};
    const std::string_view taken = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return taken;
  }
  void expect(char mark) { failed_ = failed_ || !take(mark); }
  std::uint64_t number(char after = ' ') {
    std::uint64_t value = 0;
    auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (failed_ || error != std::errc()) {
      failed_ = true;
      return 0;
    }
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    expect(after);
    return value;
  }

 private:
  std::string_view rest_;
  bool failed_ = false;
};

void put_tally(std::string& text, SyscallId id, const Tally& tally) {
  text += ';';
  for (std::uint64_t number : {std::uint64_t{static_cast<std::uint8_t>(id.abi)},
                               std::uint64_t{id.number},
                               std::uint64_t{static_cast<std::uint8_t>(id.detail.file)},
                               std::uint64_t{static_cast<std::uint8_t>(id.detail.to)},
                               std::uint64_t{id.detail.is_kind_only},
                               std::uint64_t{id.detail.is_driver_thread},
                               std::uint64_t{id.detail.has_command},
                               std::uint64_t{id.detail.device},
                               std::uint64_t{id.detail.request},
                               std::uint64_t{id.detail.command},
                               std::uint64_t{id.detail.status},
                               std::uint64_t{id.detail.origin},
                               tally.entries,
                               tally.calls,
                               tally.restarts,
                               tally.no_return,
                               tally.carried_in,
                               tally.denied,
                               tally.bytes,
                               tally.bytes_released,
                               tally.short_calls}) {
    put(text, number);
  }
  for (const std::uint64_t number :
       {tally.kernel_files, tally.sync_opens, tally.altered, tally.by_started_threads, tally.by_older_threads})
    put(text, number);
  text += '|';
  for (const ErrnoCounts::Entry& error : tally.errors) {
    text += std::to_string(error.error) + ':';
    put(text, error.count);
  }
  text += '|';
  for (std::uint64_t number :
       {tally.latency.count(), tally.latency.sum_ns(), tally.latency.min_ns(), tally.latency.max_ns()}) {
    put(text, number);
  }
  const Histogram latency = tally.latency.dense();
  for (std::size_t bucket = 0; bucket < kHistogramBuckets; ++bucket) {
    if (latency.bucket_count(bucket) == 0) continue;
    text += std::to_string(bucket) + ':';
    put(text, latency.bucket_count(bucket));
  }
}

void put_table(std::string& text, const CallTable& table) {
  for (const auto& [id, tally] : table) {
    if (!tally.empty()) put_tally(text, id, tally);
  }
}

/// The texts of the sites in `table`: numbers of sites differ between processes.
void put_sites(std::string& text, const CallTable& table) {
  std::set<std::uint32_t> sites;
  for (const auto& [id, tally] : table) {
    if (id.detail.origin != 0) sites.insert(id.detail.origin);
  }
  for (const std::uint32_t site : sites) {
    const std::string_view its_text = text_of_site(site);
    text += '@' + std::to_string(site) + ':' + std::to_string(its_text.size()) + ':';
    text += its_text;
  }
}

/// This process's number for each number in the text.
using SiteNumbers = std::map<std::uint64_t, std::uint32_t>;

void take_tally(Reader& in, CallTable& table, const SiteNumbers& sites) {
  const std::uint64_t abi = in.number();
  const std::uint64_t number = in.number();
  CallDetail detail;
  detail.file = static_cast<FileKind>(in.number());
  detail.to = static_cast<FileKind>(in.number());
  detail.is_kind_only = in.number() != 0;
  detail.is_driver_thread = in.number() != 0;
  detail.has_command = in.number() != 0;
  for (std::uint32_t* field : {&detail.device, &detail.request, &detail.command, &detail.status}) {
    *field = static_cast<std::uint32_t>(in.number());
  }
  if (const std::uint64_t site = in.number(); site != 0) {
    const auto known = sites.find(site);
    if (known == sites.end()) return in.fail();
    detail.origin = known->second;
  }
  if (in.failed() || abi >= kAbiCount) return in.fail();
  Tally& tally = table.at({static_cast<Abi>(abi), static_cast<std::uint32_t>(number), detail});
  for (std::uint64_t* field :
       {&tally.entries, &tally.calls, &tally.restarts, &tally.no_return, &tally.carried_in, &tally.denied, &tally.bytes,
        &tally.bytes_released, &tally.short_calls, &tally.kernel_files, &tally.sync_opens, &tally.altered,
        &tally.by_started_threads, &tally.by_older_threads}) {
    *field += in.number();  // calls of several stacks arrive one by one
  }
  in.expect('|');
  while (!in.failed() && !in.take('|')) {
    const auto error = static_cast<int>(in.number(':'));
    tally.errors.add(error, in.number());
  }
  const std::uint64_t count = in.number();
  const std::uint64_t sum_ns = in.number();
  const std::uint64_t min_ns = in.number();
  const std::uint64_t max_ns = in.number();
  tally.latency.add_exact(count, sum_ns, min_ns, max_ns);
  while (!in.failed() && !in.ends_part()) {
    const std::uint64_t bucket = in.number(':');
    const std::uint64_t values = in.number();
    if (bucket < kHistogramBuckets) tally.latency.add_bucket(bucket, values);
  }
}

}  // namespace

std::string to_text(const Cost& cost) {
  const detail::CostData* data = detail::CostAccess::data(cost);
  if (data == nullptr) return {};
  // Only this process knows its origins.
  detail::CostData of_sites(std::pmr::new_delete_resource());
  if (data->origins() != nullptr) {
    session::name_origins(session::process_session().origin_namer(), *data, of_sites);
    data = &of_sites;
  }
  std::string text = std::to_string(kVersion) + ' ';
  for (bool measured : {data->measured.entries, data->measured.calls, data->measured.errors, data->measured.latency,
                        data->measured.altered, data->measured.threads}) {
    put(text, measured ? 1 : 0);
  }
  put(text, static_cast<std::uint8_t>(data->measured.bytes));
  put(text, data->late);
  put(text, data->lost);
  put_sites(text, data->table);
  put_table(text, data->table);
  for (const auto& [program, table] : data->programs) {
    text.append(">").append(std::to_string(program.size())).append(":").append(program);
    put_table(text, table);
  }
  return text + '.';  // without it the text was cut
}

Cost cost_from_text(std::string_view text) {
  const Unavailable not_a_cost{"The counting process sent numbers that cannot be read.",
                               "Link the program and libsyscost of one version."};
  Reader in(text);
  if (in.number() != kVersion) return Cost(not_a_cost);
  auto data = std::make_shared<detail::CostData>(std::pmr::new_delete_resource());
  data->measured.entries = in.number() != 0;
  data->measured.calls = in.number() != 0;
  data->measured.errors = in.number() != 0;
  data->measured.latency = in.number() != 0;
  data->measured.altered = in.number() != 0;
  data->measured.threads = in.number() != 0;
  const std::uint64_t bytes_known = in.number();
  if (bytes_known > static_cast<std::uint64_t>(BytesKnown::all)) in.fail();
  data->measured.bytes = static_cast<BytesKnown>(bytes_known);
  data->late = in.number();
  data->lost = in.number();
  if (const Result<session::ParsedOptions>& parsed = session::process_options(); parsed.ok()) {
    data->filter = parsed.value().options.filter;
  }
  SiteNumbers sites;
  while (!in.failed() && in.take('@')) {
    const std::uint64_t number = in.number(':');
    sites[number] = number_of_site(in.text(in.number(':')));
  }
  while (!in.failed() && in.take(';')) take_tally(in, data->table, sites);
  while (!in.failed() && in.take('>')) {
    CallTable& child = data->programs.at(in.text(in.number(':')));
    while (!in.failed() && in.take(';')) take_tally(in, child, sites);
  }
  in.expect('.');
  if (in.failed() || !in.at_end()) return Cost(not_a_cost);
  return Cost(std::move(data));
}

Cost sum(const std::vector<Cost>& parts) {
  auto whole = std::make_shared<detail::CostData>(std::pmr::new_delete_resource());
  for (const Cost& part : parts) {
    const detail::CostData* data = detail::CostAccess::data(part);
    if (data == nullptr) return part;
    whole->table.merge(data->table);
    whole->programs.merge(data->programs);
    if (data->origins() != nullptr) whole->make_extra().origins = data->origins();
    whole->measured = data->measured;
    whole->filter = data->filter;
    whole->late += data->late;
    whole->lost += data->lost;
  }
  return Cost(std::move(whole));
}

}  // namespace syscost::adapter
