/**
 * Tests of the conformance suite for StatefulSets (`test/e2e/apps/statefulset.go`), in its steps, on nodes of both
 * types.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod, StatefulSet } from '../../../src/client/kinds.ts'
import { inNamespace, type PodNodes } from '../support/pod-nodes.ts'
import { names, type Requests } from '../support/requests.ts'
import {
  eventually,
  images,
  isReady,
  objectWhen,
  podsOf,
  readyPods,
  template,
  toggledProbe,
} from '../support/workloads.ts'

const labels = { app: 'ss', foo: 'bar' }
/** The part of upstream's names before those of the tests. */
const basic = 'StatefulSet Basic StatefulSet functionality'
const revisionLabel = 'controller-revision-hash'

const statefulSet = (replicas: number, spec: object = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'ss', labels: { e2e: 'testing' } },
  spec: {
    serviceName: 'test',
    replicas,
    selector: { matchLabels: labels },
    template: template(labels, { container: { readinessProbe: toggledProbe } }),
    ...spec,
  },
})

/** A namespace with the headless Service `test` of its StatefulSet `ss`. */
class StatefulTest {
  readonly nodes: PodNodes
  readonly api: Requests
  readonly sets: string
  readonly path: string

  private constructor(api: Requests & { readonly nodes: PodNodes }) {
    this.api = api
    this.nodes = api.nodes
    this.sets = `${api.group('apps/v1')}/statefulsets`
    this.path = `${this.sets}/ss`
  }

  static async in(nodes: Promise<PodNodes>, namespace: string, set: object): Promise<StatefulTest> {
    const api = await inNamespace(nodes, namespace)
    await api.post(`${api.core}/services`, {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'test', labels },
      spec: { clusterIP: 'None', ports: [{ port: 80, name: 'http' }], selector: labels },
    })
    const one = new StatefulTest(api)
    await api.post(one.sets, set)
    return one
  }

  ready(count: number): Promise<readonly Pod[]> {
    return readyPods(this.api, labels, count)
  }

  set(what: string, is: (set: StatefulSet) => boolean): Promise<StatefulSet> {
    return objectWhen(this.api, this.path, what, is)
  }

  /** Resolves when the controller has seen the current spec. */
  observed(): Promise<StatefulSet> {
    return this.set(
      'is observed',
      ({ metadata, status }) => (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0),
    )
  }

  patch(spec: object): Promise<StatefulSet> {
    return this.api.patch(this.path, { spec }, 'strategic')
  }

  setImage(image: string): Promise<StatefulSet> {
    return this.patch({ template: { spec: { containers: [{ name: 'c', image }] } } })
  }

  /** Resolves when the pod is ready, or is not. */
  async setReady(pod: string, ready: boolean): Promise<void> {
    await this.nodes.setReady(this.api.namespace, pod, ready)
    await eventually(this.api, `${pod} to be ${ready ? 'ready' : 'unready'}`, async () => {
      return isReady(await this.api.get<Pod>(`${this.api.core}/pods/${pod}`)) === ready
    })
  }

  async setAllReady(ready: boolean): Promise<void> {
    for (const { metadata } of await podsOf(this.api, labels)) await this.setReady(metadata.name ?? '', ready)
  }

  /** Names, images and revisions of the pods. */
  async versions(): Promise<readonly (readonly [name: string, image: string, revision: string])[]> {
    return (await podsOf(this.api, labels)).map(({ metadata, spec }) => [
      metadata.name ?? '',
      spec?.containers[0]?.image ?? '',
      metadata.labels?.[revisionLabel] ?? '',
    ])
  }

  /** Resolves when the pods are ready and have these images and revisions, in the order of their ordinals. */
  async hasVersions(...wanted: readonly (readonly [image: string, revision: string])[]): Promise<void> {
    const named = JSON.stringify(wanted.map((version, ordinal) => [`ss-${ordinal}`, ...version]))
    await eventually(this.api, `pods of ${named}`, async () => JSON.stringify(await this.versions()) === named)
    await this.ready(wanted.length)
  }
}

export function statefulSetSuite(nodes: Promise<PodNodes>): void {
  defineUpdates(nodes)
  defineCanaries(nodes)
  defineScaling(nodes)
  defineRequests(nodes)
}

function defineUpdates(nodes: Promise<PodNodes>): void {
  test(`${basic} should perform rolling updates and roll backs of template modifications`, async () => {
    const t = await StatefulTest.in(nodes, 'stateful-rolls', statefulSet(3))
    await t.ready(3)
    const { status } = await t.observed()
    const first = status?.currentRevision ?? ''
    assert.equal(first, status?.updateRevision)
    await t.hasVersions([images.busybox, first], [images.busybox, first], [images.busybox, first])

    const roll = async (image: string, from: string): Promise<string> => {
      const before = await podsOf(t.api, labels)
      await t.setReady('ss-1', false)
      await t.setImage(image)
      const { status } = await t.observed()
      assert.equal(status?.currentRevision, from)
      const to = status?.updateRevision ?? ''
      assert.notEqual(to, from)
      // The pod that is not ready halts the update.
      const uids = (pods: readonly Pod[]) => pods.slice(0, 2).map(({ metadata }) => metadata.uid)
      assert.deepEqual(uids(await podsOf(t.api, labels)), uids(before))
      await t.setReady('ss-1', true)
      await t.hasVersions([image, to], [image, to], [image, to])
      await t.set('is at its revision', (set) => set.status?.currentRevision === to && set.status.updateRevision === to)
      return to
    }
    const second = await roll(images.newBusybox, first)
    assert.equal(await roll(images.busybox, second), first)
  })
}

function defineCanaries(nodes: Promise<PodNodes>): void {
  test(`${basic} should perform canary updates and phased rolling updates of template modifications`, async () => {
    const strategy = (partition: number) => ({
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition } },
    })
    const t = await StatefulTest.in(nodes, 'stateful-canaries', statefulSet(3, strategy(3)))
    await t.ready(3)
    const { status } = await t.observed()
    const oldRevision = status?.currentRevision ?? ''
    const old = [images.busybox, oldRevision] as const
    await t.setImage(images.newBusybox)
    const updated = await t.observed()
    const updateRevision = updated.status?.updateRevision ?? ''
    assert.deepEqual([updated.status?.currentRevision, updateRevision === oldRevision], [oldRevision, false])
    const canary = [images.newBusybox, updateRevision] as const
    await t.hasVersions(old, old, old)
    await t.patch(strategy(2))
    await t.hasVersions(old, old, canary)
    // A deleted pod returns with the revision that the partition gives it.
    for (const pod of ['ss-0', 'ss-2']) {
      const { metadata } = await t.api.get(`${t.api.core}/pods/${pod}`)
      await t.api.delete(`${t.api.core}/pods/${pod}`)
      await eventually(t.api, `a new ${pod}`, async () =>
        (await podsOf(t.api, labels)).some(
          (one) => one.metadata.name === pod && one.metadata.uid !== metadata.uid && isReady(one),
        ),
      )
    }
    await t.hasVersions(old, old, canary)
    await t.patch(strategy(1))
    await t.hasVersions(old, canary, canary)
    await t.patch(strategy(0))
    await t.hasVersions(canary, canary, canary)
    await t.set('is at its revision', (set) => set.status?.currentRevision === updateRevision)
  })
}

/** The names of pods in the order of events of a type. */
const order = (events: readonly { type: string; object: Pod }[], type: string) =>
  names(events.filter((event) => event.type === type).map(({ object }) => object))

function defineScaling(nodes: Promise<PodNodes>): void {
  test(`${basic} Scaling should happen in predictable order and halt if any stateful pod is unhealthy`, async () => {
    const t = await StatefulTest.in(nodes, 'stateful-scales', statefulSet(1))
    const watched = await t.api.watch<Pod>(`${t.api.core}/pods`, { labelSelector: 'app=ss' })
    try {
      await t.ready(1)
      const halts = async (replicas: number, pods: number) => {
        await t.setAllReady(false)
        await t.set('has no ready replica', ({ status }) => (status?.readyReplicas ?? 0) === 0)
        await t.patch({ replicas })
        assert.equal((await t.observed()).status?.replicas, pods)
        assert.equal((await podsOf(t.api, labels)).filter(({ metadata }) => !metadata.deletionTimestamp).length, pods)
      }
      await halts(3, 1)
      await t.setAllReady(true)
      await t.ready(3)
      assert.deepEqual(order(watched.events, 'ADDED'), ['ss-0', 'ss-1', 'ss-2'])
      await halts(0, 3)
      // An unhealthy pod is deleted only when no pod before it is unhealthy, so that ss-0 need not become ready.
      for (const pod of ['ss-2', 'ss-1']) await t.nodes.setReady(t.api.namespace, pod, true)
      await t.ready(0)
      await eventually(t.api, 'the events', () => order(watched.events, 'DELETED').length === 3)
      assert.deepEqual(order(watched.events, 'DELETED'), ['ss-2', 'ss-1', 'ss-0'])
    } finally {
      watched.stop()
    }
  })

  test(`${basic} Burst scaling should run to completion even with unhealthy pods`, async () => {
    const t = await StatefulTest.in(nodes, 'stateful-bursts', statefulSet(1, { podManagementPolicy: 'Parallel' }))
    await t.ready(1)
    await t.setReady('ss-0', false)
    await t.patch({ replicas: 3 })
    await eventually(t.api, 'three pods', async () => (await podsOf(t.api, labels)).length === 3)
    assert.ok(!isReady(await t.api.get<Pod>(`${t.api.core}/pods/ss-0`)))
    await t.setReady('ss-0', true)
    await t.ready(3)
    await t.setAllReady(false)
    await t.set('has no ready replica', ({ status }) => (status?.readyReplicas ?? 0) === 0)
    await t.patch({ replicas: 0 })
    await t.ready(0)
  })
}

/** For real nodes: simulated ones do not check the ports of hosts. */
export function statefulSetEvictionSuite(nodes: Promise<PodNodes>): void {
  test(`${basic} Should recreate evicted statefulset`, async () => {
    const { cluster } = await nodes
    const [node] = (
      (await cluster.call('GET', '/api/v1/nodes')) as unknown as { items: { metadata: { name: string } }[] }
    ).items
    const nodeName = node?.metadata.name
    const ports = [{ containerPort: 21017, hostPort: 21017, name: 'conflict' }]
    const pod = template({ app: 'conflict' }, { container: { ports }, spec: { nodeName } })
    const api = await inNamespace(nodes, 'stateful-evicted-blocker')
    await api.post(`${api.core}/pods`, {
      apiVersion: 'v1',
      kind: 'Pod',
      ...pod,
      metadata: { ...pod.metadata, name: 'test-pod' },
    })
    await readyPods(api, { app: 'conflict' }, 1)
    const t = await StatefulTest.in(
      nodes,
      'stateful-evicted',
      statefulSet(1, { template: template(labels, { container: { ports }, spec: { nodeName } }) }),
    )
    const watched = await t.api.watch<Pod>(`${t.api.core}/pods`, { labelSelector: 'app=ss', resourceVersion: '0' })
    try {
      const failed = await eventually(t.api, 'a rejected pod that is deleted', () => {
        const { object } = watched.events.find(({ object }) => object.status?.phase === 'Failed') ?? {}
        return (
          watched.events.some(
            ({ type, object: one }) => type === 'DELETED' && one.metadata.uid === object?.metadata.uid,
          ) && object
        )
      })
      assert.equal(failed.status?.reason, 'NodePorts')
      await api.delete(`${api.core}/pods/test-pod`)
      const [pod] = await t.ready(1)
      assert.deepEqual([pod?.metadata.name, pod?.metadata.uid === failed.metadata.uid], ['ss-0', false])
    } finally {
      watched.stop()
    }
  })
}

function defineRequests(nodes: Promise<PodNodes>): void {
  test(`${basic} should have a working scale subresource`, async () => {
    const t = await StatefulTest.in(nodes, 'stateful-scale', statefulSet(1))
    await t.ready(1)
    const scale = await t.api.get<{ spec: { replicas: number }; metadata: object }>(`${t.path}/scale`)
    assert.equal(scale.spec.replicas, 1)
    const unconditional = { ...scale, metadata: { ...scale.metadata, resourceVersion: '' } }
    const put = await t.api.put<typeof scale>(`${t.path}/scale`, { ...unconditional, spec: { replicas: 2 } })
    assert.equal(put.spec.replicas, 2)
    assert.equal((await t.api.get<StatefulSet>(t.path)).spec?.replicas, 2)
    await t.api.patch(`${t.path}/scale`, { spec: { replicas: 4 } })
    assert.equal((await t.api.get<StatefulSet>(t.path)).spec?.replicas, 4)
  })

  test(`${basic} should list, patch and delete a collection of StatefulSets`, async () => {
    const t = await StatefulTest.in(nodes, 'stateful-list', statefulSet(1))
    await t.ready(1)
    const selected = 'labelSelector=e2e%3Dtesting'
    await t.api.patch(
      t.path,
      {
        metadata: { labels: { ss: 'patched' } },
        spec: { replicas: 2, template: { spec: { containers: [{ name: 'c', image: images.newBusybox }] } } },
      },
      'strategic',
    )
    await t.set('is patched', ({ status }) => status?.readyReplicas === 2 && status.updatedReplicas === 2)
    const [found, ...more] = await t.api.list<StatefulSet>(`/apis/apps/v1/statefulsets?${selected},ss%3Dpatched`)
    assert.deepEqual(
      [found?.spec?.replicas, found?.spec?.template.spec?.containers[0]?.image, more.length],
      [2, images.newBusybox, 0],
    )
    await t.api.delete(`${t.sets}?labelSelector=ss%3Dpatched`, { gracePeriodSeconds: 1 })
    assert.deepEqual(await t.api.list(`${t.sets}?labelSelector=ss%3Dpatched`), [])
  })

  test(`${basic} should validate Statefulset Status endpoints`, async () => {
    const t = await StatefulTest.in(nodes, 'stateful-status', statefulSet(1))
    await t.ready(1)
    const condition = (type: string) => ({ type, status: 'True', reason: 'E2E', message: 'Set from e2e test' })
    assert.equal((await t.api.get<StatefulSet>(`${t.path}/status`)).status?.replicas, 1)
    const types = ({ status }: StatefulSet) => status?.conditions?.map(({ type }) => type)
    const updated = await t.api.update<StatefulSet>(`${t.path}/status`, (it) => ({
      ...it,
      status: { ...it.status, conditions: [condition('StatusUpdate')] },
    }))
    assert.equal(updated.kind, 'StatefulSet')
    await t.set('has the updated status', (set) => types(set)?.includes('StatusUpdate') === true)
    await t.api.patch(`${t.path}/status`, { status: { conditions: [condition('StatusPatched')] } })
    await t.set('has the patched status', (set) => types(set)?.includes('StatusPatched') === true)
  })
}
