/** The sets of addresses and ports (ipset) that the rules match, with upstream's names, types and comments. */
import type { IpFamily } from '../../../picture/service-port.ts'

type SetType = 'hash:ip,port,ip' | 'hash:ip,port' | 'hash:ip,port,net' | 'bitmap:port' | 'hash:ip'

interface SetDefinition {
  /** The name for IPv4: `KUBE-CLUSTER-IP`. */
  readonly name: string
  readonly type: SetType
  /** The comment of rules that match it. */
  readonly comment: string
}

const set = (name: string, type: SetType, comment: string): SetDefinition => ({ name, type, comment })

export const sets = {
  loopBack: set(
    'KUBE-LOOP-BACK',
    'hash:ip,port,ip',
    'Kubernetes endpoints dst ip:port, source ip for solving hairpin purpose',
  ),
  clusterIp: set('KUBE-CLUSTER-IP', 'hash:ip,port', 'Kubernetes service cluster ip + port for masquerade purpose'),
  externalIp: set(
    'KUBE-EXTERNAL-IP',
    'hash:ip,port',
    'Kubernetes service external ip + port for masquerade and filter purpose',
  ),
  externalIpLocal: set(
    'KUBE-EXTERNAL-IP-LOCAL',
    'hash:ip,port',
    'Kubernetes service external ip + port with externalTrafficPolicy=local',
  ),
  loadBalancer: set('KUBE-LOAD-BALANCER', 'hash:ip,port', 'Kubernetes service lb portal'),
  loadBalancerFirewall: set(
    'KUBE-LOAD-BALANCER-FW',
    'hash:ip,port',
    'Kubernetes service load balancer ip + port for load balancer with sourceRange',
  ),
  loadBalancerLocal: set(
    'KUBE-LOAD-BALANCER-LOCAL',
    'hash:ip,port',
    'Kubernetes service load balancer ip + port with externalTrafficPolicy=local',
  ),
  loadBalancerSourceIp: set(
    'KUBE-LOAD-BALANCER-SOURCE-IP',
    'hash:ip,port,ip',
    'Kubernetes service load balancer ip + port + source IP for packet filter purpose',
  ),
  loadBalancerSourceCidr: set(
    'KUBE-LOAD-BALANCER-SOURCE-CIDR',
    'hash:ip,port,net',
    'Kubernetes service load balancer ip + port + source cidr for packet filter purpose',
  ),
  nodePortTcp: set('KUBE-NODE-PORT-TCP', 'bitmap:port', 'Kubernetes nodeport TCP port for masquerade purpose'),
  nodePortLocalTcp: set(
    'KUBE-NODE-PORT-LOCAL-TCP',
    'bitmap:port',
    'Kubernetes nodeport TCP port with externalTrafficPolicy=local',
  ),
  nodePortUdp: set('KUBE-NODE-PORT-UDP', 'bitmap:port', 'Kubernetes nodeport UDP port for masquerade purpose'),
  nodePortLocalUdp: set(
    'KUBE-NODE-PORT-LOCAL-UDP',
    'bitmap:port',
    'Kubernetes nodeport UDP port with externalTrafficPolicy=local',
  ),
  nodePortSctp: set(
    'KUBE-NODE-PORT-SCTP-HASH',
    'hash:ip,port',
    "Kubernetes nodeport SCTP port for masquerade purpose with type 'hash ip:port'",
  ),
  nodePortLocalSctp: set(
    'KUBE-NODE-PORT-LOCAL-SCTP-HASH',
    'hash:ip,port',
    "Kubernetes nodeport SCTP port with externalTrafficPolicy=local with type 'hash ip:port'",
  ),
  healthCheckNodePort: set('KUBE-HEALTH-CHECK-NODE-PORT', 'bitmap:port', 'Kubernetes health check node port'),
  ipvsIps: set('KUBE-IPVS-IPS', 'hash:ip', 'Addresses on the ipvs interface'),
} as const

export type SetKey = keyof typeof sets

export const setKeys: readonly SetKey[] = [
  ...(['loopBack', 'clusterIp', 'externalIp', 'externalIpLocal', 'loadBalancer', 'loadBalancerFirewall'] as const),
  ...(['loadBalancerLocal', 'loadBalancerSourceIp', 'loadBalancerSourceCidr', 'nodePortTcp'] as const),
  ...(['nodePortLocalTcp', 'nodePortUdp', 'nodePortLocalUdp', 'nodePortSctp', 'nodePortLocalSctp'] as const),
  ...(['healthCheckNodePort', 'ipvsIps'] as const),
]

/** The kernel's limit for names. */
const maxNameLength = 31

/** The name in a family: `KUBE-6-CLUSTER-IP` for IPv6, cut off as upstream does. */
export const setName = (key: SetKey, family: IpFamily): string =>
  family === 4 ? sets[key].name : sets[key].name.replace('KUBE-', 'KUBE-6-').slice(0, maxNameLength)

/** An entry of a set: `10.96.0.1,tcp:443`. */
export interface SetEntry {
  readonly set: SetKey
  readonly entry: string
}

/** A set of a type that has the wanted content until it takes the place of the real one. */
const temporary = (type: SetType, family: IpFamily): string =>
  `KUBE-${family === 4 ? '' : '6-'}NEW-${type.toUpperCase().replaceAll(/[:,]/g, '-')}`

/** The names of all sets of a family, also of those that a failure left behind. */
export const allSetNames = (family: IpFamily): string[] => [
  ...setKeys.map((key) => setName(key, family)),
  ...new Set(setKeys.map((key) => temporary(sets[key].type, family))),
]

/** The input of `ipset restore` that creates all sets, and replaces the content of each in one step. */
export function replaceSets(family: IpFamily, entries: Iterable<SetEntry>): string {
  const bySet = Map.groupBy(entries, ({ set: key }) => key)
  const lines = setKeys.flatMap((key) => {
    const [name, other] = [setName(key, family), temporary(sets[key].type, family)]
    return [
      `create ${name} ${createOptions(key, family)}`,
      `create ${other} ${createOptions(key, family)}`,
      `flush ${other}`,
      ...(bySet.get(key) ?? []).map(({ entry }) => `add ${other} ${entry}`),
      `swap ${name} ${other}`,
      `destroy ${other}`,
    ]
  })
  return `${lines.join('\n')}\n`
}

/** The input of `ipset restore` for some entries. */
export function changeSets(family: IpFamily, removed: Iterable<SetEntry>, added: Iterable<SetEntry>): string {
  const line = (verb: string, { set: key, entry }: SetEntry): string => `${verb} ${setName(key, family)} ${entry}\n`
  return (
    [...removed].map((entry) => line('del', entry)).join('') + [...added].map((entry) => line('add', entry)).join('')
  )
}

function createOptions(key: SetKey, family: IpFamily): string {
  const { type } = sets[key]
  if (type === 'bitmap:port') return `${type} range 0-65535`
  return `${type} family ${family === 4 ? 'inet' : 'inet6'} hashsize 1024 maxelem 65536`
}
