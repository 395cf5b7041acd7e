#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Control groups: a group pays for its own processes, and what becomes of it does not touch the measurements of others.

control_groups_test.py BIN HELPER LIBRARY, as strangers_test.py.
"""
import os
import signal

import stage
from stage import STRANGER, helpers, names

NAME = f"syscost-test-{os.getpid()}"


def hierarchies(*controllers):
    """Where a group can be made: in the hierarchies of the first version that have these controllers, and in that of the second."""
    found = []
    with open("/proc/self/mounts", encoding="utf-8") as mounts:
        for line in mounts:
            _, folder, kind, options, *_ = line.split()
            if kind == "cgroup2" or kind == "cgroup" and set(options.split(",")) & set(controllers):
                found.append(folder)
    return found


class ControlGroups(stage.Stage):
    def group(self, name, *controllers):
        """Folders of a new group; of the test's own processes none is in it."""
        made = []
        for folder in hierarchies(*controllers):
            path = os.path.join(folder, f"{NAME}-{name}")
            try:
                os.mkdir(path)
            except OSError as error:
                self.skipTest(f"no control group can be made here: {error}")
            self.addCleanup(self.remove, path)
            made.append(path)
        if not made:
            self.skipTest("no control groups are mounted")
        return made

    def remove(self, path):
        self.end_all()
        for helper in helpers():
            os.kill(helper, signal.SIGKILL)
        # The end of its last process is no event for us.
        def is_removed():
            try:
                os.rmdir(path)
            except OSError:
                return False
            return True
        self.wait_until(is_removed, f"{path} has processes")

    def groups_of(self, pid):
        with open(f"/proc/{pid}/cgroup", encoding="utf-8") as text:
            return text.read()

    def freeze(self, group, frozen):
        for folder in group:
            for file, words in (("cgroup.freeze", "01"), ("freezer.state", ("THAWED", "FROZEN"))):
                path = os.path.join(folder, file)
                if os.path.exists(path):
                    with open(path, "w", encoding="ascii") as state:
                        state.write(words[frozen])

    def test_each_group_has_a_helper_that_it_pays_for(self):
        inside, outside = self.victim(group=self.group("a", "memory", "freezer")), self.victim()
        beside = self.victim()
        self.assertEqual(len(names()), 2)
        victims = {self.groups_of(victim.process.pid) for victim in (inside, outside)}
        self.assertEqual({self.groups_of(helper) for helper in helpers()}, victims)
        for victim in (inside, outside, beside):
            self.assert_sound(victim, exact=True)

    def test_a_frozen_group_keeps_no_other_waiting(self):
        group = self.group("a", "freezer")
        inside = self.victim(group=group, test="Loops")
        self.freeze(group, True)
        self.addCleanup(self.freeze, group, False)
        self.assert_sound(self.victim(test="Loops"), exact=True)
        self.assert_sound(self.victim(group=self.group("b", "freezer"), test="Loops"), exact=True)
        self.freeze(group, False)
        self.assert_sound(inside, exact=True)

    def test_a_group_that_is_killed_takes_no_counts_of_others_with_it(self):
        self.victim(group=self.group("a", "memory"))
        outside = self.victim(test="Loops")
        for pid in helpers() + [one.process.pid for one in self.running]:
            if f"{NAME}-a" in self.groups_of(pid):
                os.kill(pid, signal.SIGKILL)
        self.assert_sound(outside, exact=True)

    def test_the_helper_for_everyone_gives_no_more_places_than_its_group_has_memory_for(self):
        group = self.group("a", "memory")
        limits = [path for folder in group for name in ("memory.limit_in_bytes", "memory.max")
                  if os.path.exists(path := os.path.join(folder, name))]
        if not limits:
            self.skipTest("the groups here limit no memory")
        with open(limits[0], "w", encoding="ascii") as limit:
            limit.write("64M")
        procs = [os.path.join(folder, "cgroup.procs") for folder in group]
        helper = self.serve_everyone(before=(stage.PYTHON, "-c", stage.ENTER, *procs, ",", "0"))
        ends = [victim.end() for victim in [self.victim(user=STRANGER) for _ in range(12)]]
        letters = "".join(letter for letter, _ in ends)
        self.assertRegex("".join(sorted(letters)), "^=+R+$", ends)
        self.assertIn("has memory for", ends[-1][1])
        self.assertIsNone(helper.poll(), "the kernel killed the helper")

    def test_a_user_has_only_a_few_helpers_with_rights_that_are_not_the_users(self):
        library = self.library_with()
        victims = [self.victim(user=STRANGER, group=self.group(str(i), "memory"), LD_LIBRARY_PATH=library) for i in range(17)]
        ends = [victim.end() for victim in victims]
        self.assertEqual([letter for letter, _ in ends], ["="] * 16 + ["R"], ends[-1])
        self.assertIn("16 other control groups", ends[-1][1])
        self.assert_sound(self.victim(user=STRANGER, LD_LIBRARY_PATH=library), exact=True)


if __name__ == "__main__":
    stage.main()
