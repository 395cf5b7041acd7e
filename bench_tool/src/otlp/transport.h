// SPDX-License-Identifier: MIT
//
// Transport: one HTTP request and its reply, by libcurl.
//
// libcurl is opened at run time. So bench starts as fast as before, and writes files where there is no libcurl.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "otlp/endpoints.h"

namespace syscost::bench::otlp {

struct Reply {
  long status = 0;                                  ///< The HTTP status; 0: there was none.
  std::string body;                                 ///< Its beginning: at most 64 KiB.
  std::string redirect_url;                         ///< Where a redirection leads.
  std::optional<std::chrono::seconds> retry_after;  ///< How long the receiver asks to wait.
  std::string fault;                                ///< Why there was no status; "" if there was one.
  bool may_pass = false;                            ///< The fault may pass: nothing listens, or a connection broke.
};

class Transport {
 public:
  virtual ~Transport() = default;
  /// Sends `body` by POST, and follows no redirection. It ends after `limit` at the latest. `headers` are all, those of
  /// the endpoint included.
  virtual Reply post(const Endpoint& to, const std::vector<Header>& headers, const std::string& body,
                     std::chrono::milliseconds limit) = 0;
};

/// Null if there is no libcurl; then `fault` says what is missing and how to get it.
std::unique_ptr<Transport> open_libcurl(std::string& fault);

}  // namespace syscost::bench::otlp
