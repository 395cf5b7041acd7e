// SPDX-License-Identifier: MIT
#include "model/names.h"

#include "csv/printable.h"

namespace syscost::bench::model {

Names::Names() {
  intern("");
}

NameId Names::intern(std::string_view text) {
  if (auto found = ids_.find(text); found != ids_.end()) return found->second;
  const auto id = static_cast<NameId>(texts_.size());
  const std::string& kept = texts_.emplace_back(text);
  ids_.emplace(kept, id);
  return id;
}

void Names::make_printable() {
  ids_.clear();  // its keys are views into the texts
  for (NameId id = 0; id < texts_.size(); ++id) {
    texts_[id] = csv::printable(texts_[id]);
    ids_.emplace(texts_[id], id);
  }
}

}  // namespace syscost::bench::model
