/** Pods and nodes for the scheduler's tests. */
import type { Node, Pod } from '../../client/kinds.ts'
import type { ObjectMeta } from '../../machinery/object.ts'

type PodSpec = NonNullable<Pod['spec']>

/** A pod in `default`. Default: one container without requests. `metadata` adds to name, namespace and uid. */
export const aPod = (name: string, spec: Partial<PodSpec> = {}, metadata: Partial<ObjectMeta> = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default', uid: `uid-of-${name}`, ...metadata },
  spec: { schedulerName: 'default-scheduler', containers: [{ name: 'c', image: 'i' }], ...spec },
})

/** The containers of a pod with these requests: `asking({ cpu: '1' })`. */
export const withRequests = (requests: Record<string, string>): Pick<PodSpec, 'containers'> => ({
  containers: [{ name: 'c', image: 'i', resources: { requests } }],
})

export interface NodeParts {
  readonly labels?: Record<string, string>
  readonly spec?: Node['spec']
  readonly allocatable?: Record<string, string>
  readonly status?: Node['status']
}

/** A node with its hostname label. Default: 4 cores, 16 GiB, 110 pods. */
export const aNode = (name: string, { labels, spec = {}, allocatable, status }: NodeParts = {}): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, uid: `uid-of-${name}`, labels: { 'kubernetes.io/hostname': name, ...labels } },
  spec,
  status: {
    allocatable: { cpu: '4', memory: '16Gi', 'ephemeral-storage': '100Gi', pods: '110', ...allocatable },
    ...status,
  },
})
