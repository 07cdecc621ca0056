/**
 * Conformance tests of DaemonSets (`test/e2e/apps/daemon_set.go`, `controller_revision.go`) and others. The test
 * simulates scheduler and kubelet.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { DaemonSet, Pod } from '../../../src/client/kinds.ts'
import { testCluster } from '../../support/test-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'
import { PlayedNamespace } from './played-namespace.ts'

const cluster = testCluster({ after }, { controllers: ['daemonset', 'serviceaccount-controller'] })

type Spec = NonNullable<DaemonSet['spec']>

/** A DaemonSet `agent` in a new namespace, for nodes labelled with the namespace. */
class Agent {
  readonly ns: PlayedNamespace
  readonly path: string

  private constructor(ns: PlayedNamespace) {
    this.ns = ns
    this.path = `${ns.apps}/daemonsets/agent`
  }

  /** With two nodes, `NAME-a` and `NAME-b`. */
  static async in(name: string, spec: Partial<Spec> = {}, pod: object = {}): Promise<Agent> {
    const agent = new Agent(await PlayedNamespace.in(await cluster, name))
    for (const node of ['a', 'b']) await agent.node(node)
    await agent.ns.post(`${agent.ns.apps}/daemonsets`, {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { name: 'agent', labels: { app: 'agent' } },
      spec: {
        selector: { matchLabels: { app: 'agent' } },
        template: {
          metadata: { labels: { app: 'agent' } },
          spec: { nodeSelector: { of: name }, containers: [{ name: 'c', image: 'agent:1' }], ...pod },
        },
        ...spec,
      },
    })
    return agent
  }

  /** A node that has been ready. */
  async node(node: string): Promise<void> {
    const name = `${this.ns.name}-${node}`
    await this.ns.post('/api/v1/nodes', {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, labels: { of: this.ns.name } },
    })
    await this.changeNode(node, { spec: { taints: null } })
  }

  async changeNode(node: string, change: object): Promise<void> {
    await this.ns.patch(`/api/v1/nodes/${this.ns.name}-${node}`, change)
  }

  get(): Promise<DaemonSet> {
    return this.ns.get(this.path)
  }

  /** Nodes and images of the pods that are not deleted. */
  async on(): Promise<string> {
    const pods = (await this.ns.pods('agent')).filter(({ metadata }) => !metadata.deletionTimestamp)
    return pods
      .map(({ spec }) => `${target(spec)?.slice(this.ns.name.length + 1)} ${spec?.containers[0]?.image?.split(':')[1]}`)
      .sort()
      .join(', ')
  }

  /** Simulates the kubelet until the pods exist and are ready. */
  runs(expected: string): Promise<DaemonSet> {
    return this.ns.playUntil('agent', `the pods ${expected}`, async () => {
      const set = await this.get()
      const { desiredNumberScheduled, numberReady, updatedNumberScheduled = 0, observedGeneration } = set.status ?? {}
      const isDone =
        observedGeneration === set.metadata.generation &&
        numberReady === desiredNumberScheduled &&
        updatedNumberScheduled >= 0
      return (
        isDone &&
        (await this.on()) === expected &&
        (await this.ns.pods('agent')).length === desiredNumberScheduled &&
        set
      )
    })
  }

  async podOn(node: string): Promise<Pod> {
    const pod = (await this.ns.pods('agent')).find(
      ({ spec, metadata }) => target(spec) === `${this.ns.name}-${node}` && !metadata.deletionTimestamp,
    )
    assert.ok(pod, `there is no pod on ${node}`)
    return pod
  }
}

const target = (spec: Pod['spec']): string | undefined =>
  spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms[0]?.matchFields?.[0]
    ?.values?.[0]

test('should run and stop simple daemon', async () => {
  const agent = await Agent.in('simple')
  const { status } = await agent.runs('a 1, b 1')
  assert.deepEqual(status, {
    currentNumberScheduled: 2,
    desiredNumberScheduled: 2,
    numberAvailable: 2,
    numberMisscheduled: 0,
    numberReady: 2,
    observedGeneration: 1,
    updatedNumberScheduled: 2,
  })
  const { metadata } = await agent.podOn('a')
  await agent.ns.delete(`${agent.ns.core}/pods/${metadata.name}?gracePeriodSeconds=0`)
  await agent.ns.playUntil('agent', 'another pod', async () => {
    const pods = await agent.ns.pods('agent')
    return pods.length === 2 && pods.every((pod) => pod.metadata.uid !== metadata.uid)
  })
  assert.ok((await agent.ns.events('agent', 'SuccessfulCreate')).includes(`Created pod: ${metadata.name}`))
})

test('should run and stop complex daemon', async () => {
  const agent = await Agent.in('complex', {}, { nodeSelector: { color: 'blue' } })
  await waitFor('it to be noticed', async () => (await agent.get()).status?.observedGeneration === 1)
  assert.equal(await agent.on(), '')
  await agent.changeNode('a', { metadata: { labels: { color: 'blue' } } })
  await agent.runs('a 1')
  await agent.changeNode('a', { metadata: { labels: { color: 'green' } } })
  await agent.runs('')
  await agent.ns.patch(agent.path, { spec: { template: { spec: { nodeSelector: { color: 'green' } } } } })
  await agent.runs('a 1')
})

test('should retry creating failed daemon pods', async () => {
  const agent = await Agent.in('failed')
  await agent.runs('a 1, b 1')
  const { metadata } = await agent.podOn('a')
  await agent.ns.writeStatus(metadata.name ?? '', 'Failed')
  await waitFor('it to be deleted', async () => {
    const pod = (await agent.ns.pods('agent')).find(({ metadata: { uid } }) => uid === metadata.uid)
    return !pod || pod.metadata.deletionTimestamp !== undefined
  })
  await agent.runs('a 1, b 1')
  const messages = await agent.ns.events('agent', 'FailedDaemonPod')
  assert.deepEqual(messages, [`Found failed daemon pod failed/${metadata.name} on node failed-a, will try to kill it`])
})

test('should update pod when spec was updated and update strategy is RollingUpdate', async () => {
  const agent = await Agent.in('rolling')
  await agent.runs('a 1, b 1')
  await agent.ns.image('daemonsets', 'agent', 'agent:2')
  let least = 2
  await agent.ns.playUntil('agent', 'the update', async () => {
    least = Math.min(least, (await agent.ns.pods('agent')).filter(({ metadata }) => !metadata.deletionTimestamp).length)
    return (await agent.on()) === 'a 2, b 2'
  })
  assert.ok(least >= 1)
  await agent.runs('a 2, b 2')
  assert.deepEqual(
    (await agent.ns.revisions('agent')).map(({ revision }) => revision),
    [1, 2],
  )
})

test('should rollback without unnecessary restarts', async () => {
  const agent = await Agent.in('rollback')
  await agent.runs('a 1, b 1')
  const before = (await agent.ns.pods('agent')).map(({ metadata }) => metadata.uid)
  // One node gets the new image, which never works; the other retains its pod.
  await agent.ns.image('daemonsets', 'agent', 'agent:bad')
  const waitedFor = await waitFor('the update to wait', async () => {
    for (const { metadata } of await agent.ns.pods('agent')) {
      if (metadata.deletionTimestamp)
        await agent.ns.delete(`${agent.ns.core}/pods/${metadata.name}?gracePeriodSeconds=0`)
    }
    return /bad/.test(await agent.on())
  })
  assert.ok(waitedFor)
  await agent.ns.image('daemonsets', 'agent', 'agent:1')
  await agent.runs('a 1, b 1')
  const after = (await agent.ns.pods('agent')).map(({ metadata }) => metadata.uid)
  assert.equal(after.filter((uid) => before.includes(uid)).length, 1)
})

test('should list and delete a collection of DaemonSets', async () => {
  const agent = await Agent.in('collection')
  await agent.runs('a 1, b 1')
  const sets = `${agent.ns.apps}/daemonsets?labelSelector=app%3Dagent`
  assert.deepEqual(await agent.ns.names(sets), ['agent'])
  await agent.ns.delete(sets)
  await waitFor('them to be deleted', async () => (await agent.ns.names(sets)).length === 0)
})

test('should verify changes to a daemon set status', async () => {
  const agent = await Agent.in('status')
  const set = await agent.runs('a 1, b 1')
  const condition = { type: 'StatusUpdate', status: 'True', reason: 'E2E', message: 'Set from e2e test' }
  await agent.ns.put(`${agent.path}/status`, { ...set, status: { ...set.status, conditions: [condition] } })
  assert.equal((await agent.get()).status?.conditions?.[0]?.reason, 'E2E')
  await agent.ns.patch(`${agent.path}/status`, { status: { conditions: [{ type: 'StatusPatched', status: 'True' }] } })
  await agent.changeNode('b', { metadata: { labels: { of: null } } })
  // Status fields of others are retained.
  assert.deepEqual(
    (await agent.runs('a 1')).status?.conditions?.map(({ type }) => type),
    ['StatusPatched'],
  )
})

test('should manage the lifecycle of a ControllerRevision', async () => {
  const agent = await Agent.in('revisions')
  const { metadata } = await agent.runs('a 1, b 1')
  const names = async () => (await agent.ns.revisions('agent')).map((revision) => revision.metadata.name)
  const path = `${agent.ns.apps}/controllerrevisions`
  const [first] = await agent.ns.revisions('agent')
  assert.deepEqual(await names(), [first?.metadata.name])
  await agent.ns.patch(`${path}/${first?.metadata.name}`, { metadata: { labels: { patched: 'yes' } } })
  assert.equal((await agent.ns.revisions('agent'))[0]?.metadata.labels?.patched, 'yes')
  // One of two equal revisions is deleted at the next reconcile, which is not now.
  await agent.runs('a 1, b 1')
  await agent.ns.post(path, {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name: 'agent-made',
      labels: { app: 'agent', 'controller-revision-hash': 'made' },
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: 'DaemonSet',
          name: 'agent',
          uid: metadata.uid,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    data: first?.data,
    revision: 2,
  })
  assert.deepEqual(await names(), [first?.metadata.name, 'agent-made'])
  await agent.ns.delete(`${path}/${first?.metadata.name}`)
  await waitFor('one to remain', async () => (await names()).length === 1)
  await agent.runs('a 1, b 1')
  await agent.ns.patch(`${path}/agent-made`, { metadata: { labels: { updated: 'yes' } } })
  await agent.ns.image('daemonsets', 'agent', 'agent:2')
  await agent.runs('a 2, b 2')
  assert.deepEqual(
    (await agent.ns.revisions('agent')).map(({ revision }) => revision),
    [2, 3],
  )
  await agent.ns.delete(`${path}?labelSelector=updated%3Dyes`)
  await waitFor('one to remain', async () => (await names()).length === 1)
})

test('equal revisions are merged and their pods retained', async () => {
  const agent = await Agent.in('same')
  await agent.runs('a 1, b 1')
  const [first] = await agent.ns.revisions('agent')
  const before = (await agent.ns.pods('agent')).map(({ metadata }) => metadata.uid)
  await agent.ns.post(`${agent.ns.apps}/controllerrevisions`, {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: { name: 'agent-orphan', labels: { app: 'agent', 'controller-revision-hash': 'orphan' } },
    data: first?.data,
    revision: 5,
  })
  await waitFor(
    'one to remain',
    async () => (await agent.ns.revisions('agent')).map(({ metadata }) => metadata.name).join() === 'agent-orphan',
  )
  const pods = await agent.ns.pods('agent')
  assert.deepEqual(
    pods.map(({ metadata }) => metadata.uid),
    before,
  )
  assert.ok(pods.every(({ metadata }) => metadata.labels?.['controller-revision-hash'] === 'orphan'))
})

test('with surge the new pod runs before the old one is deleted', async () => {
  const agent = await Agent.in('surge', {
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
  })
  await agent.runs('a 1, b 1')
  await agent.ns.image('daemonsets', 'agent', 'agent:2')
  let least = 2
  await agent.ns.playUntil('agent', 'the update', async () => {
    const ready = (await agent.ns.pods('agent')).filter(
      ({ metadata, status }) =>
        !metadata.deletionTimestamp &&
        status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True'),
    )
    least = Math.min(least, new Set(ready.map(({ spec }) => target(spec))).size)
    return (await agent.on()) === 'a 2, b 2'
  })
  assert.equal(least, 2)
})

test('with OnDelete pods are replaced when the user deletes them', async () => {
  const agent = await Agent.in('on-delete', { updateStrategy: { type: 'OnDelete' } })
  await agent.runs('a 1, b 1')
  await agent.ns.image('daemonsets', 'agent', 'agent:2')
  await agent.runs('a 1, b 1')
  await agent.ns.delete(`${agent.ns.core}/pods/${(await agent.podOn('b')).metadata.name}`)
  await agent.runs('a 1, b 2')
})

test('NoSchedule taints prevent pods, NoExecute taints evict them', async () => {
  const agent = await Agent.in('taints')
  await agent.runs('a 1, b 1')
  await agent.changeNode('a', { spec: { taints: [{ key: 'k', effect: 'NoSchedule' }] } })
  // An existing pod may remain but is not counted.
  await waitFor('the status', async () => (await agent.get()).status?.numberMisscheduled === 1)
  assert.equal(await agent.on(), 'a 1, b 1')
  await agent.changeNode('b', { spec: { taints: [{ key: 'k', effect: 'NoExecute' }] } })
  await agent.ns.playUntil('agent', 'the pod to go', async () => (await agent.on()) === 'a 1')
  await agent.changeNode('b', { spec: { taints: null, unschedulable: true } })
  await agent.ns.playUntil('agent', 'the pod to come back', async () => (await agent.on()) === 'a 1, b 1')
})
