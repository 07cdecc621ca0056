/** Conversion webhooks that are down, slow or wrong: the errors clients get, and that nothing wrong is stored. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { WebhookClient } from '../../src/apiserver/outgoing/webhooks/index.ts'
import { testCluster } from '../support/test-cluster.ts'
import { waitFor } from '../support/wait-for.ts'
import { conversionWebhook, define, definitionPath, redefine, widgetsPath } from './webhook.ts'
import type { Behavior } from './webhook-process.ts'
import { widget } from './widgets.ts'

const webhookName = 'conversion webhook for shop.example.com/v1, Kind=Widget'

const expectedErrors: readonly (readonly [Behavior, string])[] = [
  [
    'status 500',
    `${webhookName} failed: an error on the server ("out of order") has prevented the request from succeeding`,
  ],
  ['status 404', `${webhookName} failed: the server could not find the requested resource`],
  ['no JSON', `${webhookName} failed: couldn't get version/kind; json parse error`],
  ['no response', `${webhookName} failed: no response provided`],
  ['another uid', `${webhookName} failed: expected response.uid=`],
  [
    'another review',
    `${webhookName} failed: expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got ` +
      'apiextensions.k8s.io/v1, Kind=AdmissionReview',
  ],
  ['failure', `${webhookName} failed: not today`],
  ['failure without a message', `${webhookName} failed: response.result.status was 'Failed', not 'Success'`],
  ['no objects', `${webhookName} returned 0 objects, expected 1`],
  [
    'wrong version',
    `${webhookName} returned invalid object at index 0: invalid groupVersion (expected shop.example.com/v2, received ` +
      'shop.example.com/v9)',
  ],
  ['wrong kind', `${webhookName} returned invalid object at index 0: invalid kind (expected Widget, received Gadget)`],
  ['another name', `${webhookName} returned invalid object: must have the same name: a != other`],
  ['another namespace', `${webhookName} returned invalid object: must have the same namespace: default != other`],
  ['another object', `${webhookName} returned invalid object: must have the same UID: `],
  ['no metadata', `${webhookName} returned invalid object: must have the same name: a != `],
  [
    'invalid labels',
    `${webhookName} returned invalid metadata: metadata.labels: Invalid value: "a b": name part must consist of`,
  ],
  [
    'numbers as labels',
    `${webhookName} returned invalid metadata: metadata.labels[a] must be a string, but is int64 in converted object`,
  ],
  ['a list', `${webhookName} returned invalid object at index 0: invalid type`],
]

test('invalid answers are rejected with an error that names the problem', async (t) => {
  const [cluster, webhook] = await Promise.all([testCluster(t), conversionWebhook(t)])
  await define(cluster, { clientConfig: webhook.clientConfig })
  await cluster.call('POST', widgetsPath('v1'), widget('v1', 'a', { hostPort: 'a:1' }))
  for (const [behavior, message] of expectedErrors) {
    await webhook.setBehavior(behavior)
    await assert.rejects(cluster.call('GET', `${widgetsPath('v2')}/a`), (error: Error) => {
      const [, status, body = ''] = /: (\d+) (.*)$/s.exec(error.message) ?? []
      const answer = JSON.parse(body) as { message: string; reason?: string }
      assert.equal(status, '500', behavior)
      assert.equal(answer.message.slice(0, message.length), message)
      assert.equal(answer.reason, undefined)
      return true
    })
  }
  // Writes are rejected in the same way, before anything is stored.
  await assert.rejects(
    cluster.call('POST', widgetsPath('v2'), widget('v2', 'b', { host: 'b', port: 1 })),
    /500.*Kind=Widget returned invalid object/,
  )
  await assert.rejects(
    cluster.call('PATCH', `${widgetsPath('v2')}/a`, { spec: { port: 9 } }, 'application/merge-patch+json'),
    /500/,
  )
  assert.equal(((await cluster.call('GET', widgetsPath('v1'))).items as object[]).length, 1)
  await webhook.setBehavior('correct')
  assert.deepEqual(
    (await cluster.call('GET', `${widgetsPath('v2')}/a`)).spec,
    { host: 'a', port: 1 },
    'wrong answers are not cached',
  )
})

test('a webhook can change only labels and annotations in the metadata', async (t) => {
  const [cluster, webhook] = await Promise.all([testCluster(t), conversionWebhook(t)])
  await define(cluster, { clientConfig: webhook.clientConfig })
  const { metadata } = await cluster.call('POST', widgetsPath('v1'), widget('v1', 'a', { hostPort: 'a:1' }))
  await webhook.setBehavior('other metadata')
  const shown = await cluster.call('GET', `${widgetsPath('v2')}/a`)
  assert.deepEqual(shown.metadata, { ...metadata, labels: { by: 'webhook' }, annotations: { by: 'webhook' } })
  const selected = await cluster.call('GET', `${widgetsPath('v2')}?labelSelector=by%3Dwebhook`)
  assert.equal((selected.items as object[]).length, 1, 'selectors match the converted labels')
})

test('errors are not cached, and a changed clientConfig takes effect', async (t) => {
  const [cluster, webhook, other] = await Promise.all([testCluster(t), conversionWebhook(t), conversionWebhook(t)])
  await define(cluster, { clientConfig: webhook.clientConfig })
  await cluster.call('POST', widgetsPath('v1'), widget('v1', 'a', { hostPort: 'a:1' }))
  await webhook.setBehavior('failure')
  await assert.rejects(cluster.call('GET', `${widgetsPath('v2')}/a`), /not today/)
  await webhook.setBehavior('correct')
  await cluster.call('GET', `${widgetsPath('v2')}/a`)
  await webhook.stop()
  await cluster.call('GET', `${widgetsPath('v2')}/a`)
  await assert.rejects(
    cluster.call('POST', widgetsPath('v2'), widget('v2', 'b', { host: 'b', port: 1 })),
    /connection refused/,
  )
  await redefine(cluster, { clientConfig: other.clientConfig })
  await waitFor('the other webhook is called', async () =>
    Boolean(await cluster.call('POST', widgetsPath('v2'), widget('v2', 'b', { host: 'b', port: 1 }))),
  )
})

test('the timeout and the size limit of answers are enforced', async (t) => {
  const webhook = await conversionWebhook(t)
  const sources = {} as ConstructorParameters<typeof WebhookClient>[1]['sources']
  const review = Buffer.from(JSON.stringify({ request: { uid: 'a', desiredAPIVersion: 'v2', objects: [] } }))
  const slow = new WebhookClient(webhook.clientConfig, { sources, timeoutMs: 100 })
  const small = new WebhookClient(webhook.clientConfig, { sources, timeoutMs: 30_000, maxBytes: 3 })
  t.after(() => {
    slow.stop()
    small.stop()
  })
  await assert.rejects(small.post(review), /the answer is larger than 3 bytes/)
  await webhook.setBehavior('no answer')
  await assert.rejects(
    slow.post(review),
    /^Error: Post "https:\/\/127\.0\.0\.1:\d+\/convert\?timeout=100ms": context deadline exceeded$/,
  )
})

test('deleting a definition reports failed conversions, and succeeds once they work', async (t) => {
  const [cluster, webhook] = await Promise.all([testCluster(t), conversionWebhook(t)])
  await define(cluster, { clientConfig: webhook.clientConfig })
  await cluster.call('POST', widgetsPath('v1'), widget('v1', 'a', { hostPort: 'a:1' }))
  await redefine(cluster, { clientConfig: webhook.clientConfig, storage: 'v2' })
  await waitFor('widgets are stored as v2', async () => {
    await cluster.call('POST', `${widgetsPath('v2')}?dryRun=All`, widget('v2', 'b', { host: 'b', port: 1 }))
    return true
  })
  await webhook.setBehavior('failure')
  await cluster.call('DELETE', definitionPath)
  const conditions = async () =>
    (
      (await cluster.call('GET', definitionPath)).status as {
        conditions: { type: string; reason: string; message: string }[]
      }
    ).conditions
  const failed = await waitFor('a condition reports the failure', async () =>
    (await conditions()).find(({ reason }) => reason === 'InstanceDeletionFailed'),
  )
  assert.match(failed.message, /Kind=Widget failed: not today/)
  await webhook.setBehavior('correct')
  await waitFor('the definition is deleted', async () =>
    /404/.test(String(await cluster.call('GET', definitionPath).catch(String))),
  )
})

test('stopping the server does not wait for a webhook that never answers', async (t) => {
  const [cluster, webhook] = await Promise.all([testCluster(t), conversionWebhook(t)])
  await define(cluster, { clientConfig: webhook.clientConfig })
  await cluster.call('POST', widgetsPath('v1'), widget('v1', 'a', { hostPort: 'a:1' }))
  await webhook.setBehavior('no answer')
  const pending = assert.rejects(cluster.call('GET', `${widgetsPath('v2')}/a`))
  await waitFor('the webhook is called', async () => (await webhook.takeReviews()).length > 0)
  await Promise.all([cluster.stop({ graceMs: 0 }), pending])
})

test('a call is retried if a reused connection is closed; it fails on a new connection', async (t) => {
  const webhook = await conversionWebhook(t)
  const sources = {} as ConstructorParameters<typeof WebhookClient>[1]['sources']
  const client = new WebhookClient(webhook.clientConfig, { sources, timeoutMs: 30_000 })
  t.after(() => client.stop())
  const review = Buffer.from(JSON.stringify({ request: { uid: 'a', desiredAPIVersion: 'v2', objects: [] } }))
  await webhook.setBehavior('hang up once')
  await assert.rejects(client.post(review), /EOF|connection reset by peer/, 'a new connection is not retried')
  await client.post(review)
  await webhook.setBehavior('hang up once')
  assert.match((await client.post(review)).toString(), /Success/)
})

test('a caBundle without certificates is an error', async (t) => {
  const webhook = await conversionWebhook(t)
  const sources = {} as ConstructorParameters<typeof WebhookClient>[1]['sources']
  const client = new WebhookClient({ ...webhook.clientConfig, caBundle: 'bm90aGluZw==' }, { sources, timeoutMs: 1000 })
  t.after(() => client.stop())
  await assert.rejects(
    client.post(Buffer.from('{}')),
    /unable to load root certificates: unable to parse bytes as PEM block/,
  )
})
