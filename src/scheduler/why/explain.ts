/** Formats the verdict on a pod as text, and as data for programs. */
import type { Pod } from '../../client/kinds.ts'
import type { NodeVerdict, PodVerdict } from './dry-run.ts'
import { evictable, remediesEverywhere, remediesOf } from './remedies.ts'

export interface PodExplanation {
  /** True if the pod has a node, or fits on one. */
  readonly isPlaceable: boolean
  readonly lines: readonly string[]
}

/** The number of nodes shown; nodes with the same reasons are grouped. */
const maxNodes = 10
const maxNames = 5

/** `profile` is the scheduler name of the profile that was used. */
export function explainPod(pod: Pod, verdict: PodVerdict, profile: string): PodExplanation {
  const fitting = verdict.nodes.filter(({ rejections }) => verdict.everywhere.length === 0 && rejections.length === 0)
  const rejecting = verdict.nodes.filter((node) => !fitting.includes(node))
  const isPlaceable = Boolean(pod.spec?.nodeName) || (verdict.gatedBy.length === 0 && fitting.length > 0)
  const lines = [headline(pod, verdict, fitting), ...notes(pod, profile), ...heldLines(pod, verdict)]
  for (const rejection of verdict.everywhere)
    lines.push(
      '',
      `${rejection.plugin} rejects it on every node: ${rejection.status.reasons.join(', ')}`,
      ...indented(remediesEverywhere(rejection, verdict.pod), 2),
    )
  if (fitting.length > 0)
    lines.push(
      '',
      `It fits on ${countOf(fitting, verdict)}, best first (scores are 0 to 100, times the weight of the plug-in):`,
      ...scoreLines(fitting),
    )
  if (rejecting.some(({ rejections }) => rejections.length > 0))
    lines.push('', `It does not fit on ${countOf(rejecting, verdict)}:`, ...refusalLines(rejecting, verdict))
  return { isPlaceable, lines }
}

const titleOf = ({ metadata }: Pod): string => `pod ${metadata.namespace}/${metadata.name}`

const countOf = (some: readonly unknown[], { nodes }: PodVerdict): string =>
  `${some.length} of ${nodes.length} ${nodes.length === 1 ? 'node' : 'nodes'}`

function headline(pod: Pod, { gatedBy, message, nodes }: PodVerdict, [best]: readonly NodeVerdict[]): string {
  const title = titleOf(pod)
  const { phase } = pod.status ?? {}
  if (phase === 'Succeeded' || phase === 'Failed') return `${title} has ended (${phase}) and uses no resources`
  const node = pod.spec?.nodeName
  if (node)
    return `${title} is on node ${node}${nodes.some((one) => one.node.name === node) ? '' : ', which does not exist'}`
  if (gatedBy.length > 0)
    return `${title} is not queued for scheduling: ${gatedBy.flatMap(({ status }) => status.reasons).join(', ')}`
  return best ? `${title} would be scheduled to node ${best.node.name}` : `${title} is pending: ${message}`
}

function notes(pod: Pod, profile: string): string[] {
  const lines: string[] = []
  const { schedulerName = profile, nodeName } = pod.spec ?? {}
  if (pod.metadata.deletionTimestamp) lines.push(`  it has been terminating since ${pod.metadata.deletionTimestamp}`)
  if (schedulerName !== profile)
    lines.push(`  its scheduler ${schedulerName} may decide differently; below are the results of ${profile}`)
  if (nodeName) return [...lines, '  below is where it would be scheduled now, if it had no node']
  const { nominatedNodeName } = pod.status ?? {}
  if (nominatedNodeName) lines.push(`  pods are being evicted for it on node ${nominatedNodeName}`)
  const at = (time: string | undefined): string => (time ? ` at ${time}` : '')
  const condition = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled')
  // The API server writes the message about gates.
  const isGated = condition?.reason === 'SchedulingGated'
  if (condition?.status === 'False' && condition.message && !isGated)
    lines.push(`  the scheduler reported${at(condition.lastTransitionTime)}: ${condition.message}`)
  else if ((!condition || isGated) && !pod.spec?.schedulingGates?.length)
    lines.push(`  no scheduler has reported on it: is a scheduler named ${schedulerName} running?`)
  return lines
}

function heldLines({ metadata, spec }: Pod, { gatedBy }: PodVerdict): string[] {
  if (gatedBy.length === 0) return []
  const gates = (spec?.schedulingGates ?? []).map(({ name }) => name)
  if (gates.length === 0) return []
  const patch = `'[{"op":"remove","path":"/spec/schedulingGates"}]'`
  return [
    `  the controller that set ${gates.join(' and ')} removes ${gates.length === 1 ? 'it' : 'them'}; ` +
      'to do it by hand:',
    `  kubectl patch pod -n ${metadata.namespace} ${metadata.name} --type=json -p ${patch}`,
    '  below are the results without the gates',
  ]
}

function scoreLines(nodes: readonly NodeVerdict[]): string[] {
  const lines = nodes.slice(0, maxNodes).map(({ node, scores, total }) => {
    const sum = scores
      .map(({ plugin, score, weight }) => `${plugin} ${score}${weight === 1 ? '' : `×${weight}`}`)
      .join(' + ')
    return `  ${node.name}: ${total}${sum && ` = ${sum}`}`
  })
  return nodes.length > maxNodes ? [...lines, `  and ${nodes.length - maxNodes} more (-o json lists all)`] : lines
}

/** Nodes with the fewest rejections come first. */
function refusalLines(nodes: readonly NodeVerdict[], { pod, surroundings }: PodVerdict): string[] {
  const groups = new Map<
    string,
    { readonly names: string[]; readonly lines: readonly string[]; readonly count: number }
  >()
  for (const { node, rejections } of nodes) {
    const weaker = evictable(rejections, pod, node)
    const reasons = rejections.flatMap((rejection) => [
      `    ${rejection.plugin}: ${rejection.status.reasons.join(', ')}`,
      ...indented(
        remediesOf(rejection, pod, node, surroundings).map((line) => line.replaceAll(node.name, nameMark)),
        6,
      ),
    ])
    const lines =
      weaker === 0
        ? reasons
        : [
            ...reasons,
            `    preemption may help: ${weaker === 1 ? '1 pod has' : `${weaker} pods have`} a lower priority`,
          ]
    const key = lines.join('\n')
    const group = groups.get(key)
    if (group) group.names.push(node.name)
    else groups.set(key, { names: [node.name], lines, count: rejections.length })
  }
  const sorted = [...groups.values()].sort((a, b) => a.count - b.count)
  const shown = sorted.slice(0, maxNodes).flatMap(({ names, lines }) => {
    const [first = ''] = names
    return [
      `  ${namesText(names)}`,
      ...lines.map((line) => line.replaceAll(nameMark, names.length === 1 ? first : 'NODE')),
    ]
  })
  const remaining = sorted.slice(maxNodes).reduce((sum, { names }) => sum + names.length, 0)
  return remaining > 0 ? [...shown, `  and ${remaining} more (-o json lists all)`] : shown
}

/** A placeholder for the node's name in lines shared by several nodes. */
const nameMark = '\u0000'

function namesText(names: readonly string[]): string {
  const shown = names.slice(0, maxNames).join(', ')
  return names.length > maxNames ? `${shown} and ${names.length - maxNames} more` : shown
}

const indented = (lines: readonly string[], by: number): string[] => lines.map((line) => `${' '.repeat(by)}${line}`)

/** The verdict as data for programs. */
export function podVerdictData(
  pod: Pod,
  { gatedBy, everywhere, nodes, message, pod: info, surroundings }: PodVerdict,
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
    held: gatedBy.map(({ plugin, status }) => ({ plugin, reasons: status.reasons })),
    everywhere: everywhere.map((rejection) => ({
      plugin: rejection.plugin,
      reasons: rejection.status.reasons,
      remedies: remediesEverywhere(rejection, info),
    })),
    nodes: nodes.map(({ node, rejections, scores, total }) => {
      const fits = everywhere.length === 0 && rejections.length === 0
      const explained = rejections.map((rejection) => ({
        plugin: rejection.plugin,
        reasons: rejection.status.reasons,
        remedies: remediesOf(rejection, info, node, surroundings),
      }))
      return {
        name: node.name,
        fits,
        ...(fits ? { total, scores } : { evictable: evictable(rejections, info, node), refusals: explained }),
      }
    }),
  }
}
