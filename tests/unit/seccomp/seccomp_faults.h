// SPDX-License-Identifier: MIT
//
// SeccompFaults: rules by which calls fail, each test in a child with a backend of its own.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <functional>
#include <initializer_list>
#include <memory>
#include <utility>

#include "extras/faults/core/fault_rule.h"
#include "extras/faults/seccomp/fault_injector.h"
#include "in_child.h"

namespace syscost::seccomp {

inline FaultRule rule_for(std::initializer_list<long> numbers, int error) {
  FaultRule rule;
  for (const long number : numbers) rule.numbers.set(static_cast<std::size_t>(number));
  if (error != 0) rule.result = -error;
  return rule;
}

inline FaultRule of_process(FaultRule rule) {
  rule.is_process_wide = true;
  return rule;
}

inline FaultId open_rule(Backend& backend, const FaultRule& rule) {
  const Result<FaultId> id = backend.extension<FaultInjector>()->open(rule);
  if (!id.ok()) std::fprintf(stderr, "%s\n", id.failure().reason.c_str());
  REQUIRE(id.ok());
  return id.value();
}

/// The errno of one getppid by libc's function, which does not set errno: without faults it cannot fail. 0 for success.
inline int error_of_getppid() {
  const pid_t result = getppid();
  return result < 0 ? -result : 0;
}

class SeccompFaults : public SeccompBackendTest {
 protected:
  /// The exit status of `body` in a child that has a backend.
  static int with_backend(const std::function<void(Backend&)>& body) {
    return in_child([&] {
      const std::unique_ptr<Backend> backend = open_here();
      REQUIRE(backend->extension<FaultInjector>() != nullptr);
      body(*backend);
    });
  }
};

}  // namespace syscost::seccomp
