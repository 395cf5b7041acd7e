/* SPDX-License-Identifier: MIT OR GPL-2.0
 *
 * Which character devices are terminals, by their major numbers: Documentation/admin-guide/devices.txt. Included by BPF
 * programs, too: C.
 */
#ifndef SYSCOST_CORE_TABLES_TERMINALS_H_
#define SYSCOST_CORE_TABLES_TERMINALS_H_

/* Consoles and serial lines; /dev/tty, /dev/console and /dev/ptmx; pseudo terminals; serial lines by USB and by other
 * drivers; consoles of hypervisors. */
#define SYSCOST_IS_TERMINAL(major)                                                                           \
  ((major) == 4 || (major) == 5 || ((major) >= 136 && (major) <= 143) || (major) == 166 || (major) == 188 || \
   (major) == 204 || (major) == 229)

#endif
