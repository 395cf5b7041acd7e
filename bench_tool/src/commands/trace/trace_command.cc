// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "cli/arguments.h"
#include "cli/grammar.h"
#include "cli/mistakes.h"
#include "commands/commands.h"
#include "commands/trace/trace.h"

namespace syscost::bench::commands {
namespace {

constexpr const char* kTraceFooter =
    R"(Prints the calls of TEST one by one, from the trace.pftrace that --syscost_trace left. FILE is where to look for it: the
CSV of the run, the folder with its artifacts, or the trace itself. Of several runs bench takes the newest.
Times count from the start of the test: 40 or 40us, 1.5ms, 200ns, 2s. --between shows calls that were under way at some
time between the two. --first, --last and --slowest choose among the calls that the other options leave.

Examples:
  my_tests --syscost_trace --syscost_csv out.csv     keeps each call of each test
  bench trace Log.Write out.csv             its calls in their order
  bench trace Log.Write --errors            only those that failed, from ./syscost_artifacts
  bench trace Log.Write --syscall '%file,!stat' --slowest 10
  bench trace Log.Write --site log.cc:17    of one line, after a run with --syscost_where, too
  bench trace Log.Write --between 1ms 1.5ms --thread 4711
  bench trace Log.Write --critical-path     where its wall time went, after a run with --syscost_sched)";

/// `40`, `40us`, `1.5ms`: nanoseconds. Microseconds have no need of a unit, as in the output.
std::optional<std::int64_t> nanoseconds(std::string_view text) {
  double number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc()) return std::nullopt;
  const std::string_view unit(rest, static_cast<std::size_t>(text.data() + text.size() - rest));
  constexpr std::pair<std::string_view, double> kUnits[] = {{"", 1e3},   {"ns", 1},  {"us", 1e3},
                                                            {"ms", 1e6}, {"s", 1e9}, {"\u00b5s", 1e3}};
  for (const auto& [name, ns] : kUnits) {
    if (unit != name) continue;
    const double all = number * ns;
    constexpr auto kMost = static_cast<double>(std::numeric_limits<std::int64_t>::max());
    if (!std::isfinite(all) || std::abs(all) >= kMost) return std::nullopt;
    return std::llround(all);
  }
  return std::nullopt;
}

bool is_errno(std::string_view text) {
  for (const char c : text) {
    if (std::isupper(static_cast<unsigned char>(c)) == 0 && std::isdigit(static_cast<unsigned char>(c)) == 0) {
      return false;
    }
  }
  return text.size() > 1 && text.front() == 'E';
}

void add_trace(CLI::App& line, cli::Grammar& grammar) {
  cli::Options& options = grammar.options;
  cli::TraceOptions& own = options.trace;
  line.add_option("TEST", own.test,
                  "Its name, or a part that only one test has; or its file trace.pftrace or sched.csv")
      ->required()
      ->check(cli::not_empty());
  line.add_option("FILE", own.from,
                  "The CSV of the run, the folder with its artifacts, or a file trace.pftrace (./syscost_artifacts)")
      ->check(cli::not_empty());
  line.add_option("--syscall", own.syscall, "Only these: names, %classes, /regex/, !negations, with commas between")
      ->type_name("SELECTOR")
      ->check(cli::not_empty());
  line.add_flag("--critical-path", own.is_critical_path,
                "Where the wall time went, through all threads, after a run with --syscost_sched");
  line.add_option("--svg", options.svg, "With --critical-path: draw the threads and the path into FILE")
      ->type_name("FILE")
      ->check(cli::not_empty());
  line.add_flag("--errors", own.is_errors_only, "Only calls that failed");
  cli::add_list(line, "--errno", own.errnos, "NAME,...", "Only calls that failed with one of these: ENOENT,EAGAIN");
  line.add_option("--site", own.site,
                  "Only calls that came from here, after a run with --syscost_where: a part of the site, as log.cc:17")
      ->type_name("TEXT")
      ->check(cli::not_empty());
  cli::add_list(line, "--thread", own.threads, "ID,...", "Only calls of these threads");
  line.add_option("--between", own.between, "Only calls under way between these times: 1ms 1.5ms")
      ->type_name("FROM TO")
      ->expected(2);
  auto* first = line.add_option("--first", own.first, "The first N of them")->type_name("N");
  auto* last = line.add_option("--last", own.last, "The last N of them")->type_name("N");
  auto* slowest =
      line.add_option("--slowest", own.slowest, "The N that took longest, the slowest first")->type_name("N");
  line.add_option("--run", options.run_ids,
                  "This run instead of the newest: its run_id; with a CSV also newest~1, label:TEXT or commit:TEXT")
      ->type_name("ID")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  first->excludes(last)->excludes(slowest);
  last->excludes(slowest);
  cli::add_output_options(line, grammar.raw);
}

std::string read_trace(cli::Grammar& grammar, const CLI::App& line) {
  cli::TraceOptions& own = grammar.options.trace;
  cli::put_run_first(own.from, {&own.test});
  return cli::no_test_but(own.test, own.from, line);
}

/// Makes numbers of texts, too.
std::string fault_of_trace(cli::Options& options) {
  cli::TraceOptions& own = options.trace;
  if (!options.svg.empty() && !own.is_critical_path) {
    return "--svg needs --critical-path";
  }
  if (own.is_critical_path) {
    const char* other = !own.syscall.empty()   ? "--syscall"
                        : own.is_errors_only   ? "--errors"
                        : !own.errnos.empty()  ? "--errno"
                        : !own.site.empty()    ? "--site"
                        : !own.threads.empty() ? "--thread"
                        : !own.between.empty() ? "--between"
                                               : nullptr;
    if (other != nullptr) return fmt::format("{} chooses among calls, and --critical-path shows none", other);
  }
  for (const std::string& text : own.threads) {
    const std::optional<std::size_t> id = cli::whole_number(text);
    if (!id || *id == 0) return fmt::format("--thread takes ids of threads, not \"{}\"", text);
    own.thread_ids.push_back(static_cast<std::uint32_t>(*id));
  }
  for (const std::string& name : own.errnos) {
    if (!is_errno(name)) return fmt::format("--errno takes names such as ENOENT, not \"{}\"", name);
  }
  if (!own.between.empty()) {
    for (const std::string& text : own.between) {
      const std::optional<std::int64_t> ns = nanoseconds(text);
      if (!ns) return fmt::format("--between takes two times such as 40us and 1.5ms, not \"{}\"", text);
      (&text == &own.between.front() ? own.from_ns : own.to_ns) = *ns;
    }
    if (own.to_ns < own.from_ns) return "--between takes the earlier time first";
  }
  for (const auto& [name, text] :
       {std::pair{"--first", &own.first}, std::pair{"--last", &own.last}, std::pair{"--slowest", &own.slowest}}) {
    if (text->empty()) continue;
    own.most = cli::whole_number(*text);
    if (!own.most || *own.most == 0) return fmt::format("{} takes a number of calls, not \"{}\"", name, *text);
  }
  return {};
}

}  // namespace

constinit const cli::Command kTraceCommand = {
    .name = "trace",
    .group = "Look",
    .about = "The calls of one test, one by one",
    .footer = kTraceFooter,
    .add = add_trace,
    .read = read_trace,
    .check = fault_of_trace,
    .run = trace,
};

}  // namespace syscost::bench::commands
