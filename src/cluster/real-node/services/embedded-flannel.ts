/** flannel in the process of a node: the way of pods to those of other nodes. */
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { kubeconfigFor, kubeconfigYaml } from '../../../kubeconfig/kubeconfig.ts'
import { rangeHas } from '../../../lib/cidr.ts'
import { writeFileAtomically } from '../../../lib/files/atomic-file.ts'
import { ignoreErrors } from '../../../lib/linux/c-library.ts'
import { systemCalls } from '../../../lib/linux/system-calls.ts'
import { messageOf } from '../../../lib/message-of.ts'
import { parseNetworkConfig } from '../../../network/flannel/config/network-config.ts'
import { type HostNetwork, withHostNetwork } from '../../../network/netlink/host-network.ts'
import { flannelFlags } from '../../flannel/flags.ts'
import { type FlannelOptions, runFlannel } from '../../flannel/run-flannel.ts'
import type { KeyPair } from '../../pki/key-pair.ts'
import type { RealNodeTask } from '../thread/messages.ts'
import { subnetFileIn } from './flannel-files.ts'

type Log = (line: string) => void

/** The settings of flannel, as plain data. */
export interface EmbeddedFlannel {
  /** The text of net-conf.json. */
  readonly config: string
  /** A kubeconfig, or the certificate of flannel's user. */
  readonly access: string | KeyPair
  /** The folder of its files. */
  readonly folder: string
}

export interface RunningFlannel {
  /** Removes the network. */
  stop(): Promise<void>
}

/** Pauses before flannel is started again, in ms. */
const retryMs = { first: 100, most: 10_000 }

/** Lines of flannel about its normal work. */
const usualLines = /^(?:Created|Found|Using|Running|Wrote|flannel is ready|the leases|Start|.*sysctl)/

/** Starts in the background. Errors are logged. */
export function startEmbeddedFlannel(
  { name, ips, server }: RealNodeTask,
  { folder, config: text, access }: EmbeddedFlannel,
  log: Log,
): RunningFlannel {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const config = configIn(folder)
  writeFileAtomically(config, text, 0o600)
  const kubeconfig = typeof access === 'string' ? access : join(folder, 'kubeconfig')
  if (typeof access !== 'string') {
    const { url, ca } = server
    writeFileAtomically(kubeconfig, kubeconfigYaml(kubeconfigFor('flannel', { url, ca, ...access })), 0o600)
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
      removeFlannel(folder)
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

const configIn = (folder: string): string => join(folder, 'net-conf.json')

/** Removes what flannel has left, if a node used it. */
export function removeFlannel(folder: string): void {
  if (!existsSync(configIn(folder))) return
  const { network, ipv6Network } = parseNetworkConfig(readFileSync(configIn(folder), 'utf8'))
  removeNetwork([network, ipv6Network].filter((range) => range !== undefined))
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
