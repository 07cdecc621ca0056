/** The defaults of a KubeProxyConfiguration: those of upstream, except for the mode. */
import { isIP } from 'node:net'
import type { ModeName } from '../../../network/proxy/modes/mode-registry.ts'
import type { WrittenProxyConfiguration } from './shape.ts'

const periods = { syncPeriod: '30s', minSyncPeriod: '1s' }
const masquerade = { masqueradeBit: 14, masqueradeAll: false }
const ipvs = {
  ...{ scheduler: '', strictARP: false, tcpTimeout: '0s', tcpFinTimeout: '0s', udpTimeout: '0s' },
  excludeCIDRs: [] as readonly string[],
}

/** Fills in what is not written. `bestMode` is used if the file names no mode. */
export function withDefaults(written: WrittenProxyConfiguration, bestMode: ModeName | undefined) {
  const bindAddress = written.bindAddress || '0.0.0.0'
  const [anywhere, loopback] = isIP(bindAddress) === 6 ? ['[::]', '[::1]'] : ['0.0.0.0', '127.0.0.1']
  const mode = written.mode || bestMode || ''
  return {
    featureGates: {},
    logging: {},
    bindAddressHardFail: false,
    enableProfiling: false,
    detectLocal: {},
    clusterCIDR: '',
    hostnameOverride: '',
    configSyncPeriod: '15m0s',
    oomScoreAdj: -999,
    ...written,
    clientConnection: { kubeconfig: '', qps: 5, burst: 10, ...written.clientConnection },
    bindAddress,
    healthzBindAddress: withPort(written.healthzBindAddress ?? anywhere, 10_256),
    metricsBindAddress: withPort(written.metricsBindAddress ?? loopback, 10_249),
    mode,
    iptables: { ...masquerade, localhostNodePorts: true, ...periods, ...written.iptables },
    nftables: { ...masquerade, ...periods, ...written.nftables },
    ipvs: { ...ipvs, ...periods, ...written.ipvs },
    detectLocalMode: written.detectLocalMode || 'ClusterCIDR',
    nodePortAddresses:
      written.nodePortAddresses?.length || mode !== 'nftables' ? (written.nodePortAddresses ?? []) : ['primary'],
    conntrack: {
      maxPerCore: 32 * 1024,
      min: 128 * 1024,
      tcpEstablishedTimeout: '24h0m0s',
      tcpCloseWaitTimeout: '1h0m0s',
      tcpBeLiberal: false,
      udpTimeout: '0s',
      udpStreamTimeout: '0s',
      ...written.conntrack,
    },
  }
}

export type ProxyConfiguration = ReturnType<typeof withDefaults>

/** Appends a port to an address without one; an empty address turns a server off. */
function withPort(address: string, port: number): string {
  if (address === '' || /^(\[[^\]]*\]|[^:]*):\d+$/.test(address)) return address
  return isIP(address) === 6 ? `[${address}]:${port}` : `${address}:${port}`
}
