// SPDX-License-Identifier: MIT
//
// Loads every program of the eBPF object that the library carries, and of objects given as files: with and without
// details, which decide what the verifier sees, and with a state kept at each instruction, which makes it prune less.
//
//   syscost_ebpf_load_objects [OBJECT]...
//
// The programs for perf events call bpf_task_pt_regs(), which Linux 5.15 is the first to have. They are used from 7.0
// on, so older kernels than 5.15 are not asked to take them.
//
// Exit codes: 0 all were accepted, 1 one was not, 77 nothing can be loaded here.
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>

#include "backends/ebpf/diagnosis.h"
#include "backends/ebpf/skeleton.h"
#include "os/confinement.h"

namespace syscost::ebpf {
namespace {

using Object = std::unique_ptr<bpf_object, decltype(&bpf_object__close)>;

Object open_object(const char* path) {
  std::size_t size = 0;
  const void* carried = syscost_bpf__elf_bytes(&size);
  return {path == nullptr ? bpf_object__open_mem(carried, size, nullptr) : bpf_object__open(path), bpf_object__close};
}

/// Sets a constant of the object's, found by its name: where it stands is the compiler's choice.
bool set_constant(bpf_object* object, std::string_view name, unsigned char value) {
  bpf_map* constants = bpf_object__find_map_by_name(object, ".rodata");
  const btf* types = bpf_object__btf(object);
  const int section = types == nullptr ? -1 : btf__find_by_name_kind(types, ".rodata", BTF_KIND_DATASEC);
  if (constants == nullptr || section < 0) return false;
  std::size_t size = 0;
  auto* bytes = static_cast<unsigned char*>(const_cast<void*>(bpf_map__initial_value(constants, &size)));
  const btf_type* datasec = btf__type_by_id(types, static_cast<__u32>(section));
  for (__u16 i = 0; i < btf_vlen(datasec); ++i) {
    const btf_var_secinfo& variable = btf_var_secinfos(datasec)[i];
    if (btf__name_by_offset(types, btf__type_by_id(types, variable.type)->name_off) != name) continue;
    if (variable.offset >= size) return false;
    bytes[variable.offset] = value;
    return true;
  }
  return false;
}

bool is_accepted(const char* path, bool details, __u32 flags) {
  const char* name = path == nullptr ? "the library's object" : path;
  const char* with = details ? ", with details" : "";
  const char* pruned = (flags & BPF_F_TEST_STATE_FREQ) != 0 ? ", a state at each instruction" : "";
  const LibbpfLog log;
  const Object object = open_object(path);
  if (!object) {
    std::printf("%s: cannot be opened: %s\n", name, log.words().last_line.c_str());
    return false;
  }
  if (details &&
      !(set_constant(object.get(), "with_details", 1) && set_constant(object.get(), "details_ioctls", 1) &&
        set_constant(object.get(), "details_files", 1) && set_constant(object.get(), "rule_count", SYSCOST_RULES) &&
        set_constant(object.get(), "thread_name_count", SYSCOST_THREAD_NAMES))) {
    std::printf("%s: has not the constants that ask for details\n", name);
    return false;
  }
  // The scheduler's programs keep nothing without room.
  if (details &&
      !(set_constant(object.get(), "scheduler_room", 1) && set_constant(object.get(), "has_preempt_count", 1))) {
    std::printf("%s: has not the constants that ask for the scheduler's events\n", name);
    return false;
  }
  const bool takes_perf_events = kernel_is_at_least(5, 15);
  const char* left_out = takes_perf_events ? "" : ", those for perf events left out";
  int count = 0;
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, object.get()) {
    const bool calls_task_pt_regs =
        bpf_program__type(program) == BPF_PROG_TYPE_TRACEPOINT ||
        std::string_view(bpf_program__section_name(program)).starts_with("?tp_btf/sched_switch") ||
        std::string_view(bpf_program__section_name(program)).starts_with("?tp_btf/sched_wak");
    if (calls_task_pt_regs && !takes_perf_events) continue;
    bpf_program__set_autoload(program, true);
    bpf_program__set_flags(program, flags);
    ++count;
  }
  const int error = bpf_object__load(object.get());
  if (error == 0) {
    std::printf("%s: %d programs accepted%s%s%s\n", name, count, with, pruned, left_out);
    return true;
  }
  const Failure failure = explain_failure("load the programs", -error, log.words());
  std::printf("%s%s%s: %s\n", name, with, pruned, failure.reason.c_str());
  return false;
}

int load_all(int count, char** paths) {
  if (const auto missing = missing_permission(read_confinement())) {
    std::printf("skipped: %s\n", missing->reason.c_str());
    return 77;
  }
  if (const auto api = open_libbpf(); !api.ok()) {
    std::printf("skipped: %s\n", api.failure().reason.c_str());
    return 77;
  }
  const int probe = bpf_prog_load(BPF_PROG_TYPE_TRACING, nullptr, "GPL", nullptr, 0, nullptr);
  if (probe == -EPERM || probe == -ENOSYS) {
    std::printf("skipped: bpf(2) is denied here\n");
    return 77;
  }
  bool accepted = true;
  for (int i = 0; i <= count; ++i) {
    for (const bool details : {false, true}) {
      for (const __u32 flags : {__u32{0}, __u32{BPF_F_TEST_STATE_FREQ}}) {
        if (!is_accepted(i == 0 ? nullptr : paths[i - 1], details, flags)) accepted = false;
      }
    }
  }
  return accepted ? 0 : 1;
}

}  // namespace
}  // namespace syscost::ebpf

int main(int argc, char** argv) {
  return syscost::ebpf::load_all(argc - 1, argv + 1);
}
