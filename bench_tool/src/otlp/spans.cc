// SPDX-License-Identifier: MIT
#include "otlp/spans.h"

#include <fmt/format.h>
#include <boost/uuid/name_generator_sha1.hpp>
#include <boost/uuid/uuid.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>

#include "model/dataset.h"
#include "model/run_selection.h"
#include "syscost/schema.h"

namespace syscost::bench::otlp {
namespace {

/// A random UUID: the name space of our ids, so that they differ from those that others make of the same text.
constexpr boost::uuids::uuid kNameSpace = {
    {0x8d, 0x1f, 0x5c, 0x0e, 0x6b, 0x27, 0x4e, 0x93, 0xa2, 0x14, 0x77, 0xc9, 0x30, 0xee, 0x58, 0x6d}};

boost::uuids::uuid uuid_of(std::string_view name) {
  return boost::uuids::name_generator_sha1(kNameSpace)(name.data(), name.size());
}

}  // namespace

std::string key_of(std::initializer_list<std::string_view> parts) {
  std::string key;
  for (const std::string_view part : parts) {
    key += part;
    key += '\0';
  }
  return key;
}

std::string trace_id_of(std::string_view run_id) {
  std::string id;
  for (const std::uint8_t byte : uuid_of(key_of({"trace", run_id}))) id += fmt::format("{:02x}", byte);
  return id;
}

std::string span_id_of(std::string_view key) {
  const boost::uuids::uuid uuid = uuid_of(key_of({"span", key}));
  std::string id;
  // Bytes 6 and 8 hold the UUID's version and variant, which are the same in all.
  for (const std::size_t at : {0, 1, 2, 3, 4, 5, 7, 9}) id += fmt::format("{:02x}", uuid.begin()[at]);
  return id;
}

namespace {

using model::Context;
using model::NameId;
using model::Sample;

std::string process_key(const model::Dataset& data, const Context& context, std::uint64_t pid) {
  std::string key = key_of({fmt::format("{}", pid)});
  for (const NameId Context::*field :
       {&Context::run_id, &Context::started_at, &Context::label, &Context::host, &Context::kernel_release,
        &Context::commit, &Context::build_id, &Context::build_type, &Context::backend, &Context::selection,
        &Context::filter, &Context::program}) {
    key += key_of({data.text(context.*field)});
  }
  return key;
}

/// Saturates: a number out of a file may be any.
std::uint64_t sum_of(std::uint64_t a, std::uint64_t b) {
  std::uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/// Windows that follow each other in a process. The others ran inside one of them.
bool is_outer(const model::Dataset& data, const Sample& sample) {
  static constexpr std::array<std::string_view, 4> kOuter = {"test", "benchmark", "suite", "environment"};
  const std::string& kind = data.text(sample.kind);
  if (std::find(kOuter.begin(), kOuter.end(), kind) != kOuter.end()) return true;
  return kind == "process" && sample.window == model::kNoName && sample.parent == model::kNoName;  // a whole command
}

/// Gives the windows of one process their owners and places.
class Layout {
 public:
  Layout(const model::Dataset& data, ProcessRun& process) : data_(data), process_(process) {}

  void place() {
    find_owners();
    std::vector<std::vector<std::size_t>> loops(process_.windows.size());
    for (std::size_t i = 0; i < process_.windows.size(); ++i) {
      const PlacedWindow& window = process_.windows[i];
      if (window.is_span && is_loop(i) && window.owner) loops[*window.owner].push_back(i);
    }
    std::uint64_t next = process_.start_unix_ns;
    const auto put = [&](std::size_t i) {
      set_times(i, next);
      next = process_.windows[i].end_unix_ns;
    };
    for (std::size_t i = 0; i < process_.windows.size(); ++i) {
      const PlacedWindow& window = process_.windows[i];
      if (!window.is_span || window.owner || (!is_outer(data_, sample_of(i)) && !is_loop(i))) continue;
      put(i);
      // The time of a window does not contain that of its loops.
      for (const std::size_t loop : loops[i]) put(loop);
    }
    process_.end_unix_ns = next;
    for (std::size_t i = 0; i < process_.windows.size(); ++i) {
      PlacedWindow& window = process_.windows[i];
      if (!window.is_span) {
        window.start_unix_ns = window.end_unix_ns = process_.end_unix_ns;
      } else if (!is_outer(data_, sample_of(i)) && !is_loop(i)) {
        set_times(i, outer_start(window));
      }
    }
  }

 private:
  using Name = std::tuple<NameId, NameId>;  // of a window: its test and its own name

  const Sample& sample_of(std::size_t i) const { return data_.samples[process_.windows[i].sample]; }
  bool is_loop(std::size_t i) const { return data_.text(sample_of(i).kind) == "loop"; }

  void set_times(std::size_t i, std::uint64_t start) {
    PlacedWindow& window = process_.windows[i];
    window.start_unix_ns = start;
    window.end_unix_ns = sum_of(start, sample_of(i).totals.wall_ns.value_or(0));
  }

  /// The start of the outermost window that it is known to have run in.
  std::uint64_t outer_start(const PlacedWindow& window) const {
    const PlacedWindow* outer = &window;
    // A scope in a file may name itself as its parent, so there is a limit.
    for (int depth = 0; outer->owner && depth < 100; ++depth) outer = &process_.windows[*outer->owner];
    return outer == &window || !is_outer(data_, data_.samples[outer->sample]) ? process_.start_unix_ns
                                                                              : outer->start_unix_ns;
  }

  void find_owners() {
    std::map<Name, std::vector<std::size_t>> outer;
    std::map<Name, std::vector<std::size_t>> scopes;
    for (std::size_t i = 0; i < process_.windows.size(); ++i) {
      if (!process_.windows[i].is_span) continue;
      const Sample& sample = sample_of(i);
      if (is_outer(data_, sample)) outer[{sample.test, sample.window}].push_back(i);
      if (data_.text(sample.kind) == "scope") scopes[{sample.test, sample.window}].push_back(i);
    }
    for (std::size_t i = 0; i < process_.windows.size(); ++i) {
      PlacedWindow& window = process_.windows[i];
      if (!window.is_span || is_outer(data_, sample_of(i))) continue;
      const Sample& sample = sample_of(i);
      const Name name(sample.test, sample.parent);
      window.owner = only_one(outer, name, sample);
      if (window.owner || data_.text(sample.kind) != "scope") continue;
      window.owner = only_one(scopes, name, sample);
      if (window.owner == i) window.owner.reset();
      if (!window.owner) window.owner = only_one(outer, Name(sample.test, model::kNoName), sample);
    }
  }

  /// The window of that name, if it is known which one is meant. Only rows of child processes say in which repetition.
  std::optional<std::size_t> only_one(const std::map<Name, std::vector<std::size_t>>& windows, const Name& name,
                                      const Sample& inside) const {
    const auto found = windows.find(name);
    if (found == windows.end()) return std::nullopt;
    if (found->second.size() == 1) return found->second.front();
    if (data_.text(inside.kind) != "process") return std::nullopt;
    std::optional<std::size_t> only;
    for (const std::size_t i : found->second) {
      if (sample_of(i).repetition != inside.repetition) continue;
      if (only) return std::nullopt;
      only = i;
    }
    return only;
  }

  const model::Dataset& data_;
  ProcessRun& process_;
};

}  // namespace

std::vector<ProcessRun> process_runs(const model::Dataset& data, csv::Problems& problems) {
  std::vector<ProcessRun> processes;
  std::unordered_map<std::string, std::size_t> known;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::size_t> recent;  // a key is long, and most rows repeat it
  for (std::uint32_t i = 0; i < data.samples.size(); ++i) {
    const Sample& sample = data.samples[i];
    const auto [at, is_new] = recent.try_emplace({sample.context, sample.pid}, 0);
    if (is_new) {
      std::string key = process_key(data, data.context(sample), sample.pid);
      const auto [process, is_first] = known.try_emplace(key, processes.size());
      at->second = process->second;
      if (is_first) processes.push_back({sample.context, sample.pid, std::move(key), 0, 0, {}});
    }
    const bool is_figure =
        data.text(sample.origin) != schema::kOriginSyscost || data.text(sample.kind) == schema::kKindGpuKernel;
    PlacedWindow window;
    window.sample = i;
    window.is_span = !is_figure;
    processes[at->second].windows.push_back(window);
  }
  std::erase_if(processes, [&](ProcessRun& process) {
    const Context& context = data.contexts[process.context];
    const auto start = model::unix_ns(data.text(context.started_at));
    if (!start) {
      problems.add(
          data.files[context.file], 0,
          fmt::format("the rows of program {} have no start time (column started_at), so they are not exported",
                      data.text(context.program)));
      return true;
    }
    process.start_unix_ns = *start;
    Layout(data, process).place();
    return false;
  });
  return processes;
}

Attributes resource_of(const model::Dataset& data, const ProcessRun& process) {
  const Context& context = data.contexts[process.context];
  Attributes all;
  all.add("service.name", data.text(context.program));
  all.add("host.name", data.text(context.host));
  all.add("os.type", "linux");
  if (!context.is_plain) all.add("process.pid", model::Measured(process.pid));
  all.add("vcs.ref.head.revision", data.text(context.commit));
  static constexpr std::array<std::pair<const char*, NameId Context::*>, 9> kOwn = {
      {{"syscost.run_id", &Context::run_id},
       {"syscost.started_at", &Context::started_at},
       {"syscost.label", &Context::label},
       {"syscost.kernel_release", &Context::kernel_release},
       {"syscost.build_id", &Context::build_id},
       {"syscost.build_type", &Context::build_type},
       {"syscost.backend", &Context::backend},
       {"syscost.selection", &Context::selection},
       {"syscost.filter", &Context::filter}}};
  for (const auto& [name, field] : kOwn) all.add(name, data.text(context.*field));
  return all;
}

namespace {

using model::Totals;

std::string process_span_id(const ProcessRun& process) {
  return span_id_of(key_of({"process", process.key}));
}

std::string window_span_id(const model::Dataset& data, const ProcessRun& process, const Sample& sample) {
  return span_id_of(
      key_of({"window", process.key, data.text(sample.kind), data.text(sample.test), data.text(sample.window),
              data.text(sample.parent), data.text(sample.origin), fmt::format("{}", sample.repetition)}));
}

/// A test or benchmark without an outcome ended its process.
void set_status(const model::Dataset& data, const Sample& sample, Span& span) {
  const std::string& kind = data.text(sample.kind);
  const std::string& outcome = data.text(sample.totals.outcome);
  if (outcome == "passed") span.status = Status::ok;
  if (outcome == "failed") span.status = Status::error;
  if (outcome.empty() && (kind == "test" || kind == "benchmark")) {
    span.status = Status::error;
    span.status_message = sample.totals_line == 0 ? "its `test` row is missing: the process may have been killed"
                                                  : "the test ended its process";
  }
}

}  // namespace

Span process_span(const model::Dataset& data, const ProcessRun& process) {
  const model::Context& context = data.contexts[process.context];
  Span span;
  span.trace_id = trace_id_of(data.text(context.run_id));
  span.span_id = process_span_id(process);
  span.name = data.text(context.program);
  span.start_unix_ns = process.start_unix_ns;
  span.end_unix_ns = process.end_unix_ns;
  span.attributes.add("syscost.kind", "program");
  span.attributes.add("syscost.start", "measured");
  span.attributes.add("syscost.duration", "derived");
  span.attributes.add("syscost.backend", data.text(context.backend));
  return span;
}

Span window_span(const model::Dataset& data, const ProcessRun& process, const PlacedWindow& window) {
  const Sample& sample = data.samples[window.sample];
  const Totals& totals = sample.totals;
  const model::Context& context = data.contexts[process.context];
  Span span;
  span.trace_id = trace_id_of(data.text(context.run_id));
  span.span_id = window_span_id(data, process, sample);
  span.parent_span_id = window.owner
                            ? window_span_id(data, process, data.samples[process.windows[*window.owner].sample])
                            : process_span_id(process);
  model::Group group;
  group.kind = sample.kind;
  group.test = sample.test;
  group.window = sample.window;
  group.parent = sample.parent;
  group.origin = sample.origin;
  span.name = model::base_name(data, group);
  span.start_unix_ns = window.start_unix_ns;
  span.end_unix_ns = window.end_unix_ns;
  set_status(data, sample, span);

  Attributes& all = span.attributes;
  all.add("syscost.kind", data.text(sample.kind));
  all.add("syscost.test", data.text(sample.test));
  all.add("syscost.window", data.text(sample.window));
  all.add("syscost.parent", data.text(sample.parent));
  all.add("syscost.repetition", std::int64_t{sample.repetition});
  all.add("syscost.outcome", data.text(totals.outcome));
  all.add("syscost.start", "derived");
  all.add("syscost.duration", totals.wall_ns.has_value() ? "measured" : "not measured");
  all.add("syscost.backend", data.text(context.backend));
  all.add("syscost.detail", data.text(totals.excludes));
  static constexpr std::array<std::pair<const char*, model::Measured Totals::*>, 23> kNumbers = {
      {{"syscost.iterations", &Totals::iterations},
       {"syscost.counted_iterations", &Totals::counted_iterations},
       {"syscost.wall_ns", &Totals::wall_ns},
       {"syscost.user_ns", &Totals::user_ns},
       {"syscost.system_ns", &Totals::system_ns},
       {"syscost.cpu_ns", &Totals::cpu_ns},
       {"syscost.overhead_estimate_ns", &Totals::overhead_estimate_ns},
       {"syscost.total_entries", &Totals::entries},
       {"syscost.total_calls", &Totals::calls},
       {"syscost.total_errors", &Totals::errors},
       {"syscost.total_kernel_ns", &Totals::kernel_ns},
       {"syscost.total_bytes_read", &Totals::bytes_read},
       {"syscost.total_bytes_written", &Totals::bytes_written},
       {"syscost.total_bytes_mapped", &Totals::bytes_mapped},
       {"syscost.total_bytes_unmapped", &Totals::bytes_unmapped},
       {"syscost.peak_rss_bytes", &Totals::peak_rss_bytes},
       {"syscost.descriptors_left", &Totals::descriptors_left},
       {"syscost.threads_left", &Totals::threads_left},
       {"syscost.children_left", &Totals::children_left},
       {"syscost.mapped_bytes_left", &Totals::mapped_bytes_left},
       {"syscost.peak_mapped_bytes", &Totals::peak_mapped_bytes},
       {"syscost.late", &Totals::late},
       {"syscost.lost", &Totals::lost}}};
  for (const auto& [name, number] : kNumbers) all.add(name, totals.*number);
  return span;
}

namespace {

using trace::Call;
using trace::TraceFile;

/// The text of an attribute; empty if there is none.
std::string text_of(const Span& span, std::string_view key) {
  for (const auto& [name, value] : span.attributes.list()) {
    if (name != key) continue;
    const auto* text = std::get_if<std::string>(&value);
    return text != nullptr ? *text : std::string();
  }
  return {};
}

/// As the plugin names a window in a trace: `test Log.Write`, `suite Log set-up`.
std::string spoken_name(const Span& window) {
  std::string name = text_of(window, "syscost.kind");
  for (const char* part : {"syscost.test", "syscost.window"}) {
    const std::string text = text_of(window, part);
    if (!text.empty()) name += ' ' + text;
  }
  return name;
}

std::string arguments_of(const TraceFile& file, const Call& call) {
  std::string text;
  for (std::size_t i = 0; i < call.note_count; ++i) {
    text.append(i == 0 ? "" : ", ").append(file.notes[call.first_note + i].text);
  }
  return text;
}

}  // namespace

bool is_trace_of(const TraceFile& file, const Span& window, std::uint64_t process) {
  const trace::Slice* own = file.window();
  return own != nullptr && file.process == process && own->name == spoken_name(window) &&
         own->took_ns == window.end_unix_ns - window.start_unix_ns;
}

std::vector<const Call*> calls_within(const TraceFile& file, std::size_t most) {
  std::vector<const Call*> calls;
  const trace::Slice* own = file.window();
  if (own == nullptr || !own->took_ns) return calls;
  for (const Call& call : file.calls) {
    if (calls.size() == most) break;
    if (call.start_ns < own->start_ns) continue;
    const std::uint64_t at_ns = call.start_ns - own->start_ns;
    if (at_ns <= *own->took_ns && call.took_ns.value_or(0) <= *own->took_ns - at_ns) calls.push_back(&call);
  }
  return calls;
}

Span call_span(const Span& window, const TraceFile& file, const Call& call, std::size_t index) {
  Span span;
  span.trace_id = window.trace_id;
  span.span_id = span_id_of(key_of({"call", window.span_id, fmt::format("{}", index)}));
  span.parent_span_id = window.span_id;
  span.name = call.name;
  span.start_unix_ns = window.start_unix_ns + (call.start_ns - file.window()->start_ns);
  span.end_unix_ns = span.start_unix_ns + call.took_ns.value_or(0);
  Attributes& all = span.attributes;
  all.add("syscost.kind", "call");
  all.add("syscost.test", text_of(window, "syscost.test"));
  all.add("syscost.window", text_of(window, "syscost.window"));
  all.add("syscost.syscall", std::string(call.name));
  all.add("syscost.class", file.categories[call.categories]);
  all.add("syscost.arguments", arguments_of(file, call));
  all.add("syscost.result", std::string(call.result));
  all.add("syscost.site", std::string(call.site));
  all.add("error.type", std::string(call.error()));
  all.add("thread.id", std::int64_t{call.thread});
  all.add("syscost.start", "derived");
  all.add("syscost.duration", call.took_ns ? "measured" : "not measured");
  return span;
}

}  // namespace syscost::bench::otlp
