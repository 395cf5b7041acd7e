// SPDX-License-Identifier: MIT
//
// Ability: what the dispatch backend can do beside counting, for an extra. ability_makers() lists them; the backend
// knows none of them.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/dispatch/segments.h"
#include "backends/dispatch/stub/common/state.h"
#include "core/backend_request.h"
#include "os/errors.h"

namespace syscost::dispatch {

/// All functions are for between windows.
class Ability {
 public:
  virtual ~Ability() = default;
  Ability(const Ability&) = delete;
  Ability& operator=(const Ability&) = delete;

  /// The interface with this kExtension (Backend::extension()), if it has it; else null.
  virtual void* find(std::string_view name) = 0;
  /// One sentence for the user; empty = none.
  virtual std::string remark() const { return {}; }
  /// Looks at what may have changed unseen.
  virtual void check() {}
  /// After a stretch in which the stub did not see the program's calls.
  virtual void end_unseen() {}

 protected:
  Ability() = default;
};

using Abilities = std::vector<std::unique_ptr<Ability>>;

/// What an ability may use. The request is there only while make() runs; its filter, and all the rest, outlive the
/// ability.
struct AbilityContext {
  const BackendRequest& request;
  const Abilities& made;  ///< So far.
  const Lanes& lanes;
  signal_safe::Thread& opener;
  bool sees_all;  ///< The calls of threads older than the backend pass the stub, too.
  std::function<std::size_t()> count_unseen_threads;
};

using MadeAbility = Result<std::unique_ptr<Ability>>;  ///< Null if the request has no wish for it.

struct AbilityMaker {
  MadeAbility (*make)(const AbilityContext& context);
  bool is_before_calibration;  ///< It is made before the calls that show what counting costs.
};
/// In the order in which they are made.
std::span<const AbilityMaker> ability_makers();

}  // namespace syscost::dispatch
