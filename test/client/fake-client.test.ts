/** The fake client: the API server without a port, for unit tests of controllers. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { controller } from '../../src/client/controller/define-controller.ts'
import { manager } from '../../src/client/controller/manager.ts'
import { generationChanged } from '../../src/client/controller/predicates.ts'
import { type ConfigMap, configMaps, deployments, events, pods, secrets } from '../../src/client/kinds.ts'
import { controllerReference } from '../../src/client/objects/owners.ts'
import { waitFor } from '../../src/client/objects/wait-for.ts'
import { resource } from '../../src/client/resource.ts'
import { fakeClient } from '../../src/cluster/testing/index.ts'
import type { KubeObject, Unstructured } from '../../src/machinery/object.ts'
import { StatusError } from '../../src/machinery/status-error.ts'
import { waitFor as until } from '../support/wait-for.ts'

const configMap = (name: string): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
  data: { a: 'b' },
})
const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', namespace: 'team' },
  spec: { containers: [{ name: 'c', image: 'x' }] },
  status: { phase: 'Running' },
}

test('the fake client stores its objects with status, and behaves as an API server', async (t) => {
  const client = await fakeClient({ objects: [configMap('a'), pod] })
  t.after(() => client.close())
  const found = await client.get(pods, 'team', 'p')
  assert.deepEqual([found.status?.phase, found.spec?.restartPolicy], ['Running', 'Always'])
  await assert.rejects(client.create(configMaps, configMap('a')), { code: 409, reason: 'AlreadyExists' })
  const stale = await client.get(configMaps, 'default', 'a')
  await client.patch(configMaps, 'default', 'a', { data: { a: 'c' } }, 'merge')
  await assert.rejects(client.update(configMaps, stale), { code: 409, reason: 'Conflict' })
  await assert.rejects(client.create(pods, { ...pod, metadata: { name: 'UPPER', namespace: 'team' } } as never), {
    code: 422,
  })
  assert.equal((await client.list(configMaps, { labelSelector: 'x=y' })).items.length, 0)
  const dinghy: Unstructured = {
    apiVersion: 'example.com/v1',
    kind: 'Boat',
    metadata: { name: 'dinghy', namespace: 'default' },
    spec: { crew: 3 },
    status: { afloat: true },
  }
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
  await client.add(
    {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'boats.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'boats', kind: 'Boat' },
        versions: [{ name: 'v1', served: true, storage: true, subresources: { status: {} }, schema }],
      },
    } as KubeObject,
    dinghy,
  )
  const boats = resource<Unstructured>('example.com/v1', 'Boat', 'boats')
  assert.deepEqual((await client.get(boats, 'default', 'dinghy')).status, { afloat: true })
})

test('`before` makes requests fail', async (t) => {
  const client = await fakeClient({
    before: (method, path) => {
      if (method === 'POST' && path.endsWith('/configmaps')) throw new StatusError(500, 'InternalError', 'out of order')
    },
  })
  t.after(() => client.close())
  await assert.rejects(client.create(configMaps, configMap('a')), /out of order/)
  await client.add(configMap('a'))
  assert.equal((await client.get(configMaps, 'default', 'a')).data?.a, 'b')
})

test('controllers run with for, owns, watches, predicates, events and metrics', async (t) => {
  const client = await fakeClient()
  t.after(() => client.close())
  const reconciled: string[] = []
  const copies = controller({
    name: 'copies',
    for: configMaps,
    selection: { labelSelector: 'copy=true' },
    owns: [secrets],
    watches: [{ resource: deployments, when: generationChanged, keys: () => ['default/a'] }],
    async reconcile({ namespace, name, key }, { caches, events: recorder }) {
      reconciled.push(key)
      const from = caches.get(configMaps, namespace, name)
      if (!from || caches.get(secrets, namespace, name)) return
      await client.create(secrets, {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name, namespace, ownerReferences: [controllerReference(from)] },
        stringData: from.data,
      })
      recorder.record(from, 'Normal', 'Copied', `made the secret ${name}`)
    },
  })
  const running = manager({ client, controllers: [copies], log: (line) => assert.fail(line) })
  await running.ready
  await client.add(
    { ...configMap('a'), metadata: { name: 'a', namespace: 'default', labels: { copy: 'true' } } },
    configMap('other'),
  )
  await waitFor(client, secrets, { namespace: 'default', name: 'a' }, Boolean, { timeoutMs: 15_000 })
  // A deleted dependent is created again.
  await client.delete(secrets, 'default', 'a')
  await waitFor(client, secrets, { namespace: 'default', name: 'a' }, Boolean, { timeoutMs: 15_000 })
  await until('the event', async () =>
    (await client.list(events, { fieldSelector: 'reason=Copied' })).items.some(({ count }) => count === 2),
  )
  const before = reconciled.length
  const labels = { app: 'x' }
  const spec = {
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'x' }] } },
  }
  await client.create(deployments, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'd', namespace: 'default' },
    spec,
  })
  await until('a reconcile', () => reconciled.length > before)
  assert.match(running.metrics(), /^workqueue_adds_total\{name="copies"\} \d+$/m)
  await running.stop()
  assert.equal(await running.ended, 'stopped')
  assert.ok(reconciled.every((key) => key === 'default/a'))
})

test('one of two managers leads, and the other takes over when it stops', async (t) => {
  const client = await fakeClient()
  t.after(() => client.close())
  const seen: string[] = []
  const start = (identity: string) =>
    manager({
      client,
      controllers: [
        controller({
          name: identity,
          for: configMaps,
          reconcile: async ({ name }) => void seen.push(`${identity} ${name}`),
        }),
      ],
      leaderElection: { namespace: 'default', name: 'lead', identity, retryPeriodMs: 50 },
      log: () => {},
    })
  const a = start('a')
  await a.ready
  const b = start('b')
  await client.add(configMap('one'))
  await until('one', () => seen.includes('a one'))
  assert.deepEqual([a.isLeader, b.isLeader], [true, false])
  await a.stop()
  await b.ready
  await until('one again', () => seen.includes('b one'))
  await b.stop()
})
