/** The parameters of the kernel that the mode ipvs needs, as upstream sets them. */
import { messageOf } from '../../../../lib/message-of.ts'
import type { KernelSettings } from '../iptables/kernel-settings.ts'

type Version = readonly [major: number, minor: number]

/** With an older kernel, reused ports of clients reach servers that have left; since 5.9 the default is right. */
const connectionReuse = { settable: [4, 1], fixed: [5, 9] } as const satisfies Record<string, Version>

/**
 * Sets what differs. `release` is that of the kernel: `6.1.0-53-cloud-amd64`.
 * @throws with the parameter that cannot be set.
 */
export function prepareKernel(
  settings: KernelSettings,
  strictArp: boolean,
  release: string,
  log: (line: string) => void,
): void {
  const set = (name: string, value: string): void => {
    if (settings.read(name) === value) return
    try {
      settings.write(name, value)
    } catch (error) {
      throw new Error(
        `the mode ipvs needs ${name.replaceAll('/', '.')}=${value}, which cannot be set: set it as root with ` +
          `\`sysctl -w\` (${messageOf(error)})`,
        { cause: error },
      )
    }
  }
  set('net/ipv4/vs/conntrack', '1')
  if (isOlder(release, connectionReuse.settable))
    log('net.ipv4.vs.conn_reuse_mode is left as it is: the kernel is older than 4.1')
  else if (isOlder(release, connectionReuse.fixed)) set('net/ipv4/vs/conn_reuse_mode', '0')
  set('net/ipv4/vs/expire_nodest_conn', '1')
  set('net/ipv4/vs/expire_quiescent_template', '1')
  set('net/ipv4/ip_forward', '1')
  if (!strictArp) return
  set('net/ipv4/conf/all/arp_ignore', '1')
  set('net/ipv4/conf/all/arp_announce', '2')
}

function isOlder(release: string, [major, minor]: Version): boolean {
  const [ownMajor = 0, ownMinor = 0] = release.split('.').map(Number.parseFloat)
  return ownMajor < major || (ownMajor === major && ownMinor < minor)
}
