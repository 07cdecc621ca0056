/** Concurrent updates of one object: all writes without a resourceVersion succeed, and none is lost. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Answer, clientOf, json, protocols } from '../../../support/api-client.ts'
import { configMapsPath } from '../../../support/objects.ts'
import {
  apply,
  configMap,
  countByStatus,
  jsonPatch,
  keys,
  merge,
  names,
  startClients,
  strategic,
  type Written,
} from './clients.ts'

const deploymentsPath = '/apis/apps/v1/namespaces/default/deployments'
const leasesPath = '/apis/coordination.k8s.io/v1/namespaces/default/leases'
const servicesPath = '/api/v1/namespaces/default/services'

const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'one' },
  spec: {
    replicas: 0,
    selector: { matchLabels: { app: 'a' } },
    template: {
      metadata: { labels: { app: 'a' } },
      spec: { containers: [{ name: 'c', image: 'registry.example/i' }] },
    },
  },
}

for (const storage of ['memory', 'log'] as const) {
  test(`500 concurrent merge patches of one object all succeed (${storage})`, async (t) => {
    const { call, create, read, sendConcurrently } = await startClients(t, storage)
    await create(configMapsPath, configMap())
    const revisions = new Set<string>()
    const counts = await sendConcurrently(500, async (i) => {
      const answer = await call('PATCH', `${configMapsPath}/one`, { data: { [`k${i}`]: String(i) } }, merge, i)
      const { data, metadata } = json<Written>(answer)
      assert.equal(data?.[`k${i}`], String(i))
      revisions.add(metadata.resourceVersion)
      return answer
    })
    assert.deepEqual(counts, { 200: 500 })
    assert.equal(revisions.size, 500)
    assert.deepEqual(keys((await read(`${configMapsPath}/one`)).data), names('k', 500))
  })
}

test('concurrent patches, applies, status, scale and unversioned PUTs are never lost', async (t) => {
  const { call, create, read, sendConcurrently } = await startClients(t, 'log')
  await create(deploymentsPath, deployment)
  const one = `${deploymentsPath}/one`
  await call('PATCH', one, { metadata: { annotations: { first: 'yes' } } }, merge)
  const kinds: readonly ((i: number) => Promise<Answer>)[] = [
    (i) => call('PATCH', one, { metadata: { annotations: { [`merge-${i}`]: 'yes' } } }, merge, i),
    (i) => call('PATCH', one, { metadata: { annotations: { [`strategic-${i}`]: 'yes' } } }, strategic, i),
    (i) => call('PATCH', one, [{ op: 'add', path: `/metadata/annotations/json-${i}`, value: 'yes' }], jsonPatch, i),
    (i) =>
      call(
        'PATCH',
        `${one}?fieldManager=m${i}`,
        {
          apiVersion: 'apps/v1',
          kind: 'Deployment',
          metadata: { name: 'one', annotations: { [`apply-${i}`]: 'yes' } },
        },
        apply,
        i,
      ),
    (i) =>
      call('PATCH', `${one}/status`, { status: { conditions: [{ type: `C${i}`, status: 'True' }] } }, strategic, i),
    (i) => call('PATCH', `${one}/scale`, { spec: { replicas: i } }, merge, i),
    (i) =>
      call(
        'PUT',
        `${one}/scale`,
        {
          apiVersion: 'autoscaling/v1',
          kind: 'Scale',
          metadata: { name: 'one', namespace: 'default' },
          spec: { replicas: i },
        },
        undefined,
        i,
      ),
    (i) => call('PATCH', `${one}?dryRun=All`, { metadata: { annotations: { [`dry-${i}`]: 'yes' } } }, merge, i),
  ]
  const count = 30 * kinds.length
  assert.deepEqual(await sendConcurrently(count, (i) => kinds[i % kinds.length]!(i)), { 200: count })

  const { metadata, status } = await read(one)
  const of = (kind: number): number[] => Array.from({ length: 30 }, (_, i) => i * kinds.length + kind)
  const wanted = ['merge', 'strategic', 'json', 'apply'].flatMap((name, kind) => of(kind).map((i) => `${name}-${i}`))
  assert.deepEqual(keys(metadata.annotations), ['first', ...wanted].sort())
  assert.deepEqual(
    status?.conditions?.map(({ type }) => type).sort(),
    of(4)
      .map((i) => `C${i}`)
      .sort(),
  )
  // Each write of an annotation or of the replicas increments the generation.
  assert.equal(metadata.generation, 1 + 1 + wanted.length + 60)
  assert.equal(metadata.managedFields?.filter(({ operation }) => operation === 'Apply').length, 30)
})

test('concurrent applies to a missing object: one creates it, the others add their fields', async (t) => {
  const { call, read, sendConcurrently } = await startClients(t, 'log')
  const counts = await sendConcurrently(60, (i) =>
    call('PATCH', `${configMapsPath}/one?fieldManager=m${i}`, configMap({ [`k${i}`]: 'yes' }), apply, i),
  )
  assert.deepEqual(counts, { 200: 59, 201: 1 })
  const { data, metadata } = await read(`${configMapsPath}/one`)
  assert.deepEqual(keys(data), names('k', 60))
  assert.equal(metadata.managedFields?.length, 60)
})

test('unversioned PUTs all succeed, one of those with the same version does, stale patches conflict', async (t) => {
  const { call, create, read, sendConcurrently } = await startClients(t, 'log')
  const { metadata } = await create(configMapsPath, configMap())
  const one = `${configMapsPath}/one`
  assert.deepEqual(await sendConcurrently(60, (i) => call('PUT', one, configMap({ by: `put-${i}` }), undefined, i)), {
    200: 60,
  })
  const { resourceVersion } = (await read(one)).metadata
  const versioned = { ...configMap({ by: 'version' }), metadata: { name: 'one', resourceVersion } }
  assert.deepEqual(
    await sendConcurrently(60, (i) => call('PUT', one, { ...versioned, data: { by: `v-${i}` } }, undefined, i)),
    {
      200: 1,
      409: 59,
    },
  )

  const messages = new Set<string | undefined>()
  const stale = { resourceVersion: metadata.resourceVersion }
  const counts = await sendConcurrently(90, async (i) => {
    if (i % 3 === 0) return call('PATCH', one, { data: { [`k${i}`]: 'yes' } }, merge, i)
    const answer = await (i % 3 === 1
      ? call('PATCH', one, { metadata: stale, data: { [`k${i}`]: 'yes' } }, merge, i)
      : call('PUT', one, { ...configMap(), metadata: { name: 'one', ...stale } }, undefined, i))
    messages.add(json<Written>(answer).message)
    return answer
  })
  assert.deepEqual(counts, { 200: 30, 409: 60 })
  assert.deepEqual(
    [...messages],
    [
      'Operation cannot be fulfilled on configmaps "one": the object has been modified; please apply your ' +
        'changes to the latest version and try again',
    ],
  )
  assert.equal(keys((await read(one)).data).length, 31)
})

test('optimistic increments with a resourceVersion are exact during concurrent patches', async (t) => {
  const { call, create, read } = await startClients(t)
  await create(configMapsPath, configMap({ count: '0' }))
  const one = `${configMapsPath}/one`
  const increment = async (by: number): Promise<void> => {
    for (;;) {
      const { data, metadata } = await read(one)
      const { status } = await call(
        'PUT',
        one,
        {
          ...configMap({ ...data, count: String(Number(data?.count) + 1) }),
          metadata: { name: 'one', resourceVersion: metadata.resourceVersion },
        },
        undefined,
        by,
      )
      if (status === 200) return
      assert.equal(status, 409)
    }
  }
  const patches = Array.from({ length: 60 }, (_, i) => call('PATCH', one, { data: { [`k${i}`]: 'yes' } }, merge, i))
  await Promise.all(Array.from({ length: 20 }, (_, i) => increment(i)))
  assert.deepEqual(countByStatus(await Promise.all(patches)), { 200: 60 })
  const { data } = await read(one)
  assert.equal(data?.count, '20')
  assert.equal(keys(data).length, 61)
})

test('a JSON patch whose test fails on the newer object is 422, so that a counter stays exact', async (t) => {
  const { call, create, read, sendConcurrently } = await startClients(t)
  await create(configMapsPath, configMap({ count: '0' }))
  const one = `${configMapsPath}/one`
  const step = (from: number, by: number) =>
    call(
      'PATCH',
      one,
      [
        { op: 'test', path: '/data/count', value: String(from) },
        { op: 'replace', path: '/data/count', value: String(from + 1) },
      ],
      jsonPatch,
      by,
    )
  for (let round = 0; round < 3; round++)
    assert.deepEqual(await sendConcurrently(20, (i) => step(round, i)), { 200: 1, 422: 19 })
  assert.equal((await read(one)).data?.count, '3')
})

test('one of many concurrent renewals of a Lease with the same version succeeds', async (t) => {
  const { call, create, read, sendConcurrently } = await startClients(t)
  const lease = (holderIdentity: string, resourceVersion?: string) => ({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'one', ...(resourceVersion && { resourceVersion }) },
    spec: { holderIdentity, leaseDurationSeconds: 15 },
  })
  let { resourceVersion } = (await create(leasesPath, lease('nobody'))).metadata
  for (let round = 0; round < 5; round++) {
    assert.deepEqual(
      await sendConcurrently(20, (i) =>
        call('PUT', `${leasesPath}/one`, lease(`h${round}-${i}`, resourceVersion), undefined, i),
      ),
      { 200: 1, 409: 19 },
    )
    resourceVersion = (await read(`${leasesPath}/one`)).metadata.resourceVersion
  }
})

test('a Service keeps its cluster IP and all concurrent changes', async (t) => {
  const { call, create, read, sendConcurrently } = await startClients(t, 'log')
  await create(servicesPath, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'one' },
    spec: { ports: [{ name: 'first', port: 1 }] },
  })
  const one = `${servicesPath}/one`
  const counts = await sendConcurrently(60, (i) =>
    call('PATCH', one, { spec: { ports: [{ name: `p${i}`, port: 1000 + i }] } }, strategic, i),
  )
  assert.deepEqual(counts, { 200: 60 })
  assert.equal((await read(one)).spec?.ports?.length, 61)
})

for (const protocol of protocols) {
  test(`writes of clients that disconnect while queued are dropped, others succeed (${protocol})`, async (t) => {
    const { server, call, create, read } = await startClients(t, 'log')
    await create(configMapsPath, configMap())
    const leaving = clientOf(t, protocol, server)
    const headers = { 'content-type': merge }
    const one = `${configMapsPath}/one`
    const abandoned = Array.from({ length: 300 }, (_, i) =>
      leaving.request('PATCH', one, { body: { data: { [`abandoned-${i}`]: 'yes' } }, headers }),
    )
    const outcomes = Promise.allSettled(abandoned)
    await Promise.race(abandoned)
    const stays = Array.from({ length: 60 }, (_, i) => call('PATCH', one, { data: { [`k${i}`]: 'yes' } }, merge, i))
    leaving.close()
    const answered = (await outcomes).filter(({ status }) => status === 'fulfilled').length
    assert.deepEqual(countByStatus(await Promise.all(stays)), { 200: 60 })
    const written = keys((await read(one)).data)
    assert.equal(written.filter((key) => key.startsWith('k')).length, 60)
    // Answered requests were written; an unanswered one may be, if it was being processed.
    const byLeaving = written.filter((key) => key.startsWith('abandoned')).length
    assert.ok(byLeaving >= answered && byLeaving < 300, `${answered} answered, ${byLeaving} written`)
    assert.deepEqual(server.logLines, [])
  })
}
