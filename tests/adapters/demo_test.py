# SPDX-License-Identifier: MIT
"""What `./dev demo` shows an ordinary user: 1024 against 1 if any backend is allowed, else a reason.

tools/prove-bare checks a clean clone and its build; this checks what comes after the build."""
import os
import re
import subprocess
import tempfile

from adapter_case import BIN, DENY, Case, automatic, environment, main
from surroundings_test import ORDINARY, ROOT, needs

SHOW = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "show_demo")


@ROOT
@needs("setpriv")
class Demo(Case):
    def show(self, denied=None):
        """What it prints, and its exit code."""
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o777)
            deny = [DENY, "EPERM", denied] if denied else []
            done = subprocess.run([*ORDINARY, "--bounding-set=-all", "--no-new-privs", *deny, SHOW, BIN, folder],
                                  env=environment(SYSCOST_QUICK="1"), stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, check=False)
            return done.stdout, done.returncode

    def check(self, backend, denied=None):
        self.needs(backend)
        out, code = self.show(denied)
        self.assertEqual(code, 0, out)
        taken = set(re.findall(r"^syscost: backend (\w+)", out, re.MULTILINE))
        self.assertEqual(taken, {backend}, out)
        # If a better backend cannot work, the output names it, and where to read what would change that.
        self.assertRegex(out, r"not ebpf: .*CAP_BPF.*\(see --syscost_doctor\)")
        self.assertRegex(out, r"(?m)^ManySmallWrites -> SingleBatchedWrite .* 1024 -> 1 .*-1023 write")

    def test_counts_without_any_privilege(self):
        self.check(automatic("ebpf"))

    def test_counts_where_bpf_is_denied(self):
        self.check(automatic("ebpf"), "bpf")

    def test_counts_by_seccomp_where_dispatch_is_denied(self):
        self.check("seccomp", "prctl")

    def test_counts_by_dispatch_where_seccomp_is_denied(self):
        self.check("dispatch", "seccomp")

    def test_ends_with_2_and_says_why_where_nothing_can_count(self):
        out, code = self.show("bpf,prctl,seccomp")
        self.assertEqual(code, 2, out)
        for word in ("no backend can count here", "ebpf: ", "dispatch: ", "seccomp: ", "fix: "):
            self.assertIn(word, out)
        self.assertNotIn("1024 -> 1", out)


if __name__ == "__main__":
    main()
