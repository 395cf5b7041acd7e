// SPDX-License-Identifier: MIT
#include "commands/flame.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <ostream>
#include <string_view>
#include <utility>

#include "csv/input.h"
#include "csv/printable.h"
#include "csv/problems.h"
#include "render/flame_graph.h"
#include "render/svg.h"

namespace syscost::bench::commands {
namespace {

using render::FoldedStack;

std::vector<FoldedStack> stacks_in(const std::string& path, std::string_view text, csv::Problems& problems) {
  std::vector<FoldedStack> stacks;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) continue;
    if (std::optional<FoldedStack> stack = render::parse_folded(line)) {
      stacks.push_back(*std::move(stack));
    } else {
      problems.add(path, number, "is no folded stack: `outer;inner;syscall NUMBER` expected");
    }
  }
  return stacks;
}

}  // namespace

bool is_folded_file(const std::string& path) {
  return path.ends_with(".folded");
}

int show_folded(const cli::Options& options, std::ostream& err) {
  const std::string& path = options.runs.front();
  csv::Problems problems;
  const auto fail = [&](const std::string& fault) {
    problems.print(err);
    if (!fault.empty()) err << "bench: " << fault << '\n';
    return cli::kExitBadInput;
  };
  if (options.svg.empty()) {
    return fail(fmt::format("{} holds call stacks, which are drawn: --svg FILE", csv::printable(path)));
  }
  const std::optional<std::string> text = csv::read_text(path, problems);
  if (!text) return fail("");
  std::vector<FoldedStack> stacks = stacks_in(path, *text, problems);
  std::erase_if(stacks, [&](const FoldedStack& stack) {
    return std::none_of(stack.frames.begin(), stack.frames.end(),
                        [&](const std::string& frame) { return frame.find(options.test) != std::string::npos; });
  });
  if (stacks.empty()) {
    return fail(options.test.empty() ? csv::printable(path) + " holds no stack"
                                     : fmt::format("{}: no stack has a frame with \"{}\"", csv::printable(path),
                                                   csv::printable(options.test)));
  }
  const std::string title = options.test.empty() ? path : fmt::format("{}: {}", path, options.test);
  if (const std::string fault = render::write_picture(options.svg, render::flame_svg(title, stacks)); !fault.empty()) {
    return fail(fault);
  }
  problems.print(err);
  return problems.empty() ? cli::kExitOk : cli::kExitBadInput;
}

std::string draw_sites(const std::string& path, const std::vector<SitedTest>& tests) {
  std::vector<FoldedStack> stacks;
  for (const SitedTest& test : tests) {
    for (const stats::SiteTotal& one : test.sites) {
      if (one.calls.value_or(0) == 0) continue;
      const model::Site& site = one.site;
      FoldedStack stack{{test.window.name}, *one.calls};
      stack.frames.push_back(site.has_line() ? site.file : site.is_unknown() ? model::text_of(site) : site.module);
      if (!site.function.empty()) stack.frames.push_back(site.function);
      stack.frames.push_back(site.has_line() ? fmt::format("{} line {}", one.syscall, site.line) : one.syscall);
      stacks.push_back(std::move(stack));
    }
  }
  const std::string title = tests.size() == 1 ? tests.front().window.name : fmt::format("{} tests", tests.size());
  return render::write_picture(path, render::flame_svg(title, stacks));
}

}  // namespace syscost::bench::commands
