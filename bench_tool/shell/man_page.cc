// SPDX-License-Identifier: MIT
#include "man_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>
#include <vector>

namespace syscost::bench::shell {
namespace {

/// `text` for roff, with its marks escaped, so that a reader can copy a quote or a hyphen into a shell.
std::string plain(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '\\':
        out += "\\e";
        break;
      case '-':
        out += "\\-";
        break;
      case '\'':
        out += "\\(aq";
        break;
      case '`':
        out += "\\(ga";
        break;
      case '^':
        out += "\\(ha";
        break;
      case '~':
        out += "\\(ti";
        break;
      default:
        out += c;
    }
  }
  // A line of text that begins like a request of roff must not become one.
  return out.starts_with('.') ? "\\&" + out : out;
}

std::string bold(std::string_view text) {
  return "\\fB" + plain(text) + "\\fR";
}

std::string italic(std::string_view text) {
  return "\\fI" + plain(text) + "\\fR";
}

/// Prose: text in backticks becomes bold.
std::string prose(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t open = text.find('`');
    const std::size_t close = open == std::string_view::npos ? open : text.find('`', open + 1);
    if (close == std::string_view::npos) return out + plain(text);
    out += plain(text.substr(0, open)) + bold(text.substr(open + 1, close - open - 1));
    text.remove_prefix(close + 1);
  }
  return out;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// `  bench show out.csv     what it does`: the command, and below it what it does.
std::string example(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  const std::size_t gap = std::min(line.find("  "), line.size());
  std::string out = ".PP\n" + bold(line.substr(0, gap)) + "\n";
  const std::size_t says = line.find_first_not_of(' ', gap);
  if (says != std::string_view::npos) out += ".RS 4\n" + prose(line.substr(says)) + "\n.RE\n";
  return out;
}

/// The text below the options of --help: paragraphs, exit codes and examples.
struct Footer {
  std::string synopsis;
  std::string description;
  std::string exit_status;
  std::string examples;
};

Footer read_footer(std::string_view text) {
  Footer footer;
  constexpr std::string_view kExitCodes = "Exit codes: ";
  bool is_example = false;
  bool is_exit_status = false;
  for (const std::string_view line : lines_of(text)) {
    if (footer.synopsis.empty() && footer.description.empty() && line.starts_with("bench ")) {
      footer.synopsis = line;
    } else if (line == "Examples:") {
      is_example = true;
    } else if (is_example && line.starts_with(' ')) {
      footer.examples += example(line);
    } else if (is_example && !line.empty()) {
      footer.examples += ".PP\n" + prose(line) + "\n";
    } else if (line.starts_with(kExitCodes)) {
      is_exit_status = true;
      footer.exit_status += prose(line.substr(kExitCodes.size())) + "\n";
    } else if (line.empty()) {
      is_exit_status = false;
      if (!footer.description.empty()) footer.description += ".PP\n";
    } else {
      (is_exit_status ? footer.exit_status : footer.description) += prose(line) + "\n";
    }
  }
  for (constexpr std::string_view kEnd = ".PP\n"; footer.description.ends_with(kEnd);) {
    footer.description.resize(footer.description.size() - kEnd.size());
  }
  return footer;
}

std::string head(const std::string& name, int section, std::string_view about) {
  std::string title = name;
  std::transform(title.begin(), title.end(), title.begin(), [](unsigned char c) { return std::toupper(c); });
  std::string line(about);
  if (line.size() > 1 && std::islower(static_cast<unsigned char>(line[1])) != 0) {
    line[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(line[0])));
  }
  // No date, so that a package that is built again has the same bytes.
  return fmt::format(
      ".\\\" Made from the help text by syscost_shell_files.\n"
      ".TH {} {} \"\" \"syscost {}\" \"syscost\"\n.nh\n.ad l\n.SH NAME\n{} \\- {}\n",
      plain(title), section, SYSCOST_VERSION, plain(name), prose(line));
}

std::string section(std::string_view title, const std::string& body) {
  return body.empty() ? "" : fmt::format(".SH {}\n{}", title, body);
}

std::string option_text(const Option& option) {
  std::string names;
  for (const std::string& name : option.names) names += (names.empty() ? "" : ", ") + bold(name);
  if (option.has_value) names += " " + italic(option.value.name);
  std::string about = prose(option.about);
  const bool says_words =
      std::all_of(option.value.words.begin(), option.value.words.end(),
                  [&](const std::string& word) { return option.about.find(word) != std::string::npos; });
  if (!says_words) {
    about += "\n.br\n" + italic(option.value.name) + " is " + (option.value.is_list ? "some of " : "one of ");
    about += plain(joined(option.value.words, ", ")) + ".";
  }
  return ".TP\n" + names + "\n" + about + "\n";
}

std::string options_text(const Command& command) {
  std::string out;
  for (const Positional& positional : command.positionals) {
    out += ".TP\n" + italic(positional.value.name) + "\n" + prose(positional.about) + "\n";
  }
  for (const Option& option : command.options) out += option_text(option);
  return out;
}

std::string synopsis_of(const Command& command) {
  std::string out = bold("bench " + joined(command.path, " ")) + " [" + italic("OPTIONS") + "]";
  for (const Positional& positional : command.positionals) {
    const std::string name = italic(positional.value.name) + (positional.takes_many ? "..." : "");
    out += positional.is_required ? " " + name : " [" + name + "]";
  }
  return out + "\n";
}

std::string page_name(const Command& command) {
  return "bench-" + joined(command.path, "-");
}

}  // namespace

std::string main_page(const Command& command) {
  const Footer footer = read_footer(command.footer);
  std::string commands;
  std::string others;
  for (const Command* leaf : leaves(command)) {
    commands += ".TP\n" + bold(joined(leaf->path, " "));
    for (const std::string& alias : leaf->aliases) commands += ", " + bold(alias);
    commands += "\n" + prose(leaf->about) + " (" + bold(page_name(*leaf)) + "(1))\n";
    others += (others.empty() ? "" : ",\n") + bold(page_name(*leaf)) + "(1)";
  }
  std::string about = command.about;
  const std::string own_name = "bench ";
  if (about.starts_with(own_name)) about.erase(0, own_name.size());
  return head("bench", 1, about) +
         section("SYNOPSIS", bold("bench") + " [" + italic("OPTIONS") + "] " + italic("COMMAND") + " ...\n") +
         section("DESCRIPTION", footer.description) + section("OPTIONS", options_text(command)) +
         section("COMMANDS", commands) + section("EXIT STATUS", footer.exit_status) +
         section("EXAMPLES", footer.examples) + section("SEE ALSO", others + ",\n" + bold("strace") + "(1)\n");
}

std::string command_page(const Command& command) {
  const Footer footer = read_footer(command.footer);
  std::string synopsis = footer.synopsis.empty() ? synopsis_of(command) : plain(footer.synopsis) + "\n";
  std::string description = footer.description;
  for (const std::string& alias : command.aliases) {
    description += ".PP\n" + bold("bench " + alias) + " is the same command.\n";
  }
  return head(page_name(command), 1, command.about) + section("SYNOPSIS", synopsis) +
         section("DESCRIPTION", description) + section("OPTIONS", options_text(command)) +
         section("EXIT STATUS", "As of " + bold("bench") + "(1).\n") + section("EXAMPLES", footer.examples) +
         section("SEE ALSO", bold("bench") + "(1)\n");
}

std::string page_of_help(const std::string& name, int section_number, const std::string& about, std::string_view help) {
  constexpr std::string_view kUsage = "Usage: ";
  std::string synopsis;
  std::string description;
  std::string options;
  bool is_option = false;
  for (const std::string_view line : lines_of(help)) {
    if (line.starts_with(kUsage)) {
      synopsis += bold(line.substr(kUsage.size())) + "\n";
    } else if (line == "Options:") {
      is_option = true;
    } else if (line.empty()) {
      if (!description.empty() && !is_option) description += ".PP\n";
    } else if (!is_option) {
      description += prose(line) + "\n";
    } else if (const std::size_t margin = line.find_first_not_of(' '); margin <= 2) {
      const std::size_t gap = std::min(line.find("  ", margin), line.size());
      options += ".TP\n" + bold(line.substr(margin, gap - margin)) + "\n";
      options += prose(line.substr(std::min(line.find_first_not_of(' ', gap), line.size()))) + "\n";
    } else {
      options += prose(line.substr(margin)) + "\n";
    }
  }
  for (constexpr std::string_view kEnd = ".PP\n"; description.ends_with(kEnd);) {
    description.resize(description.size() - kEnd.size());
  }
  return head(name, section_number, about) + section("SYNOPSIS", synopsis) + section("DESCRIPTION", description) +
         section("OPTIONS", options) + section("SEE ALSO", bold("bench") + "(1)\n");
}

}  // namespace syscost::bench::shell
