/**
 * Tests of the conformance suite for Deployments (`test/e2e/apps/deployment.go`), in its steps, on nodes of both types.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Deployment, Pod, ReplicaSet } from '../../../src/client/kinds.ts'
import { inNamespace, type PodNodes } from '../support/pod-nodes.ts'
import { names, type Requests } from '../support/requests.ts'
import {
  eventually,
  images,
  isReady,
  missingImage,
  objectWhen,
  podsOf,
  readyPods,
  selectorOf,
  type TemplateOptions,
  template,
} from '../support/workloads.ts'

const revisionAnnotation = 'deployment.kubernetes.io/revision'
const labels = { name: 'sample-pod' }

const deployment = (name: string, replicas: number, spec: object = {}, options: TemplateOptions = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, labels },
  spec: { replicas, selector: { matchLabels: labels }, template: template(labels, options), ...spec },
})

const replicaSet = (name: string, replicas: number, annotations: Record<string, string> = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: { name, labels, annotations },
  spec: {
    replicas,
    selector: { matchLabels: { ...labels, pod: 'httpd' } },
    template: template({ ...labels, pod: 'httpd' }),
  },
})

const at = (api: Requests) => `${api.group('apps/v1')}/deployments`
const setsAt = (api: Requests) => `${api.group('apps/v1')}/replicasets`

/** Resolves with the Deployment when all of its replicas are of its current template and available. */
const complete = (api: Requests, name: string): Promise<Deployment> =>
  objectWhen<Deployment>(api, `${at(api)}/${name}`, 'is complete', ({ metadata, spec, status = {} }) => {
    const { observedGeneration = 0, replicas, updatedReplicas, availableReplicas } = status
    return (
      observedGeneration >= (metadata.generation ?? 0) &&
      [replicas, updatedReplicas, availableReplicas].every((count = 0) => count === spec?.replicas)
    )
  })

const setImage = (api: Requests, name: string, image: string) =>
  api.patch(`${at(api)}/${name}`, { spec: { template: { spec: { containers: [{ name: 'c', image }] } } } }, 'strategic')

/** The ReplicaSets of a Deployment, the oldest revision first. */
async function setsOf(
  api: Requests,
  { metadata: { uid } }: Pick<Deployment, 'metadata'>,
): Promise<readonly ReplicaSet[]> {
  const revision = ({ metadata }: ReplicaSet) => BigInt(metadata.annotations?.[revisionAnnotation] ?? 0)
  return (await api.list<ReplicaSet>(setsAt(api)))
    .filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid))
    .toSorted((a, b) => (revision(a) < revision(b) ? -1 : 1))
}

const replicasOf = async (api: Requests, owner: Deployment): Promise<readonly (number | undefined)[]> =>
  (await setsOf(api, owner)).map(({ spec }) => spec?.replicas)

const has = async (api: Requests, owner: Deployment, ...replicas: readonly number[]): Promise<void> => {
  await eventually(api, `ReplicaSets with ${replicas} replicas`, async () => {
    return `${await replicasOf(api, owner)}` === `${replicas}`
  })
}

export function deploymentSuite(nodes: Promise<PodNodes>): void {
  defineStrategies(nodes)
  defineRollovers(nodes)
  defineProportions(nodes)
  defineLifecycle(nodes)
  defineSubresources(nodes)
}

function defineStrategies(nodes: Promise<PodNodes>): void {
  test('Deployment RecreateDeployment should delete old pods and create new ones', async () => {
    const api = await inNamespace(nodes, 'deployment-recreate')
    await api.post(at(api), deployment('test-recreate', 1, { strategy: { type: 'Recreate' } }))
    await complete(api, 'test-recreate')
    const watched = await api.watch<Pod>(`${api.core}/pods`, { resourceVersion: '0' })
    try {
      await setImage(api, 'test-recreate', images.newBusybox)
      await complete(api, 'test-recreate')
      const isNew = ({ spec }: Pod) => spec?.containers[0]?.image === images.newBusybox
      const index = (is: (event: { type: string; object: Pod }) => boolean) =>
        eventually(api, 'the event', () => watched.events.findIndex(is) + 1 || undefined)
      const ended = await index(({ type, object }) => type === 'DELETED' && !isNew(object))
      const created = await index(({ type, object }) => type === 'ADDED' && isNew(object))
      // Upstream creates new pods once the old ones have ended.
      const endedPhase = watched.events.findIndex(
        ({ object }) => !isNew(object) && ['Succeeded', 'Failed'].includes(object.status?.phase ?? ''),
      )
      assert.ok(created > Math.min(ended, endedPhase < 0 ? ended : endedPhase + 1))
    } finally {
      watched.stop()
    }
  })

  test('Deployment RollingUpdateDeployment should delete old pods and create new ones', async () => {
    const api = await inNamespace(nodes, 'deployment-rolls')
    const old = replicaSet('test-rolling-update-controller', 1, { [revisionAnnotation]: '3546343826724305832' })
    await api.post(setsAt(api), old)
    await readyPods(api, labels, 1)
    await api.post(at(api), deployment('test-rolling-update', 1, {}, { image: images.newBusybox }))
    const made = await complete(api, 'test-rolling-update')
    assert.equal(made.metadata.annotations?.[revisionAnnotation], '3546343826724305833')
    const [pod] = await readyPods(api, labels, 1)
    assert.equal(pod?.spec?.containers[0]?.image, images.newBusybox)
    const sets = await setsOf(api, made)
    assert.deepEqual(
      sets.map(({ metadata, spec }) => [metadata.name === old.metadata.name, spec?.replicas]),
      [
        [true, 0],
        [false, 1],
      ],
    )
  })

  test('Deployment deployment should delete old replica sets', async () => {
    const api = await inNamespace(nodes, 'deployment-history')
    await api.post(setsAt(api), replicaSet('test-cleanup-controller', 1))
    await readyPods(api, labels, 1)
    await api.post(at(api), deployment('test-cleanup', 1, { revisionHistoryLimit: 0 }, { image: images.newBusybox }))
    const made = await complete(api, 'test-cleanup')
    await has(api, made, 1)
    assert.equal((await api.list(setsAt(api))).length, 1)
  })
}

function defineRollovers(nodes: Promise<PodNodes>): void {
  test('Deployment deployment should support rollover', async () => {
    const api = await inNamespace(nodes, 'deployment-rollover')
    const first = replicaSet('test-rollover-controller', 1)
    await api.post(setsAt(api), first)
    await readyPods(api, labels, 1)
    const rollingUpdate = { maxUnavailable: 0, maxSurge: 1 }
    const spec = { minReadySeconds: 2, strategy: { type: 'RollingUpdate', rollingUpdate } }
    await api.post(at(api), deployment('test-rollover', 1, spec, missingImage))
    const made = await objectWhen<Deployment>(
      api,
      `${at(api)}/test-rollover`,
      'has begun',
      ({ status }) => status?.updatedReplicas === 1,
    )
    // It is stuck, so that the old pod remains.
    await has(api, made, 1, 1)
    const { spec: fine } = deployment('test-rollover', 1, {}, { image: images.newBusybox })
    await api.patch(`${at(api)}/test-rollover`, {
      spec: { template: { ...fine.template, metadata: { annotations: null } } },
    })
    await complete(api, 'test-rollover')
    await has(api, made, 0, 0, 1)
    const [pod, ...more] = await readyPods(api, labels, 1)
    assert.deepEqual([pod?.spec?.containers[0]?.image, more], [images.newBusybox, []])
  })
}

function defineProportions(nodes: Promise<PodNodes>): void {
  test('Deployment deployment should support proportional scaling', async () => {
    const api = await inNamespace(nodes, 'deployment-proportions')
    const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 3, maxUnavailable: 2 } }
    const graceless = { spec: { terminationGracePeriodSeconds: 0 } }
    await api.post(at(api), deployment('webserver', 10, { strategy }, graceless))
    const made = await complete(api, 'webserver')
    const broken = deployment('webserver', 10, { strategy }, { ...graceless, ...missingImage })
    await api.patch(`${at(api)}/webserver`, { spec: { template: broken.spec.template } })
    // Eight old pods must remain available, and 13 pods may exist.
    await has(api, made, 8, 5)
    await objectWhen<Deployment>(
      api,
      `${at(api)}/webserver`,
      'has eight available replicas',
      ({ status }) => status?.availableReplicas === 8 && status.updatedReplicas === 5,
    )
    await api.patch(`${at(api)}/webserver`, { spec: { replicas: 30 } })
    await has(api, made, 20, 13)
  })
}

function defineLifecycle(nodes: Promise<PodNodes>): void {
  test('Deployment should run the lifecycle of a Deployment', async () => {
    const api = await inNamespace(nodes, 'deployment-life')
    const path = `${at(api)}/test-deployment`
    const fixed = { 'test-deployment-static': 'true' }
    const withLabels = (replicas: number, image: string, more: Record<string, string> = {}) => ({
      ...deployment('test-deployment', replicas, {
        selector: { matchLabels: fixed },
        template: template(fixed, { image }),
      }),
      metadata: { name: 'test-deployment', labels: { ...fixed, ...more } },
    })
    const { metadata } = await api.get(`/apis/apps/v1/deployments?${selectorOf(fixed)}`)
    const watched = await api.watch<Deployment>(at(api), {
      labelSelector: 'test-deployment-static=true',
      resourceVersion: metadata.resourceVersion ?? '',
    })
    const rolledOut = (replicas: number, image: string) =>
      watched.next(`${replicas} replicas of ${image}`, ({ object: { spec, status = {} } }) => {
        const { readyReplicas, updatedReplicas, unavailableReplicas = 0 } = status
        const counts = [readyReplicas, updatedReplicas].every((count) => count === replicas)
        return counts && unavailableReplicas === 0 && spec?.template.spec?.containers[0]?.image === image
      })
    try {
      await api.post(at(api), withLabels(2, images.busybox))
      await watched.next('the addition', ({ type }) => type === 'ADDED')
      await watched.next('two replicas', ({ object }) => object.status?.readyReplicas === 2)
      const containers = [{ name: 'c', image: images.newBusybox }]
      const patch = {
        metadata: { labels: { 'test-deployment': 'patched' } },
        spec: { replicas: 1, template: { spec: { terminationGracePeriodSeconds: 2, containers } } },
      }
      await api.patch(path, patch, 'strategic')
      await rolledOut(1, images.newBusybox)
      assert.ok(names(await api.list(`/apis/apps/v1/deployments?${selectorOf(fixed)}`)).includes('test-deployment'))
      // Without a resourceVersion it overwrites the current object.
      await api.put(path, withLabels(2, images.busybox, { 'test-deployment': 'updated' }))
      const updated = await api.get<Deployment>(`${path}/status`)
      assert.deepEqual(
        [updated.spec?.template.spec?.containers[0]?.image, updated.metadata.labels?.['test-deployment']],
        [images.busybox, 'updated'],
      )
      await rolledOut(2, images.busybox)
      const status = { readyReplicas: 0, availableReplicas: 0 }
      const statusPatch = { metadata: { labels: { 'test-deployment': 'patched-status' } }, status }
      await api.patch(`${path}/status`, statusPatch, 'strategic')
      // A write of the status does not change labels, and the controller corrects the status.
      assert.equal((await api.get(`${path}/status`)).metadata.labels?.['test-deployment'], 'updated')
      await rolledOut(2, images.busybox)
      await api.delete(`${at(api)}?${selectorOf(fixed)}`, { gracePeriodSeconds: 1 })
      await watched.next('the deletion', ({ type }) => type === 'DELETED')
    } finally {
      watched.stop()
    }
  })
}

function defineSubresources(nodes: Promise<PodNodes>): void {
  test('Deployment Deployment should have a working scale subresource', async () => {
    const api = await inNamespace(nodes, 'deployment-scale')
    const path = `${at(api)}/test-new-deployment`
    await api.post(at(api), deployment('test-new-deployment', 1))
    await complete(api, 'test-new-deployment')
    const scale = await api.get<{ spec: { replicas: number }; metadata: object }>(`${path}/scale`)
    assert.equal(scale.spec.replicas, 1)
    const unconditional = { ...scale, metadata: { ...scale.metadata, resourceVersion: '' } }
    await api.put(`${path}/scale`, { ...unconditional, spec: { replicas: 2 } })
    assert.equal((await api.get<Deployment>(path)).spec?.replicas, 2)
    await api.patch(`${path}/scale`, { spec: { replicas: 4 } })
    assert.equal((await api.get<Deployment>(path)).spec?.replicas, 4)
    await complete(api, 'test-new-deployment')
  })

  test('Deployment should validate Deployment Status endpoints', async () => {
    const api = await inNamespace(nodes, 'deployment-status')
    const path = `${at(api)}/test-status`
    await api.post(at(api), deployment('test-status', 1))
    await complete(api, 'test-status')
    const condition = (type: string) => ({ type, status: 'True', reason: 'E2E', message: 'Set from e2e test' })
    const hasCondition = (type: string) =>
      objectWhen<Deployment>(api, `${path}/status`, `has ${type}`, ({ status }) =>
        (status?.conditions ?? []).some((one) => one.type === type && one.message === 'Set from e2e test'),
      )
    await api.update<Deployment>(`${path}/status`, (it) => ({
      ...it,
      status: { ...it.status, conditions: [...(it.status?.conditions ?? []), condition('StatusUpdate')] },
    }))
    await hasCondition('StatusUpdate')
    await api.patch(`${path}/status`, { status: { conditions: [condition('StatusPatched')] } })
    await hasCondition('StatusPatched')
    assert.ok((await podsOf(api, labels)).every(isReady))
  })
}
