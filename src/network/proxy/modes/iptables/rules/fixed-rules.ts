/** Rules that do not depend on Services: masquerading, forwarding, node ports, and jumps from the kernel's chains. */
import { isIP } from 'node:net'
import { comment, type RuleOptions } from './rule-options.ts'

/** Chains that each sync of all writes, by table, in the order of upstream. */
export const sharedChains = {
  filter: ['KUBE-SERVICES', 'KUBE-EXTERNAL-SERVICES', 'KUBE-FORWARD', 'KUBE-NODEPORTS', 'KUBE-PROXY-FIREWALL'],
  nat: ['KUBE-SERVICES', 'KUBE-NODEPORTS', 'KUBE-POSTROUTING', 'KUBE-MARK-MASQ'],
} as const

/** The kubelet has the same chain with the same rule, so that a clean-up leaves it. */
export const kubeletFirewallChain = 'KUBE-FIREWALL'

/** An empty chain in each table. If it is missing in all of them, others have flushed the rules. */
export const canaryChain = 'KUBE-PROXY-CANARY'

/** A rule in a chain of the kernel that leads to a chain of kube-proxy. */
export interface Jump {
  readonly table: 'filter' | 'nat'
  readonly from: string
  /** The rule without `-A CHAIN`. */
  readonly rule: string
  /** The kubelet has it too: a clean-up leaves it. */
  readonly isOfKubelet: boolean
}

const isNew = '-m conntrack --ctstate NEW'
const isKnown = '-m conntrack --ctstate RELATED,ESTABLISHED'

const jump = (table: 'filter' | 'nat', to: string, from: string, text: string, match = ''): Jump => ({
  table,
  from,
  rule: `${match === '' ? '' : `${match} `}${comment(text)} -j ${to}`,
  isOfKubelet: false,
})

/** In the order in which upstream inserts them: the last one of a chain comes first. */
export const jumps: readonly Jump[] = [
  jump('filter', 'KUBE-EXTERNAL-SERVICES', 'INPUT', 'kubernetes externally-visible service portals', isNew),
  jump('filter', 'KUBE-EXTERNAL-SERVICES', 'FORWARD', 'kubernetes externally-visible service portals', isNew),
  jump('filter', 'KUBE-NODEPORTS', 'INPUT', 'kubernetes health check service ports'),
  jump('filter', 'KUBE-SERVICES', 'FORWARD', 'kubernetes service portals', isNew),
  jump('filter', 'KUBE-SERVICES', 'OUTPUT', 'kubernetes service portals', isNew),
  jump('filter', 'KUBE-FORWARD', 'FORWARD', 'kubernetes forwarding rules'),
  jump('filter', 'KUBE-PROXY-FIREWALL', 'INPUT', 'kubernetes load balancer firewall', isNew),
  jump('filter', 'KUBE-PROXY-FIREWALL', 'OUTPUT', 'kubernetes load balancer firewall', isNew),
  jump('filter', 'KUBE-PROXY-FIREWALL', 'FORWARD', 'kubernetes load balancer firewall', isNew),
  jump('nat', 'KUBE-SERVICES', 'OUTPUT', 'kubernetes service portals'),
  jump('nat', 'KUBE-SERVICES', 'PREROUTING', 'kubernetes service portals'),
  jump('nat', 'KUBE-POSTROUTING', 'POSTROUTING', 'kubernetes postrouting rules'),
  { table: 'filter', from: 'INPUT', rule: `-j ${kubeletFirewallChain}`, isOfKubelet: true },
  { table: 'filter', from: 'OUTPUT', rule: `-j ${kubeletFirewallChain}`, isOfKubelet: true },
]

/** Full rules of the nat table that each sync of all writes. */
export function masqueradeChainRules({
  masqueradeMark,
  hasRandomFully,
}: Pick<RuleOptions, 'masqueradeMark' | 'hasRandomFully'>): string[] {
  const masquerade = `${comment('kubernetes service traffic requiring SNAT')} -j MASQUERADE`
  return [
    `-A KUBE-POSTROUTING -m mark ! --mark ${masqueradeMark}/${masqueradeMark} -j RETURN`,
    // Without the mark, a packet that passes again, as in a tunnel, is not masqueraded again.
    `-A KUBE-POSTROUTING -j MARK --xor-mark ${masqueradeMark}`,
    `-A KUBE-POSTROUTING ${masquerade}${hasRandomFully ? ' --random-fully' : ''}`,
    `-A KUBE-MARK-MASQ -j MARK --or-mark ${masqueradeMark}`,
  ]
}

/** Refuses packets from elsewhere to loopback, which node ports on localhost would let pass (CVE-2020-8558). */
export const martianRule =
  `-A ${kubeletFirewallChain} ${comment('block incoming localnet connections')} -d 127.0.0.0/8 ! -s 127.0.0.0/8` +
  ' -m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT -j DROP'

/** The last rules of KUBE-SERVICES: packets to addresses of this node go on to KUBE-NODEPORTS. */
export function nodePortJumps({ family, localhostNodePorts, nodePortAddresses }: RuleOptions): string[] {
  const { isAll, addresses } = nodePortAddresses
  const text = comment('kubernetes service nodeports; NOTE: this must be the last rule in this chain')
  if (isAll) {
    const loopback = family === 6 ? '::1/128' : '127.0.0.0/8'
    const except = localhostNodePorts ? '' : ` ! -d ${loopback}`
    return [`${text} -m addrtype --dst-type LOCAL${except} -j KUBE-NODEPORTS`]
  }
  return addresses
    .filter((address) => localhostNodePorts || !isLoopback(address))
    .map((address) => `${text} -d ${address} -j KUBE-NODEPORTS`)
}

const isLoopback = (address: string): boolean => (isIP(address) === 4 ? address.startsWith('127.') : address === '::1')

/** The rules of KUBE-FORWARD: masqueraded connections pass, also where the policy of FORWARD is to drop. */
export function forwardRules({
  masqueradeMark,
  isConntrackLiberal,
}: Pick<RuleOptions, 'masqueradeMark' | 'isConntrackLiberal'>): string[] {
  const forward = '-A KUBE-FORWARD'
  return [
    // Packets that conntrack cannot assign would reach the client from the wrong address and reset its connection.
    ...(isConntrackLiberal ? [] : [`${forward} -m conntrack --ctstate INVALID -j DROP`]),
    `${forward} ${comment('kubernetes forwarding rules')} -m mark --mark ${masqueradeMark}/${masqueradeMark} -j ACCEPT`,
    `${forward} ${comment('kubernetes forwarding conntrack rule')} ${isKnown} -j ACCEPT`,
  ]
}
