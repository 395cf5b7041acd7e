// SPDX-License-Identifier: MIT
#include "model/names.h"

#include <functional>

#include "csv/printable.h"

namespace syscost::bench::model {

Names::Names() {
  intern("");
}

NameId Names::intern(std::string_view text) {
  const std::uint64_t hash = std::hash<std::string_view>()(text);
  const NameId known = ids_.find(hash, [&](NameId id) { return texts_[id] == text; });
  if (known != IdIndex::kNone) return known;
  const auto id = static_cast<NameId>(texts_.size());
  texts_.emplace_back(text);
  ids_.insert(hash, id);
  return id;
}

void Names::make_printable() {
  ids_.clear();
  for (NameId id = 0; id < texts_.size(); ++id) {
    texts_[id] = csv::printable(texts_[id]);
    ids_.insert(std::hash<std::string_view>()(texts_[id]), id);
  }
}

}  // namespace syscost::bench::model
