// SPDX-License-Identifier: MIT
#include "extras/where/symbols/helper/module_symbols.h"

#include <dwarf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "extras/where/symbols/helper/function_names.h"

namespace syscost::symbols {
namespace {

/// Nothing real is deeper. A hostile file may be.
constexpr int kDeepest = 100;
/// Entries of debug information that one file may cost. The largest programs have some ten million in one unit.
constexpr std::uint64_t kMostSteps = 100'000'000;

int find_no_elf(Dwfl_Module* /*module*/, void** /*userdata*/, const char* /*name*/, Dwarf_Addr /*base*/,
                char** /*path*/, Elf** /*elf*/) {
  return -1;
}

int take_module(Dwfl_Module* module, void** /*userdata*/, const char* /*name*/, Dwarf_Addr /*base*/, void* into) {
  *static_cast<Dwfl_Module**>(into) = module;
  return DWARF_CB_ABORT;
}

std::string hexadecimal(const unsigned char* bytes, int count) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += kDigits[bytes[i] >> 4U];
    text += kDigits[bytes[i] & 15U];
  }
  return text;
}

/// `/usr/bin/../include/c++/12/ostream` is `/usr/include/c++/12/ostream`. clang writes paths from the folder in which
/// it ran; with -ffile-prefix-map that folder is relative, too.
std::string normalised(const std::string& folder, const char* path) {
  if (path == nullptr) return {};
  return (std::filesystem::path(folder) / path).lexically_normal().string();
}

std::uint32_t as_line(Dwarf_Word value) {
  return value <= 0x7fff'ffffU ? static_cast<std::uint32_t>(value) : 0;
}

}  // namespace

ModuleSymbols::ModuleSymbols(const std::string& path, const std::string& build_id) : dw_(libdw()) {
  open(path, build_id);
}

ModuleSymbols::~ModuleSymbols() {
  if (dwfl_ != nullptr) dw_.dwfl_end(dwfl_);
}

// ---- the file -------------------------------------------------------------------------------------------------------

void ModuleSymbols::open(const std::string& path, const std::string& build_id) {
  // O_NONBLOCK: the name may be a pipe's by now.
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0) {
    reason_ = std::string("cannot be opened: ") + std::strerror(errno);
    return;
  }
  struct stat status {};
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
    close(file);
    reason_ = "is no longer a file";
    return;
  }
  // The standard search with the standard folders. It would also ask debuginfod, if DEBUGINFOD_URLS were set, which
  // main() prevents.
  static char* debug_folders = nullptr;
  static const Dwfl_Callbacks callbacks{.find_elf = find_no_elf,
                                        .find_debuginfo = dw_.dwfl_standard_find_debuginfo,
                                        .section_address = dw_.dwfl_offline_section_address,
                                        .debuginfo_path = &debug_folders};
  dwfl_ = dw_.dwfl_begin(&callbacks);
  if (dwfl_ == nullptr) {
    close(file);
    reason_ = "cannot be read: out of memory";
    return;
  }
  dw_.dwfl_report_begin(dwfl_);
  // Takes the descriptor if it succeeds.
  if (dw_.dwfl_report_offline(dwfl_, path.c_str(), path.c_str(), file) == nullptr) {
    const char* why = dw_.dwfl_errmsg(-1);
    reason_ = std::string("cannot be read as an ELF file: ") + (why != nullptr ? why : "unknown error");
    close(file);
    return;
  }
  dw_.dwfl_report_end(dwfl_, nullptr, nullptr);
  dw_.dwfl_getmodules(dwfl_, take_module, &module_, 0);
  if (module_ == nullptr || dw_.dwfl_module_getelf(module_, &elf_bias_) == nullptr) {
    reason_ = "cannot be read as an ELF file";
    return;
  }
  const unsigned char* bytes = nullptr;
  GElf_Addr where = 0;
  const int count = dw_.dwfl_module_build_id(module_, &bytes, &where);
  if (hexadecimal(bytes, std::max(count, 0)) != build_id) {
    reason_ = "has changed since the program loaded it";
    return;
  }
  dwarf_ = dw_.dwfl_module_getdwarf(module_, &dwarf_bias_);
  if (dwarf_ != nullptr) read_units();
}

bool ModuleSymbols::take_step() {
  return ++steps_ < kMostSteps;
}

/// Notes which unit has the code of which addresses.
void ModuleSymbols::read_units() {
  Dwarf_CU* cu = nullptr;
  Dwarf_CU* next = nullptr;
  Dwarf_Die die;
  std::uint8_t type = 0;
  while (take_step() && dw_.dwarf_get_units(dwarf_, cu, &next, nullptr, &type, &die, nullptr) == 0) {
    cu = next;
    if (type != DW_UT_compile && type != DW_UT_skeleton) continue;
    const std::size_t index = units_.size();
    Dwarf_Attribute attribute;
    const char* folder = dw_.dwarf_formstring(dw_.dwarf_attr(&die, DW_AT_comp_dir, &attribute));
    units_.push_back({die, die, folder != nullptr ? folder : "", std::nullopt});
    std::ptrdiff_t offset = 0;
    Dwarf_Addr base = 0;
    Dwarf_Addr begin = 0;
    Dwarf_Addr end = 0;
    while (take_step() && (offset = dw_.dwarf_ranges(&die, offset, &base, &begin, &end)) > 0) {
      // Functions that the linker left out begin at 0.
      if (begin < end && begin != 0) unit_stretches_.push_back({begin, end, index});
    }
  }
  // If two units have a copy of one function, the linker keeps the first one's code, and both say that it is theirs.
  // The search goes backwards.
  std::stable_sort(unit_stretches_.begin(), unit_stretches_.end(), [](const UnitStretch& a, const UnitStretch& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.unit > b.unit;
  });
}

ModuleSymbols::Unit* ModuleSymbols::unit_at(Dwarf_Addr pc) {
  auto at = std::upper_bound(unit_stretches_.begin(), unit_stretches_.end(), pc,
                             [](Dwarf_Addr value, const UnitStretch& stretch) { return value < stretch.begin; });
  // Units do not overlap in files that compilers make. In others, a few steps must do.
  for (int tries = 0; at != unit_stretches_.begin() && tries < 16; ++tries) {
    --at;
    if (pc < at->end) return &units_[at->unit];
  }
  return nullptr;
}

// ---- functions ------------------------------------------------------------------------------------------------------

/// Adds the stretches of all functions below `parent`.
void ModuleSymbols::collect_functions(Dwarf_Die& parent, std::vector<Stretch>& into, int depth) {
  Dwarf_Die die;
  if (depth > kDeepest || dw_.dwarf_child(&parent, &die) != 0) return;
  do {
    const int tag = dw_.dwarf_tag(&die);
    if (tag == DW_TAG_subprogram) {
      std::ptrdiff_t offset = 0;
      Dwarf_Addr base = 0;
      Dwarf_Addr begin = 0;
      Dwarf_Addr end = 0;
      while (take_step() && (offset = dw_.dwarf_ranges(&die, offset, &base, &begin, &end)) > 0) {
        if (begin < end && begin != 0) into.push_back({begin, end, die});
      }
    }
    if (tag != DW_TAG_inlined_subroutine) collect_functions(die, into, depth + 1);
  } while (take_step() && dw_.dwarf_siblingof(&die, &die) == 0);
}

const Dwarf_Die* ModuleSymbols::function_at(Unit& unit, Dwarf_Addr pc) {
  if (!unit.functions.has_value()) {
    // Opens the .dwo file, if there is one.
    std::uint8_t type = 0;
    Dwarf_Die split{};
    if (dw_.dwarf_cu_info(unit.lines.cu, nullptr, &type, nullptr, &split, nullptr, nullptr, nullptr) == 0 &&
        type == DW_UT_skeleton && split.addr != nullptr) {
      unit.tree = split;
    }
    collect_functions(unit.tree, unit.functions.emplace(), 0);
    std::stable_sort(unit.functions->begin(), unit.functions->end(),
                     [](const Stretch& a, const Stretch& b) { return a.begin < b.begin; });
  }
  auto at = std::upper_bound(unit.functions->begin(), unit.functions->end(), pc,
                             [](Dwarf_Addr value, const Stretch& stretch) { return value < stretch.begin; });
  for (int tries = 0; at != unit.functions->begin() && tries < 16; ++tries) {
    --at;
    if (pc < at->end) return &at->die;
  }
  return nullptr;
}

/// Adds the inlined functions of `parent` that hold `pc`, outermost first.
void ModuleSymbols::collect_inlined(Dwarf_Die parent, Dwarf_Addr pc, std::vector<Dwarf_Die>& chain, int depth) {
  Dwarf_Die die;
  if (depth > kDeepest || dw_.dwarf_child(&parent, &die) != 0) return;
  do {
    const int tag = dw_.dwarf_tag(&die);
    const bool is_inlined = tag == DW_TAG_inlined_subroutine;
    if (!is_inlined && tag != DW_TAG_lexical_block && tag != DW_TAG_try_block && tag != DW_TAG_catch_block) continue;
    const int has = dw_.dwarf_haspc(&die, pc);
    if (has == 1) {
      if (is_inlined) chain.push_back(die);
      return collect_inlined(die, pc, chain, depth + 1);
    }
    // A block without addresses of its own.
    Dwarf_Attribute attribute;
    if (!is_inlined && dw_.dwarf_attr(&die, DW_AT_low_pc, &attribute) == nullptr &&
        dw_.dwarf_attr(&die, DW_AT_ranges, &attribute) == nullptr) {
      const std::size_t before = chain.size();
      collect_inlined(die, pc, chain, depth + 1);
      if (chain.size() > before) return;
    }
  } while (take_step() && dw_.dwarf_siblingof(&die, &die) == 0);
}

// ---- symbols --------------------------------------------------------------------------------------------------------

/// The name of the symbol that holds `address`; empty if none does.
std::string ModuleSymbols::symbol_at(Dwarf_Addr address) {
  GElf_Off offset = 0;
  GElf_Sym symbol{};
  const char* name = dw_.dwfl_module_addrinfo(module_, address, &offset, &symbol, nullptr, nullptr, nullptr);
  // A symbol without a size is only the nearest one.
  if (name == nullptr || offset >= symbol.st_size) return {};
  return name_of_symbol(name);
}

// ---- lines ----------------------------------------------------------------------------------------------------------

void ModuleSymbols::add_line(Unit& unit, Dwarf_Addr pc, SourceFrame& frame) const {
  Dwarf_Line* const line = dw_.dwarf_getsrc_die(&unit.lines, pc);
  if (line == nullptr) return;
  int number = 0;
  if (dw_.dwarf_lineno(line, &number) != 0 || number <= 0) return;  // 0: the compiler made the code
  frame.line = static_cast<std::uint32_t>(number);
  frame.file = normalised(unit.folder, dw_.dwarf_linesrc(line, nullptr, nullptr));
}

void ModuleSymbols::add_first_line(const Unit& unit, Dwarf_Die& die, SourceFrame& frame) const {
  Dwarf_Attribute attribute;
  Dwarf_Word line = 0;
  if (dw_.dwarf_formudata(dw_.dwarf_attr_integrate(&die, DW_AT_decl_line, &attribute), &line) != 0) return;
  // A body that comes from another file has no distance from the function's first line.
  if (as_line(line) <= frame.line &&
      std::string_view(frame.file) == normalised(unit.folder, dw_.dwarf_decl_file(&die))) {
    frame.first_line = as_line(line);
  }
}

// ---- a place --------------------------------------------------------------------------------------------------------

/// True for the code to which a signal handler returns.
bool ModuleSymbols::is_signal_frame(Dwarf_Addr address) {
  Dwarf_Addr bias = 0;
  Dwarf_CFI* const cfi = dw_.dwfl_module_eh_cfi(module_, &bias);
  Dwarf_Frame* frame = nullptr;
  if (cfi == nullptr || dw_.dwarf_cfi_addrframe(cfi, address - bias, &frame) != 0) return false;
  bool is_signal = false;
  dw_.dwarf_frame_info(frame, nullptr, nullptr, &is_signal);
  std::free(frame);
  return is_signal;
}

Place ModuleSymbols::at(Address address) {
  std::pmr::memory_resource* const memory = std::pmr::get_default_resource();
  Place place(memory);
  const Dwarf_Addr exact = address.offset + elf_bias_;
  const Dwarf_Addr inside = address.is_exact ? exact : exact - 1;
  place.is_signal_frame = is_signal_frame(exact);
  const std::string symbol = symbol_at(inside);
  const Dwarf_Addr pc = inside - dwarf_bias_;
  Unit* const unit = dwarf_ != nullptr ? unit_at(pc) : nullptr;
  if (unit == nullptr) {
    if (!symbol.empty()) place.frames.emplace_back(memory).function = symbol;
    return place;
  }
  std::vector<Dwarf_Die> chain;  // outermost first
  if (const Dwarf_Die* function = function_at(*unit, pc); function != nullptr) {
    chain.push_back(*function);
    collect_inlined(*function, pc, chain, 0);
  }
  SourceFrame innermost(memory);
  add_line(*unit, pc, innermost);
  if (chain.empty()) {
    innermost.function = symbol;
    if (!symbol.empty() || innermost.line != 0) place.frames.push_back(std::move(innermost));
    return place;
  }
  SourceFrame frame = std::move(innermost);
  Dwarf_Files* files = nullptr;
  std::size_t file_count = 0;
  dw_.dwarf_getsrcfiles(&unit->tree, &files, &file_count);
  for (std::size_t i = chain.size(); i-- > 0;) {
    Dwarf_Die& die = chain[i];
    frame.function = names_.name_of(die, i == 0 ? symbol : std::string());
    add_first_line(*unit, die, frame);
    place.frames.push_back(std::move(frame));
    // The next one is where this one was inlined.
    frame = SourceFrame(memory);
    Dwarf_Attribute attribute;
    Dwarf_Word number = 0;
    if (dw_.dwarf_formudata(dw_.dwarf_attr(&die, DW_AT_call_line, &attribute), &number) == 0) {
      frame.line = as_line(number);
    }
    if (files != nullptr && dw_.dwarf_formudata(dw_.dwarf_attr(&die, DW_AT_call_file, &attribute), &number) == 0 &&
        number < file_count) {
      frame.file = normalised(unit->folder, dw_.dwarf_filesrc(files, number, nullptr, nullptr));
    }
    if (frame.line == 0 || frame.file.empty()) {
      frame.line = 0;
      frame.file.clear();
    }
  }
  return place;
}

}  // namespace syscost::symbols
