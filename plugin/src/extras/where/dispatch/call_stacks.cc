// SPDX-License-Identifier: MIT
#include "extras/where/dispatch/call_stacks.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <climits>
#include <memory>
#include <memory_resource>
#include <string>
#include <string_view>
#include <utility>

#include "backends/dispatch/ability.h"
#include "backends/dispatch/stub/arming.h"
#include "extras/where/stub/call_stacks.h"
#include "extras/where/stub/cfi.h"
#include "extras/where/stub/common/where.h"
#include "extras/where/stub/unwind.h"
#include "os/memory.h"
#include "os/own_memory.h"
#include "os/program_files.h"

namespace syscost::dispatch {
namespace {

using signal_safe::KnownModule;
using signal_safe::KnownStack;
using signal_safe::WhereState;

// Address space: pages are taken when they are touched.
constexpr std::size_t kStackArenaBytes = std::size_t{256} << 20;

/// The vector registers that a function may use, in what the stub has room for.
std::uint64_t vector_mask() {
  constexpr std::uint64_t kX87AndSse = 3;
  std::uint64_t mask = 0;
  for (const unsigned part : {2U, 5U, 6U, 7U}) {  // AVX and the three of AVX-512
    const signal_safe::VectorPart& place = syscost_state.vector_parts[part];
    if (place.bytes != 0 && place.offset + place.bytes <= signal_safe::kVectorBytes) mask |= 1ULL << part;
  }
  return mask == 0 ? 0 : mask | kX87AndSse;
}

Result<void> reserve_memory_of_stacks() {
  WhereState& where = syscost_where_state;
  if (where.arena != nullptr) return {};
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  std::size_t bytes = fitting_reserve(kStackArenaBytes, signal_safe::kSmallStackArenaBytes);
  void* arena = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, kFlags, -1, 0);
  if (arena == MAP_FAILED)
    arena = mmap(nullptr, bytes = signal_safe::kSmallStackArenaBytes, PROT_READ | PROT_WRITE, kFlags, -1, 0);
  if (arena == MAP_FAILED) return errno_failure("reserve", "memory for call stacks", errno);
  where.vector_mask = vector_mask();
  note_own_mapping(arena, std::min(bytes, std::size_t{signal_safe::kSmallStackArenaBytes}));
  where.arena_bytes = bytes;
  where.arena = static_cast<char*>(arena);
  const auto take = [](auto*& table, std::size_t count) {
    using Item = std::remove_reference_t<decltype(*table)>;
    // NOLINTNEXTLINE(bugprone-sizeof-expression): the items of one table are pointers
    table = static_cast<Item*>(signal_safe::take_where_memory(count * sizeof(Item)));
  };
  take(where.stacks, signal_safe::kStackPlaces);
  take(where.rules, signal_safe::kRules);
  take(where.modules, signal_safe::kModules);
  return {};
}

struct MappedFile {
  std::uint64_t end = 0;  ///< 0: nothing is mapped there.
  std::pmr::string path{&mapped_memory()};
};

/// The file that is mapped at `address` now. Not by fopen() and its like: those take memory of the program's heap.
MappedFile mapped_at(std::uint64_t address) {
  std::pmr::string text(&mapped_memory());
  const int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (maps < 0) return {};
  std::array<char, 4096> chunk{};
  for (ssize_t count = 0; (count = read(maps, chunk.data(), chunk.size())) != 0;) {
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) break;
    text.append(chunk.data(), static_cast<std::size_t>(count));
  }
  close(maps);
  MappedFile found;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const char* const line_end = line.data() + line.size();
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    const char* const dash = std::from_chars(line.data(), line_end, begin, 16).ptr;
    if (dash == line_end || std::from_chars(dash + 1, line_end, end, 16).ec != std::errc()) continue;
    if (address < begin || address >= end) continue;
    found.end = end;
    if (const std::size_t path = line.find('/'); path != std::string_view::npos) found.path = line.substr(path);
    break;
  }
  return found;
}

/// Where the calling thread's stack begins; 0 = unknown.
std::uint64_t own_stack_top() {
  // pthread_getattr_np() reads the same file for the first thread, with memory of the program's heap. The kernel keeps
  // 16 random bytes on that thread's stack.
  if (gettid() == getpid()) return mapped_at(getauxval(AT_RANDOM)).end;
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
  void* start = nullptr;
  std::size_t bytes = 0;
  const bool is_known = pthread_attr_getstack(&attributes, &start, &bytes) == 0;
  pthread_attr_destroy(&attributes);
  return is_known ? reinterpret_cast<std::uint64_t>(start) + bytes : 0;
}

const KnownStack& known_stack(std::uint32_t stack) {
  return *std::atomic_ref(syscost_where_state.stacks[stack - 1]).load(std::memory_order_acquire);
}

/// Sets the path of the program's file; empty if it is unknown.
void set_program_path(std::pmr::string& path) {
  std::array<char, PATH_MAX> link{};
  const ssize_t length = readlink("/proc/self/exe", link.data(), link.size());
  if (length > 0) path.assign(link.data(), static_cast<std::size_t>(length));
}

/// The loader's name of a module is empty for the program, and may be relative to what was the working directory.
void set_path(std::pmr::string& path, const KnownModule& module) {
  const std::string_view name = module.name;
  if (name.empty()) return set_program_path(path);
  if (name.starts_with("linux-vdso.so")) {
    path = "[vdso]";
    return;
  }
  path = name;
  if (name.front() == '/' || std::atomic_ref(const_cast<std::uint32_t&>(module.is_retired)).load() != 0) return;
  const MappedFile mapped = mapped_at(module.begin);
  if (!mapped.path.empty()) path = mapped.path;
}

void set_hexadecimal(std::pmr::string& text, const unsigned char* bytes, std::size_t count) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (std::size_t i = 0; i < count; ++i) {
    text += kDigits[bytes[i] >> 4];
    text += kDigits[bytes[i] & 0xf];
  }
}

}  // namespace

Result<std::shared_ptr<CallStacks>> CallStacks::start(signal_safe::Thread& opener, StacksOf which) {
  WhereState& where = syscost_where_state;
  where.find_object = reinterpret_cast<signal_safe::FindObject>(loaded_function("_dl_find_object"));
  if (where.find_object == nullptr) {
    return Failure{
        "this C library has no _dl_find_object, by which call stacks (--syscost_where) are found; glibc has it from "
        "2.35 on",
        "leave --syscost_where out, or run where glibc is 2.35 or newer"};
  }
  if (Result<void> memory = reserve_memory_of_stacks(); !memory.ok()) return memory.failure();
  opener.stack_top = own_stack_top();
  check_modules();
  const std::pmr::polymorphic_allocator<> allocator(&mapped_memory());
  std::shared_ptr<CallStacks> stacks = std::allocate_shared<CallStacks>(allocator, Key(), which);
  std::atomic_ref(where.is_ready).store(1, std::memory_order_release);
  if (which == StacksOf::each_call) std::atomic_ref(syscost_where).store(1);
  return stacks;
}

namespace {

/// The stacks of --syscost_where.
class StacksAbility final : public Ability {
 public:
  explicit StacksAbility(std::shared_ptr<CallStacks> stacks) : stacks_(std::move(stacks)) {}

  void* find(std::string_view name) override {
    if (name == StackSource::kExtension) return static_cast<StackSource*>(stacks_.get());
    return name == CallOrigins::kExtension ? static_cast<CallOrigins*>(stacks_.get()) : nullptr;
  }
  /// The stub does not see when older threads unload libraries.
  void check() override {
    if (syscost_has_older_threads != 0) CallStacks::check_modules();
  }
  void end_unseen() override { CallStacks::check_modules(); }

 private:
  std::shared_ptr<CallStacks> stacks_;
};

}  // namespace

MadeAbility make_call_stacks(const AbilityContext& context) {
  if (context.request.find<StackWish>() == nullptr) return std::unique_ptr<Ability>();
  Result<std::shared_ptr<CallStacks>> stacks = CallStacks::start(context.opener, StacksOf::each_call);
  if (!stacks.ok()) return stacks.failure();
  return std::unique_ptr<Ability>(std::make_unique<StacksAbility>(std::move(stacks.value())));
}

CallStacks::~CallStacks() {
  if (which_ == StacksOf::each_call) std::atomic_ref(syscost_where).store(0);
}

std::span<const StackFrame> CallStacks::frames(std::uint32_t stack) const {
  const std::lock_guard guard(mutex_);
  auto [at, is_new] = frames_.try_emplace(stack);
  if (is_new) {
    const KnownStack& known = known_stack(stack);
    for (std::uint32_t i = 0; i < known.frames; ++i) {
      const std::uint64_t packed = known.frame[i];
      const auto index = static_cast<std::uint32_t>(packed >> signal_safe::kOffsetBits);
      const std::uint64_t offset = packed & ((1ULL << signal_safe::kOffsetBits) - 1);
      at->second.push_back({index < signal_safe::kModules ? index : kNoModule, offset});
    }
  }
  return at->second;
}

StackEnd CallStacks::end(std::uint32_t stack) const {
  switch (known_stack(stack).end) {
    case signal_safe::WalkEnd::complete:
      return StackEnd::complete;
    case signal_safe::WalkEnd::too_deep:
      return StackEnd::too_deep;
    default:
      return StackEnd::no_unwind_information;
  }
}

const Module& CallStacks::module(std::uint32_t index) const {
  const std::lock_guard guard(mutex_);
  auto [at, is_new] = modules_.try_emplace(index, &mapped_memory());
  if (is_new) {
    const KnownModule& known = syscost_where_state.modules[index];
    set_path(at->second.path, known);
    set_hexadecimal(at->second.build_id, known.build_id, known.build_id_bytes);
  }
  return at->second;
}

std::uint64_t CallStacks::calls_beyond_limits() const {
  return std::atomic_ref(syscost_where_state.beyond_limits).load();
}

void CallStacks::begin_openers() const {
  signal_safe::Openers*& openers = syscost_where_state.openers;
  constexpr std::size_t kBytes = sizeof *openers;
  if (openers != nullptr) {
    // Private memory of no file: all of it is 0 again.
    if (madvise(openers, kBytes, MADV_DONTNEED) != 0) *openers = signal_safe::Openers{};
    return;
  }
  void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory != MAP_FAILED) openers = static_cast<signal_safe::Openers*>(memory);
}

std::uint32_t CallStacks::opener_of(int descriptor) const {
  signal_safe::Openers* const openers = syscost_where_state.openers;
  const auto index = static_cast<std::uint32_t>(descriptor);
  if (openers == nullptr || index >= signal_safe::kOpeners) return 0;
  return std::atomic_ref(openers->of_descriptor[index]).load(std::memory_order_relaxed);
}

std::uint32_t CallStacks::starter_of(int id) const {
  signal_safe::Openers* const openers = syscost_where_state.openers;
  if (openers == nullptr) return 0;
  const std::uint64_t noted = std::atomic_ref(openers->started).load(std::memory_order_relaxed);
  for (std::uint64_t back = 1; back <= std::min<std::uint64_t>(noted, signal_safe::kStarters); ++back) {
    std::uint64_t& place = openers->of_started[(noted - back) % signal_safe::kStarters];
    const std::uint64_t one = std::atomic_ref(place).load(std::memory_order_relaxed);
    if (one >> 32 == static_cast<std::uint32_t>(id)) return static_cast<std::uint32_t>(one);
  }
  return 0;
}

void CallStacks::check_modules() {
  WhereState& where = syscost_where_state;
  if (where.modules == nullptr) return;
  for (std::uint32_t i = 0; i < std::min(where.modules_used, signal_safe::kModules); ++i) {
    KnownModule& module = where.modules[i];
    if (module.is_retired != 0) continue;
    signal_safe::FoundObject found{};
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address is what it takes
    const bool is_there = where.find_object(reinterpret_cast<void*>(module.begin), &found) == 0 &&
                          found.begin == module.begin && found.end == module.end &&
                          reinterpret_cast<std::uint64_t>(found.link_map) == module.link_map;
    if (!is_there) signal_safe::forget_code(module.begin, module.end - module.begin);
  }
  std::atomic_ref(where.memory_epoch).fetch_add(1);
}

}  // namespace syscost::dispatch
