/** Events go when nobody has written them for `--event-ttl`, and watches tell it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { apiControllers, testCluster } from '../../support/test-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'

const events = '/api/v1/namespaces/default/events'
const involvedObject = { kind: 'Pod', namespace: 'default', name: 'p' }
const event = (name: string) => ({ metadata: { name, namespace: 'default' }, involvedObject, reason: 'Made' })

const namesIn = ({ items }: { readonly [field: string]: unknown }): string[] =>
  (items as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name)

test('events go an --event-ttl after they were written last; others stay', async (t) => {
  const { call } = await testCluster(t, { controllers: apiControllers, apiServerFlags: ['--event-ttl=3s'] })
  const names = async (): Promise<string[]> => namesIn(await call('GET', events))
  for (const name of ['old', 'told-again']) await call('POST', events, event(name))
  assert.deepEqual(await names(), ['old', 'told-again'])
  let count = 1
  await waitFor('the old one is gone', async () => {
    count++
    await call('PATCH', `${events}/told-again`, { count, message: `number ${count}` }, 'application/merge-patch+json')
    return !(await names()).includes('old')
  })
  assert.deepEqual(await names(), ['told-again'])
  await waitFor('the other one is gone, too', async () => (await names()).length === 0)
})

test('with --event-ttl=0 they stay', async (t) => {
  const { call } = await testCluster(t, { controllers: apiControllers, apiServerFlags: ['--event-ttl=0s'] })
  const kept = {
    ...event('kept'),
    metadata: { name: 'kept', namespace: 'default' },
    lastTimestamp: '2020-01-01T00:00:00Z',
  }
  await call('POST', events, kept)
  assert.deepEqual(namesIn(await call('GET', events)), ['kept'])
})
