// SPDX-License-Identifier: MIT
#include "backends/ebpf/programs.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "backends/ebpf/diagnosis.h"
#include "backends/ebpf/skeleton.h"
#include "core/high_fd.h"

namespace syscost::ebpf {
namespace {

// ---- what libbpf says -----------------------------------------------------------------------------------------------

/// libbpf explains failures on its log only; kept here so that our message can carry the last line of it.
std::string& libbpf_says() {
  thread_local std::string text;
  return text;
}

int keep_log(libbpf_print_level level, const char* format, std::va_list arguments) {
  if (level == LIBBPF_DEBUG) return 0;
  char line[512];
  std::vsnprintf(line, sizeof line, format, arguments);
  libbpf_says() = line;
  while (!libbpf_says().empty() && libbpf_says().back() == '\n') libbpf_says().pop_back();
  return 0;
}

// ---- descriptors in fork children -----------------------------------------------------------------------------------

// Every attachment of this process, for the child side of fork(). Signal-safe by being lock-free.
std::array<std::atomic<int>, 16> g_descriptors{};  // fd + 1; 0 = free

void remember(int fd) {
  for (auto& slot : g_descriptors) {
    int expected = 0;
    if (slot.compare_exchange_strong(expected, fd + 1)) return;
  }
}

void forget(int fd) {
  for (auto& slot : g_descriptors) {
    int expected = fd + 1;
    if (slot.compare_exchange_strong(expected, 0)) return;
  }
}

/// True when `fd` is a BPF program or attachment. A test may have closed ours and been given the number for a file of
/// its own; without /proc the answer is no, and a descriptor is left open rather than a user's closed. Signal-safe.
bool is_bpf_descriptor(int fd) {
  char path[40] = "/proc/self/fd/";
  std::to_chars_result end = std::to_chars(path + sizeof "/proc/self/fd/" - 1, path + sizeof path - 1, fd);
  *end.ptr = 0;
  char target[32];
  constexpr std::string_view kKind = "anon_inode:bpf";
  ssize_t length = readlink(path, target, sizeof target);
  return length > 0 && std::string_view(target, static_cast<std::size_t>(length)).substr(0, kKind.size()) == kKind;
}

void close_in_child() {
  int saved = errno;
  for (auto& slot : g_descriptors) {
    int fd = slot.exchange(0) - 1;
    if (fd >= 0 && is_bpf_descriptor(fd)) close(fd);
  }
  errno = saved;
}

void close_descriptor(int& fd) {
  if (fd < 0) return;
  forget(fd);
  if (is_bpf_descriptor(fd)) close(fd);
  fd = -1;
}

int keep_descriptor(int fd) {
  int high = move_fd_high(fd);
  remember(high);
  return high;
}

// ---- loading --------------------------------------------------------------------------------------------------------

/// The skeleton with its destructor; libbpf's state lives no longer than load().
class Skeleton {
 public:
  Skeleton() : skeleton_(syscost_bpf__open()) {}
  ~Skeleton() { syscost_bpf__destroy(skeleton_); }
  Skeleton(const Skeleton&) = delete;
  Skeleton& operator=(const Skeleton&) = delete;
  explicit operator bool() const { return skeleton_ != nullptr; }
  syscost_bpf* operator->() const { return skeleton_; }
  syscost_bpf* get() const { return skeleton_; }

 private:
  syscost_bpf* skeleton_;
};

std::uint64_t random_cookie() {
  std::uint64_t cookie = 0;
  if (getrandom(&cookie, sizeof cookie, 0) != sizeof cookie) cookie = reinterpret_cast<std::uintptr_t>(&cookie);
  return cookie | 1ULL << 63;  // never a plausible argument
}

Failure load_failure(const char* step, int error) {
  return explain_failure(step, error, libbpf_says());
}

std::size_t page_rounded(std::size_t bytes) {
  auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

}  // namespace

Result<Programs> Programs::load() {
  if (Result<const LibbpfApi*> api = open_libbpf(); !api.ok()) return api.failure();
  auto* previous = libbpf().libbpf_set_print(keep_log);
  struct RestorePrint {
    libbpf_print_fn_t previous;
    ~RestorePrint() { libbpf().libbpf_set_print(previous); }
  } restore{previous};
  libbpf_says().clear();

  int cpus = libbpf().libbpf_num_possible_cpus();
  if (cpus <= 0) return load_failure("count the possible CPUs", -cpus);
  if (cpus > SYSCOST_MAX_CPUS) {
    return Failure{"this machine may have " + std::to_string(cpus) + " CPUs; the eBPF backend is built for " +
                       std::to_string(SYSCOST_MAX_CPUS),
                   "raise SYSCOST_MAX_CPUS in shared.h and run tools/make_skeleton"};
  }

  Programs programs;
  SharedMemory& memory = programs.memory_;
  memory.cpu_count = static_cast<std::uint32_t>(cpus);
  memory.cookie = random_cookie();

  Skeleton skeleton;
  if (!skeleton) return load_failure("open the BPF object", errno);
  skeleton->rodata->cpu_count = memory.cpu_count;
  skeleton->rodata->registration_cookie = memory.cookie;
  std::uint32_t banks = SYSCOST_BANKS * memory.shard_count();
  libbpf().bpf_map__set_max_entries(skeleton->maps.shards, banks);
  libbpf().bpf_map__set_max_entries(skeleton->maps.cells, banks * SYSCOST_SLOTS);
  if (int error = syscost_bpf__load(skeleton.get()); error != 0) {
    return load_failure("load the BPF programs", -error);
  }

  // Our identity in the initial PID namespace, which is what programs see, found by running one in our own context.
  LIBBPF_OPTS(bpf_test_run_opts, no_arguments);
  if (int error = libbpf().bpf_prog_test_run_opts(libbpf().bpf_program__fd(skeleton->progs.identify), &no_arguments);
      error != 0) {
    return load_failure("ask for our process id in the initial PID namespace", -error);
  }

  if (Result<void> mapped =
          programs.map_memory(libbpf().bpf_map__fd(skeleton->maps.bss), sizeof *skeleton->bss,
                              libbpf().bpf_map__fd(skeleton->maps.cells), libbpf().bpf_map__fd(skeleton->maps.shards));
      !mapped.ok()) {
    return mapped.failure();
  }

  const bpf_program* loaded[kCount] = {skeleton->progs.on_sys_enter, skeleton->progs.on_sys_exit,
                                       skeleton->progs.on_signal_deliver};
  for (std::size_t i = 0; i < kCount; ++i) {
    int copy = fcntl(libbpf().bpf_program__fd(loaded[i]), F_DUPFD_CLOEXEC, 3);
    if (copy < 0) return load_failure("keep a BPF program", errno);
    programs.program_fds_[i] = keep_descriptor(copy);
    bpf_prog_info info{};
    __u32 size = sizeof info;
    if (libbpf().bpf_obj_get_info_by_fd(programs.program_fds_[i], &info, &size) == 0)
      programs.program_ids_[i] = info.id;
  }
  static const int registered = pthread_atfork(nullptr, nullptr, close_in_child);
  if (registered != 0) return load_failure("register a fork handler", registered);

  if (Result<void> attached = programs.attach(); !attached.ok()) return attached.failure();
  return programs;
}

Result<void*> Programs::map_one(Mapping& mapping, int fd, std::size_t bytes, const char* what) {
  mapping.bytes = page_rounded(bytes);
  void* start = mmap(nullptr, mapping.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (start == MAP_FAILED) return load_failure(what, errno);
  mapping.start = start;
  return start;
}

Result<void> Programs::map_memory(int shared_fd, std::size_t shared_bytes, int cells_fd, int shards_fd) {
  std::size_t banks = std::size_t{SYSCOST_BANKS} * memory_.shard_count();

  Result<void*> shared = map_one(mappings_[0], shared_fd, shared_bytes, "map the shared variables");
  if (!shared.ok()) return shared.failure();
  auto* variables = static_cast<decltype(syscost_bpf::bss)>(shared.value());
  memory_.lanes = variables->lanes;
  memory_.cpus = std::span(variables->cpus).first(memory_.cpu_count);
  memory_.directory = &variables->directory;
  memory_.log = variables->call_log;

  Result<void*> cells =
      map_one(mappings_[1], cells_fd, banks * SYSCOST_SLOTS * sizeof(syscost_cell), "map the counters");
  if (!cells.ok()) return cells.failure();
  memory_.cells = {static_cast<syscost_cell*>(cells.value()), banks * SYSCOST_SLOTS};

  Result<void*> shards = map_one(mappings_[2], shards_fd, banks * sizeof(syscost_shard), "map the shard directory");
  if (!shards.ok()) return shards.failure();
  memory_.shards = {static_cast<syscost_shard*>(shards.value()), banks};
  return {};
}

Programs::Programs(Programs&& other) noexcept
    : program_fds_(std::exchange(other.program_fds_, {-1, -1, -1})),
      link_fds_(std::exchange(other.link_fds_, {-1, -1, -1})),
      program_ids_(other.program_ids_),
      mappings_(std::exchange(other.mappings_, {})),
      memory_(other.memory_) {}

Programs::~Programs() {
  detach();
  for (int& fd : program_fds_) close_descriptor(fd);
  for (Mapping& mapping : mappings_) {
    if (mapping.start != nullptr) munmap(mapping.start, mapping.bytes);
  }
}

// ---- attachment -----------------------------------------------------------------------------------------------------

Result<void> Programs::attach() {
  // sys_enter first: an enter whose exit nobody saw is overwritten by the thread's next enter, and nothing is armed
  // yet; an exit without its enter, on a thread already seen, would have to be counted as lost.
  for (std::size_t i = 0; i < kCount; ++i) {
    if (link_fds_[i] >= 0) continue;
    int link = libbpf().bpf_raw_tracepoint_open(nullptr, program_fds_[i]);
    if (link < 0) {
      Failure failure = load_failure("attach to the syscall tracepoints", -link);
      detach();
      return failure;
    }
    link_fds_[i] = keep_descriptor(link);
  }
  return {};
}

void Programs::detach() {
  for (std::size_t i = kCount; i-- > 0;) close_descriptor(link_fds_[i]);
}

Failure taken_away() {
  return {"syscost's BPF programs are not attached any more: something closed their file descriptors",
          "do not close descriptors that the test did not open (close_range, closefrom)"};
}

Failure shut_out() {
  return {"a seccomp filter of the test's denies what syscost calls between windows",
          "let it pass gettid, bpf and getrusage, or put code that needs such a filter into a fork child"};
}

Result<std::uint64_t> Programs::missed_runs() const {
  std::uint64_t missed = 0;
  for (std::size_t i = 0; i < kCount; ++i) {
    bpf_prog_info info{};
    __u32 size = sizeof info;
    const int error = libbpf().bpf_obj_get_info_by_fd(program_fds_[i], &info, &size) != 0 ? errno : 0;
    if (error == EPERM || error == EACCES || error == ENOSYS) return shut_out();
    if (error != 0 || info.id != program_ids_[i]) return taken_away();
    missed += info.recursion_misses;
  }
  return missed;
}

}  // namespace syscost::ebpf
