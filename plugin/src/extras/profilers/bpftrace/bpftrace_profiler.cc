// SPDX-License-Identifier: MIT
#include "extras/profilers/bpftrace/bpftrace_profiler.h"

#include <linux/capability.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "extras/profilers/bpftrace/bpftrace_diagnosis.h"
#include "extras/profilers/bpftrace/bpftrace_output.h"
#include "extras/profilers/bpftrace/bpftrace_text.h"
#include "extras/profilers/bpftrace/scripts.h"
#include "extras/profilers/find_tools.h"
#include "extras/profilers/launcher/launcher_link.h"
#include "extras/profilers/launcher/protocol.h"
#include "extras/profilers/profiler.h"
#include "os/confinement.h"

namespace syscost::profilers {
namespace {

/// Keys of a map; hist() takes one for each bucket of each key. bpftrace's 4096 would be too few for a scratch map of
/// every thread's call; each map's memory is reserved when it is made, so it must not be many more. Later
/// versions call it by the second name, and say that the first is old.
constexpr std::array<std::string_view, 2> kMapKeysNames{"BPFTRACE_MAP_KEYS_MAX", "BPFTRACE_MAX_MAP_KEYS"};
constexpr std::string_view kMapKeys = "16384";

constexpr std::string_view kHowToGetBpftrace = "install bpftrace 0.17 or later (Debian: apt-get install bpftrace)";

void add_map_keys(std::vector<std::string>& environment) {
  const auto is_set = [&environment](std::string_view name) { return !value_in(environment, name).empty(); };
  if (std::any_of(kMapKeysNames.begin(), kMapKeysNames.end(), is_set)) return;
  for (const std::string_view name : kMapKeysNames)
    environment.push_back(std::string(name) + "=" + std::string(kMapKeys));
}

/// bpftrace reads the kernel's types together with those of modules, for which it needs CAP_SYS_ADMIN. Without it, as
/// for a container's root, it reads none, and scripts that name a type fail. But it reads a file that the variable
/// names.
void add_kernel_types(std::vector<std::string>& environment) {
  constexpr const char* kTypes = "/sys/kernel/btf/vmlinux";
  // bpftrace runs as root, with sudo or without: so the capabilities that root can have here decide.
  if (holds(read_confinement().bounding, CAP_SYS_ADMIN) || access(kTypes, R_OK) != 0) return;
  if (value_in(environment, "BPFTRACE_BTF").empty()) environment.push_back(std::string("BPFTRACE_BTF=") + kTypes);
}

}  // namespace

Result<BpftraceCommand> BpftraceCommand::find(bool asks_for_sudo) {
  BpftraceCommand command;
  Result<std::string> tool = find_tool("bpftrace", kHowToGetBpftrace);
  if (!tool.ok()) return tool.failure();
  command.tool_ = std::move(tool.value());
  if (Result<void> judged = judge_surroundings(read_confinement(), has_tracefs(), asks_for_sudo); !judged.ok()) {
    return judged.failure();
  }
  Result<std::string> launcher = find_launcher();
  if (!launcher.ok()) return launcher.failure();
  command.launcher_ = std::move(launcher.value());
  command.environment_ = tool_environment("BPFTRACE_");
  add_map_keys(command.environment_);
  add_kernel_types(command.environment_);
  if (asks_for_sudo && geteuid() != 0) {
    Result<std::string> sudo = find_tool("sudo", "install sudo, or run as root");
    if (!sudo.ok()) return sudo.failure();
    command.sudo_ = std::move(sudo.value());
  }
  if (Result<void> asked = command.ask_version(); !asked.ok()) return asked.failure();
  return command;
}

Result<void> BpftraceCommand::ask_version() {
  Result<CommandResult> version = run_whole(launcher_, environment_, {tool_, "--version"});
  if (!version.ok()) return version.failure();
  if (const int error = version.value().start_errno; error != 0) {
    Failure failure = errno_failure("execute", tool_, error);
    failure.how_to_fix = kHowToGetBpftrace;
    return failure;
  }
  if (version.value().has_timed_out) {
    return Failure{tool_ + " --version did not answer, so syscost ended it",
                   "use `ps -eo pid,stat,wchan,args` to see what it was waiting for, and `dmesg`"};
  }
  if (Result<void> judged = judge_version(version.value().output, tool_); !judged.ok()) return judged;
  Result<CommandResult> help = run_whole(launcher_, environment_, {tool_, "--help"});
  if (!help.ok()) return help.failure();
  // Both features came within a few versions; 0.17 has neither.
  warns_unasked_ = (help.value().output + help.value().errors).find("--no-warnings") != std::string::npos;
  return {};
}

Command BpftraceCommand::with_gate(const std::vector<std::string>& arguments) const {
  std::vector<std::string> line;
  if (uses_sudo()) {
    line = {sudo_, "-n"};
    // sudo starts it with an environment of its own.
    for (const std::string& entry : environment_) {
      if (entry.starts_with("BPFTRACE_")) line.push_back(entry);
    }
  }
  line.push_back(tool_);
  for (const std::string& flag : flags_of_warnings()) line.push_back(flag);
  line.insert(line.end(), {"-c", std::string(kGatePlaceholder)});
  line.insert(line.end(), arguments.begin(), arguments.end());
  return {kGateKind, std::move(line)};
}

std::vector<std::string> BpftraceCommand::flags_of_warnings() const {
  if (!warns_unasked_) return {"-k"};
  if (is_in_initial_pid_namespace()) return {};
  return {"--no-warnings"};
}

// bpftrace as a profiler: one bpftrace for each script, attached by a gate.
//
// bpftrace -c starts its command only when every probe is attached, and detaches them when the command ends. So the
// command is a gate (launcher/protocol.h): when it says "ready", the window may open, and closing the gate ends the
// trace. Nothing sleeps or guesses. docs/decisions lists the other ways that were tried.

namespace {

class BpftraceProfiler final : private WindowWord, public Profiler {
 public:
  BpftraceProfiler(WindowWord word, BpftraceCommand bpftrace, std::vector<Script> scripts)
      : WindowWord(std::move(word)),
        Profiler(WindowWord::word()),
        bpftrace_(std::move(bpftrace)),
        scripts_(std::move(scripts)),
        link_(bpftrace_.launcher(), bpftrace_.environment(), {}) {
    for (const Script& script : scripts_) maps_.push_back(maps_of_source(script.source));
  }

  std::string_view name() const override { return "bpftrace"; }
  Result<void> check() override;
  Result<void> attach() override;
  Result<std::vector<Output>> detach() override;

 private:
  /// Returns the number of this process for scripts: in the initial PID namespace, or in bpftrace's own.
  Result<std::string> global_pid();
  Result<Output> read_output(std::size_t index, CommandResult& result) const;
  Failure explain(const CommandResult& result, const Script& script) const {
    return explain_failure(result, script.info.name, script.info.path, bpftrace_.uses_sudo());
  }

  BpftraceCommand bpftrace_;
  std::vector<Script> scripts_;
  std::vector<ScriptMaps> maps_;  // of each script
  LauncherLink link_;
  std::string global_pid_;
};

/// Returns how often bpftrace reported that a map was full: these events are lost.
std::uint64_t failed_updates(const BpftraceOutput& output) {
  return static_cast<std::uint64_t>(std::count_if(output.lines.begin(), output.lines.end(), [](const auto& line) {
    return line.find("WARNING: Failed to map_update_elem") != std::string::npos ||
           line.find("WARNING: Map full") != std::string::npos;
  }));
}

Result<std::string> BpftraceProfiler::global_pid() {
  if (!global_pid_.empty()) return global_pid_;
  if (is_in_initial_pid_namespace()) return global_pid_ = std::to_string(getpid());
  // A process inside a namespace cannot ask for its number outside. But bpftrace sees it (or the number inside, in
  // versions that handle namespaces) when we make a call that no other process makes: getpid() with a number in an
  // argument that it does not have.
  std::uint64_t cookie = 0;
  if (getrandom(&cookie, sizeof cookie, 0) != sizeof cookie) cookie = static_cast<std::uint64_t>(getpid());
  cookie = (cookie >> 2) | 1;
  const std::string program = "tracepoint:raw_syscalls:sys_enter /args->id == " + std::to_string(SYS_getpid) +
                              " && args->args[0] == $1/ { @pid = pid; }";
  LauncherLink link_to_launcher(bpftrace_.launcher(), bpftrace_.environment(), {});
  Result<bool> ready = link_to_launcher.start({bpftrace_.with_gate({"-e", program, std::to_string(cookie)})});
  if (!ready.ok()) return ready.failure();
  const auto failed = [&](const CommandResult& result) {
    Failure failure = explain_failure(result, "that finds this process's number", "it", bpftrace_.uses_sudo());
    failure.reason = "in this PID namespace the number of this process outside it is needed, and " + failure.reason;
    failure.how_to_fix += "; or run in the host's PID namespace (docker run --pid=host)";
    return failure;
  };
  if (!ready.value()) return failed(link_to_launcher.results().front());
  syscall(SYS_getpid, cookie);
  if (Result<void> stopped = link_to_launcher.stop(); !stopped.ok()) return stopped.failure();
  const CommandResult& result = link_to_launcher.results().front();
  const Result<BpftraceOutput> output = parse_bpftrace_output(result.output);
  if (output.ok()) {
    for (const TracedMap& map : output.value().maps) {
      const auto* number = std::get_if<std::int64_t>(&map.entries.front().value);
      if (map.name == "@pid" && number != nullptr && *number > 0) return global_pid_ = std::to_string(*number);
    }
  }
  return failed(result);
}

Result<void> BpftraceProfiler::attach() {
  const Result<std::string> pid = global_pid();
  if (!pid.ok()) return pid.failure();
  std::vector<Command> commands;
  for (const Script& script : scripts_) {
    commands.push_back(bpftrace_.with_gate({script.info.path, pid.value(), std::to_string(address())}));
  }
  Result<bool> ready = link_.start(commands);
  if (!ready.ok()) return ready.failure();
  if (ready.value()) return {};
  // Report the one that failed, not those that were stopped because of it.
  const std::vector<CommandResult>& results = link_.results();
  std::size_t failed = 0;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i].was_ready && (results[i].ended_early || results[i].has_timed_out || results[i].start_errno != 0)) {
      failed = i;
      break;
    }
  }
  return explain(results[failed], scripts_[failed]);
}

Result<std::vector<Output>> BpftraceProfiler::detach() {
  disarm();
  if (!link_.is_running()) return Failure{"bpftrace is not attached", "attach it first: this is a bug in syscost"};
  if (Result<void> stopped = link_.stop(); !stopped.ok()) return stopped.failure();
  std::vector<Output> outputs;
  for (std::size_t i = 0; i < scripts_.size(); ++i) {
    Result<Output> output = read_output(i, link_.results()[i]);
    if (!output.ok()) return output.failure();
    outputs.push_back(std::move(output.value()));
  }
  return outputs;
}

Result<Output> BpftraceProfiler::read_output(std::size_t index, CommandResult& result) const {
  const Script& script = scripts_[index];
  const bool is_clean = WIFEXITED(result.wait_status) && WEXITSTATUS(result.wait_status) == 0;
  if (result.ended_early || result.has_timed_out || result.start_errno != 0 || !is_clean) {
    return explain(result, script);
  }
  if (result.is_truncated) {
    return Failure{"script " + script.info.name + " printed more than can be kept",
                   "let it count in maps instead of printing each event"};
  }
  Result<BpftraceOutput> parsed = parse_bpftrace_output(result.output);
  if (!parsed.ok()) return parsed.failure();
  Result<Figures> figures = figures_of(parsed.value(), maps_[index]);
  if (!figures.ok()) {
    return Failure{"script " + script.info.name + ": " + figures.failure().reason, figures.failure().how_to_fix};
  }

  Output output;
  output.script = script.info.name;
  output.counts_syscalls = maps_[index].has_syscalls;
  output.syscalls = std::move(figures.value().syscalls);
  output.lost_events = parsed.value().lost_events + figures.value().unread + failed_updates(parsed.value());
  parsed.value().lost_events = output.lost_events;
  output.summary = to_summary(parsed.value(), output.syscalls);
  const std::string said = worthwhile_errors(result.errors);
  output.artifacts.push_back({script.info.name + ".json", to_json(script.info.name, parsed.value(), output.syscalls)});
  output.artifacts.push_back({script.info.name + ".txt", std::move(result.output)});
  if (!said.empty()) output.artifacts.push_back({script.info.name + ".stderr.txt", said});
  return output;
}

Result<void> BpftraceProfiler::check() {
  constexpr std::uint64_t kKnownCalls = 64;
  if (Result<void> attached = attach(); !attached.ok()) return attached.failure();
  arm();
  for (std::uint64_t i = 0; i < kKnownCalls; ++i) syscall(SYS_getppid);
  disarm();
  const Result<std::vector<Output>> outputs = detach();
  if (!outputs.ok()) return outputs.failure();
  for (std::size_t i = 0; i < outputs.value().size(); ++i) {
    const Output& output = outputs.value()[i];
    if (!output.counts_syscalls) continue;
    std::uint64_t counted = 0;
    std::uint64_t others = 0;
    for (const SyscallFigures& syscall : output.syscalls) {
      const std::uint64_t count = maps_[i].has_entries ? syscall.entries.value_or(0) : syscall.returned.value_or(0);
      (syscall.number == SYS_getppid ? counted : others) += count;
    }
    if (counted != kKnownCalls) {
      return Failure{"script " + output.script + " counted " + std::to_string(counted) + " of " +
                         std::to_string(kKnownCalls) + " known calls" +
                         (others > 0 ? ", and " + std::to_string(others) + " that were not made" : ""),
                     "a script must count while pid == $1 and the word at $2 is 1 (docs/profiles.md); if it is one "
                     "of syscost's, report this with bpftrace --version and uname -a"};
    }
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Profiler>> make_bpftrace(const ProfilerOptions& options) {
  if (options.scripts.empty()) {
    return Failure{"no script is named", "name one or more: --syscost_bpf syslat; --syscost_bpf list shows them"};
  }
  std::vector<Script> scripts;
  for (const std::string& name : options.scripts) {
    Result<Script> script = find_script(options, name);
    if (!script.ok()) return script.failure();
    if (maps_of_source(script.value().source).calls_exit) {
      return Failure{"script " + name + " calls exit(), so it would count only a part of the window",
                     "remove exit() from " + script.value().info.path + ": syscost ends it with the window"};
    }
    const auto is_same = [&name](const Script& other) { return other.info.name == name; };
    if (std::none_of(scripts.begin(), scripts.end(), is_same)) scripts.push_back(std::move(script.value()));
  }
  Result<BpftraceCommand> bpftrace = BpftraceCommand::find(options.uses_sudo);
  if (!bpftrace.ok()) return bpftrace.failure();
  for (const Script& script : scripts) {
    if (!bpftrace.value().knows_pid_namespaces() || is_in_initial_pid_namespace()) break;
    Result<void> judged = judge_in_pid_namespace(script.info.name, script.source);
    if (!judged.ok()) return judged.failure();
  }
  Result<WindowWord> word = WindowWord::make();
  if (!word.ok()) return word.failure();
  return std::unique_ptr<Profiler>(
      std::make_unique<BpftraceProfiler>(std::move(word.value()), std::move(bpftrace.value()), std::move(scripts)));
}

}  // namespace syscost::profilers
