/** Explains a trace in plain words: the chains in order, and what becomes of the connection. */
import { type Endpoint, endpointText } from '../picture/endpoint.ts'
import type { Packet } from './conditions.ts'
import { isOfPolicies, percentText, stepText } from './step-text.ts'
import type { PacketTrace, Result } from './trace-packet.ts'
import type { Step } from './walk.ts'

export interface Explanation {
  readonly lines: readonly string[]
  /** True if all packets reach endpoints that the API server has. */
  readonly isReachable: boolean
}

export interface ExplainOptions {
  /** Those that the node should use for this connection, from the API server. */
  readonly expected: readonly Endpoint[]
  readonly isNodePort: boolean
  /** The name of the pod with the address, if there is one. */
  readonly podOf: (address: string) => string | undefined
}

export function explainTrace(trace: PacketTrace, options: ExplainOptions): Explanation {
  const lines = [...stepLines(trace.steps)]
  if (lines.length === 0) lines.push('  No rule matches.')
  if (options.isNodePort) lines.push(...nodePortForm(trace.steps))
  for (const group of groups(trace.results)) lines.push('', ...groupLines(group))
  lines.push('', 'Result:', ...trace.results.map((result) => `  ${resultText(result, options)}`))
  const differences = staleLines(trace.results, options)
  lines.push('', ...differences.lines, ...unknownLines(trace))
  const reaches = trace.results.every(({ way }) => way.end === 'continues' && way.packet.isTranslated)
  return { lines, isReachable: reaches && !differences.isStale }
}

/** Lines of steps, each table with a headline. Rules without an effect are left out. */
function stepLines(steps: readonly Step[]): string[] {
  const lines: string[] = []
  let table = ''
  for (const step of steps) {
    const line = stepText(step)
    if (line === undefined) continue
    if (step.ruleset.name !== table) {
      table = step.ruleset.name
      lines.push(`${table}:`)
    }
    lines.push(`  ${line}`)
  }
  return lines
}

/** Says which of the two forms of node ports the rules have. */
function nodePortForm(steps: readonly Step[]): string[] {
  const ofNodePort = steps.filter(({ chain }) => chain.name === 'KUBE-NODEPORTS')
  const targets = ofNodePort.flatMap(({ action }) =>
    action?.kind === 'jump' || action?.kind === 'goto' ? [action.chain] : [],
  )
  const [first] = targets
  const second = targets.find((target) => target !== 'KUBE-MARK-MASQ')
  if (first === undefined) return []
  if (first.startsWith('KUBE-EXT-'))
    return [
      `The node port leads to ${first}, the chain for all connections from outside, as in current releases: it marks`,
      'them for masquerading or applies externalTrafficPolicy: Local, then selects an endpoint.',
    ]
  if (targets.includes('KUBE-MARK-MASQ'))
    return [
      'The node port has two rules of its own, as in older releases: the first marks the connection for masquerading',
      `(KUBE-MARK-MASQ), the second leads to ${second ?? 'no chain'} directly.`,
    ]
  return [`The node port leads to ${first}, the form of older releases for externalTrafficPolicy: Local.`]
}

/** Results that meet the same rules after the translation. */
function groups(results: readonly Result[]): Result[][] {
  const found = new Map<string, Result[]>()
  for (const result of results) {
    const key = result.steps.map((step) => stepText({ ...step, probability: 1 }) ?? '').join('\n')
    const group = found.get(key)
    if (group) group.push(result)
    else found.set(key, [result])
  }
  return [...found.values()]
}

function groupLines(group: readonly Result[]): string[] {
  const translated = group.filter(({ way }) => way.packet.isTranslated)
  const lines = stepLines(group[0]!.steps.map((step) => ({ ...step, probability: 1 })))
  if (lines.length === 0) return ['After that, no rule matches.']
  const names = [...new Set(translated.map(({ way }) => destinationText(way.packet)))]
  return [names.length === 0 ? 'After that:' : `After that, to ${names.join(', ')}:`, ...lines]
}

const destinationText = ({ destination, port }: Packet): string => endpointText({ address: destination, port })

function resultText({ way, steps }: Result, { podOf }: ExplainOptions): string {
  const part = percentText(way.probability)
  const { packet, end, endedBy } = way
  const target = `${destinationText(packet)}${podText(podOf(packet.destination))}`
  if (end !== 'continues') {
    const chain = endedBy ? `${endedBy.chain.name} of ${endedBy.ruleset.name}` : 'a rule'
    const by = endedBy && isOfPolicies(endedBy) ? `a network policy (${chain})` : chain
    const why = endedBy?.rule?.comment === undefined ? '' : `: ${endedBy.rule.comment}`
    const policy = endedBy && !endedBy.rule ? ', by the policy of the chain' : ''
    if (end === 'unknown') return `${part} unknown: ${by} ends in a way that the trace does not follow${why}`
    return `${part} to ${target}: ${end} by ${by}${policy}${why}`
  }
  if (!packet.isTranslated) return `${part} goes on to ${target} as it is: no rule of a Service translates it`
  const source = packet.isMasqueraded ? 'sees an address of this node' : `sees the client's address ${packet.source}`
  const policies = steps.some(isOfPolicies) ? '; network policies allow it' : ''
  return `${part} reaches ${target}, which ${source}${policies}`
}

/** The name of a pod in brackets, or nothing. */
export const podText = (pod: string | undefined): string => (pod === undefined ? '' : ` (pod ${pod})`)

function staleLines(results: readonly Result[], options: ExplainOptions): Differences {
  const translated = results.filter(({ way }) => way.packet.isTranslated)
  return differencesFromApi(new Set(translated.map(({ way }) => destinationText(way.packet))), options)
}

export interface Differences {
  readonly lines: readonly string[]
  readonly isStale: boolean
}

/** Compares the endpoints that this machine uses, as `ADDRESS:PORT`, with those of the API server. */
export function differencesFromApi(inRules: ReadonlySet<string>, { expected }: ExplainOptions): Differences {
  const inApi = new Set(expected.map(endpointText))
  const extra = [...inRules].filter((endpoint) => !inApi.has(endpoint))
  const missing = [...inApi].filter((endpoint) => !inRules.has(endpoint))
  if (extra.length === 0 && missing.length === 0)
    return { lines: [`The rules agree with the API server: ${endpointCount(inApi.size)}.`], isStale: false }
  const lines = ['The rules are stale, or another proxy writes them:']
  if (extra.length > 0) lines.push(`  only in the rules: ${extra.join(', ')}`)
  if (missing.length > 0) lines.push(`  only in the API server: ${missing.join(', ')}`)
  lines.push('Check that kube-proxy runs on this node, and its log: kubectl -n kube-system logs -l k8s-app=kube-proxy')
  return { lines, isStale: true }
}

const endpointCount = (endpoints: number): string => (endpoints === 1 ? '1 endpoint' : `${endpoints} endpoints`)

/** Rules that may also concern the packet. */
function unknownLines({ steps, results }: PacketTrace): string[] {
  const all = [...steps, ...results.flatMap((result) => result.steps)].filter(({ unknown }) => unknown !== undefined)
  const rules = [...new Set(all.map(({ rule }) => rule))]
  if (rules.length === 0) return []
  const examples = all.slice(0, 3).map(({ chain, unknown }) => `${chain.name}: ${unknown}`)
  return [`Not decided, as the trace cannot evaluate a match of ${ruleCount(rules.length)}: ${examples.join('; ')}`]
}

const ruleCount = (rules: number): string => (rules === 1 ? '1 rule' : `${rules} rules`)
