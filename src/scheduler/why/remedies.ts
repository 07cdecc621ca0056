/**
 * Suggests changes that would let a plug-in accept a node: the amount of CPU, the label, the taint to tolerate, the pod
 * in the way.
 */
import type { Pod } from '../../client/kinds.ts'
import { own } from '../../lib/own.ts'
import {
  type NodeSelectorRequirement,
  type NodeSelectorTerm,
  nodeNameField,
  nodeSelectorTermOf,
} from '../../machinery/selectors/node-selector.ts'
import { isTolerated, preventsScheduling } from '../../machinery/selectors/toleration.ts'
import { type NodeInfo, type PodInfo, portsClash, type Rejection, type Taint } from '../framework/index.ts'
import { demandOf, shortfalls } from '../plugins/node-resources/shortfall.ts'
import { amountText } from './amount-text.ts'
import { affinityRemedies, spreadRemedies } from './neighbours.ts'
import type { Surroundings } from './surroundings.ts'

type Remedy = (pod: PodInfo, node: NodeInfo, surroundings: Surroundings) => readonly string[]

const remedies: Readonly<Record<string, Remedy>> = {
  NodeName: ({ pod }, node) => [`spec.nodeName is ${pod.spec?.nodeName}: remove it, or set it to ${node.name}`],
  NodeUnschedulable: (_, { name }) => [
    `the node is cordoned: kubectl uncordon ${name}, or tolerate node.kubernetes.io/unschedulable`,
  ],
  TaintToleration: ({ pod }, { name, taints }) =>
    taints
      .filter((taint) => preventsScheduling(taint) && !isTolerated(taint, pod.spec?.tolerations))
      .map(
        (taint) =>
          `tolerate ${taintText(taint)}, or remove the taint: ` +
          `kubectl taint nodes ${name} ${taint.key}:${taint.effect}-`,
      ),
  NodeAffinity: missingLabels,
  NodePorts: ({ hostPorts }, { pods }) =>
    pods
      .filter((other) => portsClash(hostPorts, other.hostPorts))
      .map(
        ({ key, hostPorts: theirs }) =>
          `pod ${key} uses ${theirs
            .filter((port) => portsClash(hostPorts, [port]))
            .map(portText)
            .join(' and ')}`,
      ),
  NodeResourcesFit: missingResources,
  InterPodAffinity: affinityRemedies,
  PodTopologySpread: spreadRemedies,
  NodeDeclaredFeatures: () => [
    'the node must declare the feature that the pod needs (status.declaredFeatures): its kubelet may be too old',
  ],
}

/** Advice for reasons that do not say what to do. */
const advice: Readonly<Record<string, string>> = {
  "node(s) didn't find available persistent volumes to bind":
    'create a PersistentVolume for its claim that this node can use',
  "node(s) didn't match PersistentVolume's node affinity": 'the volume of its claim can only be used on other nodes',
  'node(s) had volume node affinity conflict': 'the volume of its claim can only be used on other nodes',
  'node(s) did not have enough free storage': 'the storage class has too little capacity left on the node',
  'node(s) exceed max volume count': 'no more volumes of this driver can be attached to the node',
  'node(s) had no available volume zone': 'the volume is in another zone',
  'node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)':
    'a claim is bound to a PersistentVolume that was deleted',
  'node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode':
    'another pod uses the claim, and its access mode allows only one',
  'cannot allocate all claims':
    'no free device on the node satisfies its claims: kubectl get resourceslices lists all devices',
}

/** Empty if the reasons are sufficient. */
export const remediesOf = (
  { plugin, status }: Rejection,
  pod: PodInfo,
  node: NodeInfo,
  surroundings: Surroundings,
): readonly string[] =>
  own(remedies, plugin)?.(pod, node, surroundings) ?? status.reasons.flatMap((reason) => own(advice, reason) ?? [])

/** The number of pods of the node that could be evicted for the pod, if that may help against all rejections. */
export function evictable(rejections: readonly Rejection[], { pod, priority }: PodInfo, { pods }: NodeInfo): number {
  const mayHelp =
    rejections.length > 0 &&
    rejections.every(({ status }) => status.code === 'Unschedulable') &&
    pod.spec?.preemptionPolicy !== 'Never'
  return mayHelp ? pods.filter((other) => other.priority < priority).length : 0
}

/** The same for rejections on all nodes. */
export const remediesEverywhere = ({ status }: Rejection, { claims, namespace }: PodInfo): readonly string[] =>
  status.reasons.flatMap((reason) => {
    if (reason !== 'pod has unbound immediate PersistentVolumeClaims') return own(advice, reason) ?? []
    const names = claims.map((key) => key.slice(namespace.length + 1)).join(' ')
    return `its claims must be bound first: for the reason, run kubectl describe pvc -n ${namespace} ${names}`
  })

function missingResources(pod: PodInfo, node: NodeInfo): readonly string[] {
  return shortfalls(
    demandOf(pod, () => false),
    node,
  ).map(({ resource, requested, used, capacity }) => {
    if (resource === 'pods') return `the node runs ${used} of at most ${capacity} pods`
    const text = (amount: number): string => amountText(resource, amount)
    if (capacity === 0) return `the node has no ${resource}: the pod requests ${text(requested)}`
    const [lacking, free] = [text(requested - (capacity - used)), text(Math.max(0, capacity - used))]
    const unit = resource === 'cpu' ? (isPlural(lacking) ? 'CPUs' : 'CPU') : resource
    const areFree = isPlural(free) ? 'are free' : 'is free'
    return `needs ${lacking} more ${unit}: ${free} of ${text(capacity)} ${areFree} (requested: ${text(requested)})`
  })
}

const isPlural = (amount: string): boolean => /^\d+$/.test(amount) && amount !== '1'

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

/** One of the terms has to match: returns what each of them lacks. */
function missingTerms(required: Required | undefined, node: NodeInfo): readonly string[] {
  if (!required) return []
  const lacking = required.nodeSelectorTerms.map((term) => lackedBy(term, node))
  if (lacking.some((lacks) => lacks.length === 0)) return []
  if (lacking.length === 0) return ['its node affinity has no terms, and so matches no node']
  return lacking.map((lacks, i) => `${i === 0 ? 'the node needs' : 'or'} ${lacks.join(' and ')}`)
}

function lackedBy(
  { matchExpressions = [], matchFields = [] }: NodeSelectorTerm,
  { node, labels, name }: NodeInfo,
): readonly string[] {
  if (matchExpressions.length + matchFields.length === 0) return ['a term that is not empty']
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
      return `${key} to be absent`
    case 'Gt':
      return `${key} > ${values[0]}`
    case 'Lt':
      return `${key} < ${values[0]}`
    default:
      return `${key} ${operator === 'NotIn' ? 'not in' : 'in'} (${values.join(', ')})`
  }
}
