/** Describes rules that a packet meets, one line each, in plain words. */
import type { Action } from './rules/ruleset.ts'
import type { Step } from './walk.ts'

/** Purposes of chains by the beginning of their names: those of upstream's kube-proxy, and of its nftables mode. */
const purposes: readonly (readonly [RegExp, string])[] = [
  [/^KUBE-SERVICES$|^services$/, 'all Services'],
  [/^KUBE-NODEPORTS$/, 'node ports'],
  [/^KUBE-EXTERNAL-SERVICES$/, 'ports without endpoints, for the outside'],
  [/^KUBE-EXT-|^external-/, 'connections from outside'],
  [/^KUBE-XLB-/, 'connections from outside, in older releases'],
  [/^KUBE-FW-|^firewall-(?!check$)/, 'source ranges of the load balancer'],
  [/^KUBE-SVC-|^service-[A-Z2-7]{8}-/, 'selects an endpoint'],
  [/^KUBE-SVL-|^local-/, 'selects an endpoint on this node'],
  [/^KUBE-SEP-|^endpoint-/, 'one endpoint'],
  [/^KUBE-MARK-MASQ$|^mark-for-masquerade$/, 'marks for masquerading'],
  [/^KUBE-POSTROUTING$|^masquerading$/, 'masquerades what is marked'],
  [/^KUBE-FORWARD$/, 'forwards what is marked'],
  [/^KUBE-PROXY-FIREWALL$|^firewall-check$/, 'source ranges of load balancers'],
  [/^(?:service|nodeport)-endpoints-check$/, 'ports without endpoints'],
  [/^cluster-ips-check$/, 'cluster IPs without such a port'],
  [/^KUBE-FIREWALL$/, 'misuse of loopback addresses'],
  [/polic|NWPLCY/i, 'network policies'],
]

/** True if the chain or its table belongs to network policies. */
export const isOfPolicies = ({ ruleset, chain }: Pick<Step, 'ruleset' | 'chain'>): boolean =>
  /polic|NWPLCY/i.test(`${ruleset.name} ${chain.name}`)

/** `KUBE-SVC-NPX46M4PTMTKRN6Y (selects an endpoint)`. */
export function chainText(name: string): string {
  const purpose = purposes.find(([pattern]) => pattern.test(name))?.[1]
  return purpose === undefined ? name : `${name} (${purpose})`
}

/** `50 %`, `33.3 %`. */
export const percentText = (probability: number): string => `${Number((probability * 100).toFixed(1))} %`

/** The line of a rule; undefined for rules that change nothing. */
export function stepText(step: Step): string | undefined {
  const { chain, action, rule, probability, depth, isAffine, affinitySeconds, unknown } = step
  if (unknown !== undefined || !action || action.kind === 'lookup' || action.kind === 'choose') return undefined
  const part = probability < 1 ? `${percentText(probability)} ` : ''
  const affinity = isAffine ? `clients that were here in the last ${affinitySeconds ?? '?'} s ` : ''
  const notes = [
    rule.comment === undefined ? '' : `"${rule.comment}"`,
    rule.packets === undefined ? '' : `${rule.packets} ${rule.packets === 1 ? 'packet' : 'packets'} so far`,
  ].filter((note) => note !== '')
  const head = `${'  '.repeat(depth)}${chain.name}: ${affinity}${part}${actionText(action)}`
  return notes.length === 0 ? head : `${head}  [${notes.join(', ')}]`
}

function actionText(action: Action): string {
  switch (action.kind) {
    case 'jump':
    case 'goto':
      return `→ ${chainText(action.chain)}`
    case 'dnat': {
      const address = action.address.includes(':') ? `[${action.address}]` : action.address
      return `changes the destination to ${address}${action.port === undefined ? '' : `:${action.port}`}`
    }
    case 'masquerade':
      return 'masquerades: the source becomes the address of this node'
    case 'mark':
      return action.clear === 0 && action.flip !== 0
        ? `flips the mark ${hex(action.flip)}`
        : `sets the mark ${hex(action.flip)}`
    case 'accept':
      return 'accepts'
    case 'drop':
      return 'drops: the client waits for an answer in vain'
    case 'reject':
      return 'rejects: the client gets "connection refused"'
    case 'return':
      return 'returns to the chain before'
    case 'lookup':
    case 'choose':
      return 'looks up a map'
    case 'unknown':
      return `${action.text}, which the trace does not follow`
    default:
      return action satisfies never
  }
}

const hex = (mark: number): string => `0x${mark.toString(16)}`
