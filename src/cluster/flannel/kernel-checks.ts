/** Checks what the kernel must have for a network of flannel. */
import { existsSync, readFileSync } from 'node:fs'
import { ExplainedError } from '../../lib/explained-error.ts'
import type { NetworkConfig } from '../../network/flannel/config/network-config.ts'

/** Throws an ExplainedError outside of Linux, and without root. */
export function checkRoot(): void {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    throw new ExplainedError('flannel changes interfaces and routes of the kernel: run it as root on Linux')
}

/** Throws an ExplainedError with the module that is missing. Logs settings with which packets do not pass. */
export function checkKernel(config: NetworkConfig, log: (line: string) => void): void {
  const families = [
    [config.enableIPv4, 'iptables', 'ipv4/ip_forward', 'net.ipv4.ip_forward'],
    [config.enableIPv6, 'ip6tables', 'ipv6/conf/all/forwarding', 'net.ipv6.conf.all.forwarding'],
  ] as const
  for (const [isEnabled, program, file, parameter] of families) {
    if (!isEnabled) continue
    if (!config.enableNFTables && !existsSync(`/proc/sys/net/bridge/bridge-nf-call-${program}`))
      throw new ExplainedError(
        'Failed to check br_netfilter: the kernel lacks the module br_netfilter, without which packets between pods ' +
          'of a node pass no rules: modprobe br_netfilter',
      )
    if (contentOf(`/proc/sys/net/${file}`) === '0')
      log(`this machine does not forward packets of pods yet: sysctl -w ${parameter}=1 (CNI plug-ins do it for a pod)`)
  }
}

function contentOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    return undefined
  }
}
