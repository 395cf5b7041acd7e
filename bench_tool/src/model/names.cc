// SPDX-License-Identifier: MIT
#include "model/names.h"

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

}  // namespace syscost::bench::model
