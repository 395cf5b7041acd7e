# SPDX-License-Identifier: MIT
"""Runs a command as root under another Linux kernel: Debian's kernels, in a virtual machine, on this machine's files.

The machine's root is this machine's /, read-only, with an overlay in memory: what the command writes is gone with it,
except for one folder. So what was built here runs there at the path where it was built. Nothing is installed and no disk
image is made; a kernel's package is fetched once and unpacked below a folder of the build.

Needs root, qemu-system-x86, kmod, a C compiler that links statically, and an apt that knows a Debian mirror. With /dev/kvm
the machine is as fast as this one; without, every instruction is translated: 10 to 30 times slower, and times mean nothing.
"""

import glob
import gzip
import lzma
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
# The modules that reach this machine's files.
MODULES = ("virtio_pci", "virtio-rng", "9pnet_virtio", "9p", "overlay")
MEMORY_MIB = 3072
OUT = "/run/syscost-kernels"  # in the guest: as first_process.c has it


class Unavailable(Exception):
    """What is missing, and how to get it."""


def output(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        raise Unavailable(f"{command[0]} failed: {(done.stderr or done.stdout).strip()}")
    return done.stdout


# ---- kernels ---------------------------------------------------------------------------------------------------------


def mirror():
    listed = output("apt-get", "indextargets", "--format", "$(ORIGIN)|$(SUITE)|$(REPO_URI)", "Created-By: Packages")
    for line in listed.splitlines():
        origin, suite, address = line.split("|")
        if origin == "Debian" and "security" not in suite and "security" not in address:
            return address
    raise Unavailable("this machine's apt knows no Debian mirror; name a kernel's package: --kernel FILE.deb")


class Apt:
    """apt that knows one suite only; the machine's own stays as it is."""

    def __init__(self, suite, folder):
        self.options = [
            *("-o", f"Dir::Etc::sourcelist={folder}/list.sources", "-o", "Dir::Etc::sourceparts=-"),
            *("-o", f"Dir::State::lists={folder}/lists", "-o", f"Dir::Cache={folder}"),
            *("-o", "APT::Sandbox::User=root", "-o", "APT::Architecture=amd64", "-o", "Debug::NoLocking=1"),
        ]
        for part in ("lists/partial", "archives/partial"):
            os.makedirs(os.path.join(folder, part), exist_ok=True)
        with open(os.path.join(folder, "list.sources"), "w", encoding="utf-8") as file:
            file.write(f"Types: deb\nURIs: {mirror()}\nSuites: {suite}\nComponents: main\nArchitectures: amd64\n"
                       "Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg\n")
        try:
            output("apt-get", "-qq", *self.options, "update")
        except Unavailable as error:
            raise Unavailable(f"the mirror of this machine's apt has no Debian {suite}") from error

    def depends(self, package, pattern):
        listed = output("apt-cache", *self.options, "depends", package)
        return re.findall(rf"^ *Depends: ({pattern}\S*)$", listed, re.MULTILINE)

    def kernel_packages(self):
        images = self.depends("linux-image-amd64", "linux-image-")
        # From 7.0 on the image is a package of packages.
        return images + [part for image in images for part in self.depends(image, r"linux-(?:base|binary|modules)-[0-9]")]

    def download(self, packages, folder):
        output("apt-get", "-qq", *self.options, "download", *packages, cwd=folder)


def prepare_kernel(name, package, cache):
    """The folder with a kernel and its initial file system, made once. `package`: a file, or None for the suite `name`."""
    folder = os.path.join(cache, name)
    if os.path.exists(os.path.join(folder, "initrd")):
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    with tempfile.TemporaryDirectory(dir=folder) as work:
        if package:
            shutil.copy(package, work)
        else:
            apt = Apt(name, os.path.join(work, "apt"))
            apt.download(apt.kernel_packages(), work)
        tree = os.path.join(work, "tree")
        for file in glob.glob(os.path.join(work, "*.deb")):
            output("dpkg-deb", "-x", file, tree)
        if not os.path.exists(os.path.join(tree, "lib/modules")):  # of packages for a merged /usr
            os.makedirs(os.path.join(tree, "lib"), exist_ok=True)
            os.symlink("../usr/lib/modules", os.path.join(tree, "lib/modules"))
        images = [path for path in glob.glob(f"{tree}/**/vmlinuz*", recursive=True) if os.path.isfile(path)]
        versions = os.listdir(os.path.join(tree, "lib/modules"))
        if not images or len(versions) != 1:
            raise Unavailable(f"the kernel packages of {name} hold no kernel where one is looked for: {images}, {versions}")
        shutil.copy(images[0], os.path.join(folder, "vmlinuz"))
        [version] = versions
        first = os.path.join(work, "first")
        output("gcc", "-O1", "-static", "-o", first, os.path.join(HERE, "first_process.c"))
        archive = initial_files(first, modules(tree, version))
        with open(os.path.join(folder, "new"), "wb") as file:
            file.write(archive)
        os.rename(os.path.join(folder, "new"), os.path.join(folder, "initrd"))
    return folder


def modules(tree, version):
    """[(name, contents)] of the modules, each after those it needs."""
    environment = {**os.environ, "PATH": os.environ.get("PATH", "") + ":/usr/sbin:/sbin"}
    output("depmod", "-b", tree, version, env=environment)
    paths = []
    for module in MODULES:
        wanted = output("modprobe", "-d", tree, "-S", version, "--show-depends", module, env=environment)
        paths += [path for path in re.findall(r"^insmod (\S+)", wanted, re.MULTILINE) if path not in paths]
    found = []
    for path in paths:
        with open(path, "rb") as file:
            content = file.read()
        if path.endswith(".xz"):
            content = lzma.decompress(content)
        found.append((os.path.basename(path).removesuffix(".xz"), content))
    return found


def initial_files(first, loaded):
    """A cpio archive (newc) as the kernel unpacks it."""
    archive = b""

    def add(name, mode, content=b""):
        nonlocal archive
        fields = (len(archive) + 1, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0)
        entry = b"070701" + b"".join(b"%08x" % field for field in fields) + name.encode() + b"\0"
        entry += b"\0" * (-len(entry) % 4) + content
        archive += entry + b"\0" * (-len(entry) % 4)

    for folder in ("dev", "modules", "lower", "memory", "new"):
        add(folder, 0o040755)
    with open(first, "rb") as file:
        add("init", 0o100755, file.read())
    for name, content in loaded:
        add("modules/" + name, 0o100644, content)
    add("modules/order", 0o100644, "".join(f"/modules/{name}\n" for name, _ in loaded).encode())
    add("TRAILER!!!", 0)
    return gzip.compress(archive, 1)


# ---- the machine -----------------------------------------------------------------------------------------------------


def has_kvm():
    # The device alone does not say that the processor helps.
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        return os.access("/dev/kvm", os.W_OK) and re.search(r"\b(?:vmx|svm)\b", file.read()) is not None


def follow(log, machine, deadline):
    """Prints what the guest prints, until it ends or the time is over."""
    shown = 0
    while True:
        try:
            machine.wait(timeout=1)
            has_ended = True
        except subprocess.TimeoutExpired:
            has_ended = False
        if os.path.exists(log):
            with open(log, "rb") as file:
                file.seek(shown)
                text = file.read()
            shown += len(text)
            print(text.decode(errors="replace"), end="", flush=True)
        if has_ended or time.monotonic() > deadline:
            return


def run(kernel, command, out, seconds):
    """Runs `command` under the kernel of a folder that prepare_kernel() made. It writes to the folder `out`, which it sees
    as OUT; `out`/log holds what it prints. The exit code, or None: the machine died or ran out of time, see `out`/console.
    """
    for name in ("exit", "log", "console"):
        if os.path.exists(os.path.join(out, name)):
            os.remove(os.path.join(out, name))
    with open(os.path.join(out, "command"), "w", encoding="utf-8") as file:
        file.write(f"cd {shlex.quote(os.getcwd())} && exec {shlex.join(command)}\n")
    accelerated = ["-accel", "kvm", "-cpu", "host"]
    # Without the fifth level of page tables, which costs an emulated processor dearly; with its counter as clock. In one thread:
    # with one for each processor, the kernel now and then dies of the breakpoint by which it changes its own code ("Oops: int3").
    translated = ["-accel", "tcg,thread=single,tb-size=512", "-cpu", "max,la57=off"]
    arguments = ["-machine", "q35", *(accelerated if has_kvm() else translated)]
    arguments += ["-nodefaults", "-display", "none", "-no-reboot", "-m", str(MEMORY_MIB), "-smp", "2"]
    arguments += ["-kernel", os.path.join(kernel, "vmlinuz"), "-initrd", os.path.join(kernel, "initrd")]
    # A translated processor that waits for this machine's has timer interrupts late: the kernel would take the timer for broken.
    arguments += ["-append", "console=ttyS0 panic=-1 mitigations=off loglevel=4"
                  + ("" if has_kvm() else " tsc=reliable no_timer_check")]
    arguments += ["-chardev", f"file,id=console,path={out}/console", "-serial", "chardev:console"]
    arguments += ["-device", "virtio-rng-pci"]
    for tag, path, more in (("root", "/", ",readonly=on"), ("out", out, "")):
        arguments += ["-fsdev", f"local,id={tag},path={path},security_model=passthrough,multidevs=remap{more}",
                      "-device", f"virtio-9p-pci,fsdev={tag},mount_tag={tag}"]
    with open(os.path.join(out, "qemu"), "wb") as said, subprocess.Popen(
            ["qemu-system-x86_64", *arguments], stdin=subprocess.DEVNULL, stdout=said, stderr=said) as machine:
        try:
            follow(os.path.join(out, "log"), machine, time.monotonic() + seconds)
        finally:
            machine.kill()
    try:
        with open(os.path.join(out, "exit"), encoding="utf-8") as file:
            return int(file.read())
    except (OSError, ValueError):
        return None


def last_words(out):
    """What a machine that died said, in lines: on its console (first, where the kernel says why), in its log, and the emulator."""
    lines = []
    for file in ("console", "log", "qemu"):
        path = os.path.join(out, file)
        if os.path.exists(path):
            with open(path, encoding="utf-8", errors="replace") as text:
                said = text.read().splitlines()
            lines += [f"{file}: {line}" for line in (said if len(said) <= 12 else [*said[:6], "...", *said[-5:]])]
    return lines
