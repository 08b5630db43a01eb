"""A server that has already imported the modules that execute notebooks, and forks for each notebook.

Jupyter's client and a kernel take longer to import than most notebooks to run. So the suite starts
one server, in the Python that has Jupyter. For each notebook it forks a process that runs execute.py,
and that process first forks the one that becomes the kernel.

    server = Server(python)
    status, out, err, hung = server.run(arguments, environment, seconds)
"""
import atexit
import contextlib
import gc
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
MODULES = ("ipykernel.kernelapp", "ipykernel.debugger", "matplotlib.pyplot", "matplotlib_inline.backend_inline",
           "nbclient", "nbformat")


class Server:
    """The server's interface for the suite: any thread may call run()."""

    def __init__(self, python):
        self.socket, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        # The kernel sets Jupyter's plot backend too late for a module that is already imported.
        environment = {**os.environ, "MPLBACKEND": "module://matplotlib_inline.backend_inline",
                       "PYDEVD_DISABLE_FILE_VALIDATION": "1"}
        self.process = subprocess.Popen([python, "-B", __file__], stdin=other, env=environment)
        other.close()
        atexit.register(self.close)

    def run(self, arguments, environment, seconds):
        """Runs execute.py with these arguments: its status (negative: a signal), output, errors, whether it hung."""
        said, asked = os.pipe()
        request = {"arguments": list(map(str, arguments)), "environment": environment, "seconds": seconds}
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            socket.send_fds(self.socket, [json.dumps(request).encode()], [out.fileno(), err.fileno(), asked])
            os.close(asked)
            with open(said, encoding="ascii") as answer:
                status = int(answer.read() or -signal.SIGKILL)
            out.seek(0), err.seek(0)
            return status, out.read(), err.read(), status == -signal.SIGALRM

    def close(self):
        self.socket.close()
        self.process.wait()


class Kernel:
    """A process that waits to become a kernel, with the interface of subprocess.Popen."""

    stdin = stdout = stderr = None

    def __init__(self):
        told, self.tell = os.pipe()
        self.status = None
        self.pid = os.fork()
        if self.pid == 0:
            os.setsid()
            os.close(self.tell)
            sys.exit(self.become(json.loads(open(told, encoding="utf-8").read() or "null")))
        os.close(told)

    def start(self, command, env=None, cwd=None, **_):
        arguments = [*command[command.index("-f"):], f"--IPKernelApp.parent_handle={os.getpid()}"]
        with open(self.tell, "w", encoding="utf-8") as told:
            json.dump({"arguments": arguments, "environment": dict(env or os.environ), "folder": cwd}, told)
        return self

    @staticmethod
    def become(told):
        from ipykernel.kernelapp import IPKernelApp

        if told:
            os.environ.clear()
            os.environ.update(told["environment"])
            os.chdir(told["folder"] or ".")
            sys.path.remove(str(HERE))
            IPKernelApp.launch_instance(argv=told["arguments"])

    def poll(self):
        if self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.status = os.waitstatus_to_exitcode(status) if pid else None
        return self.status

    def wait(self):
        if self.status is None:
            self.status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.status

    def send_signal(self, number):
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self):
        self.send_signal(signal.SIGTERM)

    def kill(self):
        self.send_signal(signal.SIGKILL)


def run_notebook(request):
    """Runs execute.py in this process, with a kernel that is already forked."""
    import execute
    from jupyter_client.provisioning import local_provisioner

    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv = ["execute.py", *request["arguments"]]
    local_provisioner.launch_kernel = Kernel().start
    sys.exit(execute.main())


def attend(request, answer):
    """Forks a notebook's process, kills it when its time is over or this process gets a signal, and reports
    its status."""
    worker = os.fork()
    if worker == 0:
        os.setsid()
        os.close(answer)
        run_notebook(request)
    signal.signal(signal.SIGALRM, lambda *_: os.killpg(worker, signal.SIGALRM))
    signal.alarm(request["seconds"])
    try:
        status = os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1])
    except BaseException:
        os.killpg(worker, signal.SIGKILL)
        raise
    os.write(answer, str(status).encode())


def serve():
    for module in MODULES:
        importlib.import_module(module)
    gc.freeze()  # the garbage collector of the forked processes then skips the imported modules
    requests = socket.socket(fileno=os.dup(0))
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    while True:
        message, (*files,), *_ = socket.recv_fds(requests, 1 << 20, 3)
        if not message:
            break
        if os.fork() == 0:
            requests.close()
            os.dup2(files[0], 1), os.dup2(files[1], 2)
            attend(json.loads(message), files[2])
            os._exit(0)
        for file in files:
            os.close(file)
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()  # so that their processor time is counted


if __name__ == "__main__":
    serve()
