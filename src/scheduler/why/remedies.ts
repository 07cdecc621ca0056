/**
 * What would have to change for a plug-in to be content with a node: more cpu and how much, which label, which taint to
 * tolerate, which pod is in the way.
 */
import type { Pod } from '../../client/kinds.ts'
import { own } from '../../lib/own.ts'
import {
  type NodeSelectorRequirement,
  type NodeSelectorTerm,
  nodeNameField,
  nodeSelectorTermOf,
} from '../../machinery/selectors/node-selector.ts'
import { isTolerated, keepsAway } from '../../machinery/selectors/toleration.ts'
import { type NodeInfo, type PodInfo, portsClash, type Refusal, type Taint } from '../framework/index.ts'
import { demandOf, shortfalls } from '../plugins/node-resources/shortfall.ts'
import { amountText } from './amount-text.ts'
import { affinityRemedies, spreadRemedies } from './neighbours.ts'
import type { Surroundings } from './surroundings.ts'

type Remedy = (pod: PodInfo, node: NodeInfo, surroundings: Surroundings) => readonly string[]

const remedies: Readonly<Record<string, Remedy>> = {
  NodeName: ({ pod }, node) => [
    `the pod names the node ${pod.spec?.nodeName}: leave spec.nodeName out, or name ${node.name}`,
  ],
  NodeUnschedulable: (_, { name }) => [
    `the node is cordoned: kubectl uncordon ${name}, or tolerate node.kubernetes.io/unschedulable`,
  ],
  TaintToleration: ({ pod }, { name, taints }) =>
    taints
      .filter((taint) => keepsAway(taint) && !isTolerated(taint, pod.spec?.tolerations))
      .map(
        (taint) =>
          `tolerate ${taintText(taint)}, or take it away: kubectl taint nodes ${name} ${taint.key}:${taint.effect}-`,
      ),
  NodeAffinity: missingLabels,
  NodePorts: ({ hostPorts }, { pods }) =>
    pods
      .filter((other) => portsClash(hostPorts, other.hostPorts))
      .map(
        ({ key, hostPorts: theirs }) =>
          `pod ${key} has ${theirs
            .filter((port) => portsClash(hostPorts, [port]))
            .map(portText)
            .join(' and ')}`,
      ),
  NodeResourcesFit: missingResources,
  InterPodAffinity: affinityRemedies,
  PodTopologySpread: spreadRemedies,
  NodeDeclaredFeatures: () => [
    'the node has to declare the feature that the pod needs (status.declaredFeatures): its kubelet may be too old',
  ],
}

/** Reasons that say what is wrong, but not what to do. */
const advice: Readonly<Record<string, string>> = {
  "node(s) didn't find available persistent volumes to bind":
    'a PersistentVolume that this node can use has to be made for its claim',
  "node(s) didn't match PersistentVolume's node affinity": 'the volume of its claim is bound to other nodes',
  'node(s) had volume node affinity conflict': 'the volume of its claim is bound to other nodes',
  'node(s) did not have enough free storage': 'the storage of the class is used up there',
  'node(s) exceed max volume count': 'no more volumes of this driver can be attached there',
  'node(s) had no available volume zone': 'the volume is in another zone',
  'node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)':
    'a claim is bound to a PersistentVolume that is gone',
  'node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode':
    'another pod uses the claim, which only one pod may',
  'cannot allocate all claims':
    'no device that its claims ask for is free there: kubectl get resourceslices shows what there is',
}

/** Empty where the reasons say all there is to say. */
export const remediesOf = (
  { plugin, status }: Refusal,
  pod: PodInfo,
  node: NodeInfo,
  surroundings: Surroundings,
): readonly string[] =>
  own(remedies, plugin)?.(pod, node, surroundings) ?? status.reasons.flatMap((reason) => own(advice, reason) ?? [])

/** How many pods of the node could be evicted for the pod, if that may help against all of the refusals. */
export function evictable(refusals: readonly Refusal[], { pod, priority }: PodInfo, { pods }: NodeInfo): number {
  const mayHelp =
    refusals.length > 0 &&
    refusals.every(({ status }) => status.code === 'Unschedulable') &&
    pod.spec?.preemptionPolicy !== 'Never'
  return mayHelp ? pods.filter((other) => other.priority < priority).length : 0
}

/** The same for what is against all nodes. */
export const remediesEverywhere = ({ status }: Refusal, { claims, namespace }: PodInfo): readonly string[] =>
  status.reasons.flatMap((reason) => {
    if (reason !== 'pod has unbound immediate PersistentVolumeClaims') return own(advice, reason) ?? []
    const names = claims.map((key) => key.slice(namespace.length + 1)).join(' ')
    return `its claims have to be bound first: kubectl describe pvc -n ${namespace} ${names} tells what they wait for`
  })

function missingResources(pod: PodInfo, node: NodeInfo): readonly string[] {
  return shortfalls(
    demandOf(pod, () => false),
    node,
  ).map(({ resource, asked, taken, capacity }) => {
    if (resource === 'pods') return `the node has room for ${capacity} pods, and has ${taken}`
    const text = (amount: number): string => amountText(resource, amount)
    const lacking = `${text(asked - (capacity - taken))} more ${resource} would do`
    if (capacity === 0) return `the node has no ${resource}: the pod asks for ${text(asked)}`
    return (
      `the pod asks for ${text(asked)} ${resource}, of ${text(capacity)} there are ` +
      `${text(Math.max(0, capacity - taken))} free: ${lacking}`
    )
  })
}

const taintText = ({ key, value, effect }: Taint): string => `${key}${value ? `=${value}` : ''}:${effect}`

const portText = ({ ip, protocol, port }: PodInfo['hostPorts'][number]): string =>
  `port ${port}/${protocol}${ip === '0.0.0.0' ? '' : ` of ${ip}`}`

type Required = NonNullable<
  NonNullable<
    NonNullable<NonNullable<Pod['spec']>['affinity']>['nodeAffinity']
  >['requiredDuringSchedulingIgnoredDuringExecution']
>

function missingLabels({ pod: { spec } }: PodInfo, node: NodeInfo): readonly string[] {
  const selected = Object.entries(spec?.nodeSelector ?? {})
    .filter(([key, value]) => own(node.labels, key) !== value)
    .map(([key, value]) => `the node needs the label ${key}=${value} ${hasText(node, key)}`)
  return [
    ...selected,
    ...missingTerms(spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution, node),
  ]
}

/** Of several terms one has to hold: what each of them lacks. */
function missingTerms(required: Required | undefined, node: NodeInfo): readonly string[] {
  if (!required) return []
  const lacking = required.nodeSelectorTerms.map((term) => lackedBy(term, node))
  if (lacking.some((lacks) => lacks.length === 0)) return []
  if (lacking.length === 0) return ['its node affinity has no terms, so that no node will do']
  return lacking.map((lacks, i) => `${i === 0 ? 'the node needs' : 'or'} ${lacks.join(' and ')}`)
}

function lackedBy(
  { matchExpressions = [], matchFields = [] }: NodeSelectorTerm,
  { node, labels, name }: NodeInfo,
): readonly string[] {
  if (matchExpressions.length + matchFields.length === 0) return ['something: the term is empty, and holds for no node']
  const expressions = matchExpressions.filter((one) => !nodeSelectorTermOf({ matchExpressions: [one] })(node))
  const fields = matchFields.filter((one) => !nodeSelectorTermOf({ matchFields: [one] })(node))
  return [
    ...expressions.map((one) => `the label ${requirementText(one)} ${hasText({ labels }, one.key)}`),
    ...fields.map(
      (one) =>
        `${one.key === nodeNameField ? 'the name' : one.key} ${requirementText({ ...one, key: '' }).trim()} (it ` +
        `is ${name})`,
    ),
  ]
}

const hasText = ({ labels }: Pick<NodeInfo, 'labels'>, key: string): string => {
  const value = own(labels, key)
  return value === undefined ? '(it has none)' : `(it has ${key}=${value})`
}

function requirementText({ key, operator, values = [] }: NodeSelectorRequirement): string {
  switch (operator) {
    case 'Exists':
      return key
    case 'DoesNotExist':
      return `${key} to be away`
    case 'Gt':
      return `${key} > ${values[0]}`
    case 'Lt':
      return `${key} < ${values[0]}`
    default:
      return `${key} ${operator === 'NotIn' ? 'not in' : 'in'} (${values.join(', ')})`
  }
}
