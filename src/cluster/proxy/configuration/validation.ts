/** Validates KubeProxyConfigurations, in upstream's words. */
import { isIP } from 'node:net'
import { parseCidr } from '../../../lib/cidr.ts'
import { goDurationMs } from '../../../lib/go/go-duration.ts'
import { isModeName, modeNames } from '../../../network/proxy/modes/mode-registry.ts'
import type { ProxyConfiguration } from './defaults.ts'

const localModes = ['ClusterCIDR', 'NodeCIDR', 'BridgeInterface', 'InterfaceNamePrefix']

/** Returns a message for each fault, such as `KubeProxyConfiguration.BindAddress: Invalid value: "x": …`. */
export function configurationFaults(configuration: ProxyConfiguration): string[] {
  const faults = new Faults()
  const { conntrack, iptables, nftables, oomScoreAdj, mode, bindAddress, configSyncPeriod } = configuration
  faults.masquerade('KubeProxyIPTablesConfiguration', iptables)
  faults.masquerade('KubeProxyNFTablesConfiguration', nftables)
  if (mode === 'ipvs') ipvsFaults(configuration, faults)
  for (const [name, value] of Object.entries({ MaxPerCore: conntrack.maxPerCore, Min: conntrack.min }))
    faults.check(value >= 0, `KubeProxyConntrackConfiguration.${name}`, value, 'must be greater than or equal to 0')
  for (const name of ['tcpEstablishedTimeout', 'tcpCloseWaitTimeout', 'udpTimeout', 'udpStreamTimeout'] as const)
    faults.duration(`KubeProxyConntrackConfiguration.${capital(name)}`, conntrack[name], false)
  faults.check(isModeName(mode), 'Mode', mode, `must be ${modeNames.join(', ')} or blank`)
  faults.check(Math.abs(oomScoreAdj) <= 1000, 'OOMScoreAdj', oomScoreAdj, 'must be within the range [-1000, 1000]')
  faults.duration('ConfigSyncPeriod', configSyncPeriod, true)
  faults.check(isIP(bindAddress) > 0, 'BindAddress', bindAddress, 'not a valid textual representation of an IP address')
  faults.hostPort('HealthzBindAddress', configuration.healthzBindAddress)
  faults.hostPort('MetricsBindAddress', configuration.metricsBindAddress)
  localTrafficFaults(configuration, faults)
  nodePortFaults(configuration, faults)
  return faults.messages
}

function ipvsFaults({ ipvs }: ProxyConfiguration, faults: Faults): void {
  const field = 'KubeProxyIPVSConfiguration'
  faults.periods(field, ipvs)
  faults.duration(`${field}.TCPTimeout`, ipvs.tcpTimeout, false)
  faults.duration(`${field}.TCPFinTimeout`, ipvs.tcpFinTimeout, false)
  faults.duration(`${field}.UDPTimeout`, ipvs.udpTimeout, false)
  for (const [at, range] of ipvs.excludeCIDRs.entries())
    faults.check(parseCidr(range) !== undefined, `${field}.ExcludeCIDRs[${at}]`, range, 'must be a valid CIDR block')
}

function localTrafficFaults(configuration: ProxyConfiguration, faults: Faults): void {
  const { detectLocalMode, detectLocal, clusterCIDR } = configuration
  const isKnown = localModes.includes(detectLocalMode)
  faults.check(isKnown, 'DetectLocalMode', detectLocalMode, `must be ${localModes.join(', ')} or blank`)
  const { bridgeInterface = '', interfaceNamePrefix = '' } = detectLocal
  if (detectLocalMode === 'BridgeInterface')
    faults.check(bridgeInterface !== '', 'DetectLocal.BridgeInterface', '', 'must be an interface name')
  if (detectLocalMode === 'InterfaceNamePrefix')
    faults.check(interfaceNamePrefix !== '', 'DetectLocal.InterfaceNamePrefix', '', 'must be a prefix of names')
  if (clusterCIDR === '') return
  const families = clusterCIDR.split(',').map((cidr) => parseCidr(cidr)?.family)
  if (families.length === 1)
    faults.check(
      families[0] !== undefined,
      'ClusterCIDR',
      clusterCIDR,
      'must be a valid CIDR block (e.g. 10.100.0.0/16 or fde4:8dba:82e1::/48)',
    )
  else
    faults.check(
      families.length === 2 && families.includes(4) && families.includes(6),
      'ClusterCIDR',
      clusterCIDR,
      'must be a valid DualStack CIDR (e.g. 10.100.0.0/16,fde4:8dba:82e1::/48)',
    )
}

function nodePortFaults({ nodePortAddresses }: ProxyConfiguration, faults: Faults): void {
  for (const [at, range] of nodePortAddresses.entries())
    if (range === 'primary')
      faults.check(
        nodePortAddresses.length === 1,
        `NodePortAddresses[${at}]`,
        range,
        "can't use both 'primary' and CIDRs",
      )
    else faults.check(parseCidr(range) !== undefined, `NodePortAddresses[${at}]`, range, 'must be a CIDR block')
}

type PeriodName = 'syncPeriod' | 'minSyncPeriod'

class Faults {
  readonly messages: string[] = []

  check(isValid: boolean, field: string, value: unknown, message: string): void {
    if (!isValid)
      this.messages.push(`KubeProxyConfiguration.${field}: Invalid value: ${JSON.stringify(value)}: ${message}`)
  }

  duration(field: string, text: string, mustBePositive: boolean): void {
    const ms = durationOf(text)
    if (ms === undefined) this.check(false, field, text, 'must be a duration such as 30s')
    else if (mustBePositive) this.check(ms > 0, field, text, 'must be greater than 0')
    else this.check(ms >= 0, field, text, 'must be greater than or equal to 0')
  }

  masquerade(field: string, { masqueradeBit, ...periods }: ProxyConfiguration['nftables']): void {
    const isBit = masqueradeBit >= 0 && masqueradeBit <= 31
    this.check(isBit, `${field}.MasqueradeBit`, masqueradeBit, 'must be within the range [0, 31]')
    this.periods(field, periods)
  }

  periods(field: string, { syncPeriod, minSyncPeriod }: Pick<ProxyConfiguration['ipvs'], PeriodName>): void {
    this.duration(`${field}.SyncPeriod`, syncPeriod, true)
    this.duration(`${field}.MinSyncPeriod`, minSyncPeriod, false)
    const isLonger = (durationOf(syncPeriod) ?? 0) >= (durationOf(minSyncPeriod) ?? 0)
    const message = `must be greater than or equal to KubeProxyConfiguration.${field}.MinSyncPeriod`
    this.check(isLonger, `${field}.SyncPeriod`, syncPeriod, message)
  }

  hostPort(field: string, address: string): void {
    if (address === '') return
    const { host, port } = hostPortOf(address)
    this.check(isIP(host) > 0, field, host, 'must be a valid IP')
    this.check(port >= 0 && port <= 65_535, field, port, 'must be a valid port')
  }
}

/** The parts of `IP:PORT`; the port is -1 if there is none. */
export function hostPortOf(address: string): { readonly host: string; readonly port: number } {
  const [, six, four, port = '-1'] = /^(?:\[([^\]]*)\]|([^:]*)):(\d+)$/.exec(address) ?? []
  return { host: six ?? four ?? '', port: Number(port) }
}

function durationOf(text: string): number | undefined {
  try {
    return goDurationMs(text)
  } catch {
    return undefined
  }
}

const capital = (name: string): string => name[0]!.toUpperCase() + name.slice(1)
