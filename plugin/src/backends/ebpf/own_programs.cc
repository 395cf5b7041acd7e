// SPDX-License-Identifier: MIT
#include "backends/ebpf/own_programs.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <utility>

#include "backends/ebpf/missed_runs.h"

namespace syscost::ebpf {
namespace {

Result<std::vector<int>> duplicates(const std::vector<int>& descriptors) {
  std::vector<int> copies;
  for (const int descriptor : descriptors) {
    const int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
    if (copy < 0) {
      const int error = errno;
      close_each(copies);
      return errno_failure("keep", "the BPF programs", error);
    }
    copies.push_back(copy);
  }
  return copies;
}

/// Why the programs are not reached, given what `failure` says of it.
Failure out_of_reach(int error, const Failure& failure) {
  switch (error) {
    case EBADF:
      return taken_away();
    case EPERM:
    case EACCES:
    case ENOSYS:
      return shut_out();
    default:
      return failure;
  }
}

}  // namespace

Result<std::unique_ptr<OwnPrograms>> OwnPrograms::load(const ProgramRequest& request, Joined& joined) {
  Result<LoadedPrograms> loaded = LoadedPrograms::load(request);
  if (!loaded.ok()) return loaded.failure();
  LoadedPrograms& pair = loaded.value();
  Result<std::vector<LoadedPrograms::ProcessSlot>> places = pair.make_slots(1);
  if (!places.ok()) return places.failure();
  const LoadedPrograms::ProcessSlot& place = places.value().front();
  joined.cpu_count = pair.cpu_count();
  joined.cookie = place.cookie;
  joined.maps.add(place.map);
  const Result<std::vector<int>> further = duplicates(pair.further_maps());
  if (!further.ok()) return further.failure();
  for (const int map : further.value()) joined.maps.add(map);

  const std::vector<int> attached = pair.counting_and_scheduler_programs();
  std::vector<int> all = attached;
  const std::vector<int> following = pair.following_programs();
  all.insert(all.end(), following.begin(), following.end());
  const std::size_t counting = pair.counting_programs().size();
  const Result<std::vector<int>> copies = duplicates(all);
  if (!copies.ok()) return copies.failure();
  Result<ParkedDescriptors> programs = ParkedDescriptors::park(copies.value());
  if (!programs.ok()) return programs.failure();
  std::unique_ptr<OwnPrograms> own(new OwnPrograms(std::move(programs.value()), counting, attached.size() - counting));
  if (Result<void> kept = own->keep_attached(attached, own->counting_links_); !kept.ok()) return kept.failure();
  if (Result<void> kept = own->keep_attached(following, own->following_links_); !kept.ok()) return kept.failure();
  return own;
}

Result<void> OwnPrograms::keep_attached(const std::vector<int>& programs, ParkedDescriptors& links) {
  if (programs.empty() || !links.empty()) return {};
  const Result<std::vector<int>> opened = open_links(programs);
  if (!opened.ok()) return opened.failure();
  Result<ParkedDescriptors> parked = ParkedDescriptors::park(opened.value());
  if (!parked.ok()) return parked.failure();
  links = std::move(parked.value());
  return {};
}

Result<void> OwnPrograms::attach() {
  Result<std::vector<int>> programs = programs_.copies();
  if (!programs.ok()) return out_of_reach(errno, programs.failure());
  const std::vector<int> all = programs.value();
  programs.value().resize(counting_ + scheduler_);
  Result<void> attached = keep_attached(programs.value(), counting_links_);
  close_each(all);
  return attached;
}

void OwnPrograms::detach() {
  counting_links_.close_all();
}

Result<Report> OwnPrograms::report() {
  const Result<std::uint64_t> missed = missed_runs(Runs::of_all);
  if (!missed.ok()) return missed.failure();
  return Report{missed.value(), 0};
}

/// Always those of all programs: selecting some of them costs more than asking for one more.
Result<std::uint64_t> OwnPrograms::missed_runs(Runs /*wanted*/) {
  const Result<std::vector<int>> programs = programs_.copies();
  if (!programs.ok()) return out_of_reach(errno, programs.failure());
  std::vector<int> that_count = programs.value();
  const auto scheduler = that_count.begin() + static_cast<std::ptrdiff_t>(counting_);
  that_count.erase(scheduler, scheduler + static_cast<std::ptrdiff_t>(scheduler_));
  Result<std::uint64_t> missed = ebpf::missed_runs(that_count);
  const int error = errno;
  close_each(programs.value());
  return missed.ok() ? missed : out_of_reach(error, missed.failure());
}

}  // namespace syscost::ebpf
