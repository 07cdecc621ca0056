/**
 * `--authentication-token-webhook-config-file` on a running cluster, with a webhook that is slow, fails or sends
 * invalid answers.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { startCluster } from '../../../src/cluster/start-cluster.ts'
import { issueCertificate, makeAuthority } from '../../../src/lib/x509/certificates.ts'
import { askedProcess } from '../../support/asked-process.ts'
import { type Lifetime, testCluster } from '../../support/test-cluster.ts'
import { tokenUser } from '../token-user.ts'
import type { Asked, Behaviour } from './token-webhook-process.ts'

/** A cluster that uses the webhook. */
async function clusterWithWebhook(t: Lifetime, more: readonly string[] = []) {
  const now = new Date()
  const authority = await makeAuthority('webhook-ca', now)
  const serving = await issueCertificate(
    authority,
    { commonName: 'webhook', usage: 'server', hosts: ['127.0.0.1'] },
    now,
  )
  const { ask } = askedProcess(t, join(import.meta.dirname, 'token-webhook-process.ts'))
  const { port } = await ask<{ port: number }>({ start: serving })
  const folder = mkdtempSync(join(tmpdir(), 'typernetes-webhook-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'webhook.kubeconfig')
  const data = Buffer.from(authority.cert).toString('base64')
  const server = `https://127.0.0.1:${port}/authenticate`
  writeFileSync(
    file,
    JSON.stringify({ clusters: [{ name: 'w', cluster: { server, 'certificate-authority-data': data } }], users: [] }),
  )
  const logged: string[] = []
  const apiServerFlags = [`--authentication-token-webhook-config-file=${file}`, ...more]
  const cluster = await testCluster(t, { apiServerFlags, log: (line) => logged.push(line) })
  return {
    cluster,
    logged,
    as: (token: string) => tokenUser(cluster, token),
    behave: async (behaviour: Behaviour) => void (await ask({ behave: behaviour })),
    asked: async () => (await ask<{ asked: Asked[] }>({ asked: true })).asked,
  }
}

const jane = {
  authenticated: true,
  user: { username: 'jane', uid: '7', groups: ['dev'], extra: { 'example.com/team': ['x'] } },
}

test('the webhook authenticates tokens, and its positive and negative answers are cached', async (t) => {
  const { as, behave, asked } = await clusterWithWebhook(t, ['--authentication-token-webhook-version=v1'])
  await behave({ status: jane })
  const user = {
    username: 'jane',
    uid: '7',
    groups: ['dev', 'system:authenticated'],
    extra: { 'example.com/team': ['x'] },
  }
  assert.deepEqual(await as('secret'), { status: 201, user })
  assert.deepEqual(await as('secret'), { status: 201, user })
  const [review, ...more] = await asked()
  assert.deepEqual(more, [])
  assert.equal(review?.apiVersion, 'authentication.k8s.io/v1')
  assert.equal(review?.spec.token, 'secret')
  assert.equal(review?.spec.audiences?.length, 1)
  await behave({ status: { authenticated: false } })
  assert.equal((await as('unknown')).status, 401)
  assert.equal((await as('unknown')).status, 401)
  assert.equal((await asked()).length, 1)
})

test('concurrent requests with one token share one call', async (t) => {
  const { as, behave, asked } = await clusterWithWebhook(t)
  await behave({ status: jane, delayMs: 300 })
  const answers = await Promise.all(Array.from({ length: 10 }, () => as('secret')))
  assert.ok(answers.every(({ status }) => status === 201))
  const reviews = await asked()
  assert.equal(reviews.length, 1)
  assert.equal(reviews[0]?.apiVersion, 'authentication.k8s.io/v1beta1')
})

test('tokens for other audiences are rejected, and TokenReviews may list audiences', async (t) => {
  const { as, behave, cluster, asked } = await clusterWithWebhook(t, ['--api-audiences=us,them'])
  await behave({ status: { ...jane, audiences: ['others'] } })
  assert.equal((await as('a')).status, 401)
  await behave({ status: { ...jane, audiences: ['others', 'them'] } })
  assert.equal((await as('b')).status, 201)
  await asked()
  const review = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenReview',
    spec: { token: 'b', audiences: ['others', 'nobody'] },
  }
  const { status } = await cluster.call('POST', '/apis/authentication.k8s.io/v1/tokenreviews', review)
  assert.deepEqual((status as { audiences: string[] }).audiences, ['others'])
  assert.deepEqual((await asked())[0]?.spec.audiences, ['others', 'nobody'])
})

test('temporary errors are retried; other failures give a 401, are logged and not cached', async (t) => {
  const { as, behave, logged, asked } = await clusterWithWebhook(t)
  for (const manner of ['status 500', 'by hanging up'] as const) {
    await behave({ manner, times: 1, status: jane })
    assert.equal((await as(manner)).status, 201)
    assert.equal((await asked()).length, 2)
  }
  for (const [manner, why] of [
    ['no JSON', /Failed to make webhook authenticator request: the webhook's answer is no JSON/],
    [
      'another kind',
      /answered with kind "SubjectAccessReview" of "authentication.k8s.io\/v1beta1", not with a TokenReview/,
    ],
    ['huge', /the answer is larger than 1048576 bytes/],
  ] as const) {
    await behave({ manner, status: jane })
    assert.equal((await as(manner)).status, 401, manner)
    assert.match(logged.join('\n'), why)
    await behave({ status: jane })
    assert.equal((await as(manner)).status, 201, manner)
  }
  for (const status of [
    { ...jane, user: { username: 7 } },
    { ...jane, authenticated: 'true' },
    { ...jane, user: { username: 'a', groups: 'system:masters' } },
  ]) {
    await behave({ status })
    assert.equal((await as(JSON.stringify(status).replaceAll(/\W/g, ''))).status, 401)
  }
  await behave({ status: { authenticated: false, error: 'token revoked' } })
  assert.equal((await as('revoked')).status, 401)
  assert.match(logged.join('\n'), /Unable to authenticate the request: token revoked/)
})

test('other authenticators come first: the webhook is not called for their tokens', async (t) => {
  const { cluster, as, asked, behave } = await clusterWithWebhook(t)
  await behave({ status: jane })
  const account = '/api/v1/namespaces/default/serviceaccounts'
  await cluster.call('POST', account, { metadata: { name: 'robot' } })
  const order = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }
  const { status } = await cluster.call('POST', `${account}/robot/token`, order)
  assert.equal((await as((status as { token: string }).token)).user?.username, 'system:serviceaccount:default:robot')
  assert.deepEqual(await asked(), [])
})

test('a server with invalid flags does not start', async () => {
  const start = (...apiServerFlags: string[]) => startCluster({ storage: 'memory', apiServerFlags })
  const file = '--authentication-token-webhook-config-file=/nowhere/kubeconfig'
  await assert.rejects(start(file, '--authentication-token-webhook-version=v2'), {
    message: 'unsupported authentication webhook version "v2", supported versions are "v1", "v1beta1"',
  })
  await assert.rejects(start(file), /cannot read \/nowhere\/kubeconfig: no such file or directory/)
})
