/** The settings of the kernel for the program kube-proxy: limits and times of tracked connections, its OOM score. */
import { readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { reasonOf } from '../../lib/explained-error.ts'
import { goDurationMs } from '../../lib/go/go-duration.ts'
import type { ProxyConfiguration } from './configuration/index.ts'

type Fields = Pick<ProxyConfiguration, 'conntrack' | 'oomScoreAdj'>

/** Connections that one bucket of the kernel's table should have at most. */
const connectionsPerBucket = 4

/**
 * Sets what differs, and logs what cannot be set: in a container, `/proc/sys` is often not writable. `root` is the
 * machine's `/`.
 */
export function prepareKernel({ conntrack, oomScoreAdj }: Fields, log: (line: string) => void, root = '/'): void {
  const set = (file: string, value: number, only: 'different' | 'higher' = 'different'): void => {
    try {
      const current = Number(readFileSync(root + file, 'utf8'))
      if (only === 'higher' ? current >= value : current === value) return
      writeFileSync(root + file, String(value))
    } catch (error) {
      log(`cannot set ${root}${file} to ${value}: ${reasonOf(error)}`)
    }
  }
  set('proc/self/oom_score_adj', oomScoreAdj)
  const max = conntrackMax(conntrack)
  if (max > 0) {
    set('proc/sys/net/netfilter/nf_conntrack_max', max)
    set('sys/module/nf_conntrack/parameters/hashsize', Math.floor(max / connectionsPerBucket), 'higher')
  }
  const times = {
    tcp_timeout_established: conntrack.tcpEstablishedTimeout,
    tcp_timeout_close_wait: conntrack.tcpCloseWaitTimeout,
    udp_timeout: conntrack.udpTimeout,
    udp_timeout_stream: conntrack.udpStreamTimeout,
  }
  for (const [name, text] of Object.entries(times)) {
    const seconds = Math.floor(goDurationMs(text) / 1000)
    if (seconds > 0) set(`proc/sys/net/netfilter/nf_conntrack_${name}`, seconds)
  }
  if (conntrack.tcpBeLiberal) set('proc/sys/net/netfilter/nf_conntrack_tcp_be_liberal', 1)
}

/** The number of connections to track; 0 leaves the kernel's. */
function conntrackMax({ maxPerCore, min }: Fields['conntrack'], processors: number = availableParallelism()): number {
  return maxPerCore > 0 ? Math.max(min, maxPerCore * processors) : 0
}
