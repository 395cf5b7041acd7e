// SPDX-License-Identifier: MIT
#include "session/two_process/main_watch.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "session/options/options.h"
#include "session/process/messages.h"
#include "session/process_session.h"
#include "session/two_process/counting_process.h"
#include "syscost/adapter.h"

namespace syscost::session {

void MainWatch::explain_at_exit(int status) const {
  if (state_.is_main_seen || fork_detector_.is_fork_child()) return;
  const std::vector<std::string> arguments = process_arguments();
  // Google Benchmark starts itself once to find out whether its addresses can stay in place.
  constexpr std::string_view kTrial = "--benchmark_aslr_test_child=";
  if (arguments.size() == 2 && arguments[1].starts_with(kTrial)) return;
  if (!adapter::requested() || counting_process().is_counting()) return;
  const Unavailable* (*const ask)() = state_.why_main_is_unseen;
  const Unavailable* const why = ask != nullptr ? ask() : nullptr;
  if (why == nullptr) {
    // A test program that is linked with Google Benchmark, too, has rows of its tests.
    if (status != 0 || process_session().is_started()) return;
    say("this program ran no benchmark: there is nothing to count, and no CSV is written");
    return;
  }
  // A program that fails names its own reason, except when it fails because of a flag of ours.
  const bool has_flag = std::any_of(arguments.begin(), arguments.end(),
                                    [](const std::string& argument) { return argument.starts_with("--syscost"); });
  if (status == 0 || has_flag) refuse(*why);
}

MainWatch& main_watch() {
  static auto* const made = [] {
    auto* watch = new MainWatch;
#ifdef __GLIBC__
    on_exit([](int status, void* that) { static_cast<const MainWatch*>(that)->explain_at_exit(status); }, watch);
#endif
    return watch;
  }();
  return *made;
}

}  // namespace syscost::session
