// SPDX-License-Identifier: MIT
#include "session/options/known_options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <climits>
#include <utility>
#include <vector>

#include "core/edit_distance.h"

namespace syscost::session {
namespace {

using Known = KnownOption;

std::string one_of(std::string_view value, std::string_view choices) {
  return "\"" + std::string(value) + "\" is not one of " + std::string(choices);
}

std::string take_boolean(bool& into, std::string_view value) {
  if (value == "1" || value == "true") {
    into = true;
  } else if (value == "0" || value == "false") {
    into = false;
  } else {
    return one_of(value, "1, 0, true, false");
  }
  return {};
}

std::string take_text(std::string& into, std::string_view value) {
  if (value.empty()) return "the value is empty";
  into = value;
  return {};
}

std::string take_csv(Options& options, std::string_view value, Source source) {
  options.csv_source = source;
  return value.empty() ? "a file name is missing" : take_text(options.csv, value);
}

/// The parts of `text` between the marks; an empty one stays an empty part.
std::vector<std::string> split(std::string_view text, char mark) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t end = text.find(mark);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string take_profile(Options& options, std::string_view value, Source) {
  options.profile_syscalls = options.profile_bpftrace = options.profile_perf = options.profile_cupti = false;
  for (const std::string& part : split(value, ',')) {
    if (part == "syscalls") {
      options.profile_syscalls = true;
    } else if (part == "bpftrace") {
      options.profile_bpftrace = true;
    } else if (part == "perf") {
      options.profile_perf = true;
    } else if (part == "cupti") {
      options.profile_cupti = true;
    } else {
      return one_of(part, "syscalls, bpftrace, perf, cupti, or several of them with commas between");
    }
  }
  return {};
}

std::string take_bpf(Options& options, std::string_view value, Source source) {
  options.bpf_source = source;
  options.lists_scripts = value == "list";
  options.scripts.clear();
  if (options.lists_scripts) return {};
  for (std::string& part : split(value, ',')) {
    if (part.empty()) return "the name of a script is missing; --syscost_bpf list shows them";
    if (part == "list") return "\"list\" stands alone: it shows the scripts and runs nothing";
    if (std::find(options.scripts.begin(), options.scripts.end(), part) == options.scripts.end()) {
      options.scripts.push_back(std::move(part));
    }
  }
  return {};
}

std::string take_bpf_path(Options& options, std::string_view value, Source source) {
  options.bpf_path_source = source;
  options.script_folders = split(value, ':');
  const bool has_gap =
      std::find(options.script_folders.begin(), options.script_folders.end(), "") != options.script_folders.end();
  return has_gap ? "the name of a folder is missing" : "";
}

std::string take_bpf_sudo(Options& options, std::string_view value, Source source) {
  options.bpf_sudo_source = source;
  return take_boolean(options.bpf_sudo, value);
}

std::string take_artifacts(Options& options, std::string_view value, Source source) {
  options.artifacts_source = source;
  return value.empty() ? "the name of a folder is missing" : take_text(options.artifacts, value);
}

constexpr const char* kBackendNames = "auto, ebpf, dispatch, dispatch-trap, seccomp, none";

std::string take_backend(Options& options, std::string_view value, Source) {
  options.is_backend_named = true;
  if (value == "auto") {
    options.backend = BackendChoice::automatic;
  } else if (value == "ebpf") {
    options.backend = BackendChoice::ebpf;
  } else if (value == "dispatch") {
    options.backend = BackendChoice::dispatch;
  } else if (value == "dispatch-trap") {
    options.backend = BackendChoice::dispatch_trap;
  } else if (value == "seccomp") {
    options.backend = BackendChoice::seccomp;
  } else if (value == "none") {
    options.backend = BackendChoice::none;
  } else {
    return one_of(value, kBackendNames);
  }
  return {};
}

std::string take_filter(Options& options, std::string_view value, Source) {
  Result<std::shared_ptr<const Filter>> filter = Filter::parse(value);
  if (!filter.ok()) return filter.failure().reason + " " + filter.failure().how_to_fix;
  options.filter = std::move(filter.value());
  return {};
}

std::string take_detail(Options& options, std::string_view value, Source) {
  constexpr std::string_view kThread = "thread:";
  options.details = {};
  for (const std::string& part : split(value, ',')) {
    if (part == "ioctl") {
      options.details.ioctls = true;
    } else if (!part.starts_with(kThread)) {
      return one_of(part, "ioctl, thread:NAME, or several of them with commas between");
    } else if (part.size() == kThread.size() || part.size() > kThread.size() + kMaxThreadName) {
      return "\"" + part + "\" does not name threads: after the colon, write 1 to " + std::to_string(kMaxThreadName) +
             " letters, the beginning of their name (prctl(PR_SET_NAME))";
    } else if (options.details.driver_threads.size() == kMaxDriverThreads) {
      return "more than " + std::to_string(kMaxDriverThreads) + " names of threads";
    } else {
      options.details.driver_threads.push_back(part.substr(kThread.size()));
    }
  }
  return {};
}

std::string take_number(std::optional<std::uint64_t>& option, std::string_view value, int least) {
  int number = 0;
  auto [rest, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || rest != value.data() + value.size() || number < least) {
    return "\"" + std::string(value) + "\" is not a whole number from " + std::to_string(least) + " to " +
           std::to_string(INT_MAX);
  }
  option = static_cast<std::uint64_t>(number);
  return {};
}

std::string take_unavailable(Options& options, std::string_view value, Source) {
  if (value == "skip") {
    options.on_unavailable = Options::OnUnavailable::skip;
  } else if (value == "fail") {
    options.on_unavailable = Options::OnUnavailable::fail;
  } else {
    return one_of(value, "skip, fail");
  }
  return {};
}

constexpr std::array kKnown = {
    Known{"csv", Argument::value, true, take_csv},
    Known{"profile", Argument::value, true, take_profile},
    Known{"bpf", Argument::value, true, take_bpf},
    Known{"bpf_path", Argument::value, true, take_bpf_path},
    Known{"bpf_sudo", Argument::optional_boolean, true, take_bpf_sudo},
    Known{"artifacts", Argument::value, true, take_artifacts},
    Known{"backend", Argument::value, true, take_backend},
    Known{"filter", Argument::value, true, take_filter},
    Known{"children", Argument::optional_boolean, true,
          [](Options& options, std::string_view value, Source) { return take_boolean(options.children, value); }},
    Known{"detail", Argument::value, true, take_detail},
    Known{"cycles", Argument::value, true,
          [](Options& options, std::string_view value, Source) { return take_number(options.cycles, value, 1); }},
    Known{"repeats", Argument::value, true,
          [](Options& options, std::string_view value, Source) { return take_number(options.repeats, value, 1); }},
    Known{"warmup", Argument::value, true,
          [](Options& options, std::string_view value, Source) { return take_number(options.warm_ups, value, 0); }},
    Known{"quick", Argument::optional_boolean, true,
          [](Options& options, std::string_view value, Source) { return take_boolean(options.quick, value); }},
    Known{"allow_lost", Argument::optional_boolean, true,
          [](Options& options, std::string_view value, Source) { return take_boolean(options.allow_lost, value); }},
    Known{"label", Argument::value, true,
          [](Options& options, std::string_view value, Source source) {
            options.label_source = source;
            return take_text(options.label, value);
          }},
    Known{"doctor", Argument::optional_boolean, true,
          [](Options& options, std::string_view value, Source) { return take_boolean(options.doctor, value); }},
    Known{"help", Argument::optional_boolean, true,
          [](Options& options, std::string_view value, Source) { return take_boolean(options.help, value); }},
    Known{"run_id", Argument::value, false,
          [](Options& options, std::string_view value, Source) { return take_text(options.run_id, value); }},
    Known{"commit", Argument::value, false,
          [](Options& options, std::string_view value, Source) { return take_text(options.commit, value); }},
    Known{"build_type", Argument::value, false,
          [](Options& options, std::string_view value, Source) { return take_text(options.build_type, value); }},
    Known{"cupti", Argument::value, false,
          [](Options& options, std::string_view value, Source) { return take_text(options.cupti_library, value); }},
    Known{"unavailable", Argument::value, false, take_unavailable},
    Known{"markers", Argument::optional_boolean, false,
          [](Options& options, std::string_view value, Source) { return take_boolean(options.markers, value); }},
};

}  // namespace

const KnownOption* find_option(std::string_view name, bool flags_only) {
  for (const Known& known : kKnown) {
    if (known.name == name && (known.is_flag || !flags_only)) return &known;
  }
  return nullptr;
}

std::string_view nearest_option(std::string_view name, bool flags_only) {
  const Known* best = nullptr;
  std::size_t best_distance = 0;
  for (const Known& known : kKnown) {
    if (flags_only && !known.is_flag) continue;
    std::size_t distance = edit_distance(name, known.name);
    if (best == nullptr || distance < best_distance) {
      best = &known;
      best_distance = distance;
    }
  }
  return best_distance <= std::max<std::size_t>(2, name.size() / 3) ? best->name : std::string_view();
}

}  // namespace syscost::session
