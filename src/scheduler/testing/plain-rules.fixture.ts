/**
 * The rules of scheduling in a slow and simple form: every check reads all pods of all nodes. Tests compare the
 * scheduler with it.
 */
import type { Node, Pod } from '../../client/kinds.ts'

type Spec = NonNullable<Pod['spec']>
type PodTerm = NonNullable<
  NonNullable<NonNullable<Spec['affinity']>['podAffinity']>['requiredDuringSchedulingIgnoredDuringExecution']
>[number]
type Labels = Readonly<Record<string, string>>

export interface PlainCluster {
  readonly nodes: readonly Node[]
  /** Pods with a node. */
  readonly pods: readonly Pod[]
}

/** The rule that forbids the pod on the node; undefined if there is none. */
export function violatedRule(pod: Pod, node: Node, cluster: PlainCluster): string | undefined {
  const rules: readonly [string, boolean][] = [
    ['unschedulable', !node.spec?.unschedulable],
    ['taints', toleratesAll(pod, node)],
    ['node selector', choosesNode(pod, node)],
    ['resources', hasRoom(pod, node, cluster)],
    ['host ports', hasPorts(pod, node, cluster)],
    ['affinity', isNear(pod, node, cluster)],
    ['anti-affinity', isApart(pod, node, cluster)],
    ['spreading', isSpread(pod, node, cluster)],
  ]
  return rules.find(([, holds]) => !holds)?.[0]
}

const nameOf = ({ metadata }: Node): string => metadata.name ?? ''
const on = (node: Node, { pods }: PlainCluster): readonly Pod[] =>
  pods.filter(({ spec }) => spec?.nodeName === nameOf(node))
const labelsOf = ({ metadata }: Node | Pod): Labels => metadata.labels ?? {}

const toleratesAll = (pod: Pod, { spec }: Node): boolean =>
  (spec?.taints ?? [])
    .filter(({ effect }) => effect !== 'PreferNoSchedule')
    .every((taint) =>
      pod.spec?.tolerations?.some(
        ({ key, operator, value }) => key === taint.key && (operator === 'Exists' || value === taint.value),
      ),
    )

const choosesNode = ({ spec }: Pod, node: Node): boolean =>
  Object.entries(spec?.nodeSelector ?? {}).every(([key, value]) => labelsOf(node)[key] === value)

/** In millicores: all amounts of the model have this unit. */
const cpuOf = ({ spec }: Pod): number =>
  (spec?.containers ?? []).reduce((sum, { resources }) => sum + Number.parseInt(resources?.requests?.cpu ?? '0', 10), 0)

function hasRoom(pod: Pod, node: Node, cluster: PlainCluster): boolean {
  const others = on(node, cluster)
  const { cpu = '0', pods = '0' } = node.status?.allocatable ?? {}
  const used = others.reduce((sum, other) => sum + cpuOf(other), 0)
  // A node that was made smaller may be overcommitted: pods without requests still fit.
  return others.length + 1 <= Number(pods) && (cpuOf(pod) === 0 || used + cpuOf(pod) <= Number.parseInt(cpu, 10))
}

const portsOf = ({ spec }: Pod): readonly number[] =>
  (spec?.containers ?? []).flatMap(({ ports }) => (ports ?? []).flatMap(({ hostPort }) => hostPort ?? []))
const hasPorts = (pod: Pod, node: Node, cluster: PlainCluster): boolean =>
  !on(node, cluster).some((other) => portsOf(other).some((port) => portsOf(pod).includes(port)))

/** All pods are in one namespace, and selectors have labels only. */
const selects = (selector: PodTerm['labelSelector'], labels: Labels): boolean =>
  Object.entries(selector?.matchLabels ?? {}).every(([key, value]) => labels[key] === value)

const nearTerms = ({ spec }: Pod): readonly PodTerm[] =>
  spec?.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []
const apartTerms = ({ spec }: Pod): readonly PodTerm[] =>
  spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []

/** The nodes in the same domain of the topology key; none if the node lacks the label. */
const domain = (key: string, node: Node, { nodes }: PlainCluster): readonly Node[] => {
  const value = labelsOf(node)[key]
  return value === undefined ? [] : nodes.filter((other) => labelsOf(other)[key] === value)
}

function isNear(pod: Pod, node: Node, cluster: PlainCluster): boolean {
  const terms = nearTerms(pod)
  if (terms.length === 0) return true
  if (terms.some(({ topologyKey }) => labelsOf(node)[topologyKey] === undefined)) return false
  const isMeant = (labels: Labels): boolean => terms.every(({ labelSelector }) => selects(labelSelector, labels))
  const friends = cluster.nodes.flatMap((other) => on(other, cluster).filter((friend) => isMeant(labelsOf(friend))))
  // The first pod of a group that has affinity to itself may go anywhere.
  const isAnywhere = friends.some((friend) => {
    const home = cluster.nodes.find((other) => nameOf(other) === friend.spec?.nodeName)
    return home && terms.some(({ topologyKey }) => labelsOf(home)[topologyKey] !== undefined)
  })
  if (!isAnywhere) return isMeant(labelsOf(pod))
  return terms.every(({ topologyKey }) =>
    domain(topologyKey, node, cluster).some((other) => friends.some(({ spec }) => spec?.nodeName === nameOf(other))),
  )
}

function isApart(pod: Pod, node: Node, cluster: PlainCluster): boolean {
  const meets = (term: PodTerm, labels: Labels, at: Node, others: (other: Node) => boolean): boolean =>
    selects(term.labelSelector, labels) && domain(term.topologyKey, at, cluster).some(others)
  const mine = apartTerms(pod).some((term) =>
    domain(term.topologyKey, node, cluster).some((other) =>
      on(other, cluster).some((running) => selects(term.labelSelector, labelsOf(running))),
    ),
  )
  const theirs = cluster.nodes.some((home) =>
    on(home, cluster).some((running) =>
      apartTerms(running).some((term) => meets(term, labelsOf(pod), home, (other) => nameOf(other) === nameOf(node))),
    ),
  )
  return !mine && !theirs
}

function isSpread(pod: Pod, node: Node, cluster: PlainCluster): boolean {
  const constraints = (pod.spec?.topologySpreadConstraints ?? []).filter(
    ({ whenUnsatisfiable }) => whenUnsatisfiable === 'DoNotSchedule',
  )
  // Pods are spread only over nodes that the pod selects and that have all topology labels.
  const places = cluster.nodes.filter(
    (other) =>
      choosesNode(pod, other) && constraints.every(({ topologyKey }) => labelsOf(other)[topologyKey] !== undefined),
  )
  return constraints.every(({ topologyKey, labelSelector, maxSkew }) => {
    if (labelsOf(node)[topologyKey] === undefined) return false
    const counts = new Map<string, number>()
    for (const place of places) {
      const value = labelsOf(place)[topologyKey]!
      counts.set(
        value,
        (counts.get(value) ?? 0) + on(place, cluster).filter((other) => selects(labelSelector, labelsOf(other))).length,
      )
    }
    const own = selects(labelSelector, labelsOf(pod)) ? 1 : 0
    return (counts.get(labelsOf(node)[topologyKey]!) ?? 0) + own - Math.min(...counts.values()) <= maxSkew
  })
}
