/**
 * Tests of the conformance suite for DaemonSets and their ControllerRevisions
 * (`test/e2e/apps/{daemon_set,controller_revision}.go`), in its steps, on nodes of both types.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ControllerRevision, DaemonSet, Node, Pod } from '../../../src/client/kinds.ts'
import { inNamespace, type PodNodes } from '../support/pod-nodes.ts'
import { names, type Requests } from '../support/requests.ts'
import {
  eventually,
  images,
  isReady,
  missingImage,
  objectWhen,
  podsOf,
  selectorOf,
  type TemplateOptions,
  template,
} from '../support/workloads.ts'

const labels = { 'daemonset-name': 'daemon-set' }
const revisionLabel = 'controller-revision-hash'
const at = (api: Requests): string => `${api.group('apps/v1')}/daemonsets`
const pathOf = (api: Requests): string => `${at(api)}/daemon-set`

const daemonSet = (options: TemplateOptions = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: 'daemon-set', labels },
  spec: { selector: { matchLabels: labels }, template: template(labels, options) },
})

const nodeNames = async (api: Requests): Promise<string[]> =>
  names(await api.list<Node>('/api/v1/nodes')).map((name = '') => name)

/** Resolves with the pods when each of these nodes has one, which is ready. */
const runsOn = (api: Requests, ...nodes: readonly string[]): Promise<readonly Pod[]> =>
  eventually(api, `pods on ${nodes}`, async () => {
    const pods = await podsOf(api, labels)
    const { status } = await api.get<DaemonSet>(pathOf(api))
    const used = pods.map(({ spec }) => spec?.nodeName ?? '')
    return (
      `${used.toSorted()}` === `${nodes.toSorted()}` &&
      pods.every(isReady) &&
      status?.numberReady === nodes.length &&
      status.desiredNumberScheduled === nodes.length &&
      pods
    )
  })

/** Creates the DaemonSet, and resolves with its pods when all nodes run one. */
async function created(api: Requests, options: TemplateOptions = {}): Promise<readonly Pod[]> {
  await api.post(at(api), daemonSet(options))
  return runsOn(api, ...(await nodeNames(api)))
}

export function daemonSetSuite(nodes: Promise<PodNodes>): void {
  defineCreation(nodes)
  defineUpdates(nodes)
  defineRequests(nodes)
  defineRevisions(nodes)
}

function defineCreation(nodes: Promise<PodNodes>): void {
  test('Daemon set should run and stop simple daemon', async () => {
    const api = await inNamespace(nodes, 'daemons-simple')
    const [pod] = await created(api)
    // The controller replaces a pod that is deleted.
    await api.delete(`${api.core}/pods/${pod?.metadata.name}`)
    await eventually(api, 'the end of the deleted pod', async () =>
      (await podsOf(api, labels)).every(({ metadata }) => metadata.uid !== pod?.metadata.uid),
    )
    await runsOn(api, ...(await nodeNames(api)))
  })

  test('Daemon set should run and stop complex daemon', async () => {
    const api = await inNamespace(nodes, 'daemons-complex')
    await api.post(at(api), daemonSet({ spec: { nodeSelector: { 'daemonset-color': 'blue' } } }))
    const [node = ''] = await nodeNames(api)
    const color = (value: string | null) =>
      api.patch(`/api/v1/nodes/${node}`, { metadata: { labels: { 'daemonset-color': value } } })
    await runsOn(api)
    await color('blue')
    await runsOn(api, node)
    await color('green')
    await runsOn(api)
    const spec = { nodeSelector: { 'daemonset-color': 'green' } }
    await api.patch(
      pathOf(api),
      { spec: { template: { spec }, updateStrategy: { type: 'RollingUpdate' } } },
      'strategic',
    )
    await runsOn(api, node)
    await color(null)
    await runsOn(api)
  })

  test('Daemon set should retry creating failed daemon pods', async () => {
    const api = await inNamespace(nodes, 'daemons-failed')
    const [pod] = await created(api)
    const path = `${api.core}/pods/${pod?.metadata.name}`
    await api.patch(`${path}/status`, { status: { phase: 'Failed' } })
    await eventually(api, 'the end of the failed pod', async () =>
      (await podsOf(api, labels)).every(({ metadata }) => metadata.uid !== pod?.metadata.uid),
    )
    await runsOn(api, ...(await nodeNames(api)))
  })
}

const setTemplate = (api: Requests, options: TemplateOptions) =>
  api.update<DaemonSet>(pathOf(api), (it) => ({
    ...it,
    spec: { ...it.spec, template: daemonSet(options).spec.template },
  }))

const revisionsOf = (api: Requests) =>
  api.list<ControllerRevision>(`${api.group('apps/v1')}/controllerrevisions?${selectorOf(labels)}`)

function defineUpdates(nodes: Promise<PodNodes>): void {
  test('Daemon set should update pod when spec was updated and update strategy is RollingUpdate', async () => {
    const api = await inNamespace(nodes, 'daemons-updated')
    await created(api)
    const hashes = async () =>
      (await revisionsOf(api))
        .toSorted((a, b) => a.revision - b.revision)
        .map(({ metadata }) => metadata.labels?.[revisionLabel])
    const [first] = await hashes()
    const revisions = async () =>
      new Set((await podsOf(api, labels)).map(({ metadata }) => metadata.labels?.[revisionLabel]))
    assert.deepEqual(await revisions(), new Set([first]))
    await setTemplate(api, { image: images.newBusybox })
    await objectWhen<DaemonSet>(api, pathOf(api), 'is updated', ({ metadata, status }) => {
      const { observedGeneration, updatedNumberScheduled, numberAvailable, desiredNumberScheduled } = status ?? {}
      const counts = [updatedNumberScheduled, numberAvailable]
      return observedGeneration === metadata.generation && counts.every((count) => count === desiredNumberScheduled)
    })
    const pods = await runsOn(api, ...(await nodeNames(api)))
    assert.ok(pods.every(({ spec }) => spec?.containers[0]?.image === images.newBusybox))
    const [, second] = await hashes()
    assert.deepEqual(await revisions(), new Set([second]))
  })

  test('Daemon set should rollback without unnecessary restarts', async () => {
    const api = await inNamespace(nodes, 'daemons-rolled-back')
    const before = await created(api)
    await setTemplate(api, missingImage)
    // One pod is replaced at a time: the update stops at the first one, which cannot start.
    const isNew = ({ spec }: Pod) => spec?.containers[0]?.image === missingImage.image
    const during = await eventually(api, 'a new pod', async () => {
      const pods = await podsOf(api, labels)
      return pods.length === before.length && pods.filter(isNew).length === 1 && pods
    })
    const remaining = during.filter((pod) => !isNew(pod)).map(({ metadata }) => metadata.uid)
    assert.equal(remaining.length, before.length - 1)
    await setTemplate(api, { image: images.busybox })
    const after = await runsOn(api, ...(await nodeNames(api)))
    assert.ok(after.every((pod) => !isNew(pod)))
    for (const uid of remaining) {
      const pod = after.find(({ metadata }) => metadata.uid === uid)
      assert.equal(pod?.status?.containerStatuses?.[0]?.restartCount, 0)
    }
  })
}

function defineRequests(nodes: Promise<PodNodes>): void {
  test('Daemon set should list and delete a collection of DaemonSets', async () => {
    const api = await inNamespace(nodes, 'daemons-listed')
    await created(api)
    const all = await api.list<DaemonSet>(`/apis/apps/v1/daemonsets?${selectorOf(labels)}`)
    assert.ok(all.some(({ metadata }) => metadata.namespace === api.namespace))
    await api.delete(`${at(api)}?${selectorOf(labels)}`)
    await eventually(
      api,
      'no DaemonSets',
      async () => (await api.list(`${at(api)}?${selectorOf(labels)}`)).length === 0,
    )
  })

  test('Daemon set should verify changes to a daemon set status', async () => {
    const api = await inNamespace(nodes, 'daemons-status')
    await created(api)
    const status = `${pathOf(api)}/status`
    const condition = (type: string) => ({ type, status: 'True', reason: 'E2E', message: 'Set from e2e test' })
    const has = (type: string) =>
      objectWhen<DaemonSet>(api, status, `has ${type}`, (set) =>
        (set.status?.conditions ?? []).some((one) => one.type === type && one.message === 'Set from e2e test'),
      )
    await api.update<DaemonSet>(status, (it) => ({
      ...it,
      status: { ...it.status, conditions: [condition('StatusUpdate')] },
    }))
    await has('StatusUpdate')
    await api.patch(status, { status: { conditions: [condition('StatusPatched')] } })
    await has('StatusPatched')
  })
}

function defineRevisions(nodes: Promise<PodNodes>): void {
  test('ControllerRevision should manage the lifecycle of a ControllerRevision', async () => {
    const api = await inNamespace(nodes, 'controller-revisions')
    const revisions = `${api.group('apps/v1')}/controllerrevisions`
    const owned = `${revisions}?${selectorOf(labels)}`
    const count = (wanted: number) =>
      eventually(api, `${wanted} revisions`, async () => {
        const found = await api.list<ControllerRevision>(owned)
        return found.length === wanted && found.toSorted((a, b) => a.revision - b.revision)
      })
    await created(api)
    const [initial] = await count(1)
    const name = initial?.metadata.name ?? ''
    const patched = await api.patch(`${revisions}/${name}`, { metadata: { labels: { [name]: 'patched' } } })
    assert.equal(patched.metadata.labels?.[name], 'patched')

    const copy = { apiVersion: 'apps/v1', kind: 'ControllerRevision', data: initial?.data, revision: 2 }
    const { ownerReferences } = initial?.metadata ?? {}
    const metadata = { name: 'second', labels: { ...labels, [name]: 'patched' }, ownerReferences }
    await api.post(revisions, { ...copy, metadata })
    await count(2)
    // The controller also removes the older of two equal revisions.
    await api.delete(`${revisions}/${name}`).catch((error: Error) => assert.match(error.message, /: 404 /))
    const [second] = await count(1)
    assert.equal(second?.metadata.name, 'second')
    await api.update(`${revisions}/second`, (it) => ({
      ...it,
      metadata: { ...it.metadata, labels: { ...it.metadata.labels, second: 'updated' } },
    }))

    await api.patch(pathOf(api), { spec: { template: { spec: { terminationGracePeriodSeconds: 0 } } } }, 'strategic')
    await count(2)
    await api.delete(`${revisions}?${selectorOf({ second: 'updated' })}`)
    const [current] = await count(1)
    assert.equal(current?.revision, 3)
  })
}
