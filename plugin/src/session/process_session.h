// SPDX-License-Identifier: MIT
//
// The session of this process: its options, and its start.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "session/options/options.h"
#include "session/session.h"
#include "syscost/adapter.h"

namespace syscost::session {

/// The options of this process, read once: from the arguments of take_options(), else from /proc and the environment.
const Result<ParsedOptions>& process_options();
/// Uses `arguments` with `spelling` instead of the process's own. A session that exists already takes the options over.
const Result<ParsedOptions>& read_process_options(const std::vector<std::string>& arguments, Spelling spelling);

/// Null until make_process_session() made it.
extern std::atomic<Session*> made_process_session;
Session& make_process_session();

/// The process's session, made at the first call and never destroyed.
inline Session& process_session() {
  Session* const made = made_process_session.load(std::memory_order_acquire);
  return made != nullptr ? *made : make_process_session();
}
/// The same, started: by the adapter, or here at the first use without an adapter. If a request is not possible:
/// message, exit(2). Also runs --syscost_help and --syscost_doctor.
Session& started_session(const adapter::Framework& framework = {});

}  // namespace syscost::session
