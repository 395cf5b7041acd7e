// SPDX-License-Identifier: MIT
//
// Unwind tables that say anything: packers, obfuscators and linkers' bugs make those, and nothing but an exception ever
// reads them.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "agent/find/relocations.h"
#include "fuzz_tables.h"
#include "libc/symbols.h"
#include "os/program_files.h"

namespace syscost::dispatch {
namespace {

/// Bytes that make numbers and lengths lead far away.
constexpr std::array<std::uint8_t, 5> kFar{0, 0xff, 0x7f, 0x80, 0x0f};

/// With tables that the kernel copies, and where a filter may forbid that.
class ChangedTables : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (!fuzz::can_unwind_library()) GTEST_SKIP() << "this C library has no _dl_find_object";
    fuzz::copy_tables_by_kernel(GetParam());
  }
  void TearDown() override { fuzz::copy_tables_by_kernel(false); }
};
INSTANTIATE_TEST_SUITE_P(Ways, ChangedTables, testing::Bool(),
                         [](const auto& way) { return way.param ? "copied" : "asked_for"; });

TEST_P(ChangedTables, UnchangedTheyFindAllFrames) {
  fuzz::unwind_by_any_table(nullptr, 0);
}

// Each byte of the header, of the sorted table and of all entries, as numbers and lengths that lead far away.
TEST_P(ChangedTables, OfOneByteBreakNothing) {
  for (std::size_t at = 0; at < fuzz::bytes_of_tables(); ++at) {
    for (const std::uint8_t value : kFar) {
      const std::array<std::uint8_t, 3> change{static_cast<std::uint8_t>(at), static_cast<std::uint8_t>(at >> 8),
                                               value};
      fuzz::unwind_by_any_table(change.data(), change.size());
    }
  }
}

TEST_P(ChangedTables, ByChanceBreakNothing) {
  std::mt19937 random(42);
  std::vector<std::uint8_t> changes;
  for (int i = 0; i < 5000; ++i) {
    changes.resize(3 * (1 + random() % (i % 2 == 0 ? 4 : 200)));
    for (std::size_t at = 0; at < changes.size(); ++at) {
      const bool is_far = at % 3 == 2 && random() % 2 == 0;
      changes[at] = is_far ? kFar[random() % kFar.size()] : static_cast<std::uint8_t>(random());
    }
    fuzz::unwind_by_any_table(changes.data(), changes.size());
  }
}

// ---- where the loader finds them ------------------------------------------------------------------------------------

/// A changed copy of the library, in memory.
class Copy {
 public:
  Copy() {
    std::ifstream in(SYSCOST_UNWOUND_LIBRARY, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(in), {});
  }
  /// The first program header of this type; null if there is none.
  ElfW(Phdr) * part(ElfW(Word) type) {
    ElfW(Ehdr) header;
    std::memcpy(&header, bytes_.data(), sizeof header);
    auto* parts = reinterpret_cast<ElfW(Phdr)*>(bytes_.data() + header.e_phoff);
    for (int i = 0; i < header.e_phnum; ++i) {
      if (parts[i].p_type == type) return parts + i;
    }
    return nullptr;
  }
  /// The table of symbols' hashes: the filter, and where each search begins.
  struct Hashes {
    std::uint32_t* head = nullptr;
    ElfW(Addr) * filter = nullptr;
    std::uint32_t* beginnings = nullptr;
  };
  Hashes hashes() {
    const ElfW(Phdr)* const dynamic = part(PT_DYNAMIC);
    auto* entry = reinterpret_cast<ElfW(Dyn)*>(bytes_.data() + dynamic->p_offset);
    while (entry->d_tag != DT_GNU_HASH) ++entry;
    // It lies in the first segment, in which addresses are places of the file.
    auto* head = reinterpret_cast<std::uint32_t*>(bytes_.data() + entry->d_un.d_ptr);
    auto* filter = reinterpret_cast<ElfW(Addr)*>(head + 4);
    return {head, filter, reinterpret_cast<std::uint32_t*>(filter + head[2])};
  }
  /// Calls `with` while it is loaded.
  template <class With>
  bool load(With with) const {
    const int file = memfd_create("changed library", MFD_CLOEXEC);
    const bool is_written = write(file, bytes_.data(), bytes_.size()) == static_cast<ssize_t>(bytes_.size());
    void* const handle = is_written ? dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_NOW) : nullptr;
    close(file);
    if (handle == nullptr) return false;
    with();
    return dlclose(handle) == 0;
  }
  bool unwind() const {
    const int file = memfd_create("changed library", MFD_CLOEXEC);
    const bool is_written = write(file, bytes_.data(), bytes_.size()) == static_cast<ssize_t>(bytes_.size());
    const bool is_loaded = is_written && fuzz::unwind_in_library(("/proc/self/fd/" + std::to_string(file)).c_str());
    close(file);
    return is_loaded;
  }

 private:
  std::vector<char> bytes_;
};

TEST_P(ChangedTables, OutsideOfTheFileBreakNothing) {
  for (const std::uint64_t place : {std::uint64_t{0}, std::uint64_t{1} << 12, std::uint64_t{1} << 30,
                                    std::uint64_t{1} << 47, ~std::uint64_t{0}, ~std::uint64_t{0} - 4096}) {
    Copy copy;
    ASSERT_NE(copy.part(PT_GNU_EH_FRAME), nullptr);
    copy.part(PT_GNU_EH_FRAME)->p_vaddr = place;
    EXPECT_TRUE(copy.unwind()) << place;
  }
}

TEST_P(ChangedTables, NotesOutsideOfTheFileBreakNothing) {
  for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{4095}, std::uint64_t{1} << 14,
                                     std::uint64_t{1} << 30, ~std::uint64_t{0}, ~std::uint64_t{0} - 4096}) {
    Copy moved;
    ASSERT_NE(moved.part(PT_NOTE), nullptr);
    moved.part(PT_NOTE)->p_vaddr = number;
    EXPECT_TRUE(moved.unwind()) << number;
    Copy longer;
    longer.part(PT_NOTE)->p_filesz = number;
    EXPECT_TRUE(longer.unwind()) << number;
  }
}

// The loader reads no more of this library: its filter says that it has no symbol.
TEST(ChangedHashes, DoNotLeadTheSearchForLibcsFunctionsAway) {
  Copy copy;
  const Copy::Hashes hashes = copy.hashes();
  for (std::uint32_t i = 0; i < hashes.head[2]; ++i) hashes.filter[i] = 0;
  for (std::uint32_t i = 0; i < hashes.head[0]; ++i) hashes.beginnings[i] = 0x7fff'ffff;
  EXPECT_TRUE(copy.load([] {
    const link_map* const libc = libc::find_places().libc;
    ASSERT_NE(libc, nullptr);
    EXPECT_EQ(libc::Module(libc).find("", "getppid"), dlsym(RTLD_DEFAULT, "getppid"));
    EXPECT_EQ(libc::Module(libc).find("get", "ppid"), dlsym(RTLD_DEFAULT, "getppid"));
    EXPECT_EQ(libc::Module(libc).find("", "no_such_function"), nullptr);
  }));
}

// Calls that nothing has made yet: the loader has not looked at their symbols.
TEST(ChangedRelocations, OfSymbolsThatAreNotThereAreLeftOut) {
  struct Object {
    ElfW(Sym) symbols[2];
    char names[8];
    ElfW(Rela) relocations[4];
  } object{};
  std::memcpy(object.names, "\0write", 7);
  object.names[7] = 'x';  // without its end
  object.symbols[1].st_name = 1;
  object.symbols[0].st_name = 0x7fff'ffff;
  for (const auto& [index, symbol] : {std::pair{0U, 1U}, std::pair{1U, 0x7fff'ffffU}, std::pair{2U, 0U}}) {
    object.relocations[index].r_info = ELF64_R_INFO(std::uint64_t{symbol}, R_X86_64_JUMP_SLOT);
  }
  object.relocations[3].r_info = ELF64_R_INFO(std::uint64_t{2}, R_X86_64_JUMP_SLOT);
  ElfW(Phdr) segment{};
  segment.p_type = PT_LOAD;
  segment.p_flags = PF_R;
  segment.p_memsz = segment.p_filesz = sizeof object;
  dl_phdr_info info{};
  info.dlpi_addr = reinterpret_cast<ElfW(Addr)>(&object);
  info.dlpi_phdr = &segment;
  info.dlpi_phnum = 1;
  agent::Relocations its;
  its.object = &info;
  its.symbols = object.symbols;
  its.names = object.names;
  its.tables[1] = object.relocations;
  its.bytes[1] = sizeof object.relocations;
  std::vector<std::string> seen;
  const auto note = [&](const ElfW(Rela)&, std::size_t, const char* name) {
    seen.emplace_back(name);
    return false;
  };
  its.any_of(note);
  ASSERT_FALSE(seen.empty());
  EXPECT_EQ(seen.front(), "write");
  seen.clear();
  its.bytes[1] = sizeof object;  // more than the object has
  its.any_of(note);
  EXPECT_EQ(seen, std::vector<std::string>());
}

TEST(ChangedNotes, HaveABuildIdOnlyIfItIsThere) {
  const auto note = [](std::uint32_t name, std::uint32_t value, const std::string& rest) {
    const ElfW(Nhdr) head{name, value, NT_GNU_BUILD_ID};
    return std::string(reinterpret_cast<const char*>(&head), sizeof head) + std::string("GNU\0", 4) + rest;
  };
  EXPECT_EQ(build_id_in(note(4, 2, "\x01\xab\0\0")), "01ab");
  EXPECT_EQ(build_id_in(note(4, 2, "\x01\xab")), "01ab");
  for (const std::uint32_t far : {3U, 0x7fff'fffcU, 0xffff'fffcU, 0xffff'ffffU}) {
    EXPECT_EQ(build_id_in(note(4, far, "ab")), "") << far;
    EXPECT_EQ(build_id_in(note(far, 2, "ab")), "") << far;
  }
  EXPECT_EQ(build_id_in("GNU"), "");
  EXPECT_EQ(build_id_in({}), "");
}

// Only the kernel can copy what may go at any time.
TEST(UnloadedTables, BreakNothingWhileTheyAreRead) {
  if (!fuzz::can_unwind_library()) GTEST_SKIP() << "this C library has no _dl_find_object";
  fuzz::copy_tables_by_kernel(true);
  std::atomic<std::uint64_t> address{0};
  std::atomic<bool> stops{false};
  std::thread loader([&] {
    while (!stops) {
      void* const handle = dlopen(SYSCOST_TEST_PLUGIN_1, RTLD_NOW);
      address = reinterpret_cast<std::uint64_t>(dlsym(handle, "call_from_plugin")) + 1;
      dlclose(handle);
    }
  });
  while (address == 0) std::this_thread::yield();
  for (int i = 0; i < 20000; ++i) fuzz::unwind_as_if_called_at(address);
  stops = true;
  loader.join();
  fuzz::copy_tables_by_kernel(false);
}

TEST_P(ChangedTables, AsInALibraryWithoutItsHeadersBreakNothing) {
  Copy copy;
  copy.part(PT_GNU_EH_FRAME)->p_type = PT_NULL;
  EXPECT_TRUE(copy.unwind());
}

}  // namespace
}  // namespace syscost::dispatch
