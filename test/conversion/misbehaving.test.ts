/** Conversion webhooks that are down, slow or wrong: what requests are told, and that nothing of it is stored. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { WebhookClient } from '../../src/apiserver/outgoing/webhooks/index.ts'
import { testCluster } from '../support/test-cluster.ts'
import { waitFor } from '../support/wait-for.ts'
import { conversionWebhook, define, definitionPath, redefine, widgetsPath } from './webhook.ts'
import type { Manner } from './webhook-process.ts'
import { widget } from './widgets.ts'

const which = 'conversion webhook for shop.example.com/v1, Kind=Widget'

const told: readonly (readonly [Manner, string])[] = [
  ['status 500', `${which} failed: an error on the server ("out of order") has prevented the request from succeeding`],
  ['status 404', `${which} failed: the server could not find the requested resource`],
  ['no JSON', `${which} failed: couldn't get version/kind; json parse error`],
  ['no response', `${which} failed: no response provided`],
  ['another uid', `${which} failed: expected response.uid=`],
  [
    'another review',
    `${which} failed: expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got ` +
      'apiextensions.k8s.io/v1, Kind=AdmissionReview',
  ],
  ['failure', `${which} failed: not today`],
  ['failure without words', `${which} failed: response.result.status was 'Failed', not 'Success'`],
  ['none', `${which} returned 0 objects, expected 1`],
  [
    'wrong version',
    `${which} returned invalid object at index 0: invalid groupVersion (expected shop.example.com/v2, received ` +
      'shop.example.com/v9)',
  ],
  ['wrong kind', `${which} returned invalid object at index 0: invalid kind (expected Widget, received Gadget)`],
  ['another name', `${which} returned invalid object: must have the same name: a != other`],
  ['another namespace', `${which} returned invalid object: must have the same namespace: default != other`],
  ['another object', `${which} returned invalid object: must have the same UID: `],
  ['no metadata', `${which} returned invalid object: must have the same name: a != `],
  [
    'labels that are none',
    `${which} returned invalid metadata: metadata.labels: Invalid value: "a b": name part must consist of`,
  ],
  [
    'numbers as labels',
    `${which} returned invalid metadata: metadata.labels[a] must be a string, but is int64 in converted object`,
  ],
  ['a list', `${which} returned invalid object at index 0: invalid type`],
]

test('answers that are wrong are refused, in words that say what is wrong', async (t) => {
  const [cluster, webhook] = await Promise.all([testCluster(t), conversionWebhook(t)])
  await define(cluster, { clientConfig: webhook.clientConfig })
  await cluster.call('POST', widgetsPath('v1'), widget('v1', 'a', { hostPort: 'a:1' }))
  for (const [manner, message] of told) {
    await webhook.answers(manner)
    await assert.rejects(cluster.call('GET', `${widgetsPath('v2')}/a`), (error: Error) => {
      const [, status, body = ''] = /: (\d+) (.*)$/s.exec(error.message) ?? []
      const answer = JSON.parse(body) as { message: string; reason?: string }
      assert.equal(status, '500', manner)
      assert.equal(answer.message.slice(0, message.length), message)
      assert.equal(answer.reason, undefined)
      return true
    })
  }
  // Writes are refused in the same way, before anything is stored.
  await assert.rejects(
    cluster.call('POST', widgetsPath('v2'), widget('v2', 'b', { host: 'b', port: 1 })),
    /500.*Kind=Widget returned invalid object/,
  )
  await assert.rejects(
    cluster.call('PATCH', `${widgetsPath('v2')}/a`, { spec: { port: 9 } }, 'application/merge-patch+json'),
    /500/,
  )
  assert.equal(((await cluster.call('GET', widgetsPath('v1'))).items as object[]).length, 1)
  await webhook.answers('well')
  assert.deepEqual(
    (await cluster.call('GET', `${widgetsPath('v2')}/a`)).spec,
    { host: 'a', port: 1 },
    'nothing wrong is remembered',
  )
})

test('of the metadata only labels and annotations come from the webhook', async (t) => {
  const [cluster, webhook] = await Promise.all([testCluster(t), conversionWebhook(t)])
  await define(cluster, { clientConfig: webhook.clientConfig })
  const { metadata } = await cluster.call('POST', widgetsPath('v1'), widget('v1', 'a', { hostPort: 'a:1' }))
  await webhook.answers('other metadata')
  const shown = await cluster.call('GET', `${widgetsPath('v2')}/a`)
  assert.deepEqual(shown.metadata, { ...metadata, labels: { by: 'webhook' }, annotations: { by: 'webhook' } })
  const selected = await cluster.call('GET', `${widgetsPath('v2')}?labelSelector=by%3Dwebhook`)
  assert.equal((selected.items as object[]).length, 1, 'selectors see what the webhook made')
})

test('a webhook that is repaired is asked again at once, and one that has moved is found by its new address', async (t) => {
  const [cluster, webhook, other] = await Promise.all([testCluster(t), conversionWebhook(t), conversionWebhook(t)])
  await define(cluster, { clientConfig: webhook.clientConfig })
  await cluster.call('POST', widgetsPath('v1'), widget('v1', 'a', { hostPort: 'a:1' }))
  await webhook.answers('failure')
  await assert.rejects(cluster.call('GET', `${widgetsPath('v2')}/a`), /not today/)
  await webhook.answers('well')
  await cluster.call('GET', `${widgetsPath('v2')}/a`)
  await webhook.stop()
  await cluster.call('GET', `${widgetsPath('v2')}/a`)
  await assert.rejects(
    cluster.call('POST', widgetsPath('v2'), widget('v2', 'b', { host: 'b', port: 1 })),
    /connection refused/,
  )
  await redefine(cluster, { clientConfig: other.clientConfig })
  await waitFor('the other one is asked', async () =>
    Boolean(await cluster.call('POST', widgetsPath('v2'), widget('v2', 'b', { host: 'b', port: 1 }))),
  )
})

test('a call takes no longer than it may, and answers no larger than they may be are taken', async (t) => {
  const webhook = await conversionWebhook(t)
  const sources = {} as ConstructorParameters<typeof WebhookClient>[1]['sources']
  const review = Buffer.from(JSON.stringify({ request: { uid: 'a', desiredAPIVersion: 'v2', objects: [] } }))
  const slow = new WebhookClient(webhook.clientConfig, { sources, timeoutMs: 100 })
  const small = new WebhookClient(webhook.clientConfig, { sources, timeoutMs: 30_000, mostBytes: 3 })
  t.after(() => {
    slow.stop()
    small.stop()
  })
  await assert.rejects(small.post(review), /the answer is larger than 3 bytes/)
  await webhook.answers('never')
  await assert.rejects(
    slow.post(review),
    /^Error: Post "https:\/\/127\.0\.0\.1:\d+\/convert\?timeout=100ms": context deadline exceeded$/,
  )
})

test('a definition whose objects cannot be converted says so when it is deleted, and goes once they can be', async (t) => {
  const [cluster, webhook] = await Promise.all([testCluster(t), conversionWebhook(t)])
  await define(cluster, { clientConfig: webhook.clientConfig })
  await cluster.call('POST', widgetsPath('v1'), widget('v1', 'a', { hostPort: 'a:1' }))
  await redefine(cluster, { clientConfig: webhook.clientConfig, storage: 'v2' })
  await waitFor('it is stored as v2 from now on', async () => {
    await cluster.call('POST', `${widgetsPath('v2')}?dryRun=All`, widget('v2', 'b', { host: 'b', port: 1 }))
    return true
  })
  await webhook.answers('failure')
  await cluster.call('DELETE', definitionPath)
  const conditions = async () =>
    (
      (await cluster.call('GET', definitionPath)).status as {
        conditions: { type: string; reason: string; message: string }[]
      }
    ).conditions
  const told = await waitFor('it says why', async () =>
    (await conditions()).find(({ reason }) => reason === 'InstanceDeletionFailed'),
  )
  assert.match(told.message, /Kind=Widget failed: not today/)
  await webhook.answers('well')
  await waitFor('it is gone', async () => /404/.test(String(await cluster.call('GET', definitionPath).catch(String))))
})

test('a server that stops does not wait for a webhook that never answers', async (t) => {
  const [cluster, webhook] = await Promise.all([testCluster(t), conversionWebhook(t)])
  await define(cluster, { clientConfig: webhook.clientConfig })
  await cluster.call('POST', widgetsPath('v1'), widget('v1', 'a', { hostPort: 'a:1' }))
  await webhook.answers('never')
  const asked = assert.rejects(cluster.call('GET', `${widgetsPath('v2')}/a`))
  await waitFor('the webhook is asked', async () => (await webhook.seen()).length > 0)
  await Promise.all([cluster.stop({ graceMs: 0 }), asked])
})

test('a connection that the other side gives up in the moment it is used again is no error', async (t) => {
  const webhook = await conversionWebhook(t)
  const sources = {} as ConstructorParameters<typeof WebhookClient>[1]['sources']
  const client = new WebhookClient(webhook.clientConfig, { sources, timeoutMs: 30_000 })
  t.after(() => client.stop())
  const review = Buffer.from(JSON.stringify({ request: { uid: 'a', desiredAPIVersion: 'v2', objects: [] } }))
  await webhook.answers('by hanging up, once')
  await assert.rejects(client.post(review), /EOF|connection reset by peer/, 'a new one that is not answered is')
  await client.post(review)
  await webhook.answers('by hanging up, once')
  assert.match((await client.post(review)).toString(), /Success/)
})

test('a bundle without certificates is told, whenever it has come into the definition', async (t) => {
  const webhook = await conversionWebhook(t)
  const sources = {} as ConstructorParameters<typeof WebhookClient>[1]['sources']
  const client = new WebhookClient({ ...webhook.clientConfig, caBundle: 'bm90aGluZw==' }, { sources, timeoutMs: 1000 })
  t.after(() => client.stop())
  await assert.rejects(
    client.post(Buffer.from('{}')),
    /unable to load root certificates: unable to parse bytes as PEM block/,
  )
})
