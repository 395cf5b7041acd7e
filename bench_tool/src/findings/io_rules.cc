// SPDX-License-Identifier: MIT
#include "findings/io_rules.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "render/units.h"

namespace syscost::bench::findings {
namespace {

constexpr std::array<std::string_view, 5> kWrites = {"write", "writev", "pwrite64", "pwritev", "pwritev2"};
constexpr std::array<std::string_view, 4> kSyncs = {"fsync", "fdatasync", "sync", "syncfs"};
/// They make or use descriptors on which a small write is a message.
constexpr std::array<std::string_view, 14> kMessages = {"socket",   "socketpair", "accept",   "accept4", "sendto",
                                                        "sendmsg",  "sendmmsg",   "recvfrom", "recvmsg", "recvmmsg",
                                                        "eventfd2", "eventfd",    "pipe",     "pipe2"};

constexpr double kManyWrites = 256;
constexpr double kSmallWrite = 64;
constexpr double kManySyncs = 20;
constexpr double kFewWritesEach = 4;

}  // namespace

std::vector<Hit> tiny_writes(const WindowCalls& window) {
  const CallSum writes = window.sum(kWrites);
  const double succeeded = writes.succeeded();
  if (!writes.bytes || succeeded < kManyWrites || *writes.bytes > kSmallWrite * succeeded) return {};
  if (window.has(kMessages)) return {};
  return {{std::string(writes.most), window.site_of(kWrites),
           fmt::format("{} writes{} move {} bytes each on average", render::count(succeeded), window.per(),
                       render::count(*writes.bytes / succeeded)),
           writes.kernel_ns.value_or(0)}};
}

std::vector<Hit> fsync_storm(const WindowCalls& window) {
  const CallSum syncs = window.sum(kSyncs);
  if (syncs.calls < kManySyncs) return {};
  const CallSum writes = window.sum(kWrites);
  if (writes.calls > kFewWritesEach * syncs.calls) return {};
  return {
      {std::string(syncs.most), window.site_of(kSyncs),
       fmt::format("{} syncs for {} writes{}", render::count(syncs.calls), render::count(writes.calls), window.per()),
       syncs.kernel_ns.value_or(0)}};
}

}  // namespace syscost::bench::findings
