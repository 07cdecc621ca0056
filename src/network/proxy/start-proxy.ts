/** Starts kube-proxy on this machine: connects its loop with the API server, a mode, and the kernel. */
import { existsSync, readFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { Connection, type ServerAccess } from '../../client/connection/connection.ts'
import { RestClient } from '../../client/rest/rest-client.ts'
import { systemCalls } from '../../lib/linux/system-calls.ts'
import type { MetricsRegistry } from '../../lib/metrics/registry.ts'
import { runRulesProgram } from '../cni/host-ports/run-rules-program.ts'
import { removeUdpConnections } from '../netlink/connections.ts'
import type { SyncTimes } from './loop/family-proxy.ts'
import { nodePortAddresses } from './loop/node-port-addresses.ts'
import type { NodeState } from './loop/node-state.ts'
import { type FamilyMode, ServiceProxy } from './loop/service-proxy.ts'
import type { LocalTraffic, ModeOptions } from './modes/mode-options.ts'
import { type ModeName, modeOf } from './modes/mode-registry.ts'
import type { IpFamily } from './picture/service-port.ts'
import { ProxyHealth } from './server/proxy-health.ts'
import { type ProxyMetrics, proxyMetrics } from './server/proxy-metrics.ts'

export interface ProxyNodeOptions
  extends Pick<
    ModeOptions,
    'masqueradeAll' | 'masqueradeBit' | 'localhostNodePorts' | 'ipvs' | 'servedInterfaces' | 'instance'
  > {
  readonly server: ServerAccess
  /** The name of the Node. */
  readonly node: string
  readonly bindAddress: string | undefined
  readonly mode: ModeName
  readonly localTraffic: (family: IpFamily, state: NodeState) => LocalTraffic
  /** As `--nodeport-addresses`. */
  readonly nodePortRanges: readonly string[]
  readonly times: SyncTimes
  readonly metrics: MetricsRegistry
  readonly log: (line: string) => void
}

export interface RunningProxy {
  readonly health: ProxyHealth
  readonly metrics: ProxyMetrics
  /** Resolves after the first sync. Rejects if no mode can be created. */
  readonly synced: Promise<void>
  /** Stops; rules remain. */
  stop(): Promise<void>
}

const schedule = (callback: () => void, ms: number): (() => void) => {
  const timer = setTimeout(callback, ms).unref()
  return () => clearTimeout(timer)
}

/** @example const proxy = startProxy(options); await proxy.synced */
export function startProxy(options: ProxyNodeOptions): RunningProxy {
  const { server, node, bindAddress, times, log } = options
  const connection = new Connection({ ...server, userAgent: 'kube-proxy' })
  const health = new ProxyHealth(2 * times.periodMs, Date.now)
  const metrics = proxyMetrics(options.metrics, Date.now)
  const proxy = new ServiceProxy({
    client: new RestClient(connection),
    node,
    bindAddress,
    createMode: (family, state, serviceCidrs) => familyMode(options, family, state, serviceCidrs),
    hostAddresses,
    health,
    metrics,
    times,
    schedule,
    now: Date.now,
    log,
  })
  if (modeOf(options.mode).usesKernel) checkBridges(log)
  const synced = proxy.start()
  return {
    health,
    metrics,
    synced,
    async stop() {
      await proxy.stop()
      connection.close()
    },
  }
}

/** Replies between pods on one bridge pass the rules only if the kernel sends them there. */
function checkBridges(log: (line: string) => void): void {
  try {
    if (readFileSync('/proc/sys/net/bridge/bridge-nf-call-iptables', 'utf8').trim() === '1') return
  } catch {
    // The kernel has not loaded the module.
  }
  log(
    'Missing br-netfilter module or unset sysctl br-nf-call-iptables, proxy may not work as intended: pods on one ' +
      'bridge reach each other by Services after `modprobe br_netfilter` and ' +
      '`sysctl -w net.bridge.bridge-nf-call-iptables=1`',
  )
}

const hostAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((list = []) => list.map(({ address }) => address))

/** Removes the rules of a mode, of this or an earlier process, for both families. */
export async function cleanUpMode(
  name: ModeName,
  { instance, servedInterfaces, log }: Pick<ProxyNodeOptions, 'instance' | 'servedInterfaces' | 'log'>,
): Promise<void> {
  for (const family of supportedFamilies()) {
    const options: ModeOptions = {
      ...processOptions(log),
      family,
      node: '',
      nodePortAddresses: () => ({ isAll: true, addresses: [] }),
      nodeAddress: '',
      localTraffic: { kind: 'none' },
      masqueradeAll: false,
      serviceCidrs: () => [],
      masqueradeBit: 14,
      localhostNodePorts: false,
      servedInterfaces,
      instance,
    }
    await (await modeOf(name).create(options)).cleanUp()
  }
}

/** The IP families of this machine's kernel. */
const supportedFamilies = (): IpFamily[] => (existsSync('/proc/net/if_inet6') ? [4, 6] : [4])

const processOptions = (log: (line: string) => void): Pick<ModeOptions, 'runProgram' | 'log' | 'now'> => ({
  runProgram: runRulesProgram,
  log,
  now: Date.now,
})

async function familyMode(
  options: ProxyNodeOptions,
  family: IpFamily,
  state: NodeState,
  serviceCidrs: () => readonly string[],
): Promise<FamilyMode | undefined> {
  if (!supportedFamilies().includes(family)) return undefined
  const { node, mode: name, nodePortRanges, localTraffic, log } = options
  const { masqueradeAll, masqueradeBit, localhostNodePorts, ipvs, servedInterfaces, instance } = options
  const nodeAddress = state.addresses[family]
  const addresses = nodePortAddresses(nodePortRanges, family, nodeAddress, networkInterfaces)
  const { create, usesKernel } = modeOf(name)
  const mode = await create({
    ...processOptions(log),
    family,
    node,
    nodePortAddresses: addresses,
    nodeAddress,
    localTraffic: localTraffic(family, state),
    masqueradeAll,
    serviceCidrs,
    masqueradeBit,
    localhostNodePorts,
    ipvs,
    servedInterfaces,
    instance,
  })
  const removeFlows = (isStale: Parameters<typeof removeUdpConnections>[1]): number =>
    removeUdpConnections(systemCalls(), isStale, family)
  return { mode, nodePortAddresses: addresses, removeFlows: usesKernel ? removeFlows : undefined }
}
