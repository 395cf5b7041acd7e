// SPDX-License-Identifier: MIT
#include "syscost/syscost.h"

#include <memory>
#include <string>
#include <utility>

#include "os/kept_errno.h"
#include "os/open_things.h"
#include "session/process_session.h"

namespace syscost {
namespace {

/// A Cost to be overwritten; copying it allocates nothing.
const Cost& nothing_measured() {
  static const Cost nothing(Unavailable{"Nothing was measured.", "Ask a Cost that was."});
  return nothing;
}

}  // namespace

Scope::Scope(std::string_view name, Reach reach) : cost_(nothing_measured()) {
  const KeptErrno kept;
  record_ = session::started_session().scopes().open(name, reach, cost_);
}

Scope::Scope(Reach reach, adapter::OfAdapter) : Scope(reach) {}

Scope::~Scope() {
  const KeptErrno kept;
  if (record_ != nullptr) session::process_session().scopes().close(record_);
}

Cost Scope::stop() {
  const KeptErrno kept;
  if (record_ != nullptr) cost_ = session::process_session().scopes().close(std::exchange(record_, nullptr));
  return cost_;
}

std::vector<CallSite> call_sites(const Cost& cost, std::string_view selector) {
  const KeptErrno kept;
  return cost.available() ? session::process_session().scopes().sites(cost, selector) : std::vector<CallSite>();
}

LeakCheck::LeakCheck() {
  const KeptErrno kept;
  before_ = session::process_session().scopes().open_things();
}
LeakCheck::~LeakCheck() = default;

std::string LeakCheck::left() const {
  const KeptErrno kept;
  return session::process_session().scopes().left_since(static_cast<const OpenThings*>(before_.get()));
}

int cycles(int fallback) {
  return session::process_session().windows().cycles(fallback);
}

}  // namespace syscost
