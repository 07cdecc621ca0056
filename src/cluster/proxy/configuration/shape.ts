/** The fields of a KubeProxyConfiguration (kubeproxy.config.k8s.io/v1alpha1, release 1.36), in upstream's order. */
import {
  anything,
  type ConfigurationKind,
  flag,
  int32,
  listOf,
  structOf,
  text,
} from '../../../machinery/decode/configuration.ts'

/** Intervals of syncs, as in `1m30s`. */
interface WrittenPeriods {
  readonly syncPeriod?: string
  readonly minSyncPeriod?: string
}

interface WrittenMasquerade extends WrittenPeriods {
  readonly masqueradeBit?: number
  readonly masqueradeAll?: boolean
}

interface WrittenIpvs extends WrittenPeriods {
  readonly scheduler?: string
  readonly excludeCIDRs?: readonly string[]
  readonly strictARP?: boolean
  readonly tcpTimeout?: string
  readonly tcpFinTimeout?: string
  readonly udpTimeout?: string
}

export interface WrittenConntrack {
  readonly maxPerCore?: number
  readonly min?: number
  readonly tcpEstablishedTimeout?: string
  readonly tcpCloseWaitTimeout?: string
  readonly tcpBeLiberal?: boolean
  readonly udpTimeout?: string
  readonly udpStreamTimeout?: string
}

export interface WrittenProxyConfiguration {
  readonly featureGates?: Readonly<Record<string, boolean>>
  readonly clientConnection?: {
    readonly kubeconfig?: string
    readonly acceptContentTypes?: string
    readonly contentType?: string
    readonly qps?: number
    readonly burst?: number
  }
  readonly logging?: { readonly format?: string; readonly verbosity?: number }
  readonly hostnameOverride?: string
  readonly bindAddress?: string
  readonly healthzBindAddress?: string
  readonly metricsBindAddress?: string
  readonly bindAddressHardFail?: boolean
  readonly enableProfiling?: boolean
  readonly showHiddenMetricsForVersion?: string
  readonly mode?: string
  readonly iptables?: WrittenMasquerade & { readonly localhostNodePorts?: boolean }
  readonly ipvs?: WrittenIpvs
  readonly nftables?: WrittenMasquerade
  readonly winkernel?: Readonly<Record<string, unknown>>
  readonly detectLocalMode?: string
  readonly detectLocal?: { readonly bridgeInterface?: string; readonly interfaceNamePrefix?: string }
  readonly clusterCIDR?: string
  readonly nodePortAddresses?: readonly string[]
  readonly oomScoreAdj?: number
  readonly conntrack?: WrittenConntrack
  readonly configSyncPeriod?: string
  readonly portRange?: string
  readonly windowsRunAsService?: boolean
}

const periods = { syncPeriod: text, minSyncPeriod: text }
const masquerade = { masqueradeBit: int32, masqueradeAll: flag }

export const kubeProxyConfiguration: ConfigurationKind = {
  kind: 'KubeProxyConfiguration',
  versions: ['kubeproxy.config.k8s.io/v1alpha1'],
  fields: {
    featureGates: { kind: 'map', values: flag },
    clientConnection: structOf('ClientConnectionConfiguration', {
      kubeconfig: text,
      acceptContentTypes: text,
      contentType: text,
      qps: { kind: 'number' },
      burst: int32,
    }),
    logging: structOf('LoggingConfiguration', {
      format: text,
      flushFrequency: anything,
      verbosity: int32,
      vmodule: anything,
      options: anything,
    }),
    hostnameOverride: text,
    bindAddress: text,
    healthzBindAddress: text,
    metricsBindAddress: text,
    bindAddressHardFail: flag,
    enableProfiling: flag,
    showHiddenMetricsForVersion: text,
    mode: text,
    iptables: structOf('KubeProxyIPTablesConfiguration', { ...masquerade, localhostNodePorts: flag, ...periods }),
    ipvs: structOf('KubeProxyIPVSConfiguration', {
      ...periods,
      scheduler: text,
      excludeCIDRs: listOf(text),
      strictARP: flag,
      tcpTimeout: text,
      tcpFinTimeout: text,
      udpTimeout: text,
    }),
    nftables: structOf('KubeProxyNFTablesConfiguration', { ...masquerade, ...periods }),
    winkernel: structOf('KubeProxyWinkernelConfiguration', {
      networkName: text,
      sourceVip: text,
      enableDSR: flag,
      rootHnsEndpointName: text,
      forwardHealthCheckVip: flag,
    }),
    detectLocalMode: text,
    detectLocal: structOf('DetectLocalConfiguration', { bridgeInterface: text, interfaceNamePrefix: text }),
    clusterCIDR: text,
    nodePortAddresses: listOf(text),
    oomScoreAdj: int32,
    conntrack: structOf('KubeProxyConntrackConfiguration', {
      maxPerCore: int32,
      min: int32,
      tcpEstablishedTimeout: text,
      tcpCloseWaitTimeout: text,
      tcpBeLiberal: flag,
      udpTimeout: text,
      udpStreamTimeout: text,
    }),
    configSyncPeriod: text,
    portRange: text,
    windowsRunAsService: flag,
  },
}
