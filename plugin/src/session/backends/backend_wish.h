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

/// A backend that could be opened.
struct BackendCandidate {
  BackendChoice choice{};
  bool is_named = false;  ///< By the options; else `automatic` tries it.

  std::string name() const { return std::string(kBackendWords[static_cast<std::size_t>(choice)].text); }
};

struct BackendWish {
  bool (*is_wanted)(const Options& options);
  /// Why the candidate cannot fulfil it; empty = it can. Null: each can.
  std::optional<Failure> (*refusal)(const BackendCandidate& candidate, const Options& options) = nullptr;
  /// Tells the backend.
  void (*tell)(const Options& options, BackendRequest& request) = nullptr;

  /// For a wish that few backends fulfil: `automatic` tries only these, and this says what for ("make calls fail").
  /// Null: it tries all, so that the user hears why each one refuses.
  const char* narrows_to = nullptr;
  /// True if the program may want it later. The backend is told then, too; `automatic` prefers one that fulfils it.
  /// Null: never.
  bool (*is_expected)() = nullptr;
  /// Opens another backend in the place of the candidate; empty = it does not. Null: never.
  std::optional<OpenedBackend> (*open_instead)(const BackendCandidate& candidate, const Options& options) = nullptr;
};

/// In the order in which they refuse a candidate.
std::span<const BackendWish* const> backend_wishes();

}  // namespace syscost::session
