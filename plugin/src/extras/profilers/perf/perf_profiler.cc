// SPDX-License-Identifier: MIT
#include "extras/profilers/perf/perf_profiler.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <map>
#include <sstream>
#include <utility>

#include "extras/profilers/find_tools.h"
#include "extras/profilers/launcher/launcher_link.h"
#include "extras/profilers/launcher/protocol.h"
#include "extras/profilers/profiler.h"
#include "os/files.h"
#include "os/text.h"

namespace syscost::profilers {
namespace {

using Json = nlohmann::ordered_json;

std::string text_in(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// perf writes numbers as text, as in "counter-value" : "1.000000"; a version without the quotes is read, too.
std::optional<double> number_in(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) return std::nullopt;
  const Json number = found->is_string() ? Json::parse(found->get<std::string>(), nullptr, false) : *found;
  return number.is_number() ? std::optional(number.get<double>()) : std::nullopt;
}

}  // namespace

Result<std::vector<PerfCounter>> read_counters(std::string_view printed) {
  std::vector<PerfCounter> counters;
  std::istringstream lines{std::string(printed)};
  for (std::string line; std::getline(lines, line);) {
    const Json one = Json::parse(line, nullptr, false);
    if (!one.is_object() || !one.contains("counter-value") || text_in(one, "event").empty()) continue;
    PerfCounter counter;
    counter.event = text_in(one, "event");
    counter.value = number_in(one, "counter-value");
    counter.unit = text_in(one, "unit");
    counter.percent_counted = number_in(one, "pcnt-running").value_or(100);
    if (!counter.value) counter.reason = text_in(one, "counter-value");
    counters.push_back(std::move(counter));
  }
  if (counters.empty()) {
    return Failure{"perf stat printed no counter that can be read", "install perf 6.1 or later (it must know -j)"};
  }
  return counters;
}

std::string to_json(const std::vector<PerfCounter>& counters) {
  Json list = Json::array();
  for (const PerfCounter& counter : counters) {
    Json one{{"event", counter.event}};
    if (counter.value) {
      one["value"] = *counter.value;
      one["unit"] = counter.unit;
      one["percent_counted"] = counter.percent_counted;
    } else {
      one["reason"] = counter.reason;
    }
    list.push_back(std::move(one));
  }
  const Json root{{"tool", "perf"}, {"command", "stat"}, {"counters", std::move(list)}};
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string summary_of(const std::vector<PerfCounter>& counters) {
  std::string text;
  std::map<std::string, std::string> missing;
  for (const PerfCounter& counter : counters) {
    if (!counter.value) {
      std::string& names = missing[counter.reason];
      names.append(names.empty() ? "" : ", ").append(counter.event);
      continue;
    }
    constexpr std::size_t kNameWidth = 18;
    std::string name = counter.event;
    if (name.size() < kNameWidth) name.resize(kNameWidth, ' ');
    text.append("  ").append(name).append(" ").append(significant_text(*counter.value, 15));
    text.append(counter.unit.empty() ? "" : " ").append(counter.unit) += "\n";
  }
  for (const auto& [reason, names] : missing) text.append("  n/a: ").append(names).append(": ").append(reason) += "\n";
  return text;
}

bool has_stacks(std::string_view printed) {
  constexpr std::string_view kRootAlone = R"("l": "root", "v": 0, "c": []})";
  return !printed.empty() && printed.find(kRootAlone) == std::string_view::npos;
}

// perf as a profiler: `perf stat` for counters and `perf record` for stacks, both of this process and its threads.
//
// perf cannot read the window's word: it counts from when it acknowledges "enable" until it acknowledges "disable", so
// that what we do between these and the window's ends is in its figures. They are kept as artifacts and in the summary,
// and never become rows.

namespace {

constexpr std::string_view kHowToGetPerf = "install perf (Debian: apt-get install linux-perf)";

/// Software counters exist everywhere. perf reports each other counter that the machine lacks.
constexpr const char* kEvents =
    "task-clock,context-switches,cpu-migrations,page-faults,major-faults,"
    "cycles,instructions,branches,branch-misses,cache-references,cache-misses";

/// Where the page for perf's flame graph script may be: from a distribution, or from npm for the whole machine.
constexpr std::array<const char*, 3> kFlamePages = {
    "/usr/share/d3-flame-graph/d3-flamegraph-base.html",
    "/usr/local/lib/node_modules/d3-flame-graph/dist/templates/d3-flamegraph-base.html",
    "/usr/lib/node_modules/d3-flame-graph/dist/templates/d3-flamegraph-base.html"};

enum Index : std::size_t { kStat, kRecord, kScript };

struct Settings {
  std::string launcher;
  std::string tool;
  std::string flamegraph;  // perf's own script, or empty
  std::string page;        // that the script fills, or empty
  std::vector<std::string> environment;
};

/// perf ends by the SIGINT that stops it.
bool ended_well(const CommandResult& result) {
  const bool is_interrupted = WIFSIGNALED(result.wait_status) && WTERMSIG(result.wait_status) == SIGINT;
  const bool is_clean = WIFEXITED(result.wait_status) && WEXITSTATUS(result.wait_status) == 0;
  return (is_clean || is_interrupted) && result.start_errno == 0 && !result.ended_early && !result.has_timed_out;
}

Failure explain(const CommandResult& result, const char* command) {
  const std::string what = std::string("perf ") + command;
  if (result.start_errno != 0) {
    return Failure{what + " could not be executed: " + strerror(result.start_errno), std::string(kHowToGetPerf)};
  }
  if (result.has_timed_out) {
    return Failure{what + " was not ready, or did not end, in time", "try again on a less loaded machine"};
  }
  std::string said;
  std::istringstream lines(result.errors);
  int count = 0;
  for (std::string line; std::getline(lines, line) && count < 12; ++count) said += "\n  " + line;
  const auto says = [&result](const char* words) { return result.errors.find(words) != std::string::npos; };
  if (says("perf_event_paranoid") || says("Operation not permitted") || says("Permission denied")) {
    return Failure{"the kernel did not let " + what + " count:" + said,
                   "sysctl kernel.perf_event_paranoid=1, or run as root or with CAP_PERFMON; in a container "
                   "--cap-add PERFMON and a seccomp profile that allows perf_event_open"};
  }
  if (says("unknown option") || says("--control")) {
    return Failure{what + " does not support an option that syscost needs:" + said, "install perf 6.1 or later"};
  }
  if (WIFSIGNALED(result.wait_status)) {
    return Failure{what + " was killed by signal " + std::to_string(WTERMSIG(result.wait_status)) + ":" + said,
                   "run `dmesg` to see whether the kernel killed it; then try again"};
  }
  return Failure{what + " ended with exit code " + std::to_string(WEXITSTATUS(result.wait_status)) + ":" + said,
                 "try the same by hand: " + what + " -p PID"};
}

class PerfProfiler final : private WindowWord, public Profiler {
 public:
  PerfProfiler(WindowWord word, Settings settings)
      : WindowWord(std::move(word)),
        Profiler(WindowWord::word()),
        settings_(std::move(settings)),
        link_(settings_.launcher, settings_.environment, {}) {}

  std::string_view name() const override { return "perf"; }
  Result<void> check() override;
  Result<void> attach() override;
  Result<std::vector<Output>> detach() override;

 private:
  Output read_record();

  Settings settings_;
  LauncherLink link_;
};

Result<void> PerfProfiler::attach() {
  const std::string pid = std::to_string(getpid());
  const std::string control =
      "fd:" + std::to_string(kControlReadDescriptor) + "," + std::to_string(kControlAckDescriptor);
  const std::string& perf = settings_.tool;
  // -D -1: nothing is counted before "enable".
  std::vector<Command> commands{
      {kControlKind, {perf, "stat", "-j", "-D", "-1", "--control", control, "-e", kEvents, "-p", pid}},
      {kControlKind,
       {perf, "record", "-q", "-g", "-F", "997", "-D", "-1", "--control", control, "-o", "-", "-p", pid}}};
  if (settings_.flamegraph.empty()) {
    commands.push_back({kFilterKind, {perf, "script", "-i", "-"}});
  } else {
    std::vector<std::string> script{perf, "script", "-i", "-",  "-s", settings_.flamegraph,
                                    "--", "-i",     "-",  "-o", "-",  "-f"};
    if (settings_.page.empty()) {
      script.emplace_back("json");
    } else {
      script.insert(script.end(), {"html", "--template", settings_.page});
    }
    commands.push_back({kFilterKind, std::move(script)});
  }
  Result<bool> ready = link_.start(commands);
  if (!ready.ok()) return ready.failure();
  if (ready.value()) return {};
  const std::vector<CommandResult>& results = link_.results();
  const bool is_record = results[kStat].was_ready;
  return explain(results[is_record ? kRecord : kStat], is_record ? "record" : "stat");
}

Output PerfProfiler::read_record() {
  CommandResult& script = link_.results()[kScript];
  Output output;
  output.script = "record";
  const bool is_graph = !settings_.flamegraph.empty();
  if (!ended_well(script) || script.is_truncated) {
    output.summary = "  no stacks: " + explain(script, "script").reason + "\n";
  } else if (!has_stacks(script.output)) {
    output.summary = "  no stacks: no sample was taken, the window was too short or slept\n";
  } else if (is_graph && !settings_.page.empty()) {
    output.artifacts.push_back({"flamegraph.html", std::move(script.output)});
  } else {
    output.artifacts.push_back({is_graph ? "stacks.json" : "stacks.txt", std::move(script.output)});
    output.summary = is_graph ? std::string(
                                    "  no flame graph: its page is not installed (npm install -g d3-flame-graph@4); "
                                    "stacks.json holds what it draws\n")
                              : "  no flame graph: perf came without its flamegraph.py; stacks.txt holds the samples\n";
  }
  // "Processed 100 events and lost 3 chunks!"
  if (const std::size_t at = script.errors.find("and lost "); at != std::string::npos) {
    unsigned long long lost = 0;  // NOLINT(google-runtime-int)
    if (std::sscanf(script.errors.c_str() + at, "and lost %llu", &lost) == 1) output.lost_events = lost;
  }
  return output;
}

Result<std::vector<Output>> PerfProfiler::detach() {
  disarm();
  if (!link_.is_running()) return Failure{"perf is not attached", "attach it first: this is a bug in syscost"};
  if (Result<void> stopped = link_.stop(); !stopped.ok()) return stopped.failure();
  const CommandResult& stat = link_.results()[kStat];
  if (!ended_well(stat)) return explain(stat, "stat");
  if (const CommandResult& record = link_.results()[kRecord]; !ended_well(record)) return explain(record, "record");
  Result<std::vector<PerfCounter>> counters = read_counters(stat.errors);
  if (!counters.ok()) return counters.failure();
  Output output;
  output.script = "stat";
  output.summary = summary_of(counters.value());
  output.artifacts.push_back({"stat.json", to_json(counters.value())});
  output.artifacts.push_back({"stat.txt", stat.errors});
  return std::vector<Output>{std::move(output), read_record()};
}

/// Makes a known number of page faults. perf must count at least these.
Result<void> PerfProfiler::check() {
  constexpr std::size_t kPages = 64;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  if (Result<void> attached = attach(); !attached.ok()) return attached.failure();
  void* memory = mmap(nullptr, kPages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return errno_failure("reserve", "pages to check perf with", errno);
  madvise(memory, kPages * page, MADV_NOHUGEPAGE);
  for (std::size_t i = 0; i < kPages; ++i) static_cast<volatile char*>(memory)[i * page] = 1;
  munmap(memory, kPages * page);
  const Result<std::vector<Output>> outputs = detach();
  if (!outputs.ok()) return outputs.failure();
  const std::string& json = outputs.value()[kStat].artifacts.front().content;
  const Result<std::vector<PerfCounter>> counters = read_counters(link_.results()[kStat].errors);
  if (!counters.ok()) return counters.failure();
  for (const PerfCounter& counter : counters.value()) {
    if (counter.event.starts_with("page-faults") && counter.value.value_or(0) >= kPages) return {};
  }
  return Failure{"perf stat did not see page faults that were made: " + json,
                 "report this with perf --version and uname -a"};
}

}  // namespace

Result<std::unique_ptr<Profiler>> make_perf(const ProfilerOptions& /*options*/) {
  Settings settings;
  Result<std::string> tool = find_tool("perf", kHowToGetPerf);
  if (!tool.ok()) return tool.failure();
  settings.tool = std::move(tool.value());
  Result<std::string> launcher = find_launcher();
  if (!launcher.ok()) return launcher.failure();
  settings.launcher = std::move(launcher.value());
  settings.environment = tool_environment("PERF_");
  Result<CommandResult> folder = run_whole(settings.launcher, settings.environment, {settings.tool, "--exec-path"});
  if (!folder.ok()) return folder.failure();
  if (folder.value().start_errno != 0) return explain(folder.value(), "--exec-path");
  const std::string& printed = folder.value().output;
  const std::string script = printed.substr(0, printed.find('\n')) + "/scripts/python/flamegraph.py";
  if (exists(script)) settings.flamegraph = script;
  if (const auto* page = std::find_if(kFlamePages.begin(), kFlamePages.end(), exists); page != kFlamePages.end())
    settings.page = *page;
  Result<WindowWord> word = WindowWord::make();
  if (!word.ok()) return word.failure();
  return std::unique_ptr<Profiler>(std::make_unique<PerfProfiler>(std::move(word.value()), std::move(settings)));
}

}  // namespace syscost::profilers
