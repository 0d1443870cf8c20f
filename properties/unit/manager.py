"""A service manager in little: runs a unit's command as systemd would, and reports what it did as one line of JSON.

usage: manager.py UMASK NOFILE STOP_SECONDS NODE ARGUMENT...
It is the reaper of whatever its command leaves behind, which is then counted as an orphan.
"""
import ctypes
import json
import os
import queue
import resource
import signal
import socket
import sys
import tempfile
import threading
import time

PR_SET_CHILD_SUBREAPER = 36

umask, nofile, stop_seconds, *command = sys.argv[1:]
if ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
    sys.exit("this process cannot become a reaper")
folder = tempfile.mkdtemp()
path = os.path.join(folder, "notify")
listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
listener.bind(path)
inbox = queue.Queue()


def listen():
    """Whoever sends a barrier waits until its file descriptor is closed."""
    while True:
        data, descriptors, _, _ = socket.recv_fds(listener, 4096, 4)
        for descriptor in descriptors:
            os.close(descriptor)
        if data != b"BARRIER=1":
            inbox.put(data.decode())


threading.Thread(target=listen, daemon=True).start()


def heard(wanted):
    """Messages up to the one that holds the assignment."""
    messages = []
    while not any(wanted in message.split("\n") for message in messages):
        messages.append(inbox.get(timeout=int(stop_seconds)))
    return messages


def prepare():
    os.umask(int(umask, 8))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    limit = min(int(nofile), resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))


child = os.fork()
if child == 0:
    prepare()
    os.execve(command[0], command, {**os.environ, "NOTIFY_SOCKET": path})

report = {"started": heard("READY=1")}
# The helper that told it has ended, or is about to.
os.kill(child, signal.SIGTERM)
report["stopping"] = heard("STOPPING=1")
_, status = os.waitpid(child, 0)
report["code"] = os.waitstatus_to_exitcode(status)
# Helpers that have ended count for nothing; a process that lives is an orphan.
report["orphans"] = 0
deadline = time.monotonic() + 2
while True:
    try:
        pid, _ = os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        break
    if pid == 0 and time.monotonic() > deadline:
        report["orphans"] += 1
        break
    if pid == 0:
        time.sleep(0.05)
os.unlink(path)
os.rmdir(folder)
print(json.dumps(report))
