// SPDX-License-Identifier: MIT
#include "backends/ebpf/diagnosis.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <vector>

#include "backends/ebpf/skeleton.h"
#include "os/confinement.h"

namespace syscost::ebpf {
namespace {

// The messages of the verifier of Linux 6.1, in the form that libbpf 1.1 passes on.
constexpr const char* kRefused = R"(libbpf: prog 'on_sys_enter': -- BEGIN PROG LOAD LOG --
; int on_sys_enter(__u64* ctx) {
0: (bf) r9 = r1
; if (lane > 0 && lane < SYSCOST_LANES && READ_ONCE(lanes[lane].owner) == thread->token) {
147: (0f) r1 += r2
148: (79) r1 = *(u64 *)(r1 +8)         ; R1_w=scalar() R2=scalar(umax=4294967295)
R1 unbounded memory access, make sure to bounds check any such access
processed 235 insns (limit 1000000) max_states_per_insn 0 total_states 14 peak_states 14 mark_read 7
-- END PROG LOAD LOG --
)";

TEST(LibbpfWords, KeepTheEndOfTheVerifiersLogThroughLaterMessages) {
  LibbpfWords words;
  words.hear("libbpf: prog 'on_sys_enter': BPF program load failed: Permission denied\n");
  words.hear(kRefused);
  words.hear("libbpf: prog 'on_sys_enter': failed to load: -13\n");
  words.hear("libbpf: failed to load object 'syscost_bpf'\n");
  EXPECT_EQ(words.refused_program, "on_sys_enter");
  EXPECT_EQ(words.verifiers_reason,
            "\"; if (lane > 0 && lane < SYSCOST_LANES && READ_ONCE(lanes[lane].owner) == thread->token) {\", "
            "\"148: (79) r1 = *(u64 *)(r1 +8)\", "
            "\"R1 unbounded memory access, make sure to bounds check any such access\"");
  EXPECT_EQ(words.last_line, "libbpf: failed to load object 'syscost_bpf'");
}

TEST(LibbpfWords, AreShortWhateverTheVerifierWrites) {
  LibbpfWords words;
  words.hear("libbpf: prog 'p': -- BEGIN PROG LOAD LOG --\n1: (95) exit\n" + std::string(100'000, 'x') +
             "\n-- END PROG LOAD LOG --\n");
  EXPECT_EQ(words.verifiers_reason, "\"1: (95) exit\", \"" + std::string(110, 'x') + "...\"");
}

TEST(LibbpfWords, OfALogThatBreaksOffAreItsBeginning) {
  LibbpfWords words;
  words.hear("libbpf: prog 'p': -- BEGIN PROG LOAD LOG --\n1: (95) exit\n");
  EXPECT_EQ(words.verifiers_reason, "");
  EXPECT_EQ(words.last_line, "libbpf: prog 'p': -- BEGIN PROG LOAD LOG --\n1: (95) exit");
}

class Diagnosis : public testing::Test {
 protected:
  void SetUp() override {
    if (access("/sys/kernel/btf/vmlinux", R_OK) != 0) GTEST_SKIP() << "that the kernel has no BTF would be named first";
  }
};

TEST_F(Diagnosis, AFailedStepIsASentenceThatNamesEbpf) {
  const LibbpfWords said{.last_line = "a line of libbpf's", .refused_program = {}, .verifiers_reason = {}};
  const Failure failure = explain_failure("load the programs", EINVAL, said);
  EXPECT_EQ(failure.reason, "Cannot load the programs for eBPF: Invalid argument (EINVAL) (a line of libbpf's)");
}

TEST_F(Diagnosis, WhatTheVerifierRefusesIsNeverAPermission) {
  LibbpfWords said;
  said.hear(kRefused);
  for (const int error : {EACCES, EPERM, EINVAL, E2BIG}) {
    const Failure failure = explain_failure("load the programs", error, said);
    EXPECT_NE(failure.reason.find("refuses the BPF program on_sys_enter; the end of its log: \"; if (lane"),
              std::string::npos)
        << failure.reason;
    EXPECT_NE(failure.reason.find("R1 unbounded memory access"), std::string::npos) << failure.reason;
    for (const std::string& text : {failure.reason, failure.how_to_fix}) {
      EXPECT_EQ(text.find("ermission"), std::string::npos) << text;
      EXPECT_EQ(text.find("CAP_"), std::string::npos) << text;
    }
  }
}

TEST_F(Diagnosis, ADenialWithoutAWordOfTheVerifiersIsNotAboutFolders) {
  const Failure failure = explain_failure("load the programs", EACCES, {});
  EXPECT_EQ(failure.how_to_fix.find("folders"), std::string::npos) << failure.how_to_fix;
}

// The same with a real libbpf and a real verifier: its first instruction reads a register that was never written.
TEST_F(Diagnosis, ARealRefusalIsToldWithTheVerifiersLastLines) {
  if (const auto missing = missing_permission(read_confinement())) GTEST_SKIP() << missing->reason;
  if (const auto api = open_libbpf(); !api.ok()) GTEST_SKIP() << api.failure().reason;
  void* library = dlopen("libbpf.so.1", RTLD_NOW | RTLD_LOCAL);
  auto* instructions = reinterpret_cast<decltype(&bpf_program__insns)>(dlsym(library, "bpf_program__insns"));
  auto* count = reinterpret_cast<decltype(&bpf_program__insn_cnt)>(dlsym(library, "bpf_program__insn_cnt"));
  auto* replace = reinterpret_cast<decltype(&bpf_program__set_insns)>(dlsym(library, "bpf_program__set_insns"));
  ASSERT_TRUE(instructions != nullptr && count != nullptr && replace != nullptr);

  const LibbpfLog log;
  const std::unique_ptr<syscost_bpf, decltype(&syscost_bpf::destroy)> skeleton(syscost_bpf::open(),
                                                                               syscost_bpf::destroy);
  ASSERT_NE(skeleton, nullptr) << log.words().last_line;
  bpf_program* program = skeleton->progs.on_signal_deliver;
  ASSERT_EQ(libbpf().bpf_program__set_autoload(program, true), 0);
  std::vector<bpf_insn> code(instructions(program), instructions(program) + count(program));
  code.front() = {.code = BPF_LDX | BPF_MEM | BPF_DW, .dst_reg = 0, .src_reg = 2, .off = 0, .imm = 0};
  ASSERT_EQ(replace(program, code.data(), code.size()), 0);
  const int error = syscost_bpf::load(skeleton.get());
  if (error == -EPERM) GTEST_SKIP() << "bpf(2) is denied here";
  ASSERT_EQ(error, -EACCES) << log.words().last_line;

  const Failure failure = explain_failure("load the programs", -error, log.words());
  EXPECT_NE(failure.reason.find("refuses the BPF program on_signal_deliver"), std::string::npos) << failure.reason;
  EXPECT_NE(failure.reason.find("\"R2 !read_ok\""), std::string::npos) << failure.reason;
}

}  // namespace
}  // namespace syscost::ebpf
