// SPDX-License-Identifier: MIT
//
// The grammar is `--name value` and `--name=value` with a table of names. We use no command-line library, because it
// would be part of every user's test binary and would take arguments that are not ours.
#include "session/options/options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <climits>
#include <utility>

#include "os/text.h"
#include "session/options/option_table.h"

namespace syscost::session {
namespace {

/// Variables with our prefix that are not for a test binary: those of the build, those of our test suite, and those
/// that syscost sets for a process that it starts.
constexpr std::array<std::string_view, 3> kForeignPrefixes = {"SYSCOST_BUILD_", "SYSCOST_TEST_", "SYSCOST_INTERNAL_"};
/// Those that find_package(syscost) reads.
constexpr std::array<std::string_view, 2> kForeignNames = {"SYSCOST_ROOT", "SYSCOST_DIR"};

bool is_foreign_variable(std::string_view name) {
  if (name == "SYSCOST_BUILD_TYPE") return false;
  return std::any_of(kForeignPrefixes.begin(), kForeignPrefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); }) ||
         std::find(kForeignNames.begin(), kForeignNames.end(), name) != kForeignNames.end();
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

/// "name" of `--syscost_name` or, where allowed, `--name`; null if the argument is not ours. Every argument that
/// begins with --syscost is ours, even `--syscost-csv`: if no code read a flag, a measurement would silently be
/// missing.
std::string_view flag_name(std::string_view argument, Spelling spelling) {
  constexpr std::string_view kPrefix = "--syscost";
  std::string_view name = argument.substr(0, argument.find('='));
  if (name.starts_with("--syscost_")) return name.substr(kPrefix.size() + 1);
  // With the dash it is an unknown name, and the error message suggests the nearest known one.
  if (name.starts_with(kPrefix)) return name.substr(kPrefix.size());
  // --help stays the framework's.
  if (spelling != Spelling::prefixed_short || !name.starts_with("--") || name == "--help") return {};
  name.remove_prefix(2);
  return find_option(name, true) != nullptr ? name : std::string_view();
}

std::string one_of(std::string_view value, std::string_view choices) {
  return "\"" + std::string(value) + "\" is not one of " + std::string(choices);
}

bool is_on_or_off(std::string_view value) {
  return value == "1" || value == "true" || value == "0" || value == "false";
}

bool has_empty_part(const std::vector<std::string>& parts) {
  return std::find(parts.begin(), parts.end(), "") != parts.end();
}

bool is_one_of(std::string_view value, std::span<const Word> words) {
  return std::any_of(words.begin(), words.end(), [&](const Word& word) {
    const std::size_t mark = word.text.find_first_of(":=");
    return mark == std::string_view::npos ? value == word.text : value.starts_with(word.text.substr(0, mark + 1));
  });
}

/// No value for what is not a number of the option's range.
std::optional<std::uint64_t> number_of(const OptionEntry& option, std::string_view value) {
  int number = 0;
  const auto [rest, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || rest != value.data() + value.size() || number < option.least) return std::nullopt;
  return static_cast<std::uint64_t>(number);
}

/// The error sentence of a value that its kind does not take, or "".
std::string fault_of(const OptionEntry& option, std::string_view value) {
  switch (option.kind) {
    case ValueKind::on_off:
      if (!is_on_or_off(value)) return one_of(value, "1, 0, true, false");
      break;
    case ValueKind::on_words:
      if (is_on_or_off(value)) break;
      for (const std::string& part : split(value, ',')) {
        if (is_one_of(part, option.words)) continue;
        return one_of(part, list_of_words(option.words) + ", or alone: 1, 0, true, false");
      }
      break;
    case ValueKind::text:
      if (value.empty()) return "the value is empty";
      break;
    case ValueKind::file:
      if (value.empty()) return "a file name is missing";
      break;
    case ValueKind::folder:
      if (value.empty()) return "the name of a folder is missing";
      break;
    case ValueKind::folders:
      if (has_empty_part(split(value, ':'))) return "the name of a folder is missing";
      break;
    case ValueKind::number:
      if (!number_of(option, value).has_value()) {
        return "\"" + std::string(value) + "\" is not a whole number from " + std::to_string(option.least) + " to " +
               std::to_string(INT_MAX);
      }
      break;
    case ValueKind::word:
      if (!is_one_of(value, option.words)) return one_of(value, list_of_words(option.words));
      break;
    case ValueKind::words:
      for (const std::string& part : split(value, ',')) {
        if (is_one_of(part, option.words)) continue;
        return one_of(part, list_of_words(option.words) + ", or several of them with commas between");
      }
      break;
    case ValueKind::names:
    case ValueKind::selector:
      break;
  }
  return {};
}

/// Puts a value without a fault where it belongs.
struct Put {
  const OptionEntry& option;
  Options& options;
  std::string_view value;

  std::string operator()(bool Options::*member) const {
    options.*member = value == "1" || value == "true";
    return {};
  }
  std::string operator()(std::string Options::*member) const {
    options.*member = value;
    return {};
  }
  std::string operator()(std::vector<std::string> Options::*member) const {
    options.*member = split(value, ':');
    return {};
  }
  std::string operator()(std::optional<std::uint64_t> Options::*member) const {
    options.*member = number_of(option, value);
    return {};
  }
  std::string operator()(Take take) const { return take(options, value); }
};

/// Checks `value` and puts it into `options`; an error sentence, or "".
std::string take_value(const OptionEntry& option, Options& options, std::string_view value, Source source) {
  if (option.source != nullptr) options.*option.source = source;
  std::string fault = fault_of(option, value);
  return fault.empty() ? std::visit(Put{option, options, value}, option.target) : fault;
}

Result<void> read_environment(const std::vector<std::string>& environment, Options& options) {
  constexpr std::string_view kPrefix = "SYSCOST_";
  for (std::string_view entry : environment) {
    std::size_t equals = entry.find('=');
    if (!entry.starts_with(kPrefix) || equals == std::string_view::npos) continue;
    std::string variable(entry.substr(0, equals));
    if (is_foreign_variable(variable)) continue;
    std::string name = lower(entry.substr(kPrefix.size(), equals - kPrefix.size()));
    const OptionEntry* known = upper(name) == variable.substr(kPrefix.size()) ? find_option(name, false) : nullptr;
    if (known == nullptr) {
      return Failure{"the environment holds " + variable + ", which syscost does not know",
                     suggestion("SYSCOST_", upper(nearest_option(name, false))) +
                         "if it is not meant for syscost, unset it: unset " + variable};
    }
    std::string error = take_value(*known, options, entry.substr(equals + 1), Source::environment);
    if (!error.empty()) {
      return Failure{"bad value of the variable " + variable + ": " + error, "correct it, or: unset " + variable};
    }
  }
  return {};
}

/// Checks flags that have no effect without another one. A variable may be set permanently; a flag is for this run, so
/// a flag without effect is a mistake.
Result<void> check_together(const Options& all) {
  if (all.help || all.doctor) return {};
  if (all.label_source == Source::command_line && all.csv.empty()) {
    return Failure{"--syscost_label requires --syscost_csv", "add --syscost_csv=FILE, or leave the label out"};
  }
  for (const OptionPart* part : option_parts()) {
    if (part->check == nullptr) continue;
    if (Result<void> fits = part->check(all); !fits.ok()) return fits;
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
    const OptionEntry* known = find_option(name, true);
    if (known == nullptr || (spelled.starts_with("--syscost") && !spelled.starts_with("--syscost_"))) {
      name_flags_with_prefix();
      return Failure{"syscost has no flag " + spelled,
                     suggestion("--syscost_", nearest_option(name, true)) + "--syscost_help lists all"};
    }

    if (spelled.starts_with("--syscost_")) name_flags_with_prefix();
    parsed.used.push_back(i);
    std::string_view value = "1";
    if (std::size_t equals = argument.find('='); equals != std::string_view::npos) {
      value = argument.substr(equals + 1);
    } else if (!known->stands_alone()) {
      if (i + 1 == arguments.size() || arguments[i + 1].starts_with("--")) {
        return Failure{spelled + " needs a value", "write " + spelled + "=VALUE; --syscost_help shows examples"};
      }
      value = arguments[++i];
      parsed.used.push_back(i);
    }
    std::string error = take_value(*known, parsed.options, value, Source::command_line);
    if (!error.empty()) return Failure{"bad value of " + spelled + ": " + error, "--syscost_help shows examples"};
  }
  for (const OptionPart* part : option_parts()) {
    if (part->settle != nullptr) part->settle(parsed.options);
  }
  Result<void> together = check_together(parsed.options);
  if (!together.ok()) return together.failure();
  return parsed;
}

}  // namespace syscost::session
