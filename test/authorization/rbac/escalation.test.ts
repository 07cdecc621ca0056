/** Privilege escalation: all attempts to grant oneself permissions must fail. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { apiGroup, binding, clusterWithUsers, rbac, type Users, userSubject } from '../users.ts'

const merge = { 'content-type': 'application/merge-patch+json' }
const apply = { 'content-type': 'application/apply-patch+yaml' }
const all = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }]

/** The user mallory may write roles and bindings of every kind, and read pods. */
async function withMallory(t: Parameters<typeof clusterWithUsers>[0]): Promise<Users> {
  const users = await clusterWithUsers(t, { mallory: [] })
  const write = ['get', 'list', 'create', 'update', 'patch', 'delete', 'deletecollection']
  const rules = [
    {
      apiGroups: [apiGroup],
      resources: ['roles', 'rolebindings', 'clusterroles', 'clusterrolebindings'],
      verbs: write,
    },
    { apiGroups: [''], resources: ['pods'], verbs: ['get'] },
  ]
  await users.cluster.call('POST', `${rbac}/clusterroles`, { metadata: { name: 'writer' }, rules })
  await users.cluster.call(
    'POST',
    `${rbac}/clusterrolebindings`,
    binding('writer', 'ClusterRole', 'writer', userSubject('mallory')),
  )
  return users
}

test('a role that is created, replaced, patched or applied needs its writer’s permissions', async (t) => {
  const { as, cluster } = await withMallory(t)
  const here = `${rbac}/namespaces/default/roles`
  const object = (rules: unknown, kind = 'Role') => ({
    apiVersion: `${apiGroup}/v1`,
    kind,
    metadata: { name: 'mine' },
    rules,
  })
  const refused = await as('mallory', 'POST', here, object(all))
  assert.equal(refused.status, 403)
  assert.equal(
    refused.body.message,
    `roles.${apiGroup} "mine" is forbidden: user "mallory" (groups=["system:authenticated"]) is attempting to ` +
      'grant RBAC permissions not currently held:\n{APIGroups:["*"], Resources:["*"], Verbs:["*"]}',
  )
  assert.equal((await as('mallory', 'PUT', `${here}/mine`, object(all))).status, 403)
  assert.equal((await as('mallory', 'PATCH', `${here}/mine?fieldManager=m`, object(all), apply)).status, 403)
  assert.equal(
    (await as('mallory', 'POST', here, object([{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }]))).status,
    201,
  )
  assert.equal((await as('mallory', 'PUT', `${here}/mine`, object(all))).status, 403)
  assert.equal((await as('mallory', 'PATCH', `${here}/mine`, { rules: all }, merge)).status, 403)
  assert.equal((await as('mallory', 'PATCH', `${here}/mine?fieldManager=m&force=true`, object(all), apply)).status, 403)
  assert.equal((await as('mallory', 'PATCH', `${here}/mine?dryRun=All`, { rules: all }, merge)).status, 403)
  assert.equal((await as('mallory', 'POST', `${rbac}/clusterroles`, object(all, 'ClusterRole'))).status, 403)
  assert.equal((await as('mallory', 'PATCH', `${rbac}/clusterroles/writer`, { rules: all }, merge)).status, 403)
  assert.equal(
    (await as('mallory', 'PATCH', `${rbac}/clusterroles/cluster-admin`, { metadata: { labels: { a: 'b' } } }, merge))
      .status,
    403,
  )
  // Fewer permissions are allowed.
  assert.equal((await as('mallory', 'PATCH', `${rbac}/clusterroles/cluster-admin`, { rules: [] }, merge)).status, 200)
  assert.deepEqual((await cluster.call('GET', `${here}/mine`)).rules, [
    { apiGroups: [''], resources: ['pods'], verbs: ['get'] },
  ])
})

test('a binding of a role needs all permissions of the role', async (t) => {
  const { as, cluster } = await withMallory(t)
  const everywhere = `${rbac}/clusterrolebindings`
  const here = `${rbac}/namespaces/default/rolebindings`
  const me = userSubject('mallory')
  const { status, body } = await as('mallory', 'POST', everywhere, binding('me', 'ClusterRole', 'cluster-admin', me))
  assert.equal(status, 403)
  assert.match(
    body.message ?? '',
    /\n\{APIGroups:\["\*"\], Resources:\["\*"\], Verbs:\["\*"\]\}\n\{NonResourceURLs:\["\*"\], Verbs:\["\*"\]\}$/,
  )
  assert.equal((await as('mallory', 'POST', here, binding('me', 'ClusterRole', 'cluster-admin', me))).status, 403)
  assert.equal((await as('mallory', 'POST', here, binding('me', 'ClusterRole', 'edit', me))).status, 403)
  assert.equal((await as('mallory', 'PUT', `${here}/me`, binding('me', 'ClusterRole', 'edit', me))).status, 403)
  assert.equal((await as('mallory', 'PATCH', `${everywhere}/cluster-admin`, { subjects: [me] }, merge)).status, 403)
  assert.equal((await as('mallory', 'POST', here, binding('me', 'Role', 'to-come', me))).status, 404)
  // The role of a binding is immutable, even if the user has the permissions of both.
  await cluster.call('POST', here, binding('fixed', 'ClusterRole', 'writer', me))
  const other = { roleRef: { apiGroup, kind: 'ClusterRole', name: 'cluster-admin' } }
  assert.ok([403, 422].includes((await as('mallory', 'PATCH', `${here}/fixed`, other, merge)).status))
  assert.equal((await as('mallory', 'GET', '/api/v1/secrets')).status, 403)
})

test('an aggregated role needs all permissions', async (t) => {
  const { as, cluster } = await withMallory(t)
  const rule = { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { grab: 'all' } }] } }
  const path = `${rbac}/clusterroles`
  const { status, body } = await as('mallory', 'POST', path, { metadata: { name: 'grab' }, ...rule })
  assert.equal(status, 403)
  assert.match(body.message ?? '', /: must have cluster-admin privileges to use the aggregationRule$/)
  assert.equal((await as('mallory', 'PATCH', `${path}/writer`, rule, merge)).status, 403)
  // Labels for aggregation need the permissions that they would contribute.
  await cluster.call('POST', path, {
    metadata: { name: 'secrets' },
    rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }],
  })
  const label = { metadata: { labels: { [`${apiGroup}/aggregate-to-view`]: 'true' } } }
  assert.equal((await as('mallory', 'PATCH', `${path}/secrets`, label, merge)).status, 403)
})

test('the verbs escalate and bind permit it, for the names in the rule', async (t) => {
  const { as, cluster } = await withMallory(t)
  const rules = [
    { apiGroups: [apiGroup], resources: ['roles'], verbs: ['escalate'], resourceNames: ['free'] },
    { apiGroups: [apiGroup], resources: ['clusterroles'], verbs: ['bind'], resourceNames: ['view'] },
  ]
  await cluster.call('POST', `${rbac}/clusterroles`, { metadata: { name: 'lift' }, rules })
  await cluster.call(
    'POST',
    `${rbac}/namespaces/default/rolebindings`,
    binding('lift', 'ClusterRole', 'lift', userSubject('mallory')),
  )
  const roles = `${rbac}/namespaces/default/roles`
  const bindings = `${rbac}/namespaces/default/rolebindings`
  assert.equal(
    (await as('mallory', 'POST', bindings, binding('view', 'ClusterRole', 'view', userSubject('bob')))).status,
    201,
  )
  assert.equal(
    (await as('mallory', 'POST', bindings, binding('edit', 'ClusterRole', 'edit', userSubject('bob')))).status,
    403,
  )
  assert.equal(
    (
      await as(
        'mallory',
        'POST',
        `${rbac}/clusterrolebindings`,
        binding('view', 'ClusterRole', 'view', userSubject('bob')),
      )
    ).status,
    403,
  )
  // A create is authorized without a name.
  assert.equal((await as('mallory', 'POST', roles, { metadata: { name: 'free' }, rules: all })).status, 403)
  await cluster.call('POST', roles, { metadata: { name: 'free' }, rules: [] })
  assert.equal((await as('mallory', 'PATCH', `${roles}/free`, { rules: all }, merge)).status, 200)
})

test('impersonation needs permission, and the permissions of the impersonated user apply', async (t) => {
  const { as, cluster } = await withMallory(t)
  const admin = { 'impersonate-user': 'admin', 'impersonate-group': 'system:masters' }
  assert.equal((await as('mallory', 'GET', '/api/v1/secrets', undefined, admin)).status, 403)
  assert.equal(
    (
      await as('mallory', 'GET', '/api/v1/secrets', undefined, {
        'impersonate-user': 'mallory',
        'impersonate-group': 'system:masters',
      })
    ).status,
    403,
  )
  const rules = [{ apiGroups: [''], resources: ['users'], verbs: ['impersonate'], resourceNames: ['bob'] }]
  await cluster.call('POST', `${rbac}/clusterroles`, { metadata: { name: 'act' }, rules })
  await cluster.call(
    'POST',
    `${rbac}/clusterrolebindings`,
    binding('act', 'ClusterRole', 'act', userSubject('mallory')),
  )
  assert.equal(
    (await as('mallory', 'GET', '/api/v1/secrets', undefined, { 'impersonate-user': 'bob' })).body.message?.includes(
      'User "bob" cannot list',
    ),
    true,
  )
  assert.equal(
    (
      await as('mallory', 'GET', '/api/v1/secrets', undefined, {
        'impersonate-user': 'bob',
        'impersonate-group': 'system:masters',
      })
    ).status,
    403,
  )
  assert.equal(
    (await as('mallory', 'GET', '/api/v1/secrets', undefined, { 'impersonate-user': 'carol' })).body.message?.includes(
      'cannot impersonate',
    ),
    true,
  )
})
