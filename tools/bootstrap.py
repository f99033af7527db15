"""Make .venv with the Python that runs this file, and install the locked requirements in it.

    python tools/bootstrap.py            what the course needs (requirements.lock)
    python tools/bootstrap.py --test     and what its tests need (requirements-test.lock)
    python tools/bootstrap.py --lowest   the same in .venv-lowest, with the oldest supported numpy,
                                         matplotlib and ipywidgets (Python 3.11 or 3.12)

A stamp is written into the environment as the very last step. An environment whose stamp is empty
or tells of other requirements is made anew, so it does not matter when an installation broke off.
An environment without a stamp was made by someone else, and is left alone.
The syntax is Python 2's on purpose: an old Python must get far enough to say that it is too old.
"""

import hashlib
import os
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
LOCKS = {"lab": "requirements.lock", "test": "requirements-test.lock"}
# matplotlib 3.8 shows no first figure under IPython 9, which no longer has a function it calls.
LOWEST = ["numpy==2.0.*", "matplotlib==3.8.*", "ipywidgets==8.1.0", "ipython==8.*"]
UNREACHABLE = (
    "NewConnectionError",
    "Connection refused",
    "ConnectTimeout",
    "ReadTimeout",
    "timed out",
    "name resolution",
    "getaddrinfo",
    "ProxyError",
    "SSLError",
    "Network is unreachable",
    "(from versions: none)",
)


class Stop(Exception):
    """A reason not to go on, in one line for the reader."""


def check_python():
    """Stop where this Python is too old, or cannot make environments."""
    if sys.version_info < (3, 11):
        raise Stop(
            "The course needs Python 3.11 or newer; %s is Python %d.%d. If you have a newer one,"
            " name it: make lab PYTHON=python3.12 (without make: python3.12 tools/bootstrap.py)."
            % ((sys.executable,) + tuple(sys.version_info[:2]))
        )
    try:
        import ensurepip  # noqa: F401  (Debian ships it apart, with venv)
        import venv  # noqa: F401
    except ImportError:
        raise Stop(
            "This Python has no venv module. On Debian and Ubuntu: sudo apt install python3-venv"
            " (or python%d.%d-venv), then the same command again." % tuple(sys.version_info[:2])
        )


def read(name):
    with open(os.path.join(ROOT, name), "rb") as file:
        return file.read().replace(b"\r\n", b"\n")


def stamp(kind):
    """What an environment of this kind was made from: Python, place, requirements."""
    digest = hashlib.sha256(("%d.%d %s" % (tuple(sys.version_info[:2]) + (ROOT,))).encode("utf-8"))
    lock = LOCKS["test" if kind == "lowest" else kind]
    for name in ("tools/bootstrap.py", lock):
        digest.update(read(name))
    return kind + " " + digest.hexdigest()


def stamps(folder):
    """The stamps of a finished environment; none where its Python is gone."""
    try:
        with open(os.path.join(folder, "course-stamp")) as file:
            return file.read().splitlines() if os.path.exists(python_in(folder)) else []
    except (IOError, OSError):
        return []


def python_in(folder):
    return os.path.join(folder, *(["Scripts", "python.exe"] if os.name == "nt" else ["bin", "python"]))


def clean_environment():
    """The environment variables, without those that mix in packages from elsewhere."""
    kept = {name: os.environ[name] for name in os.environ if name not in ("PYTHONPATH", "PYTHONHOME")}
    return dict(kept, PIP_USER="0", PIP_REQUIRE_VIRTUALENV="0")


def run(folder, *arguments):
    """Run the environment's pip, showing on a terminal what it is at; Stop where it fails."""
    command = [python_in(folder), "-m", "pip", "install", "--no-input", "--progress-bar", "off"]
    process = subprocess.Popen(
        command + ["--disable-pip-version-check"] + list(arguments),
        cwd=ROOT,
        env=clean_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        close_fds=False,
        universal_newlines=True,
        errors="replace",
    )
    lines = []
    for line in process.stdout:
        lines.append(line.strip())
        if lines[-1].startswith("Installing collected"):
            forget(folder)  # From here on packages change: only a finished installation counts.
        if sys.stdout.isatty() and lines[-1].startswith(("Collecting", "Installing")):
            sys.stdout.write("\r    %-60.60s" % lines[-1])
            sys.stdout.flush()
    if sys.stdout.isatty():
        sys.stdout.write("\r%64s\r" % "")
    if process.wait():
        if any(sign in line for line in lines for sign in UNREACHABLE):
            raise Stop(
                "The package index cannot be reached. Check the network (or the proxy settings),"
                " then give the same command again."
            )
        errors = [line for line in lines if line.startswith("ERROR")] or lines[-1:]
        raise Stop("pip could not install the requirements: " + "".join(errors[:1]))


def forget(folder):
    """Leave an empty stamp: the environment is ours, and unfinished."""
    open(os.path.join(folder, "course-stamp"), "w").close()


def check_owner(folder):
    """Stop where the folder holds something that this file has not made."""
    if os.path.exists(folder) and os.listdir(folder) and not os.path.exists(folder + "/course-stamp"):
        name = os.path.basename(folder)
        raise Stop(
            "There is a %s here that the course has not made. Rename it or delete it, then give the same"
            " command again (or use it: activate it, pip install -e ., python -m course_lib)." % name
        )


def remove(folder):
    """Delete an environment of ours: the stamp last, so that whatever may be left stays ours."""
    if not os.path.exists(folder):
        return
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        elif name != "course-stamp":
            os.remove(path)
    shutil.rmtree(folder)


def link(folder):
    """Let the environment find course_lib here, by a relative path.

    Letters beyond ASCII in a .pth file stop Python 3.11 and 3.12 where LC_ALL=C (python/cpython#117793).
    """
    import sysconfig

    packages = sysconfig.get_path("purelib", "venv", {"base": folder, "platbase": folder})
    with open(os.path.join(packages, "course.pth"), "w") as file:
        file.write(os.path.relpath(ROOT, packages) + "\n")


def make(folder, kind):
    name = os.path.basename(folder)
    if kind == "test" and stamp("lab") in stamps(folder):
        print("Adding what the tests need to %s ..." % name)
    else:
        print("Making %s: about 150 MB to download, a minute or two the first time ..." % name)
        remove(folder)
        os.mkdir(folder)
        forget(folder)
        try:
            subprocess.check_output([sys.executable, "-m", "venv", folder], stderr=subprocess.STDOUT)
        except subprocess.CalledProcessError as error:
            raise Stop("python -m venv failed: " + " ".join(error.output.decode("utf-8", "replace").split()))
    run(folder, "--require-hashes", "-r", LOCKS["lab" if kind == "lab" else "test"])
    if kind == "lowest":
        run(folder, "--only-binary", ":all:", *LOWEST)
    link(folder)
    made = {"lab": ["lab"], "test": ["lab", "test"], "lowest": ["lowest"]}[kind]
    with open(os.path.join(folder, "course-stamp"), "w") as file:
        file.write("\n".join(stamp(each) for each in made))


def wait_for_others(file):
    """Let one set-up work at a time, pip processes that an interrupted one left behind included."""
    try:
        import fcntl
    except ImportError:  # Windows
        return
    os.set_inheritable(file.fileno(), True)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except EnvironmentError:
        print("Another set-up is at work here; waiting for it to end ...")
        fcntl.flock(file, fcntl.LOCK_EX)


def main(arguments):
    kinds = {(): "lab", ("--test",): "test", ("--lowest",): "lowest"}
    if tuple(arguments) not in kinds:
        sys.exit(__doc__)
    kind = kinds[tuple(arguments)]
    folder = os.path.join(ROOT, ".venv-lowest" if kind == "lowest" else ".venv")
    try:
        check_python()
        if stamp(kind) in stamps(folder):
            return
        check_owner(folder)
        with open(folder + ".busy", "w") as file:
            wait_for_others(file)
            if stamp(kind) in stamps(folder):
                return
            try:
                make(folder, kind)
            finally:
                if not stamps(folder):
                    remove(folder)
    except Stop as reason:
        sys.exit(str(reason))
    except KeyboardInterrupt:
        sys.exit("Stopped. The same command starts again.")
    except EnvironmentError as error:
        sys.exit("%s could not be made: %s" % (os.path.basename(folder), error))


if __name__ == "__main__":
    main(sys.argv[1:])
