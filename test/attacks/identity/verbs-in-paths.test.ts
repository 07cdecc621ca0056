/**
 * `/watch/` and `/proxy/` in a path make a verb of their own, whatever the method: what was allowed as that verb is
 * done as no other.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { binding, clusterWithUsers, rbac, userSubject } from '../../authorization/users.ts'
import type { Lifetime } from '../../support/test-cluster.ts'

const collection = '/apis/apps/v1/namespaces/default/deployments'

/** viewer has the role `view`; proxy may do everything that is called `proxy`. */
async function withDeployment(t: Lifetime) {
  const users = await clusterWithUsers(t, { viewer: [], proxy: [] })
  const { cluster } = users
  await cluster.call(
    'POST',
    `${rbac}/namespaces/default/rolebindings`,
    binding('view', 'ClusterRole', 'view', userSubject('viewer')),
  )
  await cluster.call('POST', `${rbac}/clusterroles`, {
    metadata: { name: 'proxy' },
    rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['proxy'] }],
  })
  await cluster.call(
    'POST',
    `${rbac}/clusterrolebindings`,
    binding('proxy', 'ClusterRole', 'proxy', userSubject('proxy')),
  )
  const labels = { app: 'd' }
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  await cluster.call('POST', collection, {
    metadata: { name: 'd' },
    spec: { replicas: 1, selector: { matchLabels: labels }, template },
  })
  return users
}

const writes = [
  ['POST', '', { metadata: { name: 'e' } }],
  ['DELETE', '', undefined],
  ['PUT', '/d', { metadata: { name: 'd' } }],
  ['PATCH', '/d', { spec: { replicas: 7 } }],
  ['DELETE', '/d', undefined],
  ['PATCH', '/d/scale', { spec: { replicas: 7 } }],
  ['PUT', '/d/scale', { metadata: { name: 'd' }, spec: { replicas: 7 } }],
  ['PATCH', '/d/status', { status: { replicas: 7 } }],
] as const

for (const [user, words] of [
  ['viewer', ['watch', 'w%61tch', '%77atch']],
  ['proxy', ['proxy', 'prox%79']],
] as const) {
  test(`who may ${words[0]} writes nothing by a path that says so`, async (t) => {
    const { as, cluster } = await withDeployment(t)
    const before = await cluster.call('GET', `${collection}/d`)
    for (const word of words) {
      const place = `/apis/apps/v1/${word}/namespaces/default/deployments`
      for (const [method, rest, body] of writes) {
        const headers: Record<string, string> =
          method === 'PATCH' ? { 'content-type': 'application/merge-patch+json' } : {}
        const { status } = await as(user, method, place + rest, body, headers)
        assert.ok([403, 404, 405].includes(status), `${method} ${place}${rest}: ${status}`)
      }
    }
    assert.deepEqual(await cluster.call('GET', `${collection}/d`), before)
  })
}

test('OPTIONS is for what stands behind proxies, and takes all rights', async (t) => {
  const { as, cluster } = await withDeployment(t)
  const path = '/api/v1/namespaces/default/pods/none/proxy/'
  await assert.rejects(cluster.call('OPTIONS', path), /404 .*pods \\"none\\" not found/)
  await assert.rejects(cluster.call('OPTIONS', `${collection}/d`), /405 /)
  assert.equal((await as('viewer', 'OPTIONS', path)).status, 403)
})

test('who may watch sees no subresource by a path that says so', async (t) => {
  const { as } = await withDeployment(t)
  for (const rest of ['status', 'scale']) {
    assert.equal(
      (await as('viewer', 'GET', `/apis/apps/v1/watch/namespaces/default/deployments/d/${rest}`)).status,
      404,
    )
  }
  assert.equal((await as('proxy', 'GET', '/apis/apps/v1/proxy/namespaces/default/deployments/d')).status, 404)
})

test('rights that are limited to names are none to delete a collection, whatever it selects', async (t) => {
  const { as, cluster } = await withDeployment(t)
  const rules = [
    {
      apiGroups: ['apps'],
      resources: ['deployments'],
      resourceNames: ['d'],
      verbs: ['list', 'watch', 'deletecollection'],
    },
  ]
  await cluster.call('POST', `${rbac}/namespaces/default/roles`, { metadata: { name: 'one' }, rules })
  await cluster.call(
    'POST',
    `${rbac}/namespaces/default/rolebindings`,
    binding('one', 'Role', 'one', userSubject('proxy')),
  )
  assert.equal((await as('proxy', 'GET', `${collection}?fieldSelector=metadata.name%3Dd`)).status, 200)
  assert.equal((await as('proxy', 'GET', `${collection}?fieldSelector=metadata.name%3Dd&fieldSelector=`)).status, 200)
  for (const selector of [
    '',
    '?fieldSelector=metadata.name!%3Dd',
    '?fieldSelector=&fieldSelector=metadata.name%3Dd',
    '?fieldSelector=metadata.name%3De',
  ]) {
    assert.equal((await as('proxy', 'GET', collection + selector)).status, 403, selector)
  }
  assert.equal((await as('proxy', 'DELETE', `${collection}?fieldSelector=metadata.name%3Dd`)).status, 403)
})
