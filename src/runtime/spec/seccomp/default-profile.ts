/**
 * The runtime's own seccomp profile: system calls of ordinary programs. Those that change the machine, load code into
 * the kernel or make namespaces need the capability that the kernel itself requires for them.
 */
import type { OciSeccomp, OciSyscallRule } from '../oci-spec.ts'

const eperm = 1
const enosys = 38
/** All flags of `clone` that make namespaces: mount, cgroup, UTS, IPC, user, PID, network. */
const namespaceFlags = 0x7e02_0000
const vsock = 40

const files =
  'access chdir chmod chown chown32 close close_range copy_file_range creat dup dup2 dup3 faccessat faccessat2 ' +
  'fadvise64 fadvise64_64 fallocate fanotify_mark fchdir fchmod fchmodat fchmodat2 fchown fchown32 fchownat fcntl ' +
  'fcntl64 fdatasync fgetxattr flistxattr flock fremovexattr fsetxattr fstat fstat64 fstatat64 fstatfs fstatfs64 ' +
  'fsync ftruncate ftruncate64 futimesat getcwd getdents getdents64 getxattr getxattrat inotify_add_watch ' +
  'inotify_init inotify_init1 inotify_rm_watch ioctl lchown lchown32 lgetxattr link linkat listxattr listxattrat ' +
  'llistxattr _llseek lremovexattr lseek lsetxattr lstat lstat64 mkdir mkdirat mknod mknodat name_to_handle_at ' +
  'newfstatat open openat openat2 pread64 preadv preadv2 pwrite64 pwritev pwritev2 read readahead readlink ' +
  'readlinkat readv removexattr removexattrat rename renameat renameat2 rmdir sendfile sendfile64 setxattr ' +
  'setxattrat splice stat stat64 statfs statfs64 statx symlink symlinkat sync sync_file_range syncfs tee truncate ' +
  'truncate64 umask unlink unlinkat utime utimensat utimensat_time64 utimes vmsplice write writev'

const processes =
  'alarm arch_prctl capget capset execve execveat exit exit_group fork futex futex_requeue futex_time64 futex_wait ' +
  'futex_waitv futex_wake get_robust_list get_thread_area getcpu getegid getegid32 geteuid geteuid32 getgid getgid32 ' +
  'getgroups getgroups32 getitimer getpgid getpgrp getpid getppid getpriority getrandom getresgid getresgid32 ' +
  'getresuid getresuid32 getrlimit getrusage getsid gettid getuid getuid32 kill landlock_add_rule ' +
  'landlock_create_ruleset landlock_restrict_self membarrier modify_ldt nanosleep pause pidfd_open ' +
  'pidfd_send_signal prctl prlimit64 process_mrelease restart_syscall rseq rt_sigaction rt_sigpending ' +
  'rt_sigprocmask rt_sigqueueinfo rt_sigreturn rt_sigsuspend rt_sigtimedwait rt_sigtimedwait_time64 ' +
  'rt_tgsigqueueinfo sched_get_priority_max sched_get_priority_min sched_getaffinity sched_getattr sched_getparam ' +
  'sched_getscheduler sched_rr_get_interval sched_rr_get_interval_time64 sched_setaffinity sched_setattr ' +
  'sched_setparam sched_setscheduler sched_yield seccomp set_robust_list set_thread_area set_tid_address setfsgid ' +
  'setfsgid32 setfsuid setfsuid32 setgid setgid32 setgroups setgroups32 setitimer setpgid setpriority setregid ' +
  'setregid32 setresgid setresgid32 setresuid setresuid32 setreuid setreuid32 setrlimit setsid setuid setuid32 ' +
  'sigaltstack signalfd signalfd4 sigprocmask sigreturn sysinfo tgkill time times tkill ugetrlimit uname vfork wait4 ' +
  'waitid waitpid'

const memory =
  'brk cachestat get_mempolicy madvise map_shadow_stack memfd_create memfd_secret mincore mlock mlock2 mlockall mmap ' +
  'mmap2 mprotect mremap mseal msync munlock munlockall munmap pkey_alloc pkey_free pkey_mprotect remap_file_pages'

const communication =
  'accept accept4 bind connect epoll_create epoll_create1 epoll_ctl epoll_ctl_old epoll_pwait epoll_pwait2 ' +
  'epoll_wait epoll_wait_old eventfd eventfd2 getpeername getsockname getsockopt io_cancel io_destroy io_getevents ' +
  'io_pgetevents io_pgetevents_time64 io_setup io_submit ipc listen mq_getsetattr mq_notify mq_open mq_timedreceive ' +
  'mq_timedreceive_time64 mq_timedsend mq_timedsend_time64 mq_unlink msgctl msgget msgrcv msgsnd _newselect pipe ' +
  'pipe2 poll ppoll ppoll_time64 pselect6 pselect6_time64 recv recvfrom recvmmsg recvmmsg_time64 recvmsg select ' +
  'semctl semget semop semtimedop semtimedop_time64 send sendmmsg sendmsg sendto setsockopt shmat shmctl shmdt ' +
  'shmget shutdown socketcall socketpair'

const clocks =
  'adjtimex clock_adjtime clock_adjtime64 clock_getres clock_getres_time64 clock_gettime clock_gettime64 ' +
  'clock_nanosleep clock_nanosleep_time64 gettimeofday timer_create timer_delete timer_getoverrun timer_gettime ' +
  'timer_gettime64 timer_settime timer_settime64 timerfd_create timerfd_gettime timerfd_gettime64 timerfd_settime ' +
  'timerfd_settime64'

/** Calls of 32-bit ARM. */
const arm = 'arm_fadvise64_64 arm_sync_file_range breakpoint cacheflush set_tls sync_file_range2'

/** Calls that a capability of the container allows. */
const byCapability: Readonly<Record<string, string>> = {
  CAP_DAC_READ_SEARCH: 'open_by_handle_at',
  CAP_SYS_ADMIN:
    'bpf clone clone3 fanotify_init fsconfig fsmount fsopen fspick listmount lookup_dcookie mount mount_setattr ' +
    'move_mount open_tree perf_event_open quotactl quotactl_fd setdomainname sethostname setns statmount syslog ' +
    'umount umount2 unshare',
  CAP_SYS_BOOT: 'reboot',
  CAP_SYS_CHROOT: 'chroot',
  CAP_SYS_MODULE: 'delete_module finit_module init_module',
  CAP_SYS_PACCT: 'acct',
  CAP_SYS_PTRACE: 'kcmp pidfd_getfd process_madvise process_vm_readv process_vm_writev ptrace',
  CAP_SYS_RAWIO: 'ioperm iopl',
  CAP_SYS_TIME: 'clock_settime clock_settime64 settimeofday stime',
  CAP_SYS_TTY_CONFIG: 'vhangup',
  CAP_SYS_NICE: 'get_mempolicy mbind set_mempolicy set_mempolicy_home_node',
  CAP_SYSLOG: 'syslog',
  CAP_BPF: 'bpf',
  CAP_PERFMON: 'perf_event_open',
}

const allow = (names: string): OciSyscallRule => ({ names: names.split(' '), action: 'SCMP_ACT_ALLOW' })

/** The personalities of Linux and of 32-bit programs, and the question for the current one. */
const personalities = [0x0, 0x0008, 0x2_0000, 0x2_0008, 0xffff_ffff]

export function defaultProfile(architectures: readonly string[], capabilities: readonly string[]): OciSeccomp {
  const isAdministrator = capabilities.includes('CAP_SYS_ADMIN')
  return {
    defaultAction: 'SCMP_ACT_ERRNO',
    defaultErrnoRet: eperm,
    architectures,
    syscalls: [
      ...[files, processes, memory, communication, clocks, arm, 'ptrace process_vm_readv process_vm_writev'].map(allow),
      ...Object.entries(byCapability).flatMap(([name, calls]) => (capabilities.includes(name) ? [allow(calls)] : [])),
      ...personalities.map((value) => ({
        ...allow('personality'),
        args: [{ index: 0, value, op: 'SCMP_CMP_EQ' }],
      })),
      // Sockets of all families but vsock, which reach the hypervisor.
      { ...allow('socket'), args: [{ index: 0, value: vsock, op: 'SCMP_CMP_LT' }] },
      { ...allow('socket'), args: [{ index: 0, value: vsock, op: 'SCMP_CMP_GT' }] },
      ...(isAdministrator ? [] : threadsOnly),
    ],
  }
}

/** Threads and processes, but no namespaces. The flags of `clone3` cannot be read: programs fall back to `clone`. */
const threadsOnly: readonly OciSyscallRule[] = [
  { ...allow('clone'), args: [{ index: 0, value: namespaceFlags, valueTwo: 0, op: 'SCMP_CMP_MASKED_EQ' }] },
  { names: ['clone3'], action: 'SCMP_ACT_ERRNO', errnoRet: enosys },
]
