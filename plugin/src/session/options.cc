// SPDX-License-Identifier: MIT
//
// The grammar is `--name value` and `--name=value` over a table of a dozen names. A command-line library would be
// linked into every user's test binary and would claim arguments that are not ours, so the reading is done here.
#include "session/options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <climits>
#include <utility>

namespace syscost::session {
namespace {

/// Takes the value of one option; an error sentence, or "".
using Take = std::string (*)(Options& options, std::string_view value, Source source);

enum class Argument { value, optional_boolean };

struct Known {
  std::string_view name;  // --syscost_NAME, SYSCOST_NAME
  Argument argument;
  bool is_flag;  // false: environment only
  Take take;
};

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

std::string take_profile(Options& options, std::string_view value, Source) {
  if (value == "bpftrace") return "this version has no profile \"bpftrace\"; there is: syscalls";
  if (value != "syscalls") return one_of(value, "syscalls");
  options.profile_syscalls = true;
  return {};
}

std::string take_backend(Options& options, std::string_view value, Source) {
  options.is_backend_named = true;
  if (value == "dispatch") return "this version has no backend \"dispatch\"; there are: auto, ebpf, seccomp, none";
  if (value == "auto") {
    options.backend = BackendChoice::automatic;
  } else if (value == "ebpf") {
    options.backend = BackendChoice::ebpf;
  } else if (value == "seccomp") {
    options.backend = BackendChoice::seccomp;
  } else if (value == "none") {
    options.backend = BackendChoice::none;
  } else {
    return one_of(value, "auto, ebpf, seccomp, none");
  }
  return {};
}

std::string take_filter(Options& options, std::string_view value, Source) {
  Result<std::shared_ptr<const Filter>> filter = Filter::parse(value);
  if (!filter.ok()) return filter.failure().reason + " " + filter.failure().how_to_fix;
  options.filter = std::move(filter.value());
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
    Known{"backend", Argument::value, true, take_backend},
    Known{"filter", Argument::value, true, take_filter},
    Known{"children", Argument::optional_boolean, true,
          [](Options& options, std::string_view value, Source) { return take_boolean(options.children, value); }},
    Known{"cycles", Argument::value, true,
          [](Options& options, std::string_view value, Source) { return take_number(options.cycles, value, 1); }},
    Known{"repeats", Argument::value, true,
          [](Options& options, std::string_view value, Source) { return take_number(options.repeats, value, 1); }},
    Known{"warmup", Argument::value, true,
          [](Options& options, std::string_view value, Source) { return take_number(options.warm_ups, value, 0); }},
    Known{"quick", Argument::optional_boolean, true,
          [](Options& options, std::string_view value, Source) { return take_boolean(options.quick, value); }},
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
    Known{"unavailable", Argument::value, false, take_unavailable},
    Known{"markers", Argument::optional_boolean, false,
          [](Options& options, std::string_view value, Source) { return take_boolean(options.markers, value); }},
};

/// Names the documentation promises for later versions: whoever types one deserves a better answer than "unknown".
constexpr std::array<std::string_view, 3> kLater = {"bpf", "artifacts", "artifact_root"};

/// Variables with our prefix that are not addressed to a test binary: the build's own, those of our test suite, and
/// what syscost tells a process that it starts itself.
constexpr std::array<std::string_view, 3> kForeignPrefixes = {"SYSCOST_BUILD_", "SYSCOST_TEST_", "SYSCOST_INTERNAL_"};
/// Those that find_package(syscost) reads.
constexpr std::array<std::string_view, 2> kForeignNames = {"SYSCOST_ROOT", "SYSCOST_DIR"};

bool is_foreign_variable(std::string_view name) {
  if (name == "SYSCOST_BUILD_TYPE") return false;
  return std::any_of(kForeignPrefixes.begin(), kForeignPrefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); }) ||
         std::find(kForeignNames.begin(), kForeignNames.end(), name) != kForeignNames.end();
}

bool is_later(std::string_view name) {
  return std::find(kLater.begin(), kLater.end(), name) != kLater.end();
}

const Known* find_known(std::string_view name, bool flags_only) {
  for (const Known& known : kKnown) {
    if (known.name == name && (known.is_flag || !flags_only)) return &known;
  }
  return nullptr;
}

/// Edits (insert, delete, replace, swap neighbours) that turn `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
      }
    }
  }
  return cost[a.size()][b.size()];
}

/// Empty when no name is near enough to have been meant.
std::string_view nearest(std::string_view name, bool flags_only) {
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

/// `did you mean PREFIXname? `, or nothing.
std::string suggestion(const std::string& prefix, std::string_view name) {
  return name.empty() ? std::string() : "did you mean " + prefix + std::string(name) + "? ";
}

std::string upper(std::string_view name) {
  std::string text(name);
  for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return text;
}

std::string lower(std::string_view name) {
  std::string text(name);
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

Failure later_failure(const std::string& spelled) {
  return {"this version of syscost does not have " + spelled, "remove it; --syscost_help lists what this version has"};
}

/// "name" of `--syscost_name` or, where allowed, `--name`; null when the argument is none of ours. Everything that
/// begins with --syscost is, be it `--syscost-csv`: a flag nobody reads is a measurement that silently did not happen.
std::string_view flag_name(std::string_view argument, Spelling spelling) {
  constexpr std::string_view kPrefix = "--syscost";
  std::string_view name = argument.substr(0, argument.find('='));
  if (name.starts_with("--syscost_")) return name.substr(kPrefix.size() + 1);
  // With its dash it is no known name; nearest() finds the one that was meant.
  if (name.starts_with(kPrefix)) return name.substr(kPrefix.size());
  // --help stays the framework's.
  if (spelling != Spelling::prefixed_short || !name.starts_with("--") || name == "--help") return {};
  name.remove_prefix(2);
  return find_known(name, true) != nullptr || is_later(name) ? name : std::string_view();
}

Result<void> read_environment(const std::vector<std::string>& environment, Options& options) {
  constexpr std::string_view kPrefix = "SYSCOST_";
  for (std::string_view entry : environment) {
    std::size_t equals = entry.find('=');
    if (!entry.starts_with(kPrefix) || equals == std::string_view::npos) continue;
    std::string variable(entry.substr(0, equals));
    if (is_foreign_variable(variable)) continue;
    std::string name = lower(entry.substr(kPrefix.size(), equals - kPrefix.size()));
    if (is_later(name)) return later_failure("the variable " + variable);
    const Known* known = upper(name) == variable.substr(kPrefix.size()) ? find_known(name, false) : nullptr;
    if (known == nullptr) {
      return Failure{"the environment holds " + variable + ", which syscost does not know",
                     suggestion("SYSCOST_", upper(nearest(name, false))) +
                         "if it is not meant for syscost, unset it: unset " + variable};
    }
    std::string error = known->take(options, entry.substr(equals + 1), Source::environment);
    if (!error.empty()) {
      return Failure{"bad value of the variable " + variable + ": " + error, "correct it, or: unset " + variable};
    }
  }
  return {};
}

}  // namespace

Result<ParsedOptions> parse_options(const std::vector<std::string>& arguments,
                                    const std::vector<std::string>& environment, Spelling spelling) {
  ParsedOptions parsed;
  Result<void> read = read_environment(environment, parsed.options);
  if (!read.ok()) return read.failure();

  for (std::size_t i = 1; i < arguments.size() && arguments[i] != "--"; ++i) {
    const std::string_view argument = arguments[i];
    const std::string_view name = flag_name(argument, spelling);
    if (name.data() == nullptr) continue;
    const std::string spelled(argument.substr(0, argument.find('=')));
    if (is_later(name)) return later_failure(spelled);
    const Known* known = find_known(name, true);
    if (known == nullptr || (spelled.starts_with("--syscost") && !spelled.starts_with("--syscost_"))) {
      return Failure{"syscost has no flag " + spelled,
                     suggestion("--syscost_", nearest(name, true)) + "--syscost_help lists all"};
    }

    parsed.used.push_back(i);
    std::string_view value = "1";
    if (std::size_t equals = argument.find('='); equals != std::string_view::npos) {
      value = argument.substr(equals + 1);
    } else if (known->argument == Argument::value) {
      if (i + 1 == arguments.size() || arguments[i + 1].starts_with("--")) {
        return Failure{spelled + " needs a value", "write " + spelled + "=VALUE; --syscost_help shows examples"};
      }
      value = arguments[++i];
      parsed.used.push_back(i);
    }
    std::string error = known->take(parsed.options, value, Source::command_line);
    if (!error.empty()) return Failure{"bad value of " + spelled + ": " + error, "--syscost_help shows examples"};
  }
  // A variable may be set for good, like the commit; a flag is meant for this run.
  const Options& all = parsed.options;
  if (all.label_source == Source::command_line && all.csv.empty() && !all.help && !all.doctor) {
    return Failure{"--syscost_label names the rows of a CSV, and none is asked for",
                   "add --syscost_csv=FILE, or leave the label out"};
  }
  return parsed;
}

}  // namespace syscost::session
