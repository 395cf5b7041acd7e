// SPDX-License-Identifier: MIT
#include "extras/where/session/lines.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/cost_data.h"
#include "core/selector.h"
#include "core/site_names.h"
#include "core/syscall_table.h"
#include "extras/where/core/call_stack.h"
#include "extras/where/session/call_sites.h"
#include "os/errors.h"
#include "os/memory.h"
#include "session/process/messages.h"
#include "session/session.h"
#include "syscost/syscost.h"

namespace syscost::session {

Result<void> CallLines::start() {
  if (shared_.options.where.wanted) shared_.recorder.set_origin_namer(&call_sites_of(shared_));
  return {};
}

std::vector<CallSite> CallLines::sites(const Cost& cost, std::string_view selector) {
  const detail::CostData& data = *detail::CostAccess::data(cost);
  if (data.origins() == nullptr || shared_.is_fork_child() || shared_.tools_epoch.load() % 2 != 0) return {};
  const OwnCalls own(shared_.backend.current());
  const Recorder::Lock guard = shared_.recorder.take_lock_inside_window();
  shared_.recorder.enter_file();
  static_cast<void>(top_up_quiet_memory());
  const Result<Selector> chosen = Selector::parse(selector, &quiet_memory());
  if (!chosen.ok()) return {};
  detail::CostData of_sites(&quiet_memory());
  call_sites_of(shared_).name_origins(data, of_sites);
  std::map<std::pair<std::string, std::uint32_t>, std::uint64_t> calls;
  for (const auto& [id, tally] : of_sites.table) {
    const bool is_known = id.detail.origin != 0 && tally.calls > 0;
    if (is_known && chosen.value().matches(id)) calls[{syscall_name(id), id.detail.origin}] += tally.calls;
  }
  std::vector<CallSite> sites;
  for (const auto& [key, count] : calls) sites.push_back({key.first, std::string(text_of_site(key.second)), count});
  std::stable_sort(sites.begin(), sites.end(), [](const auto& a, const auto& b) { return a.calls > b.calls; });
  return sites;
}

void CallLines::end_process() {
  const OpenBackend* opened = shared_.backend.current();
  const StackSource* stacks = opened != nullptr ? opened->backend->extension<StackSource>() : nullptr;
  const std::uint64_t calls = stacks != nullptr ? stacks->calls_beyond_limits() : 0;
  if (calls == 0) return;
  say_failure({std::to_string(calls) + (calls == 1 ? " call was" : " calls were") +
                   " counted without a line (--syscost_where): the program has more different call stacks than syscost "
                   "has room for",
               "measure fewer tests in one process (--gtest_filter)"});
}

}  // namespace syscost::session

namespace syscost {

std::vector<CallSite> call_sites(const Cost& cost, std::string_view selector) {
  const KeptErrno kept;
  return cost.available() ? session::process_session().part<session::CallLines>().sites(cost, selector)
                          : std::vector<CallSite>();
}

}  // namespace syscost
