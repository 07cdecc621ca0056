/** `--authorization-config`: several webhooks with match conditions, and reloads of the file. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { renameSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { join } from 'node:path'
import { test } from 'node:test'
import { startCluster } from '../../../src/cluster/start-cluster.ts'
import type { Reach } from '../../support/reachable-cluster.ts'
import { testCluster } from '../../support/test-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'
import { as } from '../as-user.ts'
import { type AuthorizationWebhook, authorizationWebhook } from './webhook.ts'

const pods = '/api/v1/namespaces/default/pods'

interface Hook {
  readonly name: string
  readonly kubeconfig: string
  readonly failurePolicy?: string
  readonly conditions?: readonly string[]
  readonly timeout?: string
}

const webhookEntry = ({ name, kubeconfig, failurePolicy = 'NoOpinion', conditions = [], timeout = '3s' }: Hook) => ({
  type: 'Webhook',
  name,
  webhook: {
    timeout,
    failurePolicy,
    subjectAccessReviewVersion: 'v1',
    matchConditionSubjectAccessReviewVersion: 'v1',
    connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: kubeconfig },
    matchConditions: conditions.map((expression) => ({ expression })),
  },
})
const rbac = { type: 'RBAC', name: 'rbac' }
const node = { type: 'Node', name: 'node' }

/** Replaces the file atomically, as configuration tools do. */
function write({ folder }: AuthorizationWebhook, authorizers: readonly object[] | string): string {
  const file = join(folder, 'authorization.yaml')
  const text =
    typeof authorizers === 'string'
      ? authorizers
      : JSON.stringify({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AuthorizationConfiguration', authorizers })
  writeFileSync(`${file}.new`, text)
  renameSync(`${file}.new`, file)
  return file
}

test('webhooks are called in order, for requests that match their conditions', async (t) => {
  const webhook = await authorizationWebhook(t)
  const second = await authorizationWebhook(t)
  const file = write(webhook, [
    webhookEntry({
      name: 'dev.example.com',
      kubeconfig: webhook.kubeconfig(),
      conditions: [
        'has(request.resourceAttributes)',
        "request.resourceAttributes.namespace == 'default'",
        "'dev' in request.groups",
      ],
    }),
    webhookEntry({
      name: 'broken.example.com',
      kubeconfig: second.kubeconfig(),
      failurePolicy: 'Deny',
      conditions: ["request.nonResourceAttributes.path != '/secret'"],
    }),
    node,
    rbac,
  ])
  const cluster = await testCluster(t, { apiServerFlags: [`--authorization-config=${file}`] })
  const dev = { name: 'yes', groups: ['dev'] }
  assert.equal((await as(cluster, dev, 'GET', pods)).status, 200)
  assert.equal((await webhook.seen()).length, 1)
  assert.deepEqual(await second.seen(), [], 'the first one has decided')
  // If a condition fails to evaluate, the failure policy decides.
  const refused = await as(cluster, { name: 'yes' }, 'GET', pods)
  assert.equal(refused.status, 403)
  assert.deepEqual([await webhook.seen(), await second.seen()], [[], []])
  assert.equal((await as(cluster, { name: 'yes' }, 'GET', '/secret')).status, 403)
  assert.deepEqual(await second.seen(), [])
  assert.equal((await as(cluster, { name: 'yes' }, 'GET', '/nowhere')).status, 404)
  assert.equal((await second.seen()).length, 1)

  const metrics = await metricsOf(cluster)
  // The server's own requests count too: each at least once.
  const counts = (series: string): void => {
    const [, count] =
      metrics
        .split('\n')
        .find((line) => line.startsWith(`${series} `))
        ?.split('} ') ?? []
    assert.ok(Number(count) >= 1, series)
  }
  counts('apiserver_authorization_decisions_total{type="Webhook",name="dev.example.com",decision="allowed"}')
  counts('apiserver_authorization_decisions_total{type="Webhook",name="broken.example.com",decision="denied"}')
  counts('apiserver_authorization_webhook_evaluations_total{name="dev.example.com",result="success"}')
  counts('apiserver_authorization_match_condition_evaluation_errors_total{type="Webhook",name="broken.example.com"}')
  counts('apiserver_authorization_match_condition_exclusions_total{type="Webhook",name="broken.example.com"}')
})

async function metricsOf({ client }: Reach): Promise<string> {
  const sent = request(new URL('/metrics', client.url), {
    ca: client.ca,
    cert: client.cert,
    key: client.key,
    agent: false,
  })
  const [response] = (await once(sent.end(), 'response')) as [IncomingMessage]
  return Buffer.concat(await response.toArray()).toString()
}

test('the failure policy decides when a webhook times out', async (t) => {
  const webhook = await authorizationWebhook(t)
  await webhook.answers('never')
  const file = write(webhook, [
    webhookEntry({ name: 'slow.example.com', kubeconfig: webhook.kubeconfig(), timeout: '2s', failurePolicy: 'Deny' }),
    rbac,
  ])
  const cluster = await testCluster(t, { apiServerFlags: [`--authorization-config=${file}`] })
  const review = await cluster.call('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: { user: 'yes', nonResourceAttributes: { path: '/version', verb: 'get' } },
  })
  const { allowed, denied, evaluationError } = review.status as Readonly<Record<string, unknown>>
  assert.deepEqual([allowed, denied], [false, true])
  assert.match(String(evaluationError), /context deadline exceeded$/)
  assert.equal(
    (await webhook.seen()).filter(({ spec }) => spec.user === 'yes').length,
    1,
    'the slow webhook is not called again',
  )
})

test('a changed file is reloaded, and an invalid one is logged and ignored', async (t) => {
  const webhook = await authorizationWebhook(t)
  const file = write(webhook, [rbac])
  const lines: string[] = []
  const cluster = await testCluster(t, {
    apiServerFlags: [`--authorization-config=${file}`],
    log: (line) => lines.push(line),
  })
  assert.equal((await as(cluster, { name: 'yes' }, 'GET', pods)).status, 403)
  const logs = (text: RegExp) => waitFor(`the log line ${text}`, () => lines.some((line) => text.test(line)))

  write(webhook, [webhookEntry({ name: 'hook', kubeconfig: webhook.kubeconfig() }), rbac])
  await logs(/^reloaded authz config$/)
  assert.equal((await as(cluster, { name: 'yes' }, 'GET', pods)).status, 200)

  write(webhook, 'nonsense: [')
  await logs(/^reloading authorization config: failed to load AuthorizationConfiguration from file: /)
  write(webhook, [{ type: 'AlwaysAllow', name: 'alwaysallow' }])
  await logs(/^reloading authorization config: missing required types: \[RBAC\]$/)
  write(webhook, [node, rbac])
  await logs(
    new RegExp(
      '^reloading authorization config: authorizer type Node is not allowed i' +
        'f it was not enabled at initial ' +
        'server startup$',
    ),
  )
  assert.equal((await as(cluster, { name: 'yes' }, 'GET', pods)).status, 200)
  assert.equal((await as(cluster, { name: 'stranger' }, 'GET', pods)).status, 403)

  write(webhook, [rbac])
  await waitFor(
    'the webhook is not called any more',
    async () => (await as(cluster, { name: 'yes' }, 'GET', pods)).status === 403,
  )
  const metrics = await metricsOf(cluster)
  assert.match(
    metrics,
    new RegExp(
      String.raw`^apiserver_authorization_config_controller_automatic_reloads_total\{` +
        String.raw`apiserver_id_hash="sha256:[0-9a-f]{64}",status="success"\} 2$`,
      'm',
    ),
  )
  assert.match(
    metrics,
    new RegExp(
      String.raw`^apiserver_authorization_config_controller_automatic_reloads_total\{` +
        String.raw`apiserver_id_hash="sha256:[0-9a-f]{64}",status="failure"\} 3$`,
      'm',
    ),
  )
})

test('a server with an invalid configuration does not start and prints the reason', async (t) => {
  const webhook = await authorizationWebhook(t)
  const start = (...apiServerFlags: string[]) => startCluster({ storage: 'memory', apiServerFlags })
  await assert.rejects(
    start(`--authorization-config=${write(webhook, [])}`),
    /authorizers: Required value: at least one authorization mode must be defined$/,
  )
  await assert.rejects(
    start('--authorization-config=/nowhere'),
    /--authorization-config \/nowhere: no such file or directory/,
  )
  await assert.rejects(
    start(`--authorization-config=${write(webhook, [rbac])}`, '--authorization-mode=RBAC'),
    new RegExp(
      '^ExplainedError: --authorization-config can not be specified when --au' +
        'thorization-mode or --authorization-webh' +
        String.raw`ook-\* flags are defined$`,
    ),
  )
  await assert.rejects(
    start('--authorization-mode=Webhook'),
    /authorization-mode Webhook's authorization config file not passed/,
  )
  await assert.rejects(
    start('--authorization-mode=ABAC'),
    /authorization-mode ABAC's authorization policy file not passed/,
  )
  await assert.rejects(
    start('--authorization-mode=RBAC', '--authorization-policy-file=/x'),
    /cannot specify --authorization-policy-file without mode ABAC/,
  )
  await assert.rejects(
    start('--authorization-mode=Webhook', '--authorization-webhook-config-file=/nowhere'),
    /cannot read \/nowhere: no such file or directory/,
  )
})
