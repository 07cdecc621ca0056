/** kube-proxy for any API server (`t8s proxy`): its credentials, configuration and start. */
import { watch, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { FeatureGates } from '../../api/features/feature-gates.ts'
import { featureMetrics } from '../../apiserver/feature-gates/feature-metrics.ts'
import { versionInfo } from '../../apiserver/version/version.ts'
import { versionMetrics } from '../../apiserver/version/version-metrics.ts'
import type { ServerAccess } from '../../client/connection/connection.ts'
import { inClusterAccess, loadAccess } from '../../client/connection/load-access.ts'
import { restClientMetrics } from '../../client/connection/request-metrics.ts'
import { parseCidr } from '../../lib/cidr.ts'
import { ExplainedError, reasonOf } from '../../lib/explained-error.ts'
import { goDurationMs } from '../../lib/go/go-duration.ts'
import { Lifetime } from '../../lib/lifetime/lifetime.ts'
import { MetricsRegistry } from '../../lib/metrics/registry.ts'
import { release } from '../../lib/release.ts'
import { toYaml } from '../../machinery/yaml.ts'
import { runRulesProgram } from '../../network/cni/host-ports/run-rules-program.ts'
import type { NodeState } from '../../network/proxy/loop/node-state.ts'
import type { IpvsSettings, LocalTraffic } from '../../network/proxy/modes/mode-options.ts'
import { bestMode, isModeName, type ModeName, modeNames, modeOf } from '../../network/proxy/modes/mode-registry.ts'
import { cleanUpMode, startProxy } from '../../network/proxy/start-proxy.ts'
import { checkedConfiguration, type ProxyConfiguration, readConfigurationFile } from './configuration/index.ts'
import { type FlagValues, fieldsOf } from './flags.ts'
import { prepareKernel } from './kernel-settings.ts'
import { serveProxy } from './servers.ts'

type Log = (line: string) => void

export interface StandaloneProxy {
  readonly node: string
  readonly mode: ModeName
  /** Resolves after the first sync; never rejects. */
  readonly synced: Promise<void>
  /** Rejects if the configuration file changes: as upstream, the proxy must be started again. */
  readonly failed: Promise<never>
  /** Stops; rules remain. */
  stop(): Promise<void>
}

/**
 * Carries out `--cleanup`, `--write-config-to` and `--init-only`, for which it resolves with undefined, or starts.
 * Rejects with an ExplainedError for unusable files and flags.
 */
export async function startStandaloneProxy(flags: FlagValues, log: Log): Promise<StandaloneProxy | undefined> {
  const file = flags.text('config')
  const written = file ? readConfigurationFile(resolve(file)) : fieldsOf(flags)
  const target = flags.text('write-config-to')
  if (flags.bool('cleanup') && !target) {
    await cleanUp(modeNames, log)
    return undefined
  }
  const best = written.mode ? undefined : await bestMode(runRulesProgram)
  const configuration = checkedConfiguration(written, best)
  if (target) {
    writeConfiguration(resolve(target), configuration)
    log(`Wrote configuration to ${target}`)
    return undefined
  }
  prepareKernel(configuration, log)
  if (flags.bool('init-only')) return undefined
  return run(flags, configuration, file && resolve(file), log)
}

async function run(
  flags: FlagValues,
  configuration: ProxyConfiguration,
  file: string | undefined,
  log: Log,
): Promise<StandaloneProxy> {
  const lifetime = new Lifetime()
  try {
    const mode = configuration.mode
    if (!isModeName(mode)) throw new ExplainedError(`there is no proxy mode ${JSON.stringify(mode)}`)
    await modeOf(mode)
      .check(runRulesProgram)
      .catch((error) => {
        throw new ExplainedError(`this machine cannot use the proxy mode ${mode}: ${reasonOf(error)}`, { cause: error })
      })
    await cleanUp(
      modeNames.filter((name) => name !== mode && !modeOf(mode).replaces.includes(name)),
      log,
    )
    const node = (flags.text('hostname-override') || configuration.hostnameOverride || hostname()).trim().toLowerCase()
    const registry = programMetrics(configuration)
    const server = await accessOf(flags, configuration, registry)
    const proxy = startProxy({ ...proxyOptions(configuration, mode), server, node, metrics: registry, log })
    lifetime.onEnd(() => proxy.stop())
    const synced = proxy.synced.catch((error) => log(`kube-proxy does not work: ${reasonOf(error)}`))
    await serveProxy({ configuration, proxy, registry, log }, lifetime)
    return { node, mode, synced, failed: fileChange(file, lifetime), stop: () => lifetime.end() }
  } catch (error) {
    await lifetime.end()
    throw error
  }
}

/** Removes the rules of modes that this machine may have. */
async function cleanUp(names: readonly ModeName[], log: Log): Promise<void> {
  for (const name of names)
    if (await modeOf(name).mayHaveRules(runRulesProgram))
      await cleanUpMode(name, { instance: undefined, servedInterfaces: undefined, log })
}

function proxyOptions(configuration: ProxyConfiguration, mode: ModeName) {
  const { iptables, nftables, ipvs, nodePortAddresses, bindAddress } = configuration
  const { masqueradeAll, masqueradeBit } = mode === 'nftables' ? nftables : iptables
  const { syncPeriod, minSyncPeriod } = { nftables, iptables, ipvs, userspace: iptables }[mode]
  return {
    mode,
    bindAddress: ['0.0.0.0', '::'].includes(bindAddress) ? undefined : bindAddress,
    localTraffic: (family: 4 | 6, state: NodeState) => localTraffic(configuration, family, state),
    nodePortRanges: nodePortAddresses,
    masqueradeAll,
    masqueradeBit,
    localhostNodePorts: iptables.localhostNodePorts,
    ipvs: ipvsSettings(ipvs),
    servedInterfaces: undefined,
    instance: undefined,
    times: { minIntervalMs: goDurationMs(minSyncPeriod), periodMs: goDurationMs(syncPeriod) },
  }
}

function ipvsSettings(ipvs: ProxyConfiguration['ipvs']): IpvsSettings {
  const seconds = (text: string): number => Math.floor(goDurationMs(text) / 1000)
  return {
    scheduler: ipvs.scheduler || 'rr',
    excludedCidrs: ipvs.excludeCIDRs,
    strictArp: ipvs.strictARP,
    timeouts: { tcp: seconds(ipvs.tcpTimeout), tcpFin: seconds(ipvs.tcpFinTimeout), udp: seconds(ipvs.udpTimeout) },
  }
}

function localTraffic(
  { detectLocalMode, detectLocal, clusterCIDR }: ProxyConfiguration,
  family: 4 | 6,
  { podCidrs }: NodeState,
): LocalTraffic {
  if (detectLocalMode === 'BridgeInterface') return { kind: 'bridge', name: detectLocal.bridgeInterface ?? '' }
  if (detectLocalMode === 'InterfaceNamePrefix')
    return { kind: 'interface-prefix', prefix: detectLocal.interfaceNamePrefix ?? '' }
  const all = detectLocalMode === 'NodeCIDR' ? podCidrs : clusterCIDR.split(',')
  const cidrs = all.filter((cidr) => parseCidr(cidr)?.family === family)
  return cidrs.length > 0 ? { kind: 'cidrs', cidrs } : { kind: 'none' }
}

async function accessOf(
  flags: FlagValues,
  { clientConnection: { kubeconfig, qps, burst } }: ProxyConfiguration,
  registry: MetricsRegistry,
): Promise<ServerAccess> {
  const master = flags.text('master')
  const access = kubeconfig
    ? await loadAccess({ kubeconfig: resolve(kubeconfig) })
    : process.env.KUBERNETES_SERVICE_HOST && !process.env.KUBECONFIG
      ? await inClusterAccess()
      : await loadAccess()
  return {
    ...access,
    ...(master && { url: master }),
    // Upstream's client without a limit has a negative number.
    ...(qps > 0 && { rateLimit: { qps, burst } }),
    metrics: restClientMetrics(registry),
  }
}

function programMetrics({ featureGates }: ProxyConfiguration): MetricsRegistry {
  const metrics = new MetricsRegistry()
  versionMetrics(metrics, versionInfo(release))
  featureMetrics(metrics, new FeatureGates(featureGates))
  return metrics
}

function writeConfiguration(file: string, configuration: ProxyConfiguration): void {
  const { clusterCIDR, mode, ...fields } = configuration
  const object = { apiVersion: 'kubeproxy.config.k8s.io/v1alpha1', kind: 'KubeProxyConfiguration' }
  writeFileSync(file, toYaml({ ...object, clusterCIDR, mode, ...fields }))
}

function fileChange(file: string | undefined, lifetime: Lifetime): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>()
  promise.catch(() => {})
  if (file === undefined) return promise
  const watcher = watch(file, { persistent: false }, () =>
    reject(new ExplainedError("content of the proxy server's configuration file was updated: start it again")),
  )
  lifetime.onEnd(() => watcher.close())
  return promise
}
