// SPDX-License-Identifier: MIT
//
// The stubs of a list of functions, and what late.cc knows of them. The list has SYSCOST_STUB(function, stand_in) for
// each. One file includes it three times: for the stubs and their slots, for their stand-ins, and for their names.
#pragma once

#include <atomic>

#ifndef __x86_64__
#error "syscost knows x86-64 only"
#endif

#define SYSCOST_SLOTS(table)                          \
  ".pushsection .bss.syscost_late, \"aw\", @nobits\n" \
  ".balign 8\n"                                       \
  ".globl " #table                                    \
  "\n"                                                \
  ".hidden " #table "\n" #table                       \
  ":\n"                                               \
  ".popsection\n"                                     \
  ".text\n"

// A stub jumps to where its slot points. An empty slot has the library loaded first, with every register kept that may
// hold an argument. Hidden: a stub belongs to one program or library, and hides no function of another one.
#define SYSCOST_STUB_TEXT(name)                       \
  ".pushsection .bss.syscost_late, \"aw\", @nobits\n" \
  ".balign 8\n"                                       \
  ".Lslot_" #name                                     \
  ": .skip 8\n"                                       \
  ".popsection\n"                                     \
  ".globl " #name                                     \
  "\n"                                                \
  ".hidden " #name                                    \
  "\n"                                                \
  ".type " #name                                      \
  ", @function\n"                                     \
  ".balign 16\n" #name                                \
  ":\n"                                               \
  "  endbr64\n"                                       \
  "  movq .Lslot_" #name                              \
  "(%rip), %r11\n"                                    \
  "  testq %r11, %r11\n"                              \
  "  jz 1f\n"                                         \
  "  jmp *%r11\n"                                     \
  "1:\n"                                              \
  "  call syscost_late_enter\n"                       \
  "  jmp *.Lslot_" #name                              \
  "(%rip)\n"                                          \
  ".size " #name ", . - " #name "\n"

// The addresses of the stand-ins: SYSCOST_STAND_IN_TEXT for each of the list.
#define SYSCOST_STAND_INS(table)                     \
  ".pushsection .data.rel.ro.syscost_late, \"aw\"\n" \
  ".balign 8\n"                                      \
  ".globl " #table                                   \
  "\n"                                               \
  ".hidden " #table "\n" #table ":\n"
#define SYSCOST_STAND_IN_TEXT(stand_in) ".quad " #stand_in "\n"
#define SYSCOST_STAND_INS_END ".popsection\n"

namespace syscost::late {

struct Stubs {
  const char* names;  // in the order of the slots; an empty one ends them
  std::atomic<void*>* slots;
  void* const* stand_ins;  // what runs where the library cannot be loaded
};

}  // namespace syscost::late
