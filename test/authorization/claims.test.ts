/** Permissions for parts of a ResourceClaim's status, and admin access to devices. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { binding, clusterWithUsers, rbac, type Users, userSubject } from './users.ts'

const group = 'resource.k8s.io'
const merge = { 'content-type': 'application/merge-patch+json' }
const claims = (namespace: string): string => `/apis/${group}/v1/namespaces/${namespace}/resourceclaims`
const asking = (over: object = {}): object => ({ name: 'r', exactly: { deviceClassName: 'c', ...over } })
const claim = (name: string, ...requests: object[]): object => ({ metadata: { name }, spec: { devices: { requests } } })
const result = { request: 'r', driver: 'd.example', pool: 'p', device: 'x' }
const allocation = { devices: { results: [result] } }
const devices = [{ driver: 'd.example', pool: 'p', device: 'x' }]

/** Both may write the status of claims; scheduler may bind, driver may set the status of devices of d.example. */
async function withWriters(t: Parameters<typeof clusterWithUsers>[0]): Promise<Users> {
  const users = await clusterWithUsers(t, { scheduler: [], driver: [] })
  const rule = (resource: string, verbs: string[], ...resourceNames: string[]): object => ({
    apiGroups: [group],
    resources: [resource],
    verbs,
    resourceNames,
  })
  const status = rule('resourceclaims/status', ['update', 'patch'])
  const rules = {
    scheduler: [status, rule('resourceclaims/binding', ['update', 'patch'])],
    driver: [status, rule('resourceclaims/driver', ['arbitrary-node:patch'], 'd.example')],
  }
  for (const name of ['scheduler', 'driver'] as const) {
    await users.cluster.call('POST', `${rbac}/clusterroles`, { metadata: { name }, rules: rules[name] })
    await users.cluster.call(
      'POST',
      `${rbac}/clusterrolebindings`,
      binding(name, 'ClusterRole', name, userSubject(name)),
    )
  }
  return users
}

test('each part of a claim’s status needs its own permission', async (t) => {
  const { as, cluster } = await withWriters(t)
  const path = `${claims('default')}/a/status`
  await cluster.call('POST', claims('default'), claim('a', asking()))
  const early = await as('driver', 'PATCH', path, { status: { allocation } }, merge)
  assert.equal(early.status, 422)
  assert.equal(
    early.body.message,
    `ResourceClaim.${group} "a" is invalid: status: Forbidden: changing status.allocation or status.reservedFor ` +
      `requires resource="resourceclaims/binding", verb="patch" permission: resourceclaims.${group} is forbidden: ` +
      `User "driver" cannot patch resource "resourceclaims/binding" in API group "${group}" at the cluster scope`,
  )
  assert.equal((await as('scheduler', 'PATCH', path, { status: { allocation } }, merge)).status, 200)
  const others = await as('scheduler', 'PATCH', path, { status: { devices } }, merge)
  assert.equal(others.status, 422)
  assert.match(
    others.body.message ?? '',
    new RegExp(
      String.raw`requires resource="resourceclaims/driver", verb="\[arbitrary-node:patc` +
        String.raw`h\]" permission: resourceclaims\.resourc` +
        String.raw`e\.k8s\.io "d\.example" is forbidden`,
    ),
  )
  assert.equal((await as('driver', 'PATCH', path, { status: { devices } }, merge)).status, 200)
  // The device status is removed with its device. Deallocation needs no driver permission, with or without the status.
  for (const given of [{ allocation: null }, { allocation: null, devices: null }]) {
    const freed = await as('scheduler', 'PATCH', path, { status: given }, merge)
    assert.equal(freed.status, 200, freed.body.message)
    assert.deepEqual(freed.body.status, {})
    assert.equal((await as('scheduler', 'PATCH', path, { status: { allocation } }, merge)).status, 200)
    assert.equal((await as('driver', 'PATCH', path, { status: { devices } }, merge)).status, 200)
  }
})

test('admin access to devices needs a label on the namespace', async (t) => {
  const { cluster, as } = await clusterWithUsers(t, { admin: ['system:masters'] })
  await cluster.call('POST', '/api/v1/namespaces', {
    metadata: { name: 'ours', labels: { 'resource.kubernetes.io/admin-access': 'true' } },
  })
  const words =
    'adminAccess: Forbidden: admin access to devices requires the `resource.kubernetes.io/admin-access: true` ' +
    'label on the containing namespace'
  const refused = await as(
    'admin',
    'POST',
    claims('default'),
    claim('a', asking(), { ...asking({ adminAccess: true }), name: 's' }),
  )
  assert.equal(refused.body.message, `ResourceClaim.${group} "a" is invalid: spec.devices.requests[1].${words}`)
  const template = (name: string): object => ({
    metadata: { name },
    spec: { spec: { devices: { requests: [asking({ adminAccess: true })] } } },
  })
  const refusedTemplate = await as(
    'admin',
    'POST',
    claims('default').replace('claims', 'claimtemplates'),
    template('t'),
  )
  assert.equal(
    refusedTemplate.body.message,
    `ResourceClaimTemplate.${group} "t" is invalid: spec.devices.requests[0].${words}`,
  )
  assert.equal(
    (await as('admin', 'POST', claims('ours').replace('claims', 'claimtemplates'), template('t'))).status,
    201,
  )
  assert.equal((await as('admin', 'POST', claims('ours'), claim('a', asking({ adminAccess: true })))).status, 201)
  await cluster.call('POST', claims('default'), claim('a', asking()))
  const given = { devices: { results: [{ ...result, adminAccess: true }] } }
  const status = await as('admin', 'PATCH', `${claims('default')}/a/status`, { status: { allocation: given } }, merge)
  assert.equal(
    status.body.message,
    `ResourceClaim.${group} "a" is invalid: status.allocation.devices.results[0].${words}`,
  )
  assert.equal(
    (await as('admin', 'PATCH', `${claims('ours')}/a/status`, { status: { allocation: given } }, merge)).status,
    200,
  )
})
