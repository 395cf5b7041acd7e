// SPDX-License-Identifier: MIT
#include "model/named_windows.h"

#include <fmt/format.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "csv/printable.h"
#include "model/group.h"
#include "syscost/schema.h"

namespace syscost::bench::model {
namespace {

Group group_of(Dataset& data, const Sample& key) {
  Group group{key.kind, key.test, key.window, key.parent, key.origin, kNoName, {}, false, {}};
  group.program = data.context(key).program;
  return group;
}

}  // namespace

bool is_chosen(Dataset& data, const Sample& key, const TestChoice& tests) {
  const Group group = group_of(data, key);
  std::vector<std::string> names = {base_name(data, group), full_name(data, group)};
  const std::string& kind = data.text(key.kind);
  if (kind != "suite" && kind != "environment") {
    names.push_back(data.text(key.test));
    names.push_back(fmt::format("{} ({})", data.text(key.test), data.text(group.program)));
  }
  if (group.is_loop(data)) names.push_back(owner_name(data, group));
  // Names as bench prints them are accepted too.
  for (std::size_t i = 0, count = names.size(); i < count; ++i) {
    if (std::string shown = csv::printable(names[i]); shown != names[i]) names.push_back(std::move(shown));
  }
  return tests.matches(names);
}

bool may_be_meant(Dataset& data, const Sample& key, const std::string& text) {
  Group group = group_of(data, key);
  const std::string wanted = csv::printable(text);
  const auto is_part = [&](const std::string& name) { return csv::printable(name).find(wanted) != std::string::npos; };
  if (is_part(full_name(data, group))) return true;
  // If another program has a window of this name, each name is shown with its program.
  if (const std::size_t program = wanted.rfind(" ("); program != std::string::npos) {
    if (csv::printable(base_name(data, group)).find(wanted.substr(0, program)) != std::string::npos) return true;
  }
  // The rows of tools in a window come with it.
  if (const NameId ours = data.names.intern(schema::kOriginSyscost); group.origin != ours) {
    group.origin = ours;
    if (is_part(full_name(data, group))) return true;
  }
  // The loops of a test come with it.
  return group.is_loop(data) && is_part(fmt::format("{} ({})", owner_name(data, group), data.text(group.program)));
}

}  // namespace syscost::bench::model
