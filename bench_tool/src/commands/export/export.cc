// SPDX-License-Identifier: MIT
#include "commands/export/export.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "commands/shared/artifacts.h"
#include "commands/shared/chosen_tests.h"
#include "commands/shared/command_runs.h"
#include "csv/problems.h"
#include "csv/run_files.h"
#include "csv/text.h"
#include "exports/text_formats.h"
#include "model/loader.h"
#include "otlp/encode.h"
#include "otlp/endpoints.h"
#include "otlp/metrics.h"
#include "otlp/sender.h"
#include "otlp/spans.h"
#include "otlp/transport.h"
#include "render/output_file.h"
#include "trace/artifacts.h"
#include "trace/trace_file.h"

namespace syscost::bench::commands {
namespace {

using otlp::Request;
using otlp::Signal;

constexpr std::array<Signal, 2> kSignals = {Signal::traces, Signal::metrics};

const char* word_of(Signal signal) {
  return signal == Signal::traces ? "traces" : "metrics";
}

/// The items that were handed over, by signal.
struct Sent {
  std::array<std::size_t, 2> items{};
  std::array<std::size_t, 2> requests{};
  std::size_t bytes = 0;

  void add(const Request& request) {
    const auto at = static_cast<std::size_t>(request.signal);
    items[at] += request.items;
    ++requests[at];
    bytes += request.body.size();
  }
  /// `12 spans and 340 data points`
  std::string text() const {
    return fmt::format("{} {} and {} {}", items[0], items[0] == 1 ? "span" : "spans", items[1],
                       items[1] == 1 ? "data point" : "data points");
  }
};

bool is_wanted(const cli::Options& options, Signal signal) {
  return options.to.only.empty() || options.to.only == "windows" || options.to.only == word_of(signal);
}

/// Hands over all requests. False: one of them failed.
bool hand_over(const cli::Options& options, const model::Dataset& data, const std::vector<otlp::ProcessRun>& processes,
               const otlp::TakeRequest& take, ProgressLine& progress, ExportedCalls& calls, csv::Problems& problems) {
  std::size_t taken = 0;
  const otlp::TakeRequest counted = [&](Request&& request) {
    progress.clear();
    ++taken;
    return take(std::move(request));
  };
  otlp::Requests spans(Signal::traces, counted);
  otlp::Requests points(Signal::metrics, counted);
  const otlp::PointHandler handle = {[&](otlp::NumberPoint&& point) { points.add(point); },
                                     [&](otlp::HistogramPoint&& point) { points.add(point); }};
  const otlp::Buckets buckets = options.is_fine ? otlp::Buckets::fine : otlp::Buckets::octaves;
  for (std::size_t i = 0; i < processes.size(); ++i) {
    const otlp::ProcessRun& process = processes[i];
    const std::string resource = otlp::resource_json(otlp::resource_of(data, process));
    spans.begin_resource(resource);
    points.begin_resource(resource);
    if (is_wanted(options, Signal::traces)) spans.add(otlp::process_span(data, process));
    for (const otlp::PlacedWindow& window : process.windows) {
      if (window.is_span && is_wanted(options, Signal::traces)) {
        otlp::Span span = otlp::window_span(data, process, window);
        calls.add(process, window, span, [&](otlp::Span&& call) { spans.add(call); });
        spans.add(span);
      }
      if (is_wanted(options, Signal::metrics)) {
        otlp::window_points(data, process, window, buckets, handle, problems);
      }
      if (spans.has_failed() || points.has_failed()) return false;
    }
    progress.show(fmt::format("bench: {} of {} processes, {} requests", i + 1, processes.size(), taken));
  }
  spans.finish();
  if (!spans.has_failed()) points.finish();
  return !spans.has_failed() && !points.has_failed();
}

/// Where an export goes.
class Target {
 public:
  virtual ~Target() = default;
  /// Called before the first request. Returns the fault as a sentence, or "".
  virtual std::string open() { return {}; }
  /// Takes a request. Returns the fault as a sentence, or "".
  virtual std::string take(const Request& request) = 0;
  /// Called after the last request. Returns the fault as a sentence, or "".
  virtual std::string finish() { return {}; }
  /// Returns the message of a complete export, or "".
  virtual std::string done(const Sent& sent) const = 0;
  /// Returns the message of an export that failed after some requests, or "".
  virtual std::string broken_off(const Sent& /*sent*/) const { return {}; }
  virtual bool has_refused() const { return false; }
};

class ToStandardOutput : public Target {
 public:
  explicit ToStandardOutput(std::ostream& out) : out_(out) {}
  std::string take(const Request& request) override {
    out_ << request.body << '\n';
    return {};
  }
  std::string done(const Sent& /*sent*/) const override { return {}; }

 private:
  std::ostream& out_;
};

class ToFile : public Target {
 public:
  explicit ToFile(const std::string& path) : path_(path), file_(path, {"{\"resource", "file that bench exported"}) {}
  std::string open() override { return file_.open(); }
  std::string take(const Request& request) override { return file_.write(request.body + '\n'); }
  std::string finish() override { return file_.finish(); }
  std::string done(const Sent& sent) const override {
    return fmt::format("{} holds {}", csv::printable(path_), sent.text());
  }

 private:
  std::string path_;
  render::OutputFile file_;
};

class Nowhere : public Target {
 public:
  explicit Nowhere(std::string where) : where_(std::move(where)) {}
  std::string take(const Request& /*request*/) override { return {}; }
  std::string done(const Sent& sent) const override {
    return fmt::format(
        "would go to {}\n{}, {} KiB of JSON in {} of traces and {} of metrics\nnothing was sent or written", where_,
        sent.text(), (sent.bytes + 1023) / 1024, requests_text(sent.requests[0]), requests_text(sent.requests[1]));
  }

 private:
  static std::string requests_text(std::size_t count) {
    return fmt::format("{} {}", count, count == 1 ? "request" : "requests");
  }
  std::string where_;
};

class ToReceiver : public Target {
 public:
  ToReceiver(otlp::Sender::Targets targets, std::string shown, std::chrono::milliseconds limit, std::ostream& err)
      : targets_(std::move(targets)), shown_(std::move(shown)), limit_(limit), err_(err) {}

  std::string open() override {
    std::string fault;
    transport_ = otlp::open_libcurl(fault);
    if (transport_) sender_ = std::make_unique<otlp::Sender>(targets_, *transport_, limit_, otlp::own_clock(), err_);
    return fault;
  }
  std::string take(const Request& request) override { return sender_->send(request) ? "" : sender_->fault(); }
  std::string done(const Sent& sent) const override {
    std::string text = fmt::format("sent {} to {}", sent.text(), shown_);
    if (has_refused()) text += fmt::format(", which refused {} of them", sender_->rejected());
    return text;
  }
  std::string broken_off(const Sent& sent) const override {
    if (sent.bytes == 0) return "nothing was sent";
    return fmt::format("{} were sent before; another export sends them again, with the same ids", sent.text());
  }
  bool has_refused() const override { return sender_ && sender_->rejected() > 0; }

 private:
  otlp::Sender::Targets targets_;
  std::string shown_;
  std::chrono::milliseconds limit_;
  std::ostream& err_;
  std::unique_ptr<otlp::Transport> transport_;
  std::unique_ptr<otlp::Sender> sender_;
};

/// Null: what is wrong was printed.
std::unique_ptr<Target> target_of(const cli::Options& options, std::ostream& out, std::ostream& err) {
  const std::string& argument = options.to.otlp;
  if (argument == "-" && !options.to.is_dry_run) return std::make_unique<ToStandardOutput>(out);
  if (!argument.empty() && !otlp::is_url(argument)) {
    if (options.to.is_dry_run)
      return std::make_unique<Nowhere>(argument == "-" ? "standard output" : csv::printable(argument));
    return std::make_unique<ToFile>(argument);
  }
  otlp::Sender::Targets targets;
  std::string shown;
  for (const Signal signal : kSignals) {
    if (!is_wanted(options, signal)) continue;
    otlp::Endpoint& endpoint = signal == Signal::traces ? targets.traces : targets.metrics;
    if (const std::string fault = otlp::find_endpoint(signal, argument, otlp::own_environment, endpoint);
        !fault.empty()) {
      err << "bench: " << fault << '\n';
      return nullptr;
    }
    shown += (shown.empty() ? "" : " and ") + otlp::shown_url(endpoint.url);
    if (options.to.is_dry_run && !endpoint.headers.empty()) {
      shown += ", with the headers";
      for (const otlp::Header& header : endpoint.headers) shown += ' ' + header.name;
    }
  }
  if (options.to.is_dry_run) return std::make_unique<Nowhere>(shown);
  const auto limit =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::duration<double>(options.to.timeout_s));
  return std::make_unique<ToReceiver>(std::move(targets), shown, limit, err);
}

}  // namespace

model::Dataset load_exported_runs(const cli::Options& options, csv::Problems& problems) {
  csv::Run all{options.runs.front(), false, {}};
  all.is_folder = csv::add_files(all, options.runs, options.folders, problems) || options.runs.size() > 1;
  model::LoadOptions load;
  load.folders = options.folders;
  load.all_runs = options.all_runs;
  if (!options.run_ids.empty()) load.run_id = options.run_ids.front();
  load.keep_histograms = true;
  load.tests = model::TestChoice(options.tests);
  return model::load(std::move(all), load, problems);
}

std::vector<otlp::ProcessRun> exported_processes(const cli::Options& options, const model::Dataset& data,
                                                 csv::Problems& problems, std::ostream& err) {
  note_no_test(data, model::TestChoice(options.tests), problems);
  std::vector<otlp::ProcessRun> processes = otlp::process_runs(data, problems);
  if (processes.empty()) {
    problems.print(err);
    err << "bench: there is nothing to export\n";
  }
  return processes;
}

int export_run(const cli::Options& options, std::ostream& out, std::ostream& err) {
  if (!options.to.format.empty()) return export_text(options, out, err);
  const std::unique_ptr<Target> target = target_of(options, out, err);
  if (!target) return cli::kExitBadInput;
  csv::Problems problems;
  const model::Dataset data = load_exported_runs(options, problems);
  const std::vector<otlp::ProcessRun> processes = exported_processes(options, data, problems, err);
  if (processes.empty()) return cli::kExitBadInput;
  std::string fault = target->open();
  Sent sent;
  ExportedCalls calls(options, data, problems);
  if (fault.empty()) {
    ProgressLine progress(err);
    const otlp::TakeRequest take = [&](Request&& request) {
      fault = target->take(request);
      if (fault.empty()) sent.add(request);
      return fault.empty();
    };
    if (hand_over(options, data, processes, take, progress, calls, problems)) fault = target->finish();
  }
  problems.print(err);
  if (!fault.empty()) {
    err << "bench: " << fault << '\n';
    if (const std::string rest = target->broken_off(sent); !rest.empty()) err << "bench: " << rest << '\n';
    return cli::kExitBadInput;
  }
  if (const std::string text = target->done(sent); !text.empty()) out << text << '\n';
  if (const std::string text = calls.remark(); !text.empty()) err << "bench: " << text << '\n';
  return problems.empty() && !target->has_refused() ? cli::kExitOk : cli::kExitBadInput;
}

namespace {

using otlp::Span;
using trace::FoundTrace;
using trace::TraceFile;

}  // namespace

void ExportedCalls::add(const otlp::ProcessRun& process, const otlp::PlacedWindow& window, Span& span,
                        const std::function<void(Span&&)>& take) {
  if (!is_wanted_ || window.owner) return;
  const model::Sample& sample = data_.samples[window.sample];
  for (const FoundTrace& found : traces_.candidates(sample)) {
    std::optional<std::vector<char>> bytes = trace::artifact_bytes(found.path, problems_);
    if (!bytes) continue;
    const TraceFile file = trace::read_trace(found.path, *std::move(bytes), problems_);
    if (!otlp::is_trace_of(file, span, process.pid)) continue;
    const std::vector<const trace::Call*> calls = otlp::calls_within(file, kMost);
    // A trace has an event for each trip into the kernel. Without a count, the number of calls without one is unknown.
    const model::Measured& counted = sample.totals.calls.has_value() ? sample.totals.calls : sample.totals.entries;
    if (!counted.has_value()) {
      for (std::size_t i = 0; i < calls.size(); ++i) take(otlp::call_span(span, file, *calls[i], i));
      return;
    }
    const std::uint64_t made = std::max<std::uint64_t>(*counted, calls.size());
    const std::uint64_t left_out = made - calls.size();
    span.dropped_events =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(left_out, std::numeric_limits<std::uint32_t>::max()));
    span.attributes.add("syscost.calls_without_span", static_cast<std::int64_t>(left_out));
    left_out_ += left_out;
    windows_ += left_out == 0 ? 0 : 1;
    for (std::size_t i = 0; i < calls.size(); ++i) take(otlp::call_span(span, file, *calls[i], i));
    return;
  }
}

std::string ExportedCalls::remark() const {
  if (left_out_ == 0) return {};
  return fmt::format(
      "{} traced call{} of {} window{} {} no span: at most {} of each have one (--calls), and none that "
      "its trace had no room for; droppedEventsCount of the window's span says how many",
      left_out_, left_out_ == 1 ? "" : "s", windows_, windows_ == 1 ? "" : "s", left_out_ == 1 ? "has" : "have", kMost);
}

namespace {

/// Gives all points to `sink`; calls `after_process` when those of a process are there.
template <class Sink, class AfterProcess>
void fill(Sink& sink, const model::Dataset& data, const std::vector<otlp::ProcessRun>& processes, otlp::Buckets buckets,
          csv::Problems& problems, const AfterProcess& after_process) {
  const otlp::PointHandler handle = {[&](otlp::NumberPoint&& point) { sink.add(point); },
                                     [&](otlp::HistogramPoint&& point) { sink.add(point); }};
  for (const otlp::ProcessRun& process : processes) {
    sink.begin_process(otlp::resource_of(data, process));
    for (const otlp::PlacedWindow& window : process.windows) {
      otlp::window_points(data, process, window, buckets, handle, problems);
    }
    after_process();
  }
}

}  // namespace

int export_text(const cli::Options& options, std::ostream& out, std::ostream& err) {
  csv::Problems problems;
  const model::Dataset data = load_exported_runs(options, problems);
  const std::vector<otlp::ProcessRun> processes = exported_processes(options, data, problems, err);
  if (processes.empty()) return cli::kExitBadInput;
  const otlp::Buckets buckets = options.is_fine ? otlp::Buckets::fine : otlp::Buckets::octaves;
  if (options.to.format == "openmetrics") {
    exports::OpenMetrics metrics;
    fill(metrics, data, processes, buckets, problems, [] {});
    out << metrics.text();
  } else {
    exports::LongTable table;
    fill(table, data, processes, buckets, problems, [&] { out << table.take(); });
  }
  problems.print(err);
  return problems.empty() ? cli::kExitOk : cli::kExitBadInput;
}

}  // namespace syscost::bench::commands
