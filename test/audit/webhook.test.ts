/** Audit webhooks, and webhooks that fail: requests are hardly affected. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Lifetime } from '../support/reachable-cluster.ts'
import { type TestCluster, testCluster } from '../support/test-cluster.ts'
import { waitFor } from '../support/wait-for.ts'
import { policyFile, temporaryFolder } from './audited-cluster.ts'
import { ask, jane } from './requests.ts'
import { type Manner, type WebhookSink, webhookSink } from './webhook-sink.ts'

const configMaps = '/api/v1/namespaces/default/configmaps'

async function sending(
  t: Lifetime,
  flags: readonly string[],
  manner?: Manner,
): Promise<{ readonly cluster: TestCluster; readonly sink: WebhookSink }> {
  const folder = temporaryFolder(t)
  const sink = await webhookSink(t, folder, manner)
  const cluster = await testCluster(t, {
    apiServerFlags: [
      `--audit-policy-file=${policyFile(folder, '[{level: Metadata, omitStages: [RequestReceived], users: [jane]}]')}`,
      `--audit-webhook-config-file=${sink.kubeconfig}`,
      '--audit-webhook-initial-backoff=10ms',
      '--authorization-mode=AlwaysAllow',
      ...flags,
    ],
    tokens: [{ token: 'jane', user: { name: 'jane', groups: [] } }],
  })
  return { cluster, sink }
}

const gets = (cluster: TestCluster, count: number): Promise<unknown> =>
  Promise.all(Array.from({ length: count }, (_, i) => ask(cluster, 'GET', `${configMaps}/none-${i}`, jane)))

/** Returns a metric of the server. */
async function metric(cluster: TestCluster, name: string): Promise<number> {
  const { text } = await ask(cluster, 'GET', '/metrics', { authorization: 'Bearer jane' })
  return Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${name} `))
      ?.slice(name.length + 1) ?? 0,
  )
}

test('events are sent in lists of limited size, and none is lost', async (t) => {
  const { cluster, sink } = await sending(t, [
    '--audit-webhook-batch-max-size=4',
    '--audit-webhook-batch-max-wait=50ms',
  ])
  await gets(cluster, 10)
  const items = await waitFor('ten events', () => {
    const all = sink.lists.flatMap((list) => list.items)
    return all.length >= 10 && all
  })
  assert.equal(new Set(items.map(({ auditID }) => auditID)).size, 10)
  assert.ok(
    sink.lists.every(
      (list) => list.kind === 'EventList' && list.apiVersion === 'audit.k8s.io/v1' && list.items.length <= 4,
    ),
  )
  // Items of lists in upstream's encoding.
  assert.ok(items.every((item) => !('kind' in item) && item.level === 'Metadata' && item.stage === 'ResponseComplete'))
  assert.deepEqual(sink.last(), {
    url: '/events?x=1&timeout=30s',
    authorization: 'Bearer s3cret',
    type: 'application/json',
  })
})

test('a failed webhook call is retried, and no event is lost', async (t) => {
  const { cluster, sink } = await sending(t, ['--audit-webhook-batch-max-wait=10ms'], 'failing')
  await gets(cluster, 3)
  await waitFor('a call in vain', () => sink.calls() > 0)
  sink.behaves('well')
  await waitFor(
    'all events',
    () => new Set(sink.lists.flatMap(({ items }) => items.map(({ auditID }) => auditID))).size === 3,
  )
})

test('events are lost and counted while a webhook keeps failing', async (t) => {
  const { cluster, sink } = await sending(
    t,
    ['--audit-webhook-batch-max-wait=1ms', '--audit-webhook-batch-max-size=1', '--audit-webhook-initial-backoff=1ms'],
    'failing',
  )
  await gets(cluster, 2)
  await waitFor(
    'the events are lost',
    async () => (await metric(cluster, 'apiserver_audit_error_total{plugin="webhook"}')) >= 2,
  )
  assert.ok(sink.calls() >= 10, 'each is tried five times')
})

for (const manner of ['hanging', 'endless'] as const) {
  test(`a webhook that is ${manner} does not delay requests, and excess events are counted`, async (t) => {
    const { cluster, sink } = await sending(
      t,
      [
        '--audit-webhook-batch-max-wait=1ms',
        '--audit-webhook-batch-max-size=1',
        '--audit-webhook-batch-buffer-size=5',
        '--audit-webhook-batch-throttle-enable=false',
        '--audit-webhook-initial-backoff=1h',
      ],
      manner,
    )
    await gets(cluster, 60)
    await waitFor('it is called', () => sink.calls() > 0)
    await waitFor(
      'events are dropped',
      async () => (await metric(cluster, 'apiserver_audit_error_total{plugin="buffered"}')) > 20,
    )
    assert.ok(sink.calls() <= 20, 'calls under way are bounded')
  })
}

test('a blocking webhook gets the event before the client gets its response', async (t) => {
  const { cluster, sink } = await sending(t, ['--audit-webhook-mode=blocking'])
  const { headers } = await ask(cluster, 'GET', `${configMaps}/none`, jane)
  assert.deepEqual(
    sink.lists.flatMap(({ items }) => items.map(({ auditID }) => auditID)),
    [headers['audit-id']],
  )
})

test('a kubeconfig without a server is an error at the start', async (t) => {
  const folder = temporaryFolder(t)
  await assert.rejects(
    testCluster(t, {
      apiServerFlags: [
        `--audit-policy-file=${policyFile(folder, '[{level: None}]')}`,
        `--audit-webhook-config-file=${folder}/policy.yaml`,
      ],
    }),
    {
      name: 'ExplainedError',
      message: /^initializing audit webhook: the kubeconfig .*policy.yaml cannot be used: it has no server/,
    },
  )
})

test('an invalid policy is an error at the start', async (t) => {
  const folder = temporaryFolder(t)
  await assert.rejects(
    testCluster(t, { apiServerFlags: [`--audit-policy-file=${policyFile(folder, '[]')}`, '--audit-log-path=-'] }),
    {
      name: 'ExplainedError',
      message: /^loading audit policy file: loaded illegal policy with 0 rules: from file /,
    },
  )
})

test('invalid combinations of flags are errors with upstream’s messages', async (t) => {
  const start = (...apiServerFlags: string[]): Promise<unknown> => testCluster(t, { apiServerFlags })
  await assert.rejects(start('--audit-log-path=x', '--audit-log-mode=never'), {
    message: 'invalid audit log mode never, allowed modes are "batch,blocking,blocking-strict"',
  })
  await assert.rejects(start('--audit-log-path=x', '--audit-log-maxage=-1'), {
    message: "--audit-log-maxage -1 can't be a negative number",
  })
  await assert.rejects(start('--audit-webhook-config-file=x', '--audit-webhook-batch-max-size=0'), {
    message: 'invalid audit batch webhook max batch size 0, must be a positive number',
  })
})
