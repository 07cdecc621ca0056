/** Authorization by a real HTTPS webhook that answers correctly, slowly, wrongly or not at all. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testCluster } from '../../support/test-cluster.ts'
import { as } from '../as-user.ts'
import { authorizationWebhook } from './webhook.ts'

const path = '/api/v1/namespaces/default/pods?fieldSelector=spec.nodeName%3Dn1'
const mode = '--authorization-mode=Webhook,RBAC'
const flags = (kubeconfig: string, ...more: string[]) => [
  mode,
  `--authorization-webhook-config-file=${kubeconfig}`,
  ...more,
]

test('a webhook allows, denies or has no opinion, and its answers are cached', async (t) => {
  const webhook = await authorizationWebhook(t)
  const apiServerFlags = flags(webhook.kubeconfig({ token: 's3cret' }), '--authorization-webhook-version=v1')
  const cluster = await testCluster(t, { apiServerFlags })
  assert.equal((await as(cluster, { name: 'yes-jane', groups: ['dev'] }, 'GET', path)).status, 200)
  const [seen, ...others] = await webhook.seen()
  assert.deepEqual(others, [])
  assert.deepEqual(seen, {
    apiVersion: 'authorization.k8s.io/v1',
    url: '/authorize?timeout=30s',
    authorization: 'Bearer s3cret',
    spec: {
      resourceAttributes: {
        namespace: 'default',
        verb: 'list',
        version: 'v1',
        resource: 'pods',
        fieldSelector: { requirements: [{ key: 'spec.nodeName', operator: 'In', values: ['n1'] }] },
      },
      user: 'yes-jane',
      groups: ['dev', 'system:authenticated'],
    },
  })
  const no = await as(cluster, { name: 'no-joe' }, 'GET', path)
  assert.equal(no.status, 403)
  assert.match(no.message, /: the webhook says no$/)
  const unknown = await as(cluster, { name: 'someone' }, 'GET', path)
  assert.equal(unknown.status, 403)
  assert.match(unknown.message, /: the webhook does not know$/)
  assert.equal((await webhook.seen()).length, 2)
  for (const name of ['no-joe', 'someone']) assert.equal((await as(cluster, { name }, 'GET', path)).status, 403)
  assert.deepEqual(await webhook.seen(), [], 'the same questions are not asked again')
  // Requests with long attributes are not cached.
  const long = `/x${'y'.repeat(10_000)}`
  for (let i = 0; i < 2; i++) assert.equal((await as(cluster, { name: 'no-joe' }, 'GET', long)).status, 403)
  assert.equal((await webhook.seen()).length, 2)
  // Roles still apply to users unknown to the webhook, and system:masters bypasses it.
  assert.equal((await as(cluster, { name: 'someone' }, 'GET', '/version')).status, 200)
  await webhook.seen()
  await cluster.call('GET', path)
  assert.deepEqual(await webhook.seen(), [])
})

test('a webhook that requires a client certificate gets one, and v1beta1 is the default version', async (t) => {
  const webhook = await authorizationWebhook(t, { asksForCertificates: true })
  const cluster = await testCluster(t, {
    apiServerFlags: flags(
      webhook.kubeconfig(webhook.clientCertificate),
      '--authorization-webhook-cache-authorized-ttl=0',
    ),
  })
  for (let i = 0; i < 2; i++) assert.equal((await as(cluster, { name: 'yes' }, 'GET', path)).status, 200)
  const seen = await webhook.seen()
  assert.deepEqual(
    seen.map(({ apiVersion, client, spec }) => [apiVersion, client, spec.group]),
    new Array(2).fill(['authorization.k8s.io/v1beta1', 'api-server', ['system:authenticated']]),
    'with a TTL of 0 nothing is cached',
  )
})

test('failures grant no permissions, and requests do not hang', async (t) => {
  const webhook = await authorizationWebhook(t)
  const cluster = await testCluster(t, {
    apiServerFlags: flags(webhook.kubeconfig(), '--authorization-webhook-version=v1'),
  })
  const review = (user: string) =>
    cluster.call('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: { user, resourceAttributes: { namespace: 'default', verb: 'get', resource: 'pods' } },
    })
  const failing: readonly (readonly [Parameters<typeof webhook.answers>[0], RegExp])[] = [
    ['status 403', /^go away$/],
    ['no JSON', /^the webhook's answer is no JSON: /],
    ['another kind', /^the webhook answered with kind "TokenReview"/],
    ['without end', /the answer is larger than 1048576 bytes$/],
  ]
  for (const [manner, message] of failing) {
    await webhook.answers(manner)
    const { allowed, denied, evaluationError } = (await review(`yes-${manner}`)).status as Readonly<
      Record<string, unknown>
    >
    assert.deepEqual([allowed, denied], [false, undefined], manner)
    assert.match(String(evaluationError), message, manner)
  }
  await webhook.answers('both')
  const status = (await review('yes-both')).status as object
  assert.deepEqual(status, {
    allowed: false,
    denied: true,
    reason: 'confused',
    evaluationError: 'webhook subject access review returned both allow and deny response',
  })
  // Failures are not cached.
  await webhook.answers('well')
  assert.equal((await as(cluster, { name: 'yes-status 403' }, 'GET', path)).status, 200)
  // Temporary failures are retried.
  await webhook.seen()
  await webhook.answers('status 500, twice')
  assert.equal((await as(cluster, { name: 'yes-patient' }, 'GET', path)).status, 200)
  assert.equal((await webhook.seen()).length, 3)
  await webhook.answers('by hanging up, once')
  assert.equal((await as(cluster, { name: 'yes-again' }, 'GET', path)).status, 200)
})

test('a webhook with a certificate of another CA is not trusted', async (t) => {
  const webhook = await authorizationWebhook(t)
  const lines: string[] = []
  const cluster = await testCluster(t, {
    apiServerFlags: flags(webhook.kubeconfig({}, 'another')),
    log: (line) => lines.push(line),
  })
  assert.equal((await as(cluster, { name: 'yes' }, 'GET', path)).status, 403)
  assert.ok(
    lines.some((line) =>
      /^Failed to make webhook authorizer request: Post "https:.*x509: certificate signed by unknown authority/.test(
        line,
      ),
    ),
    lines.join('\n'),
  )
  assert.deepEqual(await webhook.seen(), [])
})
