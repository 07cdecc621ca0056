/** PodTopologySpread: spreads matching pods over zones, nodes or other domains (KEP-895, 3022, 3094, 3243). */
import { own } from '../../../lib/own.ts'
import { everything } from '../../../machinery/selectors/label-selector.ts'
import {
  duplicate,
  type FieldError,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
} from '../../../machinery/validation/field-error.ts'
import { follows } from '../../../machinery/validation/field-rules.ts'
import { qualifiedName } from '../../../machinery/validation/names.ts'
import {
  type Handle,
  type NodeInfo,
  type Plugin,
  type PodInfo,
  pluginFactory,
  skip,
  unresolvable,
  unschedulable,
} from '../../framework/index.ts'
import { Counts } from '../topology/counts.ts'
import { NodeTallies } from '../topology/node-tally.ts'
import {
  type Constraint,
  constraintsOf,
  hasAllKeys,
  isMatching,
  isNodeCounted,
  requiredNodesOf,
  sharesOf,
  textOf,
  type WhenUnsatisfiable,
  type WireConstraint,
} from './constraints.ts'
import { defaultSelectors } from './default-selector.ts'
import { events } from './hints.ts'
import { normalize, type Scoring, score, scoringOf } from './scoring.ts'

export interface PodTopologySpreadArgs {
  /** Constraints, without selectors, for pods that have none; used with type `List`. */
  readonly defaultConstraints: readonly WireConstraint[]
  /** `System` (over nodes and zones, with ScheduleAnyway) or `List`. */
  readonly defaultingType: string
}

interface Filtering {
  readonly constraints: readonly Constraint[]
  readonly counts: Counts
  /** By constraint: the lowest number of pods in a domain. */
  readonly least: number[]
}

const systemDefaults: readonly WireConstraint[] = [
  { topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway', maxSkew: 3 },
  { topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'ScheduleAnyway', maxSkew: 5 },
]

const constraintsUnmet = unschedulable("node(s) didn't match pod topology spread constraints")
const labelMissing = unresolvable("node(s) didn't match pod topology spread constraints (missing required label)")

export const podTopologySpread = pluginFactory<PodTopologySpreadArgs>({
  name: 'PodTopologySpread',
  args: {
    fields: { defaultConstraints: { kind: 'array', items: { kind: 'any' } }, defaultingType: { kind: 'string' } },
    withDefaults: (given) => ({ defaultConstraints: [], defaultingType: 'System', ...given }),
    validate,
  },
  make,
})

function validate({ defaultConstraints, defaultingType }: PodTopologySpreadArgs, path: string): FieldError[] {
  const types = ['System', 'List']
  const errors: FieldError[] = []
  if (!types.includes(defaultingType)) errors.push(notSupported(`${path}.defaultingType`, defaultingType, types))
  else if (defaultingType === 'System' && defaultConstraints.length > 0)
    errors.push(invalidValue(`${path}.defaultingType`, defaultingType, 'when .defaultConstraints are not empty'))
  const seen = new Set<string>()
  for (const [at, { maxSkew = 0, topologyKey, whenUnsatisfiable, labelSelector }] of defaultConstraints.entries()) {
    const here = `${path}.defaultConstraints[${at}]`
    if (!(maxSkew > 0)) errors.push(invalidValue(`${here}.maxSkew`, maxSkew, 'not in valid range (0, inf)'))
    if (topologyKey) errors.push(...follows(topologyKey, `${here}.topologyKey`, qualifiedName))
    else errors.push(required(`${here}.topologyKey`, 'can not be empty'))
    const cases = ['DoNotSchedule', 'ScheduleAnyway']
    if (!whenUnsatisfiable) errors.push(required(`${here}.whenUnsatisfiable`, 'can not be empty'))
    else if (!cases.includes(whenUnsatisfiable))
      errors.push(notSupported(`${here}.whenUnsatisfiable`, whenUnsatisfiable, cases))
    if (labelSelector)
      errors.push(
        forbiddenField(`${here}.labelSelector`, 'constraint must not define a selector, as they deduced for each pod'),
      )
    const meant = `{${topologyKey}, ${whenUnsatisfiable}}`
    if (seen.has(meant)) errors.push(duplicate(here, meant))
    seen.add(meant)
  }
  return errors
}

function make(
  { defaultConstraints, defaultingType }: PodTopologySpreadArgs,
  handle: Handle,
): Plugin<Filtering, Scoring> {
  const isSystem = defaultingType === 'System'
  const defaults = isSystem ? systemDefaults : defaultConstraints
  const selectorFor = defaults.length > 0 ? defaultSelectors(handle) : () => everything
  const tallies = new NodeTallies()

  const constraintsFor = (pod: PodInfo, when: WhenUnsatisfiable): readonly Constraint[] => {
    const given = pod.pod.spec?.topologySpreadConstraints ?? []
    if (given.length > 0) return constraintsOf(given, pod.labels, when)
    const found = constraintsOf(defaults, pod.labels, when)
    if (found.length === 0) return found
    const selector = selectorFor(pod)
    return selector.everything ? [] : found.map((constraint) => ({ ...constraint, selector }))
  }
  const count = (constraints: readonly Constraint[], pod: PodInfo, needsAllKeys: boolean) =>
    tallies.count(textOf(constraints, pod, needsAllKeys), handle.snapshot.nodes, (node) =>
      sharesOf(constraints, pod, node, needsAllKeys),
    )

  return {
    events: events((pod) => constraintsFor(pod, 'DoNotSchedule')),

    preFilter(pod) {
      const constraints = constraintsFor(pod, 'DoNotSchedule')
      if (constraints.length === 0) return skip
      const counted = new Counts(count(constraints, pod, true))
      return { state: { constraints, counts: counted, least: leastOf(constraints, counted) } }
    },
    copyState: ({ constraints, counts: counted, least }) => ({
      constraints,
      counts: counted.copy(),
      least: [...least],
    }),
    addPod: (state, pod, added, node) => change(state, pod, added, node, 1),
    removePod: (state, pod, removed, node) => change(state, pod, removed, node, -1),

    filter({ constraints, counts: counted, least }, pod, { labels }) {
      for (const [at, { topologyKey, selector, maxSkew }] of constraints.entries()) {
        const domain = own(labels, topologyKey)
        if (domain === undefined) return labelMissing
        const itself = selector.matches(pod.labels) ? 1 : 0
        if (counted.amount(String(at), domain) + itself - (least[at] ?? 0) > maxSkew) return constraintsUnmet
      }
      return undefined
    },

    preScore(pod, nodes) {
      const constraints = constraintsFor(pod, 'ScheduleAnyway')
      if (constraints.length === 0) return skip
      // With the system's defaults, nodes without a zone count.
      const needsAllKeys = !isSystem || (pod.pod.spec?.topologySpreadConstraints ?? []).length > 0
      return {
        state: scoringOf(constraints, pod.namespace, count(constraints, pod, needsAllKeys), nodes, needsAllKeys),
      }
    },
    score,
    normalize: (state, _, scores, nodes) => normalize(state, scores, nodes),
  }
}

/** With fewer domains than minDomains, the minimum is 0. */
const leastOf = (constraints: readonly Constraint[], counted: Counts): number[] =>
  constraints.map(({ minDomains }, at) => (counted.size(String(at)) < minDomains ? 0 : counted.least(String(at))))

function change(state: Filtering, pod: PodInfo, changed: PodInfo, node: NodeInfo, by: 1 | -1): void {
  const { constraints, counts: counted, least } = state
  if (!hasAllKeys(constraints, node)) return
  const required = requiredNodesOf(pod)
  let isChanged = false
  constraints.forEach((constraint, at) => {
    if (!isMatching(constraint.selector, pod.namespace, changed) || !isNodeCounted(constraint, pod, node, required))
      return
    counted.change(String(at), own(node.labels, constraint.topologyKey) ?? '', by)
    isChanged = true
  })
  if (isChanged) least.splice(0, least.length, ...leastOf(constraints, counted))
}
