/** Audit events of requests at each level, field for field as upstream writes them. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import { test } from 'node:test'
import { installedKubectls, Kubectl } from '../support/kubectl.ts'
import { waitFor } from '../support/wait-for.ts'
import { type AuditEvent, auditedCluster } from './audited-cluster.ts'
import { ask, jane } from './requests.ts'

const configMaps = '/api/v1/namespaces/default/configmaps'
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/

/** The events of one request. */
const about = (events: readonly AuditEvent[], id: unknown): readonly AuditEvent[] =>
  events.filter(({ auditID }) => auditID === id)

test('an event at Metadata has upstream’s fields in order', async (t) => {
  const cluster = await auditedCluster(t, '[{level: Metadata}]')
  const headers = {
    ...jane,
    'user-agent': 'browser "x"',
    'x-forwarded-for': '10.1.2.3, nonsense, ::ffff:10.0.0.7',
    'x-real-ip': '2001:DB8::1',
  }
  const { headers: answered } = await ask(
    cluster,
    'GET',
    `${configMaps}?limit=5&fieldSelector=metadata.name%3D%3Ca%3E`,
    headers,
  )
  const id = String(answered['audit-id'])
  assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  const lines = await waitFor('two events', () => {
    const found = cluster.lines().filter((line) => line.includes(id))
    return found.length === 2 && found
  })
  const about =
    `"requestURI":"${configMaps}?limit=5\\u0026fieldSelector=metadata.name%3D%3Ca%3E","verb":"list",` +
    '"user":{"username":"jane","groups":["dev","system:authenticated"],' +
    '"extra":{"example.com/\\u003cteam\\u003e":["a","b"]}},' +
    '"sourceIPs":["10.1.2.3","10.0.0.7","2001:db8::1","127.0.0.1"],"userAgent":"browser ' +
    '\\"x\\"","objectRef":{"resource":"configmaps","namespace":"default","name":"\\u003ca\\u003e","apiVersion":"v1"}'
  const times = lines.map((line) => {
    const { requestReceivedTimestamp, stageTimestamp } = JSON.parse(line) as Record<string, string>
    return [requestReceivedTimestamp, stageTimestamp] as const
  })
  for (const stamp of times.flat()) assert.match(stamp ?? '', time)
  assert.equal(times[0]?.[0], times[0]?.[1])
  const stamps = (i: number): string =>
    `"requestReceivedTimestamp":"${times[i]?.[0]}","stageTimestamp":"${times[i]?.[1]}"`
  const start = (stage: string): string =>
    `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"${id}","stage":"${stage}",`
  assert.deepEqual(lines, [
    `${start('RequestReceived')}${about},${stamps(0)}}`,
    `${start('ResponseComplete')}${about},"responseStatus":{"metadata":{},"code":200},${stamps(1)},` +
      '"annotations":{"authorization.k8s.io/decision":"allow","authorization.k8s.io/reason":""}}',
  ])
})

test('the audit id is the client’s if it sends one', async (t) => {
  const cluster = await auditedCluster(t, '[{level: Metadata}]')
  const { headers } = await ask(cluster, 'GET', configMaps, { ...jane, 'audit-id': 'my request' })
  assert.equal(headers['audit-id'], 'my request')
  await waitFor('its events', () => about(cluster.events(), 'my request').length === 2)
})

test('a request that is rejected before authentication leaves one event without a user', async (t) => {
  const cluster = await auditedCluster(t, '[{level: RequestResponse}]')
  const asked = [
    {
      path: configMaps,
      headers: { authorization: 'Bearer wrong' },
      refusal: { message: 'Unauthorized', reason: 'Unauthorized', code: 401 },
    },
    {
      path: `${configMaps}?timeout=soon`,
      headers: jane,
      refusal: {
        message: 'invalid timeout specified in the request URL - time: invalid duration "soon"',
        reason: 'BadRequest',
        code: 400,
      },
    },
  ]
  for (const { path, headers, refusal } of asked) {
    const answer = await ask(cluster, 'GET', path, headers)
    assert.equal(answer.status, refusal.code)
    const events = await waitFor('the event', () => {
      const found = about(cluster.events(), answer.headers['audit-id'])
      return found.length > 0 && found
    })
    assert.deepEqual(
      events.map(({ stage, user, responseStatus, responseObject }) => ({
        stage,
        user,
        responseStatus,
        responseObject,
      })),
      [
        {
          stage: 'ResponseStarted',
          user: {},
          responseStatus: { metadata: {}, status: 'Failure', ...refusal },
          responseObject: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', ...refusal },
        },
      ],
    )
  }
})

test('failures have their Status, and impersonation both users', async (t) => {
  const cluster = await auditedCluster(t, '[{level: Metadata, omitStages: [RequestReceived]}]')
  const missing = await ask(cluster, 'GET', `${configMaps}/none`, {
    ...jane,
    'impersonate-user': 'ann',
    'impersonate-group': 'ops',
  })
  const [event] = await waitFor('the event', () => {
    const found = about(cluster.events(), missing.headers['audit-id'])
    return found.length > 0 && found
  })
  assert.deepEqual(event?.responseStatus, {
    metadata: {},
    status: 'Failure',
    message: 'configmaps "none" not found',
    reason: 'NotFound',
    details: { name: 'none', kind: 'configmaps' },
    code: 404,
  })
  assert.deepEqual(event?.user, {
    username: 'jane',
    groups: ['dev', 'system:authenticated'],
    extra: { 'example.com/<team>': ['a', 'b'] },
  })
  assert.deepEqual(event?.impersonatedUser, { username: 'ann', groups: ['ops', 'system:authenticated'] })
})

test('a forbidden request is annotated with forbid', async (t) => {
  const cluster = await auditedCluster(t, '[{level: Metadata, omitStages: [RequestReceived]}]', [], 'AlwaysDeny')
  const { headers, status } = await ask(cluster, 'GET', configMaps, jane)
  assert.equal(status, 403)
  const [event] = await waitFor('the event', () => {
    const found = about(cluster.events(), headers['audit-id'])
    return found.length > 0 && found
  })
  assert.equal(event?.responseStatus?.code, 403)
  assert.deepEqual(event?.annotations, {
    'authorization.k8s.io/decision': 'forbid',
    'authorization.k8s.io/reason': 'Everything is forbidden.',
  })
})

test('a request for a deprecated API is annotated', async (t) => {
  const cluster = await auditedCluster(t, '[{level: Metadata, omitStages: [RequestReceived]}]')
  const { headers } = await ask(cluster, 'GET', '/api/v1/endpoints', jane)
  const [event] = await waitFor('the event', () => {
    const found = about(cluster.events(), headers['audit-id'])
    return found.length > 0 && found
  })
  assert.equal(event?.annotations?.['k8s.io/deprecated'], 'true')
})

test('a request slower than half a second is annotated with its duration', async (t) => {
  const cluster = await auditedCluster(t, '[{level: Metadata}]')
  const { headers } = await ask(cluster, 'GET', `${configMaps}?watch=1&timeoutSeconds=1`, jane)
  const line = await waitFor('the end of the watch', () =>
    readFileSync(cluster.logFile, 'utf8')
      .split('\n')
      .find((each) => each.includes(String(headers['audit-id'])) && each.includes('"stage":"ResponseComplete"')),
  )
  assert.match(line, /"annotations":\{"apiserver.latency.k8s.io\/total":"\d+(\.\d+)?s","authorization/)
})

test('a watch has a start and a completion event without bodies', async (t) => {
  const cluster = await auditedCluster(t, '[{level: RequestResponse}]')
  const { ca, url } = cluster.client
  const watch = request(`${url}${configMaps}?watch=1`, {
    ca,
    headers: { ...jane, 'audit-id': 'watch-1' },
    agent: false,
  }).end()
  await once(watch, 'response')
  await waitFor('its start', () => about(cluster.events(), 'watch-1').length === 2)
  watch.destroy()
  await waitFor('its end', () => about(cluster.events(), 'watch-1').length === 3)
  const events = about(cluster.events(), 'watch-1')
  assert.deepEqual(
    events.map(({ stage, verb, responseObject }) => [stage, verb, responseObject]),
    [
      ['RequestReceived', 'watch', undefined],
      ['ResponseStarted', 'watch', undefined],
      ['ResponseComplete', 'watch', undefined],
    ],
  )
})

test('levels apply by rule, with bodies and without managed fields where configured', async (t) => {
  const cluster = await auditedCluster(
    t,
    '[{level: None, verbs: [get], resources: [{resources: [configmaps]}]}, {level: Metadata, resources: ' +
      '[{resources: [secrets]}]}, {level: Request, verbs: [patch], omitManagedFields: true}, {level: ' +
      'RequestResponse, verbs: [list], omitManagedFields: true}, {level: RequestResponse}]',
    ['--audit-log-mode=blocking-strict'],
  )
  const id = (name: string) => ({ ...jane, 'content-type': 'application/json', 'audit-id': name })
  const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { text: '<b>' } }
  const created = await ask(cluster, 'POST', `${configMaps}?pretty=true`, id('create'), JSON.stringify(map))
  assert.equal(created.status, 201)
  await ask(cluster, 'GET', `${configMaps}/a`, id('get'))
  await ask(
    cluster,
    'PATCH',
    `${configMaps}/a`,
    { ...id('patch'), 'content-type': 'application/merge-patch+json' },
    '{"data": {"more": "x"}}',
  )
  await ask(
    cluster,
    'PATCH',
    `${configMaps}/a?fieldManager=m`,
    { ...id('apply'), 'content-type': 'application/apply-patch+yaml' },
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n',
  )
  await ask(cluster, 'GET', configMaps, { ...id('list'), accept: 'application/yaml' })
  await ask(cluster, 'DELETE', `${configMaps}/a`, id('delete'), '{"propagationPolicy":"Background"}')
  await ask(
    cluster,
    'POST',
    '/api/v1/namespaces/default/secrets',
    id('secret'),
    '{"metadata":{"name":"s"},"stringData":{"password":"hidden"}}',
  )
  await ask(cluster, 'GET', '/version', id('version'))
  const last = (name: string): AuditEvent | undefined => about(cluster.events(), name).at(-1)

  const create = last('create')
  assert.deepEqual(create?.requestObject, map)
  assert.deepEqual(create?.objectRef, { resource: 'configmaps', namespace: 'default', name: 'a', apiVersion: 'v1' })
  assert.deepEqual(create?.responseObject, JSON.parse(created.text))
  assert.equal(last('get'), undefined)
  assert.deepEqual(last('patch')?.requestObject, { data: { more: 'x' } })
  assert.equal(last('patch')?.responseObject, undefined)
  assert.deepEqual(last('apply')?.requestObject, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } })
  const list = last('list')?.responseObject as { kind: string; items: { metadata: object }[] }
  assert.equal(list.kind, 'ConfigMapList')
  assert.ok(list.items.length > 0 && list.items.every(({ metadata }) => !('managedFields' in metadata)))
  assert.deepEqual(last('delete')?.requestObject, {
    kind: 'DeleteOptions',
    apiVersion: 'v1',
    propagationPolicy: 'Background',
  })
  assert.equal(last('delete')?.responseObject?.kind, 'Status')
  assert.equal(last('delete')?.responseStatus?.status, 'Success')
  assert.equal(last('secret')?.objectRef?.name, 's')
  assert.ok(!cluster.lines().some((line) => line.includes('aGlkZGVu') || line.includes('hidden')))
  assert.equal(last('version')?.responseObject, undefined)
  assert.equal(last('version')?.objectRef, undefined)
})

test('the format legacy writes one text line per event', async (t) => {
  const cluster = await auditedCluster(t, '[{level: Metadata}]', ['--audit-log-format=legacy'])
  await ask(cluster, 'GET', `${configMaps}/none`, { ...jane, 'audit-id': 'one', 'user-agent': 'me' })
  const lines = await waitFor('two lines', () => {
    const found = cluster.lines().filter((line) => line.includes('id="one"'))
    return found.length === 2 && found
  })
  const line =
    'ip="127.0.0.1" method="get" user="jane" groups="\\"dev\\",\\"system:authenticated\\"" as="<self>" ' +
    `asgroups="<lookup>" user-agent="me" namespace="default" uri="${configMaps}/none"`
  assert.deepEqual(
    lines.map((text) => text.replace(/^\S+ /, '')),
    [
      `AUDIT: id="one" stage="RequestReceived" ${line} response="<deferred>"`,
      `AUDIT: id="one" stage="ResponseComplete" ${line} response="404"`,
    ],
  )
})

test('a large event loses its objects, or is dropped if still too large', async (t) => {
  const cluster = await auditedCluster(t, '[{level: RequestResponse, omitStages: [RequestReceived]}]', [
    '--audit-log-truncate-enabled',
    '--audit-log-truncate-max-event-size=2000',
    '--audit-log-truncate-max-batch-size=4000',
  ])
  const map = JSON.stringify({ metadata: { name: 'big' }, data: { text: 'x'.repeat(3000) } })
  await ask(cluster, 'POST', configMaps, { ...jane, 'content-type': 'application/json', 'audit-id': 'big' }, map)
  await ask(cluster, 'GET', `${configMaps}?x=${'y'.repeat(3000)}`, { ...jane, 'audit-id': 'long' })
  await ask(cluster, 'GET', `${configMaps}/none`, { ...jane, 'audit-id': 'small' })
  await waitFor('the last event', () => about(cluster.events(), 'small').length === 1)
  const [big] = about(cluster.events(), 'big')
  assert.equal(big?.requestObject, undefined)
  assert.equal(big?.responseObject, undefined)
  assert.equal(big?.annotations?.['audit.k8s.io/truncated'], 'true')
  assert.equal(about(cluster.events(), 'long').length, 0)
  const metrics = await ask(cluster, 'GET', '/metrics', jane)
  assert.match(metrics.text, /^apiserver_audit_error_total\{plugin="truncate"\} 1$/m)
  assert.match(metrics.text, /^apiserver_audit_level_total\{level="RequestResponse"\} \d+$/m)
  assert.match(metrics.text, /^apiserver_audit_event_total [1-9]\d*$/m)
})

test('kubectl commands appear in the log', async (t) => {
  const cluster = await auditedCluster(
    t,
    '[{level: Metadata, resources: [{resources: ["configmaps", "pods/*"]}], omitStages: [RequestReceived]}]',
    ['--audit-log-mode=batch'],
  )
  const kubectl = new Kubectl(installedKubectls().at(-1)!, cluster.kubeconfigFile, cluster.folder)
  const events = (): readonly AuditEvent[] =>
    cluster.events().filter(({ userAgent }) => String(userAgent).startsWith('kubectl'))
  await kubectl.ok('create configmap a --from-literal x=1')
  await kubectl.ok('get configmap a')
  await kubectl.ok('label configmap a k=v')
  await kubectl.ok('delete configmap a --wait=false')
  await waitFor('the last event', () => events().some(({ verb }) => verb === 'delete'))
  const requests = events().map(
    ({ verb, objectRef, responseStatus }) =>
      `${verb} ${objectRef?.resource}/${objectRef?.name} ${responseStatus?.code}`,
  )
  assert.deepEqual(
    ['create configmaps/a 201', 'get configmaps/a 200', 'patch configmaps/a 200', 'delete configmaps/a 200'].filter(
      (one) => !requests.includes(one),
    ),
    [],
  )
})

test('in blocking-strict mode a request fails if its event cannot be written', async (t) => {
  const cluster = await auditedCluster(t, '[{level: Metadata, users: [jane], verbs: [create]}]', [
    '--audit-log-mode=blocking-strict',
    '--audit-log-truncate-enabled',
    '--audit-log-truncate-max-event-size=10',
    '--audit-log-truncate-max-batch-size=10',
  ])
  const { status, text } = await ask(
    cluster,
    'POST',
    configMaps,
    { ...jane, 'content-type': 'application/json' },
    '{"metadata":{"name":"a"}}',
  )
  assert.equal(status, 500)
  assert.equal(text, `Internal Server Error: "${configMaps}": failed to store audit event\n`)
  assert.equal((await ask(cluster, 'GET', `${configMaps}/a`, jane)).status, 404)
  assert.match((await ask(cluster, 'GET', '/metrics', jane)).text, /^apiserver_audit_requests_rejected_total 1$/m)
})
