// SPDX-License-Identifier: MIT
#include "gpu_stamps/show_stamps.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "csv/printable.h"
#include "csv/problems.h"
#include "gpu_stamps/render_stamps.h"
#include "gpu_stamps/stamps_reader.h"
#include "render/markdown.h"
#include "render/svg.h"

namespace syscost::bench::gpu_stamps {
namespace {

constexpr std::size_t kMostShown = 10;

/// The newest run is the one that was written last.
void select_run(std::vector<gpu::StampedLaunch>& launches, const cli::Options& options) {
  if (options.all_runs || launches.empty()) return;
  const std::string wanted = options.run_ids.empty() ? launches.back().run_id : options.run_ids.front();
  std::erase_if(launches, [&](const gpu::StampedLaunch& launch) { return launch.run_id != wanted; });
}

void make_printable(gpu::StampedLaunch& launch) {
  for (std::string* text : {&launch.run_id, &launch.test, &launch.gpu_kernel, &launch.device}) {
    *text = csv::printable(*text);
  }
}

void print_candidates(const std::vector<gpu::StampedLaunch>& launches, std::ostream& err) {
  for (std::size_t i = 0; i < launches.size() && i < kMostShown; ++i)
    err << "  " << csv::printable(name_of(launches[i])) << '\n';
  if (launches.size() > kMostShown) err << "  and " << launches.size() - kMostShown << " more\n";
}

std::string text_of(const std::vector<Analysis>& analyses, const render::Paint& paint) {
  std::string out;
  for (std::size_t i = 0; i < analyses.size() && i < kMostShown; ++i) {
    if (i != 0) out += '\n';
    out += stamps_text(analyses[i], paint);
  }
  if (analyses.size() > kMostShown) {
    out += fmt::format("\nand {} more launches: name one, or take --format json\n", analyses.size() - kMostShown);
  }
  return out;
}

}  // namespace

std::vector<std::string> pictures_of(const std::string& path, std::size_t most, csv::Problems& problems) {
  std::vector<gpu::StampedLaunch> launches = read_stamps(path, problems);
  select_run(launches, {});
  launches.resize(std::min(launches.size(), most));
  std::vector<std::string> pictures;
  for (gpu::StampedLaunch& launch : launches) {
    make_printable(launch);
    pictures.push_back(stamps_svg(analyze(launch)));
  }
  return pictures;
}

int show_stamps(const cli::Options& options, csv::Input& input, const render::Paint& paint, std::ostream& out,
                std::ostream& err) {
  if (!options.syscall.empty()) {
    err << "bench: a stamp file has no syscalls: bench show STAMPS [KERNEL]\n";
    return cli::kExitBadInput;
  }
  if (!options.tests.empty() || !options.sort.empty() || options.top) {
    err << "bench: --test, --sort and --top choose tests, and a stamp file holds launches: bench show STAMPS "
           "[KERNEL]\n";
    return cli::kExitBadInput;
  }
  csv::Problems problems;
  std::vector<gpu::StampedLaunch> launches = read_stamps(input, problems);
  auto fail = [&] {
    problems.print(err);
    return cli::kExitBadInput;
  };
  select_run(launches, options);
  if (launches.empty()) {
    if (!options.run_ids.empty()) {
      err << fmt::format("bench: no launch of run {}\n", csv::printable(options.run_ids.front()));
    }
    return fail();
  }
  if (options.is_printable()) std::for_each(launches.begin(), launches.end(), make_printable);
  std::vector<gpu::StampedLaunch> chosen;
  std::copy_if(launches.begin(), launches.end(), std::back_inserter(chosen), [&](const gpu::StampedLaunch& launch) {
    return csv::printable(name_of(launch)).find(csv::printable(options.test)) != std::string::npos;
  });
  if (chosen.empty()) {
    err << fmt::format("bench: no launch matches \"{}\"; there are\n", csv::printable(options.test));
    print_candidates(launches, err);
    return fail();
  }
  if (!options.svg.empty() && chosen.size() != 1) {
    err << "bench: a picture is of one launch; which one?\n";
    print_candidates(chosen, err);
    return fail();
  }

  std::vector<Analysis> analyses;
  analyses.reserve(chosen.size());
  for (const gpu::StampedLaunch& launch : chosen) analyses.push_back(analyze(launch));
  if (!options.svg.empty()) {
    if (const std::string fault = render::write_picture(options.svg, stamps_svg(analyses.front())); !fault.empty()) {
      err << "bench: " << fault << '\n';
      return fail();
    }
  }
  switch (options.format) {
    case cli::Format::json:
      out << stamps_json(options.runs.front(), analyses);
      break;
    case cli::Format::csv:
      out << stamps_csv(analyses);
      break;
    case cli::Format::md:
      out << render::code_block(text_of(analyses, render::Paint(false)));
      break;
    case cli::Format::text:
      out << text_of(analyses, paint);
      break;
  }
  problems.print(err);
  return problems.empty() ? cli::kExitOk : cli::kExitBadInput;
}

}  // namespace syscost::bench::gpu_stamps
