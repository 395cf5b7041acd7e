// SPDX-License-Identifier: MIT
//
// syscost::LeakCheck over the process's session.

#include <string>
#include <utility>

#include "extras/leaks/session/leaks.h"
#include "os/errors.h"
#include "session/session.h"
#include "syscost/syscost.h"

namespace syscost {

LeakCheck::LeakCheck() {
  const KeptErrno kept;
  before_ = session::process_session().part<session::Leaks>().open_things();
}
LeakCheck::~LeakCheck() {
  const KeptErrno kept;
  session::process_session().part<session::Leaks>().drop(std::move(before_));
}

std::string LeakCheck::left() const {
  const KeptErrno kept;
  return session::process_session().part<session::Leaks>().left_since(
      static_cast<const session::OpenThings*>(before_.get()));
}

}  // namespace syscost
