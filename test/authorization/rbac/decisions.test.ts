/** RBAC decisions on a running cluster with the default modes. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { binding, clusterWithUsers, rbac, userSubject } from '../users.ts'

const pods = '/api/v1/namespaces/default/pods'

test('a user without roles has only the default permissions', async (t) => {
  const { as } = await clusterWithUsers(t, { jane: [] })
  assert.equal((await as('jane', 'GET', '/version')).status, 200)
  assert.equal((await as('jane', 'GET', '/apis')).status, 200)
  assert.equal((await as('', 'GET', '/livez')).status, 200)
  assert.equal((await as('', 'GET', '/apis')).status, 403)
  const { status, body } = await as('jane', 'GET', pods)
  assert.equal(status, 403)
  assert.equal(
    body.message,
    'pods is forbidden: User "jane" cannot list resource "pods" in API group "" in the namespace "default"',
  )
  assert.equal((await as('jane', 'GET', '/metrics')).body.message, 'forbidden: User "jane" cannot get path "/metrics"')
})

test('decisions are counted by result', async (t) => {
  const { as, cluster } = await clusterWithUsers(t, { jane: [], root: ['system:masters'] })
  const count = async (result: string): Promise<number> => {
    const { body } = await as('root', 'GET', '/metrics')
    return Number(
      new RegExp(`^authorization_attempts_total\\{result="${result}"\\} (\\d+)$`, 'm').exec(body.message ?? '')?.[1] ??
        0,
    )
  }
  const before = [await count('allowed'), await count('no-opinion')] as const
  await as('jane', 'GET', pods)
  await cluster.call('GET', pods)
  const after = [await count('allowed'), await count('no-opinion')] as const
  assert.ok(after[0] > before[0])
  assert.ok(after[1] > before[1])
  assert.equal((await as('root', 'GET', '/readyz/poststarthook/rbac/bootstrap-roles')).status, 200)
})

test('roles and bindings take effect with the next request, and end with a role, rule or binding', async (t) => {
  const { as, cluster } = await clusterWithUsers(t, { jane: [] })
  const role = {
    metadata: { name: 'pod-reader' },
    rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] }],
  }
  const roles = `${rbac}/namespaces/default/roles`
  await cluster.call('POST', roles, role)
  await cluster.call(
    'POST',
    `${rbac}/namespaces/default/rolebindings`,
    binding('read', 'Role', 'pod-reader', userSubject('jane')),
  )
  assert.equal((await as('jane', 'GET', pods)).status, 200)
  assert.equal((await as('jane', 'GET', '/api/v1/namespaces/kube-system/pods')).status, 403)
  assert.equal((await as('jane', 'GET', '/api/v1/pods')).status, 403)
  await cluster.call('PATCH', `${roles}/pod-reader`, { rules: [] }, 'application/merge-patch+json')
  assert.equal((await as('jane', 'GET', pods)).status, 403)
  await cluster.call('PATCH', `${roles}/pod-reader`, { rules: role.rules }, 'application/merge-patch+json')
  assert.equal((await as('jane', 'GET', pods)).status, 200)
  await cluster.call('DELETE', `${roles}/pod-reader`)
  assert.match(
    (await as('jane', 'GET', pods)).body.message ?? '',
    /: RBAC: role\.rbac\.authorization\.k8s\.io "pod-reader" not found$/,
  )
  await cluster.call('POST', roles, role)
  assert.equal((await as('jane', 'GET', pods)).status, 200)
  await cluster.call('DELETE', `${rbac}/namespaces/default/rolebindings/read`)
  assert.equal((await as('jane', 'GET', pods)).status, 403)
})

test('admin, edit and view work immediately, without a controller', async (t) => {
  const { as, cluster } = await clusterWithUsers(t, { viewer: [], editor: [], owner: [] })
  for (const [user, role] of [
    ['viewer', 'view'],
    ['editor', 'edit'],
    ['owner', 'admin'],
  ] as const)
    await cluster.call(
      'POST',
      `${rbac}/namespaces/default/rolebindings`,
      binding(user, 'ClusterRole', role, userSubject(user)),
    )
  const map = (name: string) => ({ metadata: { name } })
  const codes = async (method: string, path: string, body?: object) =>
    Promise.all(['viewer', 'editor', 'owner'].map(async (user) => (await as(user, method, path, body)).status))
  assert.deepEqual(await codes('GET', pods), [200, 200, 200])
  assert.deepEqual(await codes('GET', '/api/v1/namespaces/default/secrets'), [403, 200, 200])
  assert.deepEqual((await as('viewer', 'POST', '/api/v1/namespaces/default/configmaps', map('a'))).status, 403)
  assert.deepEqual((await as('editor', 'POST', '/api/v1/namespaces/default/configmaps', map('a'))).status, 201)
  assert.deepEqual(await codes('GET', `${rbac}/namespaces/default/roles`), [403, 403, 200])
})

test('PUT and apply of a missing object need the permission to create it', async (t) => {
  const { as, cluster } = await clusterWithUsers(t, { jane: [] })
  const rules = [{ apiGroups: [''], resources: ['configmaps', 'secrets'], verbs: ['patch', 'update'] }]
  await cluster.call('POST', `${rbac}/namespaces/default/roles`, { metadata: { name: 'change' }, rules })
  await cluster.call(
    'POST',
    `${rbac}/namespaces/default/rolebindings`,
    binding('change', 'Role', 'change', userSubject('jane')),
  )
  const path = '/api/v1/namespaces/default/secrets/new?fieldManager=jane'
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'new' } }
  const { status, body } = await as('jane', 'PATCH', path, secret, { 'content-type': 'application/apply-patch+yaml' })
  assert.equal(status, 403)
  assert.equal(
    body.message,
    'secrets "new" is forbidden: User "jane" cannot create resource "secrets" in API group "" in the namespace ' +
      '"default"',
  )
  await cluster.call('POST', '/api/v1/namespaces/default/secrets', secret)
  assert.equal(
    (await as('jane', 'PATCH', path, secret, { 'content-type': 'application/apply-patch+yaml' })).status,
    200,
  )
})

test('a path is authorized and served in the same way in every spelling', async (t) => {
  const { as, cluster } = await clusterWithUsers(t, { jane: [] })
  await cluster.call('POST', '/api/v1/namespaces/default/configmaps', {
    metadata: { name: 'open' },
    data: { is: 'open' },
  })
  await cluster.call('POST', '/api/v1/namespaces/kube-system/secrets', {
    metadata: { name: 'secret' },
    stringData: { is: 'secret' },
  })
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list'] }]
  await cluster.call('POST', `${rbac}/namespaces/default/roles`, { metadata: { name: 'maps' }, rules })
  await cluster.call(
    'POST',
    `${rbac}/namespaces/default/rolebindings`,
    binding('maps', 'Role', 'maps', userSubject('jane')),
  )
  await cluster.call('POST', `${rbac}/clusterroles`, {
    metadata: { name: 'logs' },
    rules: [{ nonResourceURLs: ['/logs/*', '/healthz/*'], verbs: ['get'] }],
  })
  await cluster.call('POST', `${rbac}/clusterrolebindings`, binding('logs', 'ClusterRole', 'logs', userSubject('jane')))
  const here = '/api/v1/namespaces/default/configmaps'
  const there = '/api/v1/namespaces/kube-system/secrets'
  assert.equal((await as('jane', 'GET', `${here}/open`)).status, 200)
  const tricks = [
    `${there}/secret`,
    `//api/v1/namespaces/kube-system/secrets/secret`,
    `/api//v1/namespaces/kube-system/secrets/secret`,
    `/./api/v1/namespaces/kube-system/secrets/secret`,
    `${here}/../../kube-system/secrets/secret`,
    `${here}/%2e%2e/%2e%2e/kube-system/secrets/secret`,
    `${here}/..%2f..%2fkube-system%2fsecrets%2fsecret`,
    `${here}/open/../../../kube-system/secrets/secret`,
    `/healthz/../api/v1/namespaces/kube-system/secrets/secret`,
    `/healthz/%2e%2e/api/v1/namespaces/kube-system/secrets/secret`,
    `/logs/../metrics`,
    `/logs/%2e%2e/metrics`,
    `/logs//../metrics`,
    `${there.replace('secrets', '%73ecrets')}/secret`,
    `/api/v1/namespaces/kube%2dsystem/secrets/secret`,
    `/api/v1/namespaces/default%2f..%2fkube-system/secrets/secret`,
    `/api/v1/namespaces/default;kube-system/secrets/secret`,
    `/API/v1/namespaces/kube-system/secrets/secret`,
    `/api/v1/NAMESPACES/kube-system/SECRETS/secret`,
    `/api/v1/watch/namespaces/kube-system/secrets/secret`,
    `/api/v1/namespaces/kube-system/secrets/secret?namespace=default`,
    `${here}/open%00/../secret`,
    `${here}/open?watch=1&fieldSelector=metadata.name%3Dopen#/../secrets`,
    `/api/v1/secrets?fieldSelector=metadata.name%3Dopen`,
    `/metrics`,
    `//metrics`,
    `/metrics/`,
    `/%6detrics`,
  ]
  for (const path of tricks) {
    const { status, body } = await as('jane', 'GET', path)
    const text = JSON.stringify(body)
    assert.ok(
      !text.includes(Buffer.from('secret').toString('base64')) && !text.includes('apiserver_request_total'),
      `${path} shows what is not ${status}: ${text.slice(0, 200)}`,
    )
    if (status === 200) assert.ok(text.includes('"open"'), `${path} was served: ${text.slice(0, 200)}`)
  }
})

test('an upper-case method is a verb of its own', async (t) => {
  const { as, cluster } = await clusterWithUsers(t, { jane: [] })
  await cluster.call('POST', `${rbac}/clusterroles`, {
    metadata: { name: 'shout' },
    rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['GET', 'LIST'] }],
  })
  await cluster.call(
    'POST',
    `${rbac}/clusterrolebindings`,
    binding('shout', 'ClusterRole', 'shout', userSubject('jane')),
  )
  assert.equal((await as('jane', 'GET', '/api/v1/configmaps')).status, 403)
  const review = (verb: string) => ({ spec: { user: 'jane', resourceAttributes: { verb, resource: 'configmaps' } } })
  const ask = async (verb: string) =>
    (await cluster.call('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', review(verb))).status as {
      allowed: boolean
    }
  assert.equal((await ask('list')).allowed, false)
  assert.equal((await ask('LIST')).allowed, true)
})
