/**
 * Attempts to gain the permissions of others: by impersonation headers, tokens of service accounts, and the permissions
 * of nodes for their pods.
 */
import assert from 'node:assert/strict'
import { connect } from 'node:http2'
import { test } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { ask, bearer } from '../../authentication/whoami.ts'
import { as, nodeUser } from '../../authorization/as-user.ts'
import { binding, clusterWithUsers, rbac, userSubject } from '../../authorization/users.ts'
import { type TestCluster, testCluster } from '../../support/test-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'

const review = JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' })
const reviews = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
const accounts = '/api/v1/namespaces/default/serviceaccounts'

async function grant({ call }: TestCluster, user: string, rules: readonly object[], name = user): Promise<void> {
  await call('POST', `${rbac}/clusterroles`, { metadata: { name }, rules })
  await call('POST', `${rbac}/clusterrolebindings`, binding(name, 'ClusterRole', name, userSubject(user)))
}

test('Impersonate-User takes effect after any number of other headers', async (t) => {
  const cluster = await testCluster(t, { tokens: [{ token: 'proxy', user: { name: 'proxy', groups: [] } }] })
  await grant(cluster, 'proxy', [{ apiGroups: [''], resources: ['users', 'groups'], verbs: ['impersonate'] }])
  const { hostname: host, port } = new URL(cluster.url)
  const text = async (lines: readonly string[]) => {
    const socket = connectTls({ host, port: Number(port), ca: cluster.client.ca, ALPNProtocols: ['http/1.1'] })
    const first = [
      `POST ${reviews} HTTP/1.1`,
      'Host: x',
      'Connection: close',
      'Authorization: Bearer proxy',
      'Content-Type: application/json',
    ]
    socket.write(`${[...first, `Content-Length: ${review.length}`, ...lines].join('\r\n')}\r\n\r\n${review}`)
    return Buffer.concat(await socket.toArray()).toString()
  }
  const last = 'Impersonate-User: jane'
  for (const count of [10, 1990, 2100, 20_000, 60_000]) {
    const answer = await text([...Array.from({ length: count }, (_, i) => `X-A${i}: b`), last])
    assert.match(answer, /"username": ?"jane"|^HTTP\/1\.1 431 /, `${count} headers`)
  }
  assert.match(await text([last, 'Impersonate-User: admin', 'impersonate_user: bob']), /"username": ?"jane"/)
  assert.match(await text(['Connection: Impersonate-User', last]), /"username": ?"jane"/)

  const session = connect(cluster.url, { ca: cluster.client.ca })
  t.after(() => session.destroy())
  for (const count of [10, 120, 2100, 9000, 12_000]) {
    const many = Object.fromEntries(Array.from({ length: count }, (_, i) => [`x-a${i}`, 'b']))
    const stream = session.request({
      ':method': 'POST',
      ':path': reviews,
      authorization: 'Bearer proxy',
      ...many,
      'impersonate-user': 'jane',
    })
    stream.end(review)
    const answer = await stream.toArray().then(
      (parts) => Buffer.concat(parts).toString(),
      () => 'reset',
    )
    assert.doesNotMatch(answer, /"username": ?"proxy"/, `${count} headers over HTTP/2`)
  }
})

test('each impersonated group and extra needs a permission, also for 15,000 groups', async (t) => {
  const { cluster, as: by } = await clusterWithUsers(t, { proxy: [], eve: [] })
  await grant(cluster, 'proxy', [{ apiGroups: [''], resources: ['users', 'groups'], verbs: ['impersonate'] }])
  await grant(cluster, 'eve', [
    { apiGroups: [''], resources: ['users'], verbs: ['impersonate'] },
    { apiGroups: [''], resources: ['groups'], verbs: ['impersonate'], resourceNames: ['dev', '__proto__'] },
    {
      apiGroups: ['authentication.k8s.io'],
      resources: ['userextras/scopes'],
      verbs: ['impersonate'],
      resourceNames: ['some'],
    },
  ])
  const groups = Array.from({ length: 15_000 }, (_, i) => `group-${i}`)
  const headers = (more: object) => ({ 'impersonate-user': 'jane', ...more }) as Record<string, string>
  const path = '/api/v1/namespaces/default/pods'
  assert.match(
    (await by('proxy', 'GET', path, undefined, headers({ 'impersonate-group': groups }))).body.message ?? '',
    /User "jane" cannot list resource "pods"/,
  )
  const cannot = async (more: object) => (await by('eve', 'GET', path, undefined, headers(more))).body.message ?? ''
  // The error is that of the first impersonation mode tried.
  const userForbidden = /User "eve" cannot impersonate-on:user-info:list resource "pods"/
  assert.match(await cannot({ 'impersonate-group': ['dev', 'system:masters'] }), userForbidden)
  assert.match(await cannot({ 'impersonate-group': ['dev, system:masters'] }), userForbidden)
  assert.match(await cannot({ 'impersonate-extra-scopes': ['some', 'all'] }), userForbidden)
  for (const key of ['__proto__', 'constructor', 'a%2fb', '%zz', 'SCOPES2']) {
    assert.match(await cannot({ [`impersonate-extra-${key}`]: 'x' }), userForbidden, key)
  }
  assert.match(await cannot({ 'impersonate-uid': '0' }), userForbidden)
  assert.match(
    await cannot({ 'impersonate-user': 'system:serviceaccount:kube-system:admin' }),
    /User "eve" cannot impersonate-on:serviceaccount:list resource "pods"/,
  )
  assert.match(
    await cannot({ 'impersonate-group': '__proto__', 'impersonate-extra-scopes': 'some' }),
    /User "jane" cannot list resource "pods"/,
  )
})

test('creating tokens needs its own permission, beyond writing service accounts and pods', async (t) => {
  const { cluster, as: by } = await clusterWithUsers(t, { eve: [] })
  await cluster.call('POST', accounts, { metadata: { name: 'strong' } })
  const strong = { kind: 'ServiceAccount', namespace: 'default', name: 'strong' }
  await cluster.call('POST', `${rbac}/clusterrolebindings`, binding('strong', 'ClusterRole', 'cluster-admin', strong))
  await grant(cluster, 'eve', [{ apiGroups: [''], resources: ['serviceaccounts', 'pods'], verbs: ['*'] }])
  for (const path of [
    'strong/token',
    'strong/token/',
    '%73trong/token',
    'strong/%74oken',
    'strong//token',
    'strong/token/x',
    'strong/TOKEN',
    'strong%2ftoken',
  ]) {
    const { status, body } = await by('eve', 'POST', `${accounts}/${path}`, {})
    assert.ok([403, 404, 405].includes(status), `${path}: ${status}`)
    assert.equal((body.status as { token?: string } | undefined)?.token, undefined)
  }
  await grant(
    cluster,
    'eve',
    [{ apiGroups: [''], resources: ['serviceaccounts/token'], resourceNames: ['weak'], verbs: ['create'] }],
    'weak',
  )
  await cluster.call('POST', accounts, { metadata: { name: 'weak' } })
  const { status, body } = await by('eve', 'POST', `${accounts}/weak/token`, { metadata: { name: 'weak' } })
  assert.equal(status, 201)
  assert.equal((await by('eve', 'POST', `${accounts}/weak/token`, { metadata: { name: 'strong' } })).status, 422)
  assert.equal(
    (await by('eve', 'POST', `${accounts}/weak/token`, { metadata: { namespace: 'kube-system' } })).status,
    400,
  )
  assert.equal((await by('eve', 'POST', `${accounts}/strong/token`, {})).status, 403)
  const { token } = body.status as unknown as { token: string }
  assert.equal((await ask(cluster, bearer(token))).user?.username, 'system:serviceaccount:default:weak')
  // A token does not authenticate a new account with the same name.
  await cluster.call('DELETE', `${accounts}/weak`)
  await cluster.call('POST', accounts, { metadata: { name: 'weak' } })
  assert.equal((await ask(cluster, bearer(token))).code, 401)
})

test('a node may create only tokens that are bound to pods it runs', async (t) => {
  const cluster = await testCluster(t)
  await cluster.call('POST', accounts, { metadata: { name: 'robot' } })
  const pods = '/api/v1/namespaces/default/pods'
  const podOn = async (nodeName: string, name: string) => {
    const spec = { nodeName, serviceAccountName: 'robot', containers: [{ name: 'c', image: 'i' }] }
    return (await cluster.call('POST', pods, { metadata: { name }, spec })).metadata.uid
  }
  const mine = await podOn('n1', 'mine')
  const theirs = await podOn('n2', 'theirs')
  const request = (name: string, uid: string | undefined, more: object = {}) => ({
    spec: { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid }, ...more },
  })
  const token = (node: string, body: object) => as(cluster, nodeUser(node), 'POST', `${accounts}/robot/token`, body)
  await waitFor('the node may create a token', async () => (await token('n1', request('mine', mine))).status === 201)
  for (const [why, body] of [
    ['a pod of another node', request('theirs', theirs)],
    ['its own uid with another name', request('theirs', mine)],
    ['another uid', request('mine', theirs)],
    ['no uid', request('mine', undefined)],
    ['not bound', {}],
    ['bound to a secret', { spec: { boundObjectRef: { apiVersion: 'v1', kind: 'Secret', name: 'x' } } }],
    ['bound to the node', { spec: { boundObjectRef: { apiVersion: 'v1', kind: 'Node', name: 'n1' } } }],
    ['for a foreign audience', request('mine', mine, { audiences: ['https://vault.example'] })],
    ['for two audiences', request('mine', mine, { audiences: ['a', 'b'] })],
  ] as const) {
    assert.equal((await token('n1', body)).status, 403, why)
  }
  assert.equal((await token('n3', request('mine', mine))).status, 403, 'a node without pods of the account')
  // A node does not get access to a secret by creating a mirror pod that uses it.
  await cluster.call('POST', '/api/v1/namespaces/default/secrets', { metadata: { name: 'hidden' } })
  const mirror = {
    metadata: { name: 'made-up', annotations: { 'kubernetes.io/config.mirror': 'x' } },
    spec: {
      nodeName: 'n1',
      containers: [{ name: 'c', image: 'i' }],
      volumes: [{ name: 'v', secret: { secretName: 'hidden' } }],
    },
  }
  assert.equal((await as(cluster, nodeUser('n1'), 'POST', pods, mirror)).status, 403)
  assert.equal(
    (await as(cluster, nodeUser('n1'), 'POST', `${pods}/mine/binding`, { target: { kind: 'Node', name: 'n1' } }))
      .status,
    403,
  )
  for (const path of [
    'secrets/hidden',
    'secrets',
    'secrets?watch=true',
    'secrets?fieldSelector=metadata.name%3Dhidden',
  ]) {
    assert.equal((await as(cluster, nodeUser('n1'), 'GET', `/api/v1/namespaces/default/${path}`)).status, 403, path)
  }
  assert.equal(
    (await as(cluster, nodeUser('n1'), 'GET', '/api/v1/watch/namespaces/default/secrets/hidden')).status,
    403,
  )
})

test('names of inherited properties such as __proto__ have no special meaning', async (t) => {
  const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf']
  const { cluster, as: by } = await clusterWithUsers(t, Object.fromEntries(names.map((name) => [`t-${name}`, names])))
  for (const name of names) {
    for (const [method, path] of [
      ['GET', `/api/v1/namespaces/${name}/pods/${name}`],
      ['GET', `/api/v1/${name}`],
      ['GET', `/apis/${name}/${name}/${name}/${name}/${name}`],
      ['POST', `/api/v1/namespaces/default/pods/${name}/${name}`],
      [name.toUpperCase().replaceAll('_', ''), '/api/v1/pods'],
    ] as const) {
      const { status } = await by(`t-${name}`, method, path).catch(() => ({ status: 400 }))
      assert.ok([400, 403, 404, 405].includes(status), `${method} ${path}: ${status}`)
    }
    assert.match(
      (await as(cluster, { name, groups: names }, 'GET', '/api/v1/pods')).message,
      new RegExp(`User "${name}" cannot list resource "pods"`),
    )
    const spec = {
      user: name,
      groups: names,
      extra: { [name]: [name] },
      resourceAttributes: { verb: name, resource: name, group: name, namespace: name, subresource: name, name },
    }
    const { status } = await cluster.call(
      'POST',
      '/apis/authorization.k8s.io/v1/subjectaccessreviews',
      JSON.stringify({ spec }),
    )
    assert.deepEqual(status, { allowed: false }, name)
  }
  // A role with such a name works for its subject only.
  await cluster.call('POST', `${rbac}/clusterroles`, {
    metadata: { name: 'constructor' },
    rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['list'] }],
  })
  await cluster.call(
    'POST',
    `${rbac}/clusterrolebindings`,
    binding('constructor', 'ClusterRole', 'constructor', userSubject('t-__proto__')),
  )
  assert.equal((await by('t-__proto__', 'GET', '/api/v1/pods')).status, 200)
  assert.equal((await by('t-constructor', 'GET', '/api/v1/pods')).status, 403)
  assert.equal(({} as Record<string, unknown>).polluted, undefined)
})

test('a SubjectAccessReview with 90,000 groups is answered', async (t) => {
  const cluster = await testCluster(t)
  const groups = Array.from({ length: 90_000 }, (_, i) => `group-${i}`)
  const sent = JSON.stringify({
    spec: { user: 'jane', groups, resourceAttributes: { verb: 'list', resource: 'pods' } },
  })
  const { status } = await cluster.call('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', sent)
  assert.deepEqual(status, { allowed: false })
})
