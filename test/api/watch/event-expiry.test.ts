/** Events expire when they were not written for `--event-ttl`, and watches report it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { apiControllers, testCluster } from '../../support/test-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'

const events = '/api/v1/namespaces/default/events'
const involvedObject = { kind: 'Pod', namespace: 'default', name: 'p' }
const event = (name: string) => ({ metadata: { name, namespace: 'default' }, involvedObject, reason: 'Made' })

const namesIn = ({ items }: { readonly [field: string]: unknown }): string[] =>
  (items as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name)

test('events expire --event-ttl after their last write', async (t) => {
  const { call } = await testCluster(t, { controllers: apiControllers, apiServerFlags: ['--event-ttl=3s'] })
  const names = async (): Promise<string[]> => namesIn(await call('GET', events))
  for (const name of ['old', 'updated']) await call('POST', events, event(name))
  assert.deepEqual(await names(), ['old', 'updated'])
  let count = 1
  await waitFor('the old event has expired', async () => {
    count++
    await call('PATCH', `${events}/updated`, { count, message: `number ${count}` }, 'application/merge-patch+json')
    return !(await names()).includes('old')
  })
  assert.deepEqual(await names(), ['updated'])
  await waitFor('the updated event has expired', async () => (await names()).length === 0)
})

test('events do not expire with --event-ttl=0', async (t) => {
  const { call } = await testCluster(t, { controllers: apiControllers, apiServerFlags: ['--event-ttl=0s'] })
  const lasting = {
    ...event('lasting'),
    metadata: { name: 'lasting', namespace: 'default' },
    lastTimestamp: '2020-01-01T00:00:00Z',
  }
  await call('POST', events, lasting)
  assert.deepEqual(namesIn(await call('GET', events)), ['lasting'])
})
