/** Nodes without kubelets, and pods that the cluster's scheduler binds to them. */
import type { Node, Pod } from '../../src/client/kinds.ts'
import { apiControllers, type Lifetime, type TestCluster, testCluster } from '../support/test-cluster.ts'
import { waitFor } from '../support/wait-for.ts'

type PodSpec = NonNullable<Pod['spec']>
const strategic = 'application/strategic-merge-patch+json'

export interface NodeParts {
  readonly labels?: Record<string, string>
  readonly allocatable?: Record<string, string>
  readonly taints?: NonNullable<Node['spec']>['taints']
}

/** A cluster with a scheduler and without node controllers. */
export async function scheduledPods(t: Lifetime): Promise<ScheduledPods> {
  const cluster = await testCluster(t, { controllers: apiControllers, scheduler: true })
  await waitFor('the account', () => cluster.call('GET', '/api/v1/namespaces/default/serviceaccounts/default'))
  return new ScheduledPods(cluster)
}

export class ScheduledPods {
  readonly cluster: TestCluster

  constructor(cluster: TestCluster) {
    this.cluster = cluster
  }

  /**
   * Creates a node. Default: 4 cores, 16 GiB and 110 pods. New nodes are tainted until they are ready; this one is
   * ready.
   */
  async node(name: string, { labels, allocatable, taints = [] }: NodeParts = {}): Promise<void> {
    const all = { cpu: '4', memory: '16Gi', pods: '110', ...allocatable }
    const status = { allocatable: all, capacity: all, conditions: [{ type: 'Ready', status: 'True' }] }
    await this.cluster.call('POST', '/api/v1/nodes', {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, labels: { 'kubernetes.io/hostname': name, ...labels } },
      status,
    })
    await this.cluster.call('PATCH', `/api/v1/nodes/${name}`, { spec: { taints } }, 'application/merge-patch+json')
  }

  patchNode(name: string, patch: object): Promise<unknown> {
    return this.cluster.call('PATCH', `/api/v1/nodes/${name}`, patch, strategic)
  }

  /** Creates a pod of one container with these requests. */
  async create(name: string, spec: Partial<PodSpec> = {}, requests: Record<string, string> = {}): Promise<void> {
    await this.cluster.call('POST', '/api/v1/namespaces/default/pods', {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, labels: { name } },
      spec: { containers: [{ name: 'c', image: 'i', resources: { requests, limits: requests } }], ...spec },
    })
  }

  async delete(name: string): Promise<void> {
    await this.cluster.call('DELETE', `/api/v1/namespaces/default/pods/${name}?gracePeriodSeconds=0`)
  }

  get(name: string): Promise<Pod> {
    return this.cluster.call('GET', `/api/v1/namespaces/default/pods/${name}`) as Promise<object> as Promise<Pod>
  }

  /** Resolves with the node of the pod. */
  nodeOf(name: string): Promise<string> {
    return waitFor(`pod ${name} to get a node`, async () => (await this.get(name)).spec?.nodeName ?? false)
  }

  /** Resolves with the message of the pod's condition after it was found unschedulable. */
  unschedulableMessage(name: string): Promise<string> {
    return waitFor(`pod ${name} to be unschedulable`, async () => {
      const { spec, status } = await this.get(name)
      const condition = status?.conditions?.find(({ type }) => type === 'PodScheduled')
      return (
        !spec?.nodeName &&
        condition?.status === 'False' &&
        condition.reason === 'Unschedulable' &&
        (condition.message ?? false)
      )
    })
  }

  /** Resolves with the notes of the pod's events for this reason, when there is one. */
  eventNotes(name: string, reason: string): Promise<readonly string[]> {
    return waitFor(`an event ${reason} of pod ${name}`, async () => {
      const { items } = (await this.cluster.call('GET', '/api/v1/namespaces/default/events')) as unknown as {
        items: EventItem[]
      }
      const notes = items
        .filter((event) => event.involvedObject.name === name && event.reason === reason)
        .map(({ message }) => message)
      return notes.length > 0 && notes
    })
  }
}

interface EventItem {
  readonly involvedObject: { readonly name: string }
  readonly reason: string
  readonly message: string
}
