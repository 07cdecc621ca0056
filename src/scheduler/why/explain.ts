/** The verdict on a pod in words, and as data for programs. */
import type { Pod } from '../../client/kinds.ts'
import type { NodeVerdict, PodVerdict } from './dry-run.ts'
import { evictable, remediesEverywhere, remediesOf } from './remedies.ts'

export interface PodExplanation {
  /** The pod has a node, or there is one for it. */
  readonly isPlaceable: boolean
  readonly lines: readonly string[]
}

/** So many nodes are told of one by one; those that say the same are told together. */
const mostNodes = 10
const mostNames = 5

/** `profile` is the scheduler whose plug-ins were asked. */
export function explainPod(pod: Pod, verdict: PodVerdict, profile: string): PodExplanation {
  const fitting = verdict.nodes.filter(({ refusals }) => verdict.everywhere.length === 0 && refusals.length === 0)
  const refusing = verdict.nodes.filter((node) => !fitting.includes(node))
  const isPlaceable = Boolean(pod.spec?.nodeName) || (verdict.held.length === 0 && fitting.length > 0)
  const lines = [headline(pod, verdict, fitting), ...notes(pod, profile), ...heldLines(pod, verdict)]
  for (const refusal of verdict.everywhere)
    lines.push(
      '',
      `Wherever it would go, ${refusal.plugin} refuses it: ${refusal.status.reasons.join(', ')}`,
      ...indented(remediesEverywhere(refusal, verdict.pod), 2),
    )
  if (fitting.length > 0)
    lines.push(
      '',
      `It fits on ${countOf(fitting, verdict)}, best first (scores are 0 to 100, times the weight of the plug-in):`,
      ...scoreLines(fitting),
    )
  if (refusing.some(({ refusals }) => refusals.length > 0))
    lines.push('', `It does not fit on ${countOf(refusing, verdict)}:`, ...refusalLines(refusing, verdict))
  return { isPlaceable, lines }
}

const titleOf = ({ metadata }: Pod): string => `pod ${metadata.namespace}/${metadata.name}`

const countOf = (some: readonly unknown[], { nodes }: PodVerdict): string =>
  `${some.length} of ${nodes.length} ${nodes.length === 1 ? 'node' : 'nodes'}`

function headline(pod: Pod, { held, message, nodes }: PodVerdict, [best]: readonly NodeVerdict[]): string {
  const title = titleOf(pod)
  const { phase } = pod.status ?? {}
  if (phase === 'Succeeded' || phase === 'Failed')
    return `${title} has ended (${phase}): it takes nothing of a node any more`
  const node = pod.spec?.nodeName
  if (node)
    return `${title} is on the node ${node}${nodes.some((one) => one.node.name === node) ? '' : ', which is not there'}`
  if (held.length > 0)
    return `${title} waits, and no scheduler looks at it yet: ${held.flatMap(({ status }) => status.reasons).join(', ')}`
  return best ? `${title} would go to the node ${best.node.name}` : `${title} waits: ${message}`
}

function notes(pod: Pod, profile: string): string[] {
  const lines: string[] = []
  const { schedulerName = profile, nodeName } = pod.spec ?? {}
  if (pod.metadata.deletionTimestamp) lines.push(`  it is being deleted since ${pod.metadata.deletionTimestamp}`)
  if (schedulerName !== profile)
    lines.push(
      `  it is for the scheduler ${schedulerName}, which may decide in other ways; what follows is what ` +
        `${profile} would say`,
    )
  if (nodeName) return [...lines, '  what follows is where it would go now, if it had no node yet']
  if (pod.status?.nominatedNodeName) lines.push(`  pods are evicted for it on the node ${pod.status.nominatedNodeName}`)
  const told = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled')
  // What is said of gates is the API server's word.
  const isGated = told?.reason === 'SchedulingGated'
  if (told?.status === 'False' && told.message && !isGated)
    lines.push(
      `  the scheduler said${told.lastTransitionTime ? `, at ${told.lastTransitionTime}` : ''}: ${told.message}`,
    )
  else if ((!told || isGated) && !pod.spec?.schedulingGates?.length)
    lines.push(`  no scheduler has said anything about it: is one running that is called ${schedulerName}?`)
  return lines
}

function heldLines({ metadata, spec }: Pod, { held }: PodVerdict): string[] {
  if (held.length === 0) return []
  const gates = (spec?.schedulingGates ?? []).map(({ name }) => name)
  if (gates.length === 0) return []
  const patch = `'[{"op":"remove","path":"/spec/schedulingGates"}]'`
  return [
    `  whoever has set ${gates.join(' and ')} takes ${gates.length === 1 ? 'it' : 'them'} away when the time has ` +
      'come; by hand:',
    `  kubectl patch pod -n ${metadata.namespace} ${metadata.name} --type=json -p ${patch}`,
    '  what follows is what would become of it then',
  ]
}

function scoreLines(nodes: readonly NodeVerdict[]): string[] {
  const lines = nodes.slice(0, mostNodes).map(({ node, scores, total }) => {
    const sum = scores
      .map(({ plugin, score, weight }) => `${plugin} ${score}${weight === 1 ? '' : `×${weight}`}`)
      .join(' + ')
    return `  ${node.name}: ${total}${sum && ` = ${sum}`}`
  })
  return nodes.length > mostNodes ? [...lines, `  and ${nodes.length - mostNodes} more (-o json tells of all)`] : lines
}

/** The nearest first: those with the fewest refusals. */
function refusalLines(nodes: readonly NodeVerdict[], { pod, surroundings }: PodVerdict): string[] {
  const groups = new Map<
    string,
    { readonly names: string[]; readonly lines: readonly string[]; readonly count: number }
  >()
  for (const { node, refusals } of nodes) {
    const weaker = evictable(refusals, pod, node)
    const told = refusals.flatMap((refusal) => [
      `    ${refusal.plugin}: ${refusal.status.reasons.join(', ')}`,
      ...indented(
        remediesOf(refusal, pod, node, surroundings).map((line) => line.replaceAll(node.name, nameMark)),
        6,
      ),
    ])
    const lines =
      weaker === 0
        ? told
        : [
            ...told,
            `    eviction may help: ${weaker === 1 ? 'a pod there has' : `${weaker} pods there have`} a lower priority`,
          ]
    const key = lines.join('\n')
    const group = groups.get(key)
    if (group) group.names.push(node.name)
    else groups.set(key, { names: [node.name], lines, count: refusals.length })
  }
  const sorted = [...groups.values()].sort((a, b) => a.count - b.count)
  const shown = sorted.slice(0, mostNodes).flatMap(({ names, lines }) => {
    const [first = ''] = names
    return [
      `  ${namesText(names)}`,
      ...lines.map((line) => line.replaceAll(nameMark, names.length === 1 ? first : 'NODE')),
    ]
  })
  const left = sorted.slice(mostNodes).reduce((sum, { names }) => sum + names.length, 0)
  return left > 0 ? [...shown, `  and ${left} more (-o json tells of all)`] : shown
}

/** Stands for the node's name in what is said of several. */
const nameMark = '\u0000'

function namesText(names: readonly string[]): string {
  const shown = names.slice(0, mostNames).join(', ')
  return names.length > mostNames ? `${shown} and ${names.length - mostNames} more` : shown
}

const indented = (lines: readonly string[], by: number): string[] => lines.map((line) => `${' '.repeat(by)}${line}`)

/** The verdict for programs. */
export function podVerdictData(
  pod: Pod,
  { held, everywhere, nodes, message, pod: info, surroundings }: PodVerdict,
  profile: string,
): object {
  return {
    namespace: pod.metadata.namespace,
    name: pod.metadata.name,
    schedulerName: pod.spec?.schedulerName,
    profile,
    nodeName: pod.spec?.nodeName,
    phase: pod.status?.phase,
    message,
    held: held.map(({ plugin, status }) => ({ plugin, reasons: status.reasons })),
    everywhere: everywhere.map((refusal) => ({
      plugin: refusal.plugin,
      reasons: refusal.status.reasons,
      remedies: remediesEverywhere(refusal, info),
    })),
    nodes: nodes.map(({ node, refusals, scores, total }) => {
      const fits = everywhere.length === 0 && refusals.length === 0
      const told = refusals.map((refusal) => ({
        plugin: refusal.plugin,
        reasons: refusal.status.reasons,
        remedies: remediesOf(refusal, info, node, surroundings),
      }))
      return {
        name: node.name,
        fits,
        ...(fits ? { total, scores } : { evictable: evictable(refusals, info, node), refusals: told }),
      }
    }),
  }
}
