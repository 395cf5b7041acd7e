// SPDX-License-Identifier: MIT
//
// BackendWish: what an extra wants of the backend of a run. extras/backend_wishes.cc lists them; what opens backends
// knows none of them.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "core/backend.h"
#include "core/backend_request.h"
#include "os/errors.h"
#include "session/options/option_table.h"
#include "session/options/options.h"

namespace syscost::session {

using OpenedBackend = Result<std::unique_ptr<Backend>>;

inline bool is_dispatch(BackendChoice choice) {
  return choice == BackendChoice::dispatch || choice == BackendChoice::dispatch_trap;
}

/// A backend that could be opened.
struct BackendCandidate {
  BackendChoice choice{};
  bool is_named = false;  ///< By the options; else `automatic` tries it.

  std::string name() const { return std::string(kBackendWords[static_cast<std::size_t>(choice)].text); }
};

struct BackendWish {
  bool (*is_wanted)(const Options& options);
  /// For a wish that few backends can fulfil, whatever else the options say: `automatic` tries only these. Null: it
  /// tries all, so that the user hears why each one refuses.
  bool (*can_fulfil)(BackendChoice choice) = nullptr;
  /// "make calls fail", for a failure of several backends that can fulfil it. Null: no more than one can.
  const char* purpose = nullptr;
  /// Why the candidate does not fulfil it with these options; empty = it does. Null: each does.
  std::optional<Failure> (*refusal)(const BackendCandidate& candidate, const Options& options) = nullptr;
  /// Adds it to the request. May be called more than once.
  void (*tell)(const Options& options, BackendRequest& request) = nullptr;
  /// Gives details of calls names in this process's rows. Null: it has none.
  void (*name_details)() = nullptr;

  /// True if the program may want it later. The backend is told then, too; `automatic` prefers one that can fulfil it.
  /// Null: never.
  bool (*is_expected)() = nullptr;
  /// Opens another backend in the place of the candidate; empty = it does not. Null: never.
  std::optional<OpenedBackend> (*open_instead)(const BackendCandidate& candidate, const Options& options) = nullptr;
};

/// In the order in which they refuse a candidate. Of those that only few backends can fulfil, the first that is wanted
/// decides which ones `automatic` tries.
std::span<const BackendWish* const> backend_wishes();

}  // namespace syscost::session
