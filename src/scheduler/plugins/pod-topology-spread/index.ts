/** PodTopologySpread: spreads matching pods over zones, nodes or other domains (KEP-895, 3022, 3094, 3243). */
import { own } from '../../../lib/own.ts'
import { everything, type Selector } from '../../../machinery/selectors/label-selector.ts'
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
  type EventRegistration,
  type Handle,
  type NodeInfo,
  type Plugin,
  type PodInfo,
  type PreFiltered,
  pluginFactory,
  type Status,
  skip,
  unresolvable,
  unschedulable,
} from '../../framework/index.ts'
import { Counts, type Domains } from '../topology/counts.ts'
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
  make: (args, handle) => new PodTopologySpread(args, handle),
})

function validate({ defaultConstraints, defaultingType }: PodTopologySpreadArgs, path: string): FieldError[] {
  const types = ['System', 'List']
  const errors: FieldError[] = []
  if (!types.includes(defaultingType)) errors.push(notSupported(`${path}.defaultingType`, defaultingType, types))
  else if (defaultingType === 'System' && defaultConstraints.length > 0)
    errors.push(invalidValue(`${path}.defaultingType`, defaultingType, 'when .defaultConstraints are not empty'))
  const pairs = new Set<string>()
  for (const [at, constraint] of defaultConstraints.entries()) {
    const constraintPath = `${path}.defaultConstraints[${at}]`
    errors.push(...constraintFaults(constraint, constraintPath))
    const pair = `{${constraint.topologyKey}, ${constraint.whenUnsatisfiable}}`
    if (pairs.has(pair)) errors.push(duplicate(constraintPath, pair))
    pairs.add(pair)
  }
  return errors
}

function constraintFaults(
  { maxSkew = 0, topologyKey, whenUnsatisfiable, labelSelector }: WireConstraint,
  path: string,
): FieldError[] {
  const errors: FieldError[] = []
  if (!(maxSkew > 0)) errors.push(invalidValue(`${path}.maxSkew`, maxSkew, 'not in valid range (0, inf)'))
  if (topologyKey) errors.push(...follows(topologyKey, `${path}.topologyKey`, qualifiedName))
  else errors.push(required(`${path}.topologyKey`, 'can not be empty'))
  const cases = ['DoNotSchedule', 'ScheduleAnyway']
  if (!whenUnsatisfiable) errors.push(required(`${path}.whenUnsatisfiable`, 'can not be empty'))
  else if (!cases.includes(whenUnsatisfiable))
    errors.push(notSupported(`${path}.whenUnsatisfiable`, whenUnsatisfiable, cases))
  if (labelSelector)
    errors.push(
      forbiddenField(`${path}.labelSelector`, 'constraint must not define a selector, as they deduced for each pod'),
    )
  return errors
}

class PodTopologySpread implements Plugin<Filtering, Scoring> {
  readonly events: readonly EventRegistration[]
  readonly score = score
  readonly #handle: Handle
  readonly #isSystem: boolean
  readonly #defaults: readonly WireConstraint[]
  readonly #selectorFor: (pod: PodInfo) => Selector
  readonly #tallies = new NodeTallies()

  constructor({ defaultConstraints, defaultingType }: PodTopologySpreadArgs, handle: Handle) {
    this.#handle = handle
    this.#isSystem = defaultingType === 'System'
    this.#defaults = this.#isSystem ? systemDefaults : defaultConstraints
    this.#selectorFor = this.#defaults.length > 0 ? defaultSelectors(handle) : () => everything
    this.events = events((pod) => this.#constraintsFor(pod, 'DoNotSchedule'))
  }

  preFilter(pod: PodInfo): PreFiltered<Filtering> | Status {
    const constraints = this.#constraintsFor(pod, 'DoNotSchedule')
    if (constraints.length === 0) return skip
    const counts = new Counts(this.#count(constraints, pod, true))
    return { state: { constraints, counts, least: leastOf(constraints, counts) } }
  }

  copyState({ constraints, counts, least }: Filtering): Filtering {
    return { constraints, counts: counts.copy(), least: [...least] }
  }

  addPod(state: Filtering, pod: PodInfo, added: PodInfo, node: NodeInfo): void {
    change(state, pod, added, node, 1)
  }

  removePod(state: Filtering, pod: PodInfo, removed: PodInfo, node: NodeInfo): void {
    change(state, pod, removed, node, -1)
  }

  filter({ constraints, counts, least }: Filtering, pod: PodInfo, { labels }: NodeInfo): Status | undefined {
    for (const [at, { topologyKey, selector, maxSkew }] of constraints.entries()) {
      const domain = own(labels, topologyKey)
      if (domain === undefined) return labelMissing
      const itself = selector.matches(pod.labels) ? 1 : 0
      if (counts.amount(String(at), domain) + itself - (least[at] ?? 0) > maxSkew) return constraintsUnmet
    }
    return undefined
  }

  preScore(pod: PodInfo, nodes: readonly NodeInfo[]): { readonly state: Scoring } | Status {
    const constraints = this.#constraintsFor(pod, 'ScheduleAnyway')
    if (constraints.length === 0) return skip
    // With the system's defaults, nodes without a zone count.
    const needsAllKeys = !this.#isSystem || (pod.pod.spec?.topologySpreadConstraints ?? []).length > 0
    const domains = this.#count(constraints, pod, needsAllKeys)
    return { state: scoringOf(constraints, pod.namespace, domains, nodes, needsAllKeys) }
  }

  normalize(state: Scoring, _pod: PodInfo, scores: number[], nodes: readonly NodeInfo[]): void {
    normalize(state, scores, nodes)
  }

  /** The pod's own constraints, or the defaults with the selector of the pod's owners. */
  #constraintsFor(pod: PodInfo, when: WhenUnsatisfiable): readonly Constraint[] {
    const given = pod.pod.spec?.topologySpreadConstraints ?? []
    if (given.length > 0) return constraintsOf(given, pod.labels, when)
    const defaults = constraintsOf(this.#defaults, pod.labels, when)
    if (defaults.length === 0) return defaults
    const selector = this.#selectorFor(pod)
    return selector.everything ? [] : defaults.map((constraint) => ({ ...constraint, selector }))
  }

  #count(constraints: readonly Constraint[], pod: PodInfo, needsAllKeys: boolean): Domains {
    return this.#tallies.count(textOf(constraints, pod, needsAllKeys), this.#handle.snapshot.nodes, (node) =>
      sharesOf(constraints, pod, node, needsAllKeys),
    )
  }
}

/** With fewer domains than minDomains, the minimum is 0. */
const leastOf = (constraints: readonly Constraint[], counts: Counts): number[] =>
  constraints.map(({ minDomains }, at) => (counts.size(String(at)) < minDomains ? 0 : counts.least(String(at))))

function change(state: Filtering, pod: PodInfo, changed: PodInfo, node: NodeInfo, by: 1 | -1): void {
  const { constraints, counts, least } = state
  if (!hasAllKeys(constraints, node)) return
  const required = requiredNodesOf(pod)
  let isChanged = false
  constraints.forEach((constraint, at) => {
    if (!isMatching(constraint.selector, pod.namespace, changed) || !isNodeCounted(constraint, pod, node, required))
      return
    counts.change(String(at), own(node.labels, constraint.topologyKey) ?? '', by)
    isChanged = true
  })
  if (isChanged) least.splice(0, least.length, ...leastOf(constraints, counts))
}
