/**
 * `/watch/` and `/proxy/` in a path set the verb of a request, whatever its method: a permission for these verbs must
 * not allow other actions.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { binding, clusterWithUsers, rbac, userSubject } from '../../authorization/users.ts'
import type { Lifetime } from '../../support/test-cluster.ts'

const collection = '/apis/apps/v1/namespaces/default/deployments'

/** The user viewer has the role `view`, the user proxy the verb `proxy` for all resources. */
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
  test(`the verb ${words[0]} in a path does not allow writes`, async (t) => {
    const { as, cluster } = await withDeployment(t)
    const before = await cluster.call('GET', `${collection}/d`)
    for (const word of words) {
      const path = `/apis/apps/v1/${word}/namespaces/default/deployments`
      for (const [method, rest, body] of writes) {
        const headers: Record<string, string> =
          method === 'PATCH' ? { 'content-type': 'application/merge-patch+json' } : {}
        const { status } = await as(user, method, path + rest, body, headers)
        assert.ok([403, 404, 405].includes(status), `${method} ${path}${rest}: ${status}`)
      }
    }
    assert.deepEqual(await cluster.call('GET', `${collection}/d`), before)
  })
}

test('OPTIONS is only for proxied backends, and needs permission for all verbs', async (t) => {
  const { as, cluster } = await withDeployment(t)
  const path = '/api/v1/namespaces/default/pods/none/proxy/'
  await assert.rejects(cluster.call('OPTIONS', path), /404 .*pods \\"none\\" not found/)
  await assert.rejects(cluster.call('OPTIONS', `${collection}/d`), /405 /)
  assert.equal((await as('viewer', 'OPTIONS', path)).status, 403)
})

test('/watch/ and /proxy/ paths do not lead to subresources', async (t) => {
  const { as } = await withDeployment(t)
  for (const rest of ['status', 'scale']) {
    assert.equal(
      (await as('viewer', 'GET', `/apis/apps/v1/watch/namespaces/default/deployments/d/${rest}`)).status,
      404,
    )
  }
  assert.equal((await as('proxy', 'GET', '/apis/apps/v1/proxy/namespaces/default/deployments/d')).status, 404)
})

test('permissions for resourceNames do not allow deletecollection', async (t) => {
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
