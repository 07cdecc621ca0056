/** flannel in the process of a node, in place of plain routes: `--network-backend`. */
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { kubeconfigFor, kubeconfigYaml } from '../../../kubeconfig/kubeconfig.ts'
import { rangeHas } from '../../../lib/cidr.ts'
import { writeFileAtomically } from '../../../lib/files/atomic-file.ts'
import { ignoreErrors } from '../../../lib/linux/c-library.ts'
import { systemCalls } from '../../../lib/linux/system-calls.ts'
import { messageOf } from '../../../lib/message-of.ts'
import { type HostNetwork, withHostNetwork } from '../../../network/netlink/host-network.ts'
import { flannelFlags } from '../../flannel/flags.ts'
import { type FlannelOptions, runFlannel } from '../../flannel/run-flannel.ts'
import type { RealNodeTask } from '../thread/messages.ts'
import { subnetFileIn } from './flannel-files.ts'

type Log = (line: string) => void

/** The settings of flannel, as plain data. */
export interface EmbeddedFlannel {
  /** `vxlan`, `host-gw`, … */
  readonly backend: string
  /** The node's kubeconfig. Default: one with the kubelet's certificate. */
  readonly kubeconfig?: string | undefined
  /** The folder of its files. */
  readonly folder: string
}

/** Pauses before flannel is started again, in ms. */
const retryMs = { first: 100, most: 10_000 }

/** Lines of flannel about its normal work. */
const usualLines = /^(?:Created|Found|Using|Running|Wrote|flannel is ready|the leases|Start|.*sysctl)/

/** Starts in the background. Errors are logged. */
export function startEmbeddedFlannel(
  { name, ips, server }: RealNodeTask,
  flannel: EmbeddedFlannel,
  ranges: readonly string[],
  log: Log,
): { stop(): Promise<void> } {
  const { folder } = flannel
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const config = join(folder, 'net-conf.json')
  writeFileAtomically(config, JSON.stringify(netConf(flannel.backend, ranges)), 0o600)
  const kubeconfig = flannel.kubeconfig ?? join(folder, 'kubeconfig')
  if (flannel.kubeconfig === undefined) {
    const { url, ca, cert = '', key = '' } = server
    writeFileAtomically(kubeconfig, kubeconfigYaml(kubeconfigFor('flannel', { url, ca, cert, key })), 0o600)
  }
  const stopping = new AbortController()
  const running = keepRunning(
    {
      flags: flannelFlags(
        [
          '--kube-subnet-mgr',
          `--kubeconfig-file=${kubeconfig}`,
          `--net-config-path=${config}`,
          `--subnet-file=${subnetFileIn(folder)}`,
          '--iptables-forward-rules=false',
          ...ips.slice(0, 1).map((ip) => `--iface=${ip}`),
        ],
        {},
      ),
      environment: { NODE_NAME: name },
      log: (line) => usualLines.test(line) || log(`flannel: ${line}`),
      signal: stopping.signal,
    },
    log,
  )
  return {
    async stop() {
      stopping.abort()
      await running
      removeNetwork(ranges)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Starts flannel again when it ends: its node may have no subnet yet, or has got another one. */
async function keepRunning(options: FlannelOptions, log: Log): Promise<void> {
  const { signal } = options
  for (let pauseMs = retryMs.first, logged = ''; !signal.aborted; pauseMs = Math.min(2 * pauseMs, retryMs.most)) {
    const started = performance.now()
    try {
      await runFlannel(options)
    } catch (error) {
      const problem = messageOf(error)
      if (problem !== logged) log(`pods do not reach other nodes: ${problem}. flannel is started again`)
      logged = problem
    }
    if (performance.now() - started > retryMs.most) pauseMs = retryMs.first
    await delay(pauseMs, undefined, { signal }).catch(() => {})
  }
}

/** Removes what flannel has left, if a node used it. */
export function removeFlannel(folder: string, ranges: readonly string[]): void {
  if (existsSync(folder)) removeNetwork(ranges)
}

/** The configuration of the network: the first range of each family. */
export function netConf(backend: string, ranges: readonly string[]): object {
  const [ipv4, ipv6] = [false, true].map((isIPv6) => ranges.find((range) => range.includes(':') === isIPv6))
  return {
    EnableIPv4: ipv4 !== undefined,
    ...(ipv4 && { Network: ipv4 }),
    ...(ipv6 && { EnableIPv6: true, IPv6Network: ipv6 }),
    EnableNFTables: true,
    Backend: { Type: backend },
  }
}

/** The routes to other nodes, and the interfaces of backends. Those of pods have no gateway and other names. */
function removeNetwork(ranges: readonly string[]): void {
  withHostNetwork(systemCalls(), undefined, ({ links, routes }: HostNetwork) => {
    const all = links.list()
    for (const route of routes.list()) {
      const device = all.find(({ index }) => index === route.link)
      const [address = ''] = route.destination.split('/')
      if (device && route.gateway !== undefined && ranges.some((range) => rangeHas(range, address)))
        routes.remove(device, route)
    }
    for (const link of all.filter(({ name }) => /^flannel[-.]/.test(name)))
      try {
        links.remove(link)
      } catch (error) {
        ignoreErrors(error, 'ENODEV')
      }
  })
}
