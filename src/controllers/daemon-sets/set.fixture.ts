/** DaemonSets, nodes and pods for the tests of this folder. */
import type { DaemonSet, Node, Pod } from '../../client/kinds.ts'
import { daemonPod } from './daemon-pod.ts'
import type { DaemonSituation } from './decisions/situation.ts'
import { placementOf } from './nodes/placement.ts'

type Spec = NonNullable<DaemonSet['spec']>
type PodSpec = Spec['template']['spec']

export const aSet = (
  updateStrategy: Spec['updateStrategy'] = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
  pod: Partial<PodSpec> = {},
): DaemonSet => ({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: {
    name: 'agent',
    namespace: 'ns',
    uid: 'set',
    generation: 1,
    annotations: { 'deprecated.daemonset.template.generation': '7' },
  },
  spec: {
    selector: { matchLabels: { app: 'agent' } },
    updateStrategy,
    template: { metadata: { labels: { app: 'agent' } }, spec: { containers: [{ name: 'c', image: 'a' }], ...pod } },
  },
})

export const aNode = (name: string, labels: Record<string, string> = {}, spec: Node['spec'] = {}): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, labels },
  spec,
})

/** The current time of the tests. */
export const now = Date.parse('2026-01-01T12:00:00Z')

/** The revision and state of a pod, such as `new ready`; `terminating` is ready and deleted. */
export type PodNotation = `${'new' | 'old'} ${'ready' | 'pending' | 'failed' | 'succeeded' | 'terminating'}`

let podCount = 0

/** A pod for a node; each call creates a younger one. */
export function aPod(node: string, notation: PodNotation): Pod {
  const [revision, state] = notation.split(' ')
  const pod = daemonPod(aSet(), revision ?? '', node)
  const phases: Readonly<Record<string, string>> = {
    ready: 'Running',
    terminating: 'Running',
    pending: 'Pending',
    failed: 'Failed',
    succeeded: 'Succeeded',
  }
  const isReady = state === 'ready' || state === 'terminating'
  const since = new Date(now - 60_000).toISOString()
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      labels: { ...pod.metadata.labels, 'pod-template-generation': revision === 'new' ? '7' : '6' },
      name: `${node} ${notation}`,
      creationTimestamp: new Date(now - 1_000_000 + 1000 * podCount++).toISOString(),
      ...(state === 'terminating' && { deletionTimestamp: since }),
    },
    status: {
      phase: phases[state ?? ''],
      conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime: since }],
    },
  }
}

/** A situation with pods by node, all nodes being eligible. */
export const situation = (set: DaemonSet, on: Readonly<Record<string, readonly PodNotation[]>>): DaemonSituation => ({
  set,
  nodes: Object.keys(on).map((name) => aNode(name)),
  placement: placementOf(set),
  pods: new Map(
    Object.entries(on).flatMap(([name, notations]) =>
      notations.length ? [[name, notations.map((notation) => aPod(name, notation))]] : [],
    ),
  ),
  hash: 'new',
  now,
})
