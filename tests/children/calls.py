"""System calls of x86_64 that no child of ours needs, with arguments that do no harm on any kernel."""

import os

SIGCONT, RLIMIT_FSIZE, PR_SET_DUMPABLE, F_SETOWN, TIOCSTI = 18, 1, 4, 8, 0x5412


def of_x86_64(parent):
    """Names, numbers and arguments; texts are room of their own."""
    return [
        ["memory of the parent", 310, [parent, "", 1, "", 1, 0]],
        ["memory of the parent, to write", 311, [parent, "", 1, "", 1, 0]],
        ["a queue of calls in the kernel", 425, [1, ""]],
        ["a file by its handle", 304, [-100, "", 0]],
        ["a handle of a file", 303, [-100, "/", "", "", 0]],
        ["a file by a structure", 437, [-100, "/etc/passwd", "", 24]],
        ["a program", 59, ["/nowhere", 0, 0]],
        ["a program by a descriptor", 322, [-1, "", 0, 0, 0]],
        ["a process by a structure", 435, ["", 1]],
        ["a signal by number", 200, [parent, SIGCONT]],
        ["a signal to a thread", 234, [parent, parent, SIGCONT]],
        ["a signal with a value", 129, [parent, SIGCONT, ""]],
        ["signals sent for a descriptor", 72, [0, F_SETOWN, parent]],
        ["typing at the terminal", 16, [0, TIOCSTI, "x"]],
        ["a limit of the parent", 302, [parent, RLIMIT_FSIZE, 0, ""]],
        ["a larger limit", 302, [0, RLIMIT_FSIZE, "", 0]],
        ["to be looked into", 157, [PR_SET_DUMPABLE, 1, 0, 0, 0]],
        ["a filter of its own", 317, [1, 0, ""]],
        ["other processors", 203, [parent, 0, ""]],
        ["shared memory", 29, [7, 1, 0]],
        ["memory that is shared", 9, [0, 4096, 3, 0x21, -1, 0]],
        ["memory that grows down", 9, [0, 4096, 3, 0x122, -1, 0]],
        ["an open file cut off", 77, [2, 0]],
        ["a queue of messages", 68, [7, 0]],
        ["semaphores", 64, [7, 1, 0]],
        ["a file in memory", 319, ["x", 0]],
        ["keys of the kernel", 250, [0, -3, 0]],
        ["a program in the kernel", 321, [-1, "", 0]],
        ["counters of the processor", 298, ["", 0, -1, -1, 0]],
        ["faults of memory", 323, [-1]],
        ["a comparison of processes", 312, [parent, os.getpid(), 0, 0, 0]],
        ["names of its own", 272, [0]],
        ["names of others", 308, [-1, 0]],
        ["a file system", 430, ["", 0]],
        ["news of files", 294, [0]],
        ["news of all files", 300, [0, 0]],
        ["ports of the machine", 172, [0]],
    ]
