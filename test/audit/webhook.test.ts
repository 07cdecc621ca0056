/** Events that are sent to a webhook, and webhooks that do not take them: requests hardly notice. */
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

/** A number of the server's metrics. */
async function metric(cluster: TestCluster, name: string): Promise<number> {
  const { text } = await ask(cluster, 'GET', '/metrics', { authorization: 'Bearer jane' })
  return Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${name} `))
      ?.slice(name.length + 1) ?? 0,
  )
}

test('events are sent in lists of at most so many, all of them', async (t) => {
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
  // As upstream encodes items of lists.
  assert.ok(items.every((item) => !('kind' in item) && item.level === 'Metadata' && item.stage === 'ResponseComplete'))
  assert.deepEqual(sink.last(), {
    url: '/events?x=1&timeout=30s',
    authorization: 'Bearer s3cret',
    type: 'application/json',
  })
})

test('a webhook that fails is asked again, and nothing is lost', async (t) => {
  const { cluster, sink } = await sending(t, ['--audit-webhook-batch-max-wait=10ms'], 'failing')
  await gets(cluster, 3)
  await waitFor('a call in vain', () => sink.calls() > 0)
  sink.behaves('well')
  await waitFor(
    'all events',
    () => new Set(sink.lists.flatMap(({ items }) => items.map(({ auditID }) => auditID))).size === 3,
  )
})

test('a webhook that goes on failing costs its events, which are counted', async (t) => {
  const { cluster, sink } = await sending(
    t,
    ['--audit-webhook-batch-max-wait=1ms', '--audit-webhook-batch-max-size=1', '--audit-webhook-initial-backoff=1ms'],
    'failing',
  )
  await gets(cluster, 2)
  await waitFor(
    'they are given up',
    async () => (await metric(cluster, 'apiserver_audit_error_total{plugin="webhook"}')) >= 2,
  )
  assert.ok(sink.calls() >= 10, 'each is tried five times')
})

for (const manner of ['hanging', 'endless'] as const) {
  test(`a webhook that is ${manner} delays nothing; what cannot wait any more is counted`, async (t) => {
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

test('a blocking webhook has the event before the client has its answer', async (t) => {
  const { cluster, sink } = await sending(t, ['--audit-webhook-mode=blocking'])
  const { headers } = await ask(cluster, 'GET', `${configMaps}/none`, jane)
  assert.deepEqual(
    sink.lists.flatMap(({ items }) => items.map(({ auditID }) => auditID)),
    [headers['audit-id']],
  )
})

test('a kubeconfig that names no server is told so at the start', async (t) => {
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

test('a policy that is none is told at the start', async (t) => {
  const folder = temporaryFolder(t)
  await assert.rejects(
    testCluster(t, { apiServerFlags: [`--audit-policy-file=${policyFile(folder, '[]')}`, '--audit-log-path=-'] }),
    {
      name: 'ExplainedError',
      message: /^loading audit policy file: loaded illegal policy with 0 rules: from file /,
    },
  )
})

test('flags that do not fit are told in upstream’s words', async (t) => {
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
