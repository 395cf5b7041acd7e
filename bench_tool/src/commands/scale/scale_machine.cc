// SPDX-License-Identifier: MIT
//
// scale for machines: every count that decided a law, so that others can check it.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "commands/scale/scale.h"
#include "render/json.h"
#include "render/numbers.h"

namespace syscost::bench::commands {
namespace {

using render::Json;
using scale::Family;
using scale::LawRow;

Json number_json(const scale::Rational& number) {
  return number.den == 1 ? Json(number.num) : Json(number.value());
}

Json size_json(const Family& family, const scale::Size& size) {
  Json json = Json::array({size[0]});
  if (family.has_two) json.push_back(size[1]);
  return json;
}

Json law_json(const Family& family, const scale::Law& law) {
  return {{"text", scale::text_of(law, family.names, family.are_powers)},
          {"parameters", law.parameters},
          {"factor", number_json(law.a)},
          {"constant", number_json(law.c)},
          {"block_low", law.has_block() ? Json(law.b_low) : Json(nullptr)},
          {"block_high", law.has_block() ? Json(law.b_high) : Json(nullptr)}};
}

Json row_json(const Family& family, const LawRow& row) {
  Json counts = Json::array();
  for (const scale::Rational& value : row.counts.values) counts.push_back(number_json(value));
  Json also = Json::array();
  Json breaks = Json::array();
  const bool has_law = row.reason.empty() && row.solved.solution != scale::Solution::no_law;
  if (has_law) {
    for (const scale::Law& law : row.solved.also) also.push_back(law_json(family, law));
  }
  if (row.reason.empty()) {
    for (const scale::Break& one : row.solved.breaks) {
      breaks.push_back({{"size", size_json(family, row.counts.sizes[one.point])},
                        {"count", number_json(row.counts.values[one.point])},
                        {"expected", number_json(one.expected)}});
    }
  }
  const bool has_candidate = row.reason.empty() && row.solved.has_candidate;
  return {{"syscall", row.syscall},
          {"detail", row.detail.empty() ? Json(nullptr) : Json(row.detail)},
          {"column", std::string(row.column->name)},
          {"per_run", row.is_per_run},
          {"status", std::string(status_of(row))},
          {"reason", row.reason},
          {"law", has_law ? law_json(family, row.solved.law) : Json(nullptr)},
          {"candidate", has_candidate ? law_json(family, row.solved.law) : Json(nullptr)},
          {"breaks", std::move(breaks)},
          {"also", std::move(also)},
          {"chance", has_law ? Json(row.solved.chance) : Json(nullptr)},
          {"counts", std::move(counts)}};
}

Json time_json(const scale::TimeRow& row) {
  Json points = Json::array();
  for (const scale::TimePoint& point : row.points) {
    points.push_back({{"size", render::to_json(point.n)}, {"time_ns", render::to_json(point.time_ns)}});
  }
  Json fit = nullptr;
  if (row.fit) {
    fit = {{"complexity", std::string(scale::to_string(row.fit->complexity))},
           {"coefficient_ns", row.fit->coefficient_ns},
           {"error", row.fit->error},
           {"without_largest", std::string(scale::to_string(row.fit->without_largest))}};
  }
  Json fixed = nullptr;
  if (row.fixed) {
    fixed = {{"complexity", std::string(scale::to_string(row.fixed->complexity))},
             {"fixed_ns", row.fixed->fixed_ns},
             {"fixed_low_ns", row.fixed->fixed_low_ns},
             {"fixed_high_ns", row.fixed->fixed_high_ns},
             {"growing_ns", row.fixed->growing_ns},
             {"error", row.fixed->error}};
  }
  return {{"time", std::string(row.title)},
          {"reason", row.reason},
          {"fit", std::move(fit)},
          {"with_fixed_cost", std::move(fixed)},
          {"points", std::move(points)}};
}

Json family_json(const Family& family) {
  Json sizes = Json::array();
  for (const scale::Size& size : family.sizes) sizes.push_back(size_json(family, size));
  Json names = Json::array({family.names[0]});
  if (family.has_two) names.push_back(family.names[1]);
  Json laws = Json::array();
  for (const LawRow& row : family.rows) laws.push_back(row_json(family, row));
  Json times = Json::array();
  for (const scale::TimeRow& row : family.times) times.push_back(time_json(row));
  Json amortised = Json::array();
  for (const Amortised& one : amortised_of(family)) {
    amortised.push_back({{"title", one.title},
                         {"unit", std::string(one.unit)},
                         {"fixed", render::to_json(one.fixed)},
                         {"growing", render::to_json(one.growing)},
                         {"curve", std::string(scale::to_string(one.curve))},
                         {"tenth_from", render::to_json(one.tenth_from)},
                         {"hundredth_from", render::to_json(one.hundredth_from)}});
  }
  return {{"family", family.name},     {"names", std::move(names)},   {"per_iteration", family.is_per_iteration},
          {"sizes", std::move(sizes)}, {"left_out", family.left_out}, {"refusal", family.refusal},
          {"laws", std::move(laws)},   {"times", std::move(times)},   {"amortised", std::move(amortised)}};
}

std::string sizes_text(const Family& family, const std::vector<scale::Size>& sizes) {
  std::string text;
  for (const scale::Size& size : sizes) {
    text += fmt::format("{}{}", text.empty() ? "" : " ", size[0]);
    if (family.has_two) text += fmt::format("x{}", size[1]);
  }
  return text;
}

}  // namespace

std::string scale_json(const std::vector<ScaledRun>& runs) {
  Json list = Json::array();
  for (const ScaledRun& run : runs) {
    Json families = Json::array();
    for (const Family& family : run.families) families.push_back(family_json(family));
    list.push_back({{"run", render::source_json(run.data)}, {"families", std::move(families)}});
  }
  return render::dump({{"schema_version", render::kJsonVersion}, {"command", "scale"}, {"runs", std::move(list)}});
}

std::string scale_csv(const std::vector<ScaledRun>& runs) {
  render::CsvWriter csv({"run", "family", "syscall", "detail", "column", "per_run", "status", "law", "parameters",
                         "block_low", "block_high", "error", "sizes", "values"});
  for (const ScaledRun& run : runs) {
    for (const Family& family : run.families) {
      for (const LawRow& row : family.rows) {
        const bool has_law = row.has_law();
        const scale::Law& law = row.solved.law;
        const auto if_law = [&](bool has, double value) { return has ? std::optional(value) : std::nullopt; };
        std::vector<std::string> values;
        for (const scale::Rational& value : row.counts.values) values.push_back(fmt::format("{}", value.value()));
        csv.cell(run.data.name).cell(family.name).cell(row.syscall).cell(row.detail).cell(row.column->name);
        csv.number(row.is_per_run ? 1.0 : 0.0).cell(status_of(row)).cell(law_cell(family, row));
        csv.number(if_law(has_law, static_cast<double>(law.parameters)));
        csv.number(if_law(has_law && law.has_block(), static_cast<double>(law.b_low)));
        csv.number(if_law(has_law && law.has_block(), static_cast<double>(law.b_high)));
        csv.number(if_law(has_law, 0)).cell(sizes_text(family, row.counts.sizes));
        csv.cell(fmt::format("{}", fmt::join(values, " "))).end_row();
      }
      for (const scale::TimeRow& row : family.times) {
        if (row.points.empty()) continue;
        std::vector<std::string> sizes;
        std::vector<std::string> values;
        for (const scale::TimePoint& point : row.points) {
          sizes.push_back(fmt::format("{}", point.n));
          values.push_back(fmt::format("{}", point.time_ns));
        }
        csv.cell(run.data.name).cell(family.name).cell("").cell("").cell(std::string(row.title) + "_ns").number(0.0);
        csv.cell(row.fit ? "fit" : "too_few");
        csv.cell(row.fit ? scale::to_string(row.fit->complexity) : "");
        for (int i = 0; i < 3; ++i) csv.number(std::nullopt);
        csv.number(row.fit ? std::optional(row.fit->error) : std::nullopt);
        csv.cell(fmt::format("{}", fmt::join(sizes, " "))).cell(fmt::format("{}", fmt::join(values, " "))).end_row();
      }
    }
  }
  return csv.text();
}

}  // namespace syscost::bench::commands
