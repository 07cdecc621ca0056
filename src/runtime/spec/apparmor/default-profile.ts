/** The AppArmor profile of containers that ask for the runtime's default. See apparmor.d(5). */

export const defaultProfileName = 'typernetes-default'

/**
 * A container may use its files, network and capabilities. It may not mount, trace processes of others, or write where
 * the kernel has settings that are not its own.
 */
export const defaultProfile = `
profile ${defaultProfileName} flags=(attach_disconnected,mediate_deleted) {
  network,
  capability,
  file,
  umount,

  signal (receive) peer=unconfined,
  signal (send, receive) peer=${defaultProfileName},
  ptrace (trace, read, tracedby, readby) peer=${defaultProfileName},

  deny mount,

  # Files of processes end with a number or "self"; kernel settings may be written in sys/kernel/shm* and sys/net.
  deny /proc/* w,
  deny /proc/{[^1-9],[^1-9][^0-9],[^1-9s][^0-9y][^0-9s],[^1-9][^0-9][^0-9][^0-9]*}/** w,
  deny /proc/sys/[^kn]** w,
  deny /proc/sys/kernel/{?,??,[^s][^h][^m]**} w,
  deny /proc/sysrq-trigger rwklx,
  deny /proc/kcore rwklx,

  deny /sys/[^f]*/** wklx,
  deny /sys/f[^s]*/** wklx,
  deny /sys/fs/[^c]*/** wklx,
  deny /sys/fs/c[^g]*/** wklx,
  deny /sys/fs/cg[^r]*/** wklx,
  deny /sys/firmware/** rwklx,
  deny /sys/devices/virtual/powercap/** rwklx,
  deny /sys/kernel/security/** rwklx,
}
`
