// SPDX-License-Identifier: MIT
#include "extras/leaks/ebpf/mapped_peak.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>

namespace syscost::ebpf {

void MappedPeak::begin_mapped_peak() {
  if (programs_.is_fork_child()) return;
  for (syscost_cpu& cpu : programs_.memory().cpus()) std::atomic_ref(cpu.most_pages).store(0);
  std::atomic_ref(programs_.memory().directory().notes_mapped).store(1);
}

std::optional<std::uint64_t> MappedPeak::end_mapped_peak() {
  if (programs_.is_fork_child()) return std::nullopt;
  std::atomic_ref(programs_.memory().directory().notes_mapped).store(0);
  std::uint64_t pages = 0;
  for (syscost_cpu& cpu : programs_.memory().cpus()) {
    pages = std::max<std::uint64_t>(pages, std::atomic_ref(cpu.most_pages).load());
  }
  return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

std::unique_ptr<Ability> make_mapped_peak(const ProcessAttachment& programs) {
  return std::make_unique<MappedPeak>(programs);
}

}  // namespace syscost::ebpf
