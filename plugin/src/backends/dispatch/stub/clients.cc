// SPDX-License-Identifier: MIT
#include "backends/dispatch/stub/clients.h"

#include "backends/dispatch/stub/faults.h"
#include "backends/dispatch/stub/file_kinds.h"
#include "backends/dispatch/stub/file_log.h"
#include "backends/dispatch/stub/marks.h"

namespace syscost::signal_safe {

Plan ask_clients(const Guard& guard, Call& call, unsigned char marks, const ChosenRule& chosen) {
  const bool is_plain = (marks & kNeedsCare) == 0;
  // Other calls need the place for themselves.
  if (is_plain) call.adapted = {};
  // First: a call that a fault answers has files, too.
  if (is_plain && (marks & kMarkedByFileKinds) != 0) ask_file_kinds(call);
  if (chosen.rule != nullptr && ask_faults(guard, call, is_plain, chosen)) return Plan::answered;
  if (!is_plain) return Plan::call;
  // After the faults: a call that is not made changes no file.
  if ((marks & kMarkedByFiles) != 0) ask_files(guard, call);
  const Adapted& adapted = call.adapted;
  // The common way forgets that a call was changed.
  if (adapted.clients != 0 || adapted.delay_exit_ns != 0 || call.is_injected != 0) return Plan::call;
  // If a signal interrupts a trapped call just before it is made, that call begins again (cancel.cc), and clients would
  // be asked twice. A call with a plan does not begin again.
  return is_on_trap_stack(call) ? Plan::call : Plan::common;
}

void tell_clients(const Guard& guard, Call& call) {
  if ((call.adapted.clients & kMarkedByFaults) != 0) tell_faults(guard, call);
  if ((call.adapted.clients & kMarkedByFiles) != 0) tell_files(guard, call);
}

}  // namespace syscost::signal_safe
