// SPDX-License-Identifier: MIT
//
// Requests of ioctl to a graphics driver, without a driver: a node with its numbers is there, and is opened by name
// only, so each call fails with EBADF.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace {

constexpr unsigned kDrmMajor = 226;
constexpr unsigned kFirstRenderNode = 128;
constexpr unsigned long kVersion = 0xc0406400;  // DRM_IOCTL_VERSION
constexpr unsigned long kGetCap = 0xc010640c;   // DRM_IOCTL_GET_CAP

/// -1 where such a node cannot be made.
int open_node() {
  std::string folder = "/tmp/syscost-node-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) return -1;
  const std::string path = folder + "/node";
  const bool is_made = mknod(path.c_str(), S_IFCHR | 0600, makedev(kDrmMajor, kFirstRenderNode)) == 0;
  const int node = is_made ? open(path.c_str(), O_PATH | O_CLOEXEC) : -1;
  unlink(path.c_str());
  rmdir(folder.c_str());
  return node;
}

void BM_AsksADriver(benchmark::State& state) {
  const int node = open_node();
  if (node < 0) state.SkipWithError("mknod of a device is not allowed here; run as root outside of a container");
  for (auto _ : state) {
    ioctl(node, kVersion, nullptr);
    ioctl(node, kGetCap, nullptr);
    ioctl(node, kVersion, nullptr);
  }
  close(node);
}
BENCHMARK(BM_AsksADriver);

}  // namespace

BENCHMARK_MAIN();
