// SPDX-License-Identifier: MIT
//
// The parts of syscost that the files of the cases use, for the program that is not linked with it. No case that runs
// there calls any of these.
#include <cstdio>
#include <cstdlib>

#include "syscost/syscost.h"

namespace syscost {
namespace {

[[noreturn]] void refuse() {
  std::fputs("conformance_not_linked: the case uses syscost; name it as unsupported on \"not linked\"\n", stderr);
  std::abort();
}

}  // namespace

Count Cost::calls(std::string_view /*selector*/) const {
  refuse();
}
Count Cost::entries(std::string_view /*selector*/) const {
  refuse();
}
Count Cost::bytes(std::string_view /*selector*/) const {
  refuse();
}
Count Cost::bytes_released(std::string_view /*selector*/) const {
  refuse();
}
Count Cost::short_calls(std::string_view /*selector*/) const {
  refuse();
}
Count Cost::lost() const {
  refuse();
}
std::vector<SyscallCost> Cost::syscalls() const {
  refuse();
}
bool Cost::available() const {
  refuse();
}
const Unavailable* Cost::unavailable() const {
  refuse();
}
Count::Holding Count::compare(const Count& /*other*/) const {
  refuse();
}
// NOLINTNEXTLINE(performance-unnecessary-value-param): the signature of the library
Cost::Cost(Unavailable /*why*/) {
  refuse();
}
Scope::Scope(std::string_view /*name*/, Reach /*reach*/) : cost_(Unavailable()) {
  refuse();
}
Scope::~Scope() = default;
Cost Scope::stop() {
  refuse();
}

}  // namespace syscost
