"""Lists the system calls that a child may make, by their numbers on the processors that are known.

A call that is not listed does not exist for a child: no socket, no program, no process, no file that is made,
moved, linked or given other rights, no look into another process, no signal to one.
"""

from typing import Final

# By the name that `uname` gives: the kernel's number of the processor (AUDIT_ARCH_…), the column below.
PROCESSORS: Final = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}

# Numbers on x86_64 and on aarch64, which has no call where a newer one does the same.
Numbers = dict[str, tuple[int | None, int | None]]

ALLOWED: Final[Numbers] = {
    # What is open, and the way through a file.
    "read": (0, 63),
    "write": (1, 64),
    "pread64": (17, 67),
    "pwrite64": (18, 68),
    "readv": (19, 65),
    "writev": (20, 66),
    "lseek": (8, 62),
    "close": (3, 57),
    "fsync": (74, 82),
    "fdatasync": (75, 83),
    "fadvise64": (221, 223),
    "pipe2": (293, 59),
    "dup": (32, 23),
    "dup2": (33, None),
    "dup3": (292, 24),
    "poll": (7, None),
    "ppoll": (271, 73),
    "select": (23, None),
    "pselect6": (270, 72),
    # Memory of its own.
    "munmap": (11, 215),
    "mremap": (25, 216),
    "mprotect": (10, 226),
    "madvise": (28, 233),
    "brk": (12, 214),
    "msync": (26, 227),
    "mincore": (27, 232),
    "membarrier": (324, 283),
    # Facts about files, which are no content.
    "fstat": (5, 80),
    "newfstatat": (262, 79),
    "stat": (4, None),
    "lstat": (6, None),
    "statx": (332, 291),
    "statfs": (137, 43),
    "fstatfs": (138, 44),
    "access": (21, None),
    "faccessat": (269, 48),
    "faccessat2": (439, 439),
    "readlink": (89, None),
    "readlinkat": (267, 78),
    "getcwd": (79, 17),
    "getdents64": (217, 61),
    # The time.
    "clock_gettime": (228, 113),
    "clock_getres": (229, 114),
    "clock_nanosleep": (230, 115),
    "nanosleep": (35, 101),
    "gettimeofday": (96, 169),
    "time": (201, None),
    "times": (100, 153),
    # Facts about itself and the machine.
    "getpid": (39, 172),
    "getppid": (110, 173),
    "gettid": (186, 178),
    "getuid": (102, 174),
    "geteuid": (107, 175),
    "getgid": (104, 176),
    "getegid": (108, 177),
    "getpgrp": (111, None),
    "uname": (63, 160),
    "sysinfo": (99, 179),
    "getrusage": (98, 165),
    "getrlimit": (97, 163),
    "getcpu": (309, 168),
    "getpriority": (140, 141),
    "umask": (95, 166),
    "sched_yield": (24, 124),
    "sched_getaffinity": (204, 123),
    "sched_getscheduler": (145, 120),
    "sched_getparam": (143, 121),
    "sched_get_priority_max": (146, 125),
    "sched_get_priority_min": (147, 126),
    # Randomness, threads, its own signals and its end.
    "getrandom": (318, 278),
    "futex": (202, 98),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "rt_sigpending": (127, 136),
    "sigaltstack": (131, 132),
    "restart_syscall": (219, 128),
    "set_tid_address": (218, 96),
    "set_robust_list": (273, 99),
    "rseq": (334, 293),
    "arch_prctl": (158, None),
    "exit": (60, 93),
    "exit_group": (231, 94),
}

# With arguments that `heatmaps.children.seccomp` limits.
LIMITED: Final[Numbers] = {
    "open": (2, None),
    "openat": (257, 56),
    "fcntl": (72, 25),
    "ioctl": (16, 29),
    "clone": (56, 220),
    "mmap": (9, 222),
    "prctl": (157, 167),
    "prlimit64": (302, 261),
    "tgkill": (234, 131),
}

# For a child that has a folder of its own, to which Landlock holds them. No folders: thousands in each other
# could not be deleted again.
IN_A_FOLDER: Final[Numbers] = {
    "ftruncate": (77, 46),
    "unlink": (87, None),
    "unlinkat": (263, 35),
    "rename": (82, None),
    "renameat": (264, 38),
    "renameat2": (316, 276),
}

# What confines: nothing of it is left to a child.
CONFINING: Final[Numbers] = {
    "seccomp": (317, 277),
    "landlock_create_ruleset": (444, 444),
    "landlock_add_rule": (445, 445),
    "landlock_restrict_self": (446, 446),
}
