"""Runs a program, and kills it when its threads together enter the N-th system call after SIGUSR1.

Usage: kill_at_call.py N PROGRAM ARGUMENT...; prints `tracing` when the count begins, and `killed` when the program is
gone. The program has this process's input and output. strace(1) counts for each thread, so it cannot reach every call
of a program whose threads take turns.
"""
import ctypes
import os
import signal
import subprocess
import sys
import time

# ptrace(2) and <linux/ptrace.h>; waitpid(2).
SYSCALL, SEIZE, INTERRUPT, GET_SYSCALL_INFO = 24, 0x4206, 0x4207, 0x420E
TRACESYSGOOD, TRACECLONE, EXITKILL = 1, 8, 1 << 20
ENTRY = 1
ALL_THREADS = 0x40000000

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
libc.ptrace.restype = ctypes.c_long


def seize(process):
    """Stops all threads; one that starts meanwhile is found again, or traced as its creator is."""
    seized = set()
    while new := {int(name) for name in os.listdir(f"/proc/{process}/task")} - seized:
        for thread in new:
            if libc.ptrace(SEIZE, thread, None, TRACESYSGOOD | TRACECLONE | EXITKILL) == 0:
                libc.ptrace(INTERRUPT, thread, None, None)
                os.waitpid(thread, ALL_THREADS)
            elif ctypes.get_errno() == 1 and not is_traced(process, thread):
                sys.exit("the system does not allow to trace")
        seized |= new
    for thread in seized:
        libc.ptrace(SYSCALL, thread, None, None)


def is_traced(process, thread):
    with open(f"/proc/{process}/task/{thread}/status") as status:
        return f"TracerPid:\t{os.getpid()}\n" in status.read()


def is_entry(thread):
    information = ctypes.create_string_buffer(128)
    libc.ptrace(GET_SYSCALL_INFO, thread, len(information), ctypes.cast(information, ctypes.c_void_p))
    return information.raw[0] == ENTRY


def follow(process, last):
    count = 0
    while True:
        thread, status = os.waitpid(-1, ALL_THREADS)
        if not os.WIFSTOPPED(status):
            if thread == process:
                return count >= last
            continue
        number, delivered = os.WSTOPSIG(status), 0
        if number == signal.SIGTRAP | 0x80:
            if is_entry(thread):
                count += 1
                if count == last:
                    os.kill(process, signal.SIGKILL)
        elif status >> 16 == 0:
            delivered = number
        libc.ptrace(SYSCALL, thread, None, delivered)


def main():
    begin = []
    signal.signal(signal.SIGUSR1, lambda *_: begin.append(True))
    child = subprocess.Popen(sys.argv[2:])
    while not begin:
        if child.poll() is not None:
            sys.exit(1)
        time.sleep(0.005)
    seize(child.pid)
    print("tracing", flush=True)
    if follow(child.pid, int(sys.argv[1])):
        print("killed", flush=True)


main()
