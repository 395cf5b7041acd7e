/* SPDX-License-Identifier: MIT OR GPL-2.0
 *
 * Where the number of bytes that a call moves, or maps, comes from, and which descriptors they go through.
 * bytes_moved.inc says it for each syscall. Included by BPF programs, too: C.
 */
#ifndef SYSCOST_CORE_TABLES_BYTE_SOURCES_H_
#define SYSCOST_CORE_TABLES_BYTE_SOURCES_H_

/* NOLINTBEGIN(readability-identifier-naming): C, as the BPF side writes it */
enum syscost_byte_source {
  SYSCOST_BYTES_NONE = 0,      /* the call moves none, or nothing says how many */
  SYSCOST_BYTES_RESULT = 1,    /* its result */
  SYSCOST_BYTES_SIZE_2 = 2,    /* its result; argument 2 is the size that was asked for */
  SYSCOST_BYTES_SIZE_3 = 3,    /* argument 3 */
  SYSCOST_BYTES_SIZE_4 = 4,    /* argument 4 */
  SYSCOST_BYTES_SIZE_5 = 5,    /* argument 5 */
  SYSCOST_BYTES_OPENS_1 = 6,   /* none; it opens the path that is argument 1; its flags are the next one */
  SYSCOST_BYTES_OPENS_2 = 7,   /* argument 2 */
  SYSCOST_BYTES_OPENS_HOW = 8, /* argument 2; argument 3 points to the flags */
  SYSCOST_BYTES_LENGTH = 9,    /* mapped: argument 2, in whole pages */
  SYSCOST_BYTES_RELEASE = 10,  /* unmapped: argument 2, in whole pages */
  SYSCOST_BYTES_REMAP = 11,    /* mremap: from argument 2 to argument 3, in whole pages */
  SYSCOST_BYTES_BREAK = 12,    /* brk: from the break before the call to its result, in whole pages */
  SYSCOST_BYTES_UNSAID = 13,   /* mapped, and nothing in the call says how much: no bytes are counted */
};

/* Of the flags of an open: bits that say whether it reads, those of O_WRONLY, and O_DSYNC, which O_SYNC has, too: each
 * write to the file ends on the disk. */
#define SYSCOST_OPEN_MODE 3
#define SYSCOST_OPEN_TO_WRITE 1
#define SYSCOST_OPEN_SYNC 0x1000
#define SYSCOST_SYNCS_WRITES(flags) (((flags)&SYSCOST_OPEN_SYNC) != 0 && ((flags)&SYSCOST_OPEN_MODE) != 0)

/* True if a text begins with a folder of files that the kernel writes at the moment when they are read: /proc/, /sys/.
 * `text`: 6 bytes. */
#define SYSCOST_NAMES_KERNEL_FILE(text)                                                                   \
  ((text)[0] == '/' &&                                                                                    \
   (((text)[1] == 'p' && (text)[2] == 'r' && (text)[3] == 'o' && (text)[4] == 'c' && (text)[5] == '/') || \
    ((text)[1] == 's' && (text)[2] == 'y' && (text)[3] == 's' && (text)[4] == '/')))

/* The descriptors that the data goes through, by argument. */
enum syscost_moving_files {
  SYSCOST_FILES_NONE = 0,
  SYSCOST_FILES_1 = 1,
  SYSCOST_FILES_2_TO_1 = 2, /* sendfile */
  SYSCOST_FILES_1_TO_2 = 3, /* tee */
  SYSCOST_FILES_1_TO_3 = 4, /* splice, copy_file_range */
};
/* NOLINTEND(readability-identifier-naming) */

/* SYSCOST_BYTES_UNSAID, for the peak of mapped memory: shmat, io_setup, map_shadow_stack; of i386 mmap with its
 * arguments in memory, ipc (shmat), io_setup, shmat; of x32 shmat, map_shadow_stack, io_setup. x(abi, number) */
#define SYSCOST_UNSAID_MAPPINGS(x) \
  x(0, 30) x(0, 206) x(0, 453) x(1, 90) x(1, 117) x(1, 245) x(1, 397) x(2, 30) x(2, 453) x(2, 543)

/* mremap's flag: the old mapping stays. */
#define SYSCOST_REMAP_KEEPS_OLD 4

#define SYSCOST_WHOLE_PAGES(bytes) (((bytes) + 4095) & ~4095ULL)

#endif
