// SPDX-License-Identifier: MIT
//
// ModuleSymbols: the names and lines of one ELF file, from its debug information or its symbol table.
//
// The debug information may be in the file, in a separate file (.gnu_debuglink, /usr/lib/debug/.build-id), or in .dwo
// files. It is looked for on this machine only.
//
// We walk the tree of functions ourselves, because libdw's own search takes two ways that are wrong here: it needs
// .debug_aranges, which clang does not write, and with link-time optimisation it leaves the unit that holds the code.
#pragma once

#include <cstdint>
#include <memory>
#include <memory_resource>
#include <optional>
#include <string>
#include <vector>

#include "extras/where/symbols/helper/function_names.h"
#include "extras/where/symbols/helper/libdw_api.h"
#include "extras/where/symbols/protocol.h"

namespace syscost::symbols {

class ModuleSymbols {
 public:
  /// Opens the file. If it cannot be used, reason() says why: it is gone, or it is not the file with `build_id`.
  ModuleSymbols(const std::string& path, const std::string& build_id);
  ~ModuleSymbols();
  ModuleSymbols(const ModuleSymbols&) = delete;
  ModuleSymbols& operator=(const ModuleSymbols&) = delete;

  /// "cannot be opened: No such file or directory"; empty = it is open.
  const std::string& reason() const { return reason_; }

  /// The facts that are known of `address`. Only if reason() is empty.
  Place at(Address address);

 private:
  /// A stretch of code [begin, end) of a unit or of a function; functions inside it lie later in the vector.
  struct Stretch {
    Dwarf_Addr begin;
    Dwarf_Addr end;
    Dwarf_Die die;
  };
  struct Unit {
    Dwarf_Die lines;     ///< The unit that has the line table; of split debug information, its skeleton.
    Dwarf_Die tree;      ///< The unit that has the functions.
    std::string folder;  ///< In which the compiler ran: relative paths begin there.
    std::optional<std::vector<Stretch>> functions;
  };
  struct UnitStretch {
    Dwarf_Addr begin;
    Dwarf_Addr end;
    std::size_t unit;
  };

  void open(const std::string& path, const std::string& build_id);
  void read_units();
  Unit* unit_at(Dwarf_Addr pc);
  const Dwarf_Die* function_at(Unit& unit, Dwarf_Addr pc);
  void collect_functions(Dwarf_Die& parent, std::vector<Stretch>& into, int depth);
  bool take_step();
  void collect_inlined(Dwarf_Die parent, Dwarf_Addr pc, std::vector<Dwarf_Die>& chain, int depth);
  void add_line(Unit& unit, Dwarf_Addr pc, SourceFrame& frame) const;
  void add_first_line(const Unit& unit, Dwarf_Die& die, SourceFrame& frame) const;
  bool is_signal_frame(Dwarf_Addr address);
  std::string symbol_at(Dwarf_Addr address);

  const LibdwApi& dw_;
  Dwfl* dwfl_ = nullptr;
  Dwfl_Module* module_ = nullptr;
  Dwarf_Addr elf_bias_ = 0;
  Dwarf* dwarf_ = nullptr;
  Dwarf_Addr dwarf_bias_ = 0;
  std::string reason_;
  std::vector<Unit> units_;
  std::vector<UnitStretch> unit_stretches_;  // by begin
  EntryNames names_{dw_};
  std::uint64_t steps_ = 0;
};

}  // namespace syscost::symbols
