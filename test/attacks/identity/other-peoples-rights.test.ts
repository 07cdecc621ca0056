/**
 * Rights of others that somebody might come by: by their names in headers, by tokens of their accounts, by a node's way
 * to its pods.
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

test('a proxy’s Impersonate-User counts, however many headers of its client stand before it', async (t) => {
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

test('thousands of groups are each a right to be had, and take no time of others', async (t) => {
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
  // The refusal is that of the mode that is tried first.
  const refusedAsUser = /User "eve" cannot impersonate-on:user-info:list resource "pods"/
  assert.match(await cannot({ 'impersonate-group': ['dev', 'system:masters'] }), refusedAsUser)
  assert.match(await cannot({ 'impersonate-group': ['dev, system:masters'] }), refusedAsUser)
  assert.match(await cannot({ 'impersonate-extra-scopes': ['some', 'all'] }), refusedAsUser)
  for (const key of ['__proto__', 'constructor', 'a%2fb', '%zz', 'SCOPES2']) {
    assert.match(await cannot({ [`impersonate-extra-${key}`]: 'x' }), refusedAsUser, key)
  }
  assert.match(await cannot({ 'impersonate-uid': '0' }), refusedAsUser)
  assert.match(
    await cannot({ 'impersonate-user': 'system:serviceaccount:kube-system:admin' }),
    /User "eve" cannot impersonate-on:serviceaccount:list resource "pods"/,
  )
  assert.match(
    await cannot({ 'impersonate-group': '__proto__', 'impersonate-extra-scopes': 'some' }),
    /User "jane" cannot list resource "pods"/,
  )
})

test('who may write accounts and pods has no tokens of accounts: that is a right of its own', async (t) => {
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
  // The token of an account that has come again under its name is not its token.
  await cluster.call('DELETE', `${accounts}/weak`)
  await cluster.call('POST', accounts, { metadata: { name: 'weak' } })
  assert.equal((await ask(cluster, bearer(token))).code, 401)
})

test('a node has tokens for the pods that it runs, bound to them, and for no others', async (t) => {
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
  await waitFor('the node has its token', async () => (await token('n1', request('mine', mine))).status === 201)
  for (const [why, body] of [
    ['a pod of another node', request('theirs', theirs)],
    ['its own uid with another name', request('theirs', mine)],
    ['another uid', request('mine', theirs)],
    ['no uid', request('mine', undefined)],
    ['bound to nothing', {}],
    ['bound to a secret', { spec: { boundObjectRef: { apiVersion: 'v1', kind: 'Secret', name: 'x' } } }],
    ['bound to the node', { spec: { boundObjectRef: { apiVersion: 'v1', kind: 'Node', name: 'n1' } } }],
    ['for an audience of nobody’s', request('mine', mine, { audiences: ['https://vault.example'] })],
    ['for two audiences', request('mine', mine, { audiences: ['a', 'b'] })],
  ] as const) {
    assert.equal((await token('n1', body)).status, 403, why)
  }
  assert.equal((await token('n3', request('mine', mine))).status, 403, 'a node without pods of the account')
  // The way to a secret is not by a pod that the node makes up.
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

test('names of members of all objects are names of nobody', async (t) => {
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
  // A role for them is theirs alone.
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

test('answers of reviews come for large questions too', async (t) => {
  const cluster = await testCluster(t)
  const groups = Array.from({ length: 90_000 }, (_, i) => `group-${i}`)
  const sent = JSON.stringify({
    spec: { user: 'jane', groups, resourceAttributes: { verb: 'list', resource: 'pods' } },
  })
  const { status } = await cluster.call('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', sent)
  assert.deepEqual(status, { allowed: false })
})
