/** The command line of kube-proxy 1.36: its parser, its help, and the fields of its configuration. */
import { featureSettings } from '../../apiserver/feature-gates/index.ts'
import { type FlagSet, type FlagType, works } from '../../apiserver/serving-flags/flag.ts'
import { flagsHelp } from '../../apiserver/serving-flags/help.ts'
import { type FlagValues, parseFlags } from '../../apiserver/serving-flags/parse.ts'
import { global, logs } from '../../apiserver/serving-flags/table/every-component.ts'
import { type ConfigFlag, fieldsOfFlags } from '../options/configuration-flags.ts'
import type { WrittenProxyConfiguration } from './configuration/shape.ts'

const of = (name: string, type: FlagType, field: string, help: string, usual?: string, why?: string): ConfigFlag => ({
  name,
  type,
  field,
  help,
  usual,
  ...(why && { idle: why }),
})

const programFlags: FlagSet = {
  name: 'kube-proxy',
  flags: [
    works('config', 'string', 'a file with a KubeProxyConfiguration; flags of its fields are ignored then'),
    works('write-config-to', 'string', 'write the configuration in effect to this file, and end'),
    works('cleanup', 'bool', 'remove the rules of all modes, and end'),
    works('init-only', 'bool', 'set what needs full root, and end'),
    works('master', 'string', "the address of the API server; overrides the kubeconfig's"),
    works('hostname-override', 'string', 'the name of the Node; default: that of this machine'),
    works('healthz-port', 'int', 'deprecated: use --healthz-bind-address; 0 turns it off', '10256'),
    works('metrics-port', 'int', 'deprecated: use --metrics-bind-address; 0 turns it off', '10249'),
  ],
}

const serverFlags: readonly ConfigFlag[] = [
  of('kubeconfig', 'string', 'clientConnection.kubeconfig', "the cluster and the proxy's credentials"),
  of('kube-api-qps', 'float', 'clientConnection.qps', 'requests per second to the API server', '5'),
  of('kube-api-burst', 'int', 'clientConnection.burst', 'burst of these requests', '10'),
  of(
    'kube-api-content-type',
    'string',
    'clientConnection.contentType',
    'their content type',
    undefined,
    'requests are sent as JSON',
  ),
  of('bind-address', 'ip', 'bindAddress', "overrides the node's primary address", '0.0.0.0'),
  of('healthz-bind-address', 'string', 'healthzBindAddress', 'where /healthz is served', '0.0.0.0:10256'),
  of('metrics-bind-address', 'string', 'metricsBindAddress', 'where /metrics is served', '127.0.0.1:10249'),
  of('bind-address-hard-fail', 'bool', 'bindAddressHardFail', 'end if one of the two cannot be served'),
  of('profiling', 'bool', 'enableProfiling', 'serve /debug/pprof/ beside /metrics'),
  of(
    'show-hidden-metrics-for-version',
    'string',
    'showHiddenMetricsForVersion',
    'show metrics that this version hides',
    undefined,
    'the metrics are the same for everybody',
  ),
  of(
    'config-sync-period',
    'duration',
    'configSyncPeriod',
    'how often objects are handled again',
    '15m0s',
    'changes are followed by a watch, and the mode checks its own rules',
  ),
  {
    ...of('feature-gates', 'featureGates', 'featureGates', 'features of 1.36 to turn on or off: Name=true|false'),
    read: (values, name) => featureSettings(values.all(name)),
  },
]

const modeFlags: readonly ConfigFlag[] = [
  of(
    'proxy-mode',
    'string',
    'mode',
    'nftables, iptables, ipvs or userspace; default: the best one that works here, but not ipvs',
  ),
  of('iptables-masquerade-bit', 'int', 'iptables.masqueradeBit', 'the bit of the packet mark, 0 to 31', '14'),
  of(
    'iptables-localhost-nodeports',
    'bool',
    'iptables.localhostNodePorts',
    'serve node ports on 127.0.0.1, in the mode iptables',
    'true',
  ),
  of('iptables-sync-period', 'duration', 'iptables.syncPeriod', 'how often rules are checked', '30s'),
  of('iptables-min-sync-period', 'duration', 'iptables.minSyncPeriod', 'shortest time between two syncs', '1s'),
  of('masquerade-all', 'bool', 'iptables.masqueradeAll', 'masquerade all connections to cluster IPs'),
  of(
    'detect-local-mode',
    'string',
    'detectLocalMode',
    "how connections of this node's pods are recognized: ClusterCIDR, NodeCIDR, BridgeInterface or InterfaceNamePrefix",
    'ClusterCIDR',
  ),
  of('cluster-cidr', 'string', 'clusterCIDR', 'the range of the pods, for ClusterCIDR; two for dual stack'),
  of('pod-bridge-interface', 'string', 'detectLocal.bridgeInterface', 'the bridge of the pods, for BridgeInterface'),
  of('pod-interface-name-prefix', 'string', 'detectLocal.interfaceNamePrefix', 'for InterfaceNamePrefix'),
  of(
    'nodeport-addresses',
    'strings',
    'nodePortAddresses',
    'ranges of addresses that serve node ports, or primary; default: primary in the mode nftables, else all',
  ),
  of('ipvs-sync-period', 'duration', 'ipvs.syncPeriod', 'how often rules are checked, in the mode ipvs', '30s'),
  of('ipvs-min-sync-period', 'duration', 'ipvs.minSyncPeriod', 'shortest time between two syncs', '1s'),
  of(
    'ipvs-scheduler',
    'string',
    'ipvs.scheduler',
    'the scheduler of IPVS: rr, wrr, lc, wlc, lblc, lblcr, sh, dh, sed, nq, mh',
    'rr',
  ),
  of(
    'ipvs-exclude-cidrs',
    'strings',
    'ipvs.excludeCIDRs',
    'virtual servers with addresses of these ranges are left alone',
  ),
  of('ipvs-strict-arp', 'bool', 'ipvs.strictARP', 'set arp_ignore to 1 and arp_announce to 2'),
  of('ipvs-tcp-timeout', 'duration', 'ipvs.tcpTimeout', 'idle TCP connections; 0 changes nothing'),
  of('ipvs-tcpfin-timeout', 'duration', 'ipvs.tcpFinTimeout', 'TCP connections after FIN; 0 changes nothing'),
  of('ipvs-udp-timeout', 'duration', 'ipvs.udpTimeout', 'idle UDP flows; 0 changes nothing'),
]

const kernelFlags: readonly ConfigFlag[] = [
  of('oom-score-adj', 'int', 'oomScoreAdj', 'the adjustment of the OOM killer', '-999'),
  of('conntrack-max-per-core', 'int', 'conntrack.maxPerCore', 'connections a processor; 0 changes nothing', '32768'),
  of('conntrack-min', 'int', 'conntrack.min', 'connections at least', '131072'),
  of(
    'conntrack-tcp-timeout-established',
    'duration',
    'conntrack.tcpEstablishedTimeout',
    'idle TCP connections; 0 changes nothing',
    '24h0m0s',
  ),
  of(
    'conntrack-tcp-timeout-close-wait',
    'duration',
    'conntrack.tcpCloseWaitTimeout',
    'TCP connections in CLOSE_WAIT',
    '1h0m0s',
  ),
  of('conntrack-tcp-be-liberal', 'bool', 'conntrack.tcpBeLiberal', 'accept packets outside of the window'),
  of('conntrack-udp-timeout', 'duration', 'conntrack.udpTimeout', 'idle UDP flows without an answer'),
  of('conntrack-udp-timeout-stream', 'duration', 'conntrack.udpStreamTimeout', 'idle UDP flows with answers'),
]

const sets: readonly FlagSet[] = [
  programFlags,
  { name: 'serving', flags: serverFlags },
  { name: 'mode', flags: modeFlags },
  { name: 'kernel', flags: kernelFlags },
  logs('2 logs each sync'),
  global('the API that the proxy speaks'),
]

export type { FlagValues } from '../../apiserver/serving-flags/parse.ts'

/** Parses the command line. Throws a FlagError with pflag's message. */
export const proxyFlags = (args: readonly string[]): FlagValues => parseFlags(sets, args, 'kube-proxy')

/** The given flags as fields of the configuration. */
export function fieldsOf(values: FlagValues): WrittenProxyConfiguration {
  const written: WrittenProxyConfiguration = fieldsOfFlags([...serverFlags, ...modeFlags, ...kernelFlags], values)
  const port = (name: string, address: string | undefined): string | undefined => {
    const given = values.int(name)
    return given === undefined ? address : given === 0 ? '' : `${address ?? defaultHosts[name]}:${given}`
  }
  const healthzBindAddress = port('healthz-port', written.healthzBindAddress)
  const metricsBindAddress = port('metrics-port', written.metricsBindAddress)
  const { masqueradeAll, ...periods } = written.iptables ?? {}
  // Upstream's flags of iptables are those of nftables, too.
  const shared = { ...(masqueradeAll !== undefined && { masqueradeAll }), ...periodsOf(periods) }
  return {
    ...written,
    ...(healthzBindAddress !== undefined && { healthzBindAddress }),
    ...(metricsBindAddress !== undefined && { metricsBindAddress }),
    ...(Object.keys(shared).length > 0 && { nftables: shared }),
  }
}

const defaultHosts: Readonly<Record<string, string>> = { 'healthz-port': '0.0.0.0', 'metrics-port': '127.0.0.1' }

const periodsOf = ({ syncPeriod, minSyncPeriod }: { syncPeriod?: string; minSyncPeriod?: string }) => ({
  ...(syncPeriod !== undefined && { syncPeriod }),
  ...(minSyncPeriod !== undefined && { minSyncPeriod }),
})

/** A line for each given flag that is deprecated, or has no effect. */
export const noticesOf = (flags: FlagValues): string[] =>
  flags.given.flatMap(({ name, idle: why }) => {
    if (name === 'healthz-port' || name === 'metrics-port')
      return [
        `Flag --${name} has been deprecated, This flag is deprecated and will be removed in a future release. Please ` +
          `use --${name.replace('port', 'bind-address')} instead.`,
      ]
    return why ? [`--${name} changes nothing here: ${why}`] : []
  })

/** `--help`. */
export const proxyHelp = (program: string): string =>
  flagsHelp(
    `Makes Services work on this machine, a node of any cluster, with the flags of kube-proxy 1.36.
It needs Linux, and root for all but node ports.

Usage:
  ${program} [flags]

Examples:
  A node of a cluster of t8s up --proxy-mode none:
    ${program} --kubeconfig .t8s/kubeconfig --detect-local-mode NodeCIDR

  Settings of a file, as kubeadm writes it:
    ${program} --config /var/lib/kube-proxy/config.conf

  All rules are removed:
    ${program} --cleanup

Flags of fields are ignored with --config, as upstream. See docs/services.md.`,
    sets,
  )
