// SPDX-License-Identifier: MIT
//
// --syscost_where: calls by the line that made them.
#include "extras/option_parts.h"

#include <array>
#include <string>
#include <string_view>

#include "os/errors.h"

namespace syscost::session {
namespace {

using Group = OptionGroup;
using Kind = ValueKind;

constexpr std::array kWhereWords = {
    Word{"skip=PATH", "the line is never in a source file or folder of this path, but in its caller"},
};

std::string take_where(Options& options, std::string_view value) {
  constexpr std::string_view kSkip = "skip=";
  options.where = {};
  options.where.wanted = value != "0" && value != "false";
  if (!value.starts_with(kSkip)) return {};
  for (const std::string& part : split(value, ',')) {
    if (part.size() == kSkip.size()) return "after skip= the path of a source file or folder is missing";
    options.where.skip.push_back(part.substr(kSkip.size()));
  }
  return {};
}

constexpr std::array kWhereEntries = {
    OptionEntry{.group = Group::counting,
                .name = "where",
                .kind = Kind::on_words,
                .about = "split the calls of one syscall by the line that made them",
                .target = take_where,
                .words = kWhereWords},
};

/// Refuses options that do not go together with call stacks.
Result<void> check_where(const Options& all) {
  if (!all.where.wanted) return {};
  if (all.backend == BackendChoice::none) {
    return Failure{"--syscost_where tells counted calls apart, but --syscost_backend none counts nothing",
                   "use --syscost_backend dispatch, or leave --syscost_where out"};
  }
  if (all.details.any()) {
    return Failure{
        "--syscost_where and --syscost_detail do not work together: calls are told apart by their lines or by their "
        "details, not by both",
        "leave one of them out, or make two runs"};
  }
  if (all.children) {
    return Failure{
        "--syscost_where and --syscost_children do not work together: only dispatch has call stacks, and dispatch ends "
        "in a child process",
        "leave one of them out, or make two runs"};
  }
  return {};
}

}  // namespace

constinit const OptionPart kWhereOptions = {kWhereEntries, check_where};

}  // namespace syscost::session
