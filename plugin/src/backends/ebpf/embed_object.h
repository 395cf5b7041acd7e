// SPDX-License-Identifier: MIT
//
// Puts a compiled BPF object into the program, under the names by which its skeleton finds it (tools/make_skeleton).
// In one .cc file of a program; NAME is that of the skeleton, FILE a path, a literal.
#pragma once

#define SYSCOST_EMBED_OBJECT(NAME, FILE)                                                           \
  asm(".pushsection .rodata, \"a\"\n"                                                              \
      ".balign 8\n"                                                                                \
      ".globl " NAME "_object, " NAME                                                              \
      "_object_end\n"                                                                              \
      ".hidden " NAME "_object, " NAME "_object_end\n" NAME "_object: .incbin \"" FILE "\"\n" NAME \
      "_object_end:\n"                                                                             \
      ".popsection\n")
