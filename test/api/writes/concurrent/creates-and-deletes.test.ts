/** Concurrent creates and deletes: names are unique, one delete succeeds, and writes after it are 404. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { json } from '../../../support/api-client.ts'
import { configMapsPath } from '../../../support/objects.ts'
import { configMap, keys, merge, names, startClients, type Written } from './clients.ts'

test('concurrent creates with generateName get unique names', async (t) => {
  const { call, sendConcurrently } = await startClients(t)
  const given = new Set<string>()
  const counts = await sendConcurrently(300, async (i) => {
    const answer = await call(
      'POST',
      configMapsPath,
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'g-' } },
      undefined,
      i,
    )
    given.add(json<Written>(answer).metadata.name)
    return answer
  })
  assert.deepEqual(counts, { 201: 300 })
  assert.equal(given.size, 300)
})

test('patches before a concurrent delete succeed, those after it are 404, also for collections', async (t) => {
  const { call, create, sendConcurrently } = await startClients(t, 'log')
  for (const name of names('o', 20)) await create(configMapsPath, configMap({}, name))
  const counts = await sendConcurrently(401, (i) =>
    i === 200
      ? call('DELETE', configMapsPath)
      : call('PATCH', `${configMapsPath}/o${i % 20}`, { data: { [`k${i}`]: 'yes' } }, merge, i),
  )
  assert.equal((counts[200] ?? 0) + (counts[404] ?? 0), 401)
  const left = json(await call('GET', configMapsPath)).items.map(({ metadata }) => metadata.name)
  assert.deepEqual(
    left.filter((name) => /^o\d+$/.test(name)),
    [],
  )
})

test('one of many concurrent deletes succeeds, the others are 404', async (t) => {
  const { call, create, sendConcurrently } = await startClients(t, 'log')
  await create(configMapsPath, configMap())
  assert.deepEqual(
    await sendConcurrently(60, (i) => call('DELETE', `${configMapsPath}/one`, undefined, undefined, i)),
    {
      200: 1,
      404: 59,
    },
  )
})

test('the last finalizer is removed during patches: the object is deleted without conflicts', async (t) => {
  const { call, create, sendConcurrently } = await startClients(t, 'log')
  await create(configMapsPath, { ...configMap(), metadata: { name: 'one', finalizers: ['example.com/hold'] } })
  const one = `${configMapsPath}/one`
  const counts = await sendConcurrently(61, (i) =>
    i === 20
      ? call('DELETE', one, undefined, undefined, i)
      : i % 20 === 0
        ? call('PATCH', one, { metadata: { finalizers: null } }, merge, i)
        : call('PATCH', one, { data: { [`k${i}`]: 'yes' } }, merge, i),
  )
  assert.deepEqual(
    keys(counts).filter((status) => status !== '200' && status !== '404'),
    [],
  )
  assert.equal((await call('GET', one)).status, 404)
})
