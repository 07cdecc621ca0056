/** Priority and fairness as seen by clients: a real server with few seats, and real kubectls. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { type TestContext, test } from 'node:test'
import type { ClusterOptions } from '../../src/cluster/start-cluster.ts'
import { installedKubectls, Kubectl } from '../support/kubectl.ts'
import { apiControllers, type TestCluster, testCluster } from '../support/test-cluster.ts'
import { waitFor } from '../support/wait-for.ts'

const group = '/apis/flowcontrol.apiserver.k8s.io/v1'
const tenants = ['tenant', 'other']

/** Tenants may do everything, but only so much at a time. */
async function cluster(t: TestContext, options: ClusterOptions = {}): Promise<TestCluster> {
  const tokens = tenants.map((name) => ({ token: name, user: { name, groups: ['system:authenticated', 'tenants'] } }))
  const server = await testCluster(t, { controllers: apiControllers, tokens, ...options })
  const apiGroup = 'rbac.authorization.k8s.io'
  await server.call('POST', `/apis/${apiGroup}/v1/clusterrolebindings`, {
    metadata: { name: 'tenants' },
    roleRef: { apiGroup, kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup, kind: 'Group', name: 'tenants' }],
  })
  return server
}

interface Answer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly text: string
}

/** Sends a request of a tenant, without a body. */
function send(
  { client: { url, ca } }: TestCluster,
  user: string,
  method: string,
  path: string,
  headers: Record<string, string> = {},
): ClientRequest {
  const sent = request(new URL(path, url), {
    method,
    ca,
    agent: false,
    headers: { authorization: `Bearer ${user}`, ...headers },
  })
  sent.on('error', () => {})
  return sent
}

async function answerTo(sent: ClientRequest): Promise<Answer> {
  const [response]: IncomingMessage[] = await once(sent, 'response')
  return {
    status: response!.statusCode!,
    headers: response!.headers,
    text: Buffer.concat(await response!.toArray()).toString(),
  }
}

const get = (server: TestCluster, user: string, path: string): Promise<Answer> =>
  answerTo(send(server, user, 'GET', path).end())

const configMap = JSON.stringify({ metadata: { name: 'held' } })

/** A write that executes as long as the client holds back its body. */
function held(
  t: TestContext,
  server: TestCluster,
  user = 'tenant',
): { release: () => Promise<Answer>; drop: () => void } {
  const sent = send(server, user, 'POST', '/api/v1/namespaces/default/configmaps?dryRun=All', {
    'content-type': 'application/json',
    'content-length': String(configMap.length),
  })
  sent.write(configMap.slice(0, 1))
  t.after(() => sent.destroy())
  return { release: () => answerTo(sent.end(configMap.slice(1))), drop: () => sent.destroy() }
}

/** Creates a level with one seat for all tenants. */
async function oneSeat(server: TestCluster, limitResponse: object): Promise<void> {
  await server.call('POST', `${group}/prioritylevelconfigurations`, {
    metadata: { name: 'tenants' },
    spec: {
      type: 'Limited',
      limited: { nominalConcurrencyShares: 1, lendablePercent: 0, borrowingLimitPercent: 0, limitResponse },
    },
  })
  await server.call('POST', `${group}/flowschemas`, {
    metadata: { name: 'tenants' },
    spec: {
      priorityLevelConfiguration: { name: 'tenants' },
      matchingPrecedence: 50,
      distinguisherMethod: { type: 'ByUser' },
      rules: [
        {
          subjects: [{ kind: 'Group', group: { name: 'tenants' } }],
          resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'], clusterScope: true }],
        },
      ],
    },
  })
  await waitFor(
    'the schema in effect',
    async () => dangling(await server.call('GET', `${group}/flowschemas/tenants`)) === 'False',
  )
}

const dangling = ({ status }: Readonly<Record<string, unknown>>): string | undefined =>
  (status as { conditions?: { type: string; status: string }[] }).conditions?.find(({ type }) => type === 'Dangling')
    ?.status

const small: ClusterOptions = { apiServerFlags: ['--max-requests-inflight=20', '--max-mutating-requests-inflight=10'] }
const dump = async (server: TestCluster, table: string): Promise<string> => {
  const { client } = server
  const sent = request(new URL(`/debug/api_priority_and_fairness/${table}`, client.url), { ...client, agent: false })
  return (await answerTo(sent.end())).text
}

/** The cells of the rows that begin with a name. */
const rows = (table: string, name: string): string[][] =>
  table
    .split('\n')
    .map((line) => line.split(/, */))
    .filter(([first]) => first === name)

const row = (table: string, name: string): string[] => rows(table, name)[0] ?? []

test('a level without queues rejects requests that find no seat; other levels are not affected', async (t) => {
  const server = await cluster(t, small)
  await oneSeat(server, { type: 'Reject' })
  const write = held(t, server)
  await waitFor('the write', async () => row(await dump(server, 'dump_priority_levels'), 'tenants')[5] === '1')
  const refused = await get(server, 'other', '/api/v1/namespaces/default/configmaps')
  assert.equal(refused.status, 429)
  assert.equal(refused.text, 'Too many requests, please try again later.\n')
  assert.equal(refused.headers['retry-after'], '1')
  assert.match(refused.headers['content-type']!, /^text\/plain/)
  const uid = async (path: string) => (await server.call('GET', path)).metadata.uid
  assert.equal(refused.headers['x-kubernetes-pf-flowschema-uid'], await uid(`${group}/flowschemas/tenants`))
  assert.equal(
    refused.headers['x-kubernetes-pf-prioritylevel-uid'],
    await uid(`${group}/prioritylevelconfigurations/tenants`),
  )
  // Other paths belong to another schema.
  assert.equal((await get(server, 'other', '/version')).status, 200)
  assert.equal((await write.release()).status, 201)
  assert.equal((await get(server, 'other', '/api/v1/namespaces/default/configmaps')).status, 200)
  const metrics = await get(server, 'other', '/metrics')
  assert.match(
    metrics.text,
    new RegExp(
      '^apiserver_flowcontrol_rejected_requests_total\\{priority_level="tenants",flow_schema="tenants",' +
        'reason="concurrency-limit"\\} 1$',
      'm',
    ),
  )
  assert.match(
    metrics.text,
    new RegExp(
      '^apiserver_flowcontrol_request_wait_duration_seconds_count\\{priority_level="tenants",' +
        'flow_schema="tenants",execute="false"\\} 1$',
      'm',
    ),
  )
  assert.match(
    metrics.text,
    /^apiserver_flowcontrol_watch_count_samples_count\{priority_level="tenants",flow_schema="tenants"\} 1$/m,
  )
  for (const kind of ['mutating', 'readOnly']) {
    assert.match(
      metrics.text,
      new RegExp(
        `^apiserver_flowcontrol_read_vs_write_current_requests_count\\{phase="executing",request_kind="${kind}"\\} ` +
          '[1-9]',
        'm',
      ),
    )
  }
  const [, , , , , , dispatched, rejected, timedOut, cancelled] = row(
    await dump(server, 'dump_priority_levels'),
    'tenants',
  )
  assert.deepEqual([dispatched, rejected, timedOut, cancelled], ['2', '1', '0', '0'])
  assert.match(
    metrics.text,
    new RegExp(
      '^apiserver_request_terminations_total\\{verb="LIST",group="",version="v1",resource="configmaps",.*' +
        'scope="namespace",component="apiserver",code="429"\\} 1$',
      'm',
    ),
  )
  assert.match(metrics.text, /^apiserver_dropped_requests_total\{request_kind="readOnly"\} 1$/m)
})

test('requests wait in a queue for a seat, are listed there, and leave it if their client disconnects', async (t) => {
  const server = await cluster(t, small)
  await oneSeat(server, { type: 'Queue', queuing: { queues: 4, handSize: 1, queueLengthLimit: 10 } })
  const write = held(t, server)
  const executing = () => dump(server, 'dump_priority_levels')
  await waitFor('the write', async () => row(await executing(), 'tenants')[5] === '1')
  const path = '/api/v1/namespaces/default/configmaps/x'
  const waiting = get(server, 'other', path)
  const leaving = send(server, 'other', 'GET', path).end()
  await waitFor('both waiting', async () => row(await executing(), 'tenants')[4] === '2')
  const requests = await dump(server, 'dump_requests?includeRequestDetails=1')
  const shown = rows(requests, 'tenants')
  const [first, second] = shown.filter((cells) => cells[3] !== '-1')
  const never = '0001-01-01T00:00:00Z'
  for (const [i, cells] of [first!, second!].entries())
    assert.deepEqual(
      [1, 3, 4, 6, 9, 10, 11, 12].map((at) => cells[at]),
      ['tenants', String(i), 'other', '1', never, 'other', 'get', path],
    )
  const [executes] = shown.filter((cells) => cells[3] === '-1')
  assert.deepEqual(
    [executes![1], executes![4], executes![10], executes![11]],
    ['tenants', 'tenant', 'tenant', 'create'],
  )
  assert.ok(executes![9]! >= executes![5]!, 'it started after its arrival')
  // The request for the dump executes too, at a level without queues.
  assert.deepEqual(row(requests, 'exempt').slice(1, 5), ['exempt', '-1', '-1', ''])
  const queues = (await dump(server, 'dump_queues')).split('\n').filter((line) => line.startsWith('tenants,'))
  assert.equal(queues.length, 4)
  leaving.destroy()
  await waitFor('one left', async () => row(await executing(), 'tenants')[4] === '1')
  assert.equal((await write.release()).status, 201)
  assert.equal((await waiting).status, 404)
  const after = row(await executing(), 'tenants')
  assert.deepEqual(after.slice(6), ['2', '1', '0', '1'])
  await waitFor('the level idle', async () => row(await executing(), 'tenants')[2] === 'true')
})

test('a watch has its seat only while it begins, and a disconnected client frees its own', async (t) => {
  const server = await cluster(t, small)
  await oneSeat(server, { type: 'Reject' })
  const level = async () => row(await dump(server, 'dump_priority_levels'), 'tenants')
  const watch = send(server, 'tenant', 'GET', '/api/v1/namespaces/default/configmaps?watch=1&resourceVersion=0').end()
  t.after(() => watch.destroy())
  const [response]: IncomingMessage[] = await once(watch, 'response')
  assert.equal(response!.statusCode, 200)
  assert.ok(response!.headers['x-kubernetes-pf-flowschema-uid'])
  await waitFor('no seat in use', async () => (await level())[5] === '0')
  const write = held(t, server)
  await waitFor('a seat in use', async () => (await level())[5] === '1')
  write.drop()
  await waitFor('the seat free', async () => (await level())[5] === '0')
})

test('errors of the endpoint have the headers too, and free their seat', async (t) => {
  const server = await cluster(t, small)
  const { status, headers } = await get(server, 'tenant', '/api/v1/namespaces/default/configmaps/none')
  assert.equal(status, 404)
  assert.ok(headers['x-kubernetes-pf-flowschema-uid'])
  assert.equal(row(await dump(server, 'dump_priority_levels'), 'global-default')[5], '0')
})

test('a schema dangles until its level exists', async (t) => {
  const server = await cluster(t)
  const own = { metadata: { name: 'own' }, spec: { priorityLevelConfiguration: { name: 'own' }, rules: [] } }
  await server.call('POST', `${group}/flowschemas`, own)
  const is = (status: string) => async () => dangling(await server.call('GET', `${group}/flowschemas/own`)) === status
  await waitFor('dangling', is('True'))
  const limited = { nominalConcurrencyShares: 1, limitResponse: { type: 'Reject' } }
  await server.call('POST', `${group}/prioritylevelconfigurations`, {
    metadata: { name: 'own' },
    spec: { type: 'Limited', limited },
  })
  await waitFor('not dangling', is('False'))
  const { metadata } = await server.call('GET', `${group}/flowschemas/own`)
  const managers = metadata.managedFields as { manager: string; operation: string; subresource?: string }[]
  assert.deepEqual(
    managers
      .filter(({ subresource }) => subresource === 'status')
      .map(({ manager, operation }) => [manager, operation]),
    [['api-priority-and-fairness-config-consumer-v1', 'Apply']],
  )
  await server.call('DELETE', `${group}/prioritylevelconfigurations/own`)
  await waitFor('dangling again', is('True'))
})

test('mandatory objects cannot be changed', async (t) => {
  const server = await cluster(t)
  const patch = (path: string, spec: object) =>
    server.call('PATCH', `${group}/${path}`, { spec }, 'application/merge-patch+json')
  await assert.rejects(
    patch('flowschemas/catch-all', { matchingPrecedence: 9999 }),
    /422 .*spec of 'catch-all' must equal the fixed value/,
  )
  await assert.rejects(
    patch('prioritylevelconfigurations/catch-all', { limited: { nominalConcurrencyShares: 6 } }),
    /422 .*spec of 'catch-all' must equal the fixed value/,
  )
  await patch('prioritylevelconfigurations/exempt', { exempt: { lendablePercent: 10 } })
  await patch('prioritylevelconfigurations/system', { limited: { nominalConcurrencyShares: 31 } })
})

test('without priority and fairness, reads and writes are limited in number', async (t) => {
  const flags = [
    '--enable-priority-and-fairness=false',
    '--max-requests-inflight=0',
    '--max-mutating-requests-inflight=1',
  ]
  const server = await cluster(t, { apiServerFlags: flags })
  const write = held(t, server)
  const path = '/api/v1/namespaces/default/configmaps?dryRun=All'
  const second = () =>
    answerTo(send(server, 'other', 'POST', path, { 'content-type': 'application/json' }).end(configMap))
  const refused = await waitFor('a rejection', async () => {
    const answer = await second()
    return answer.status === 429 && answer
  })
  assert.deepEqual(
    [refused.text, refused.headers['retry-after']],
    ['Too many requests, please try again later.\n', '1'],
  )
  assert.equal(refused.headers['x-kubernetes-pf-flowschema-uid'], undefined)
  assert.equal((await get(server, 'other', '/api/v1/namespaces/default/configmaps')).status, 200)
  await server.call('POST', path, configMap)
  assert.equal((await write.release()).status, 201)
  assert.equal((await second()).status, 201)
  assert.equal((await get(server, 'other', '/debug/api_priority_and_fairness/dump_queues')).status, 404)
})

test('invalid limits are rejected with upstream’s messages', async (t) => {
  const refused = (apiServerFlags: string[], words: RegExp) => assert.rejects(cluster(t, { apiServerFlags }), words)
  await refused(['--max-requests-inflight=-1'], /^ExplainedError: --max-requests-inflight can not be negative value$/)
  await refused(
    ['--max-requests-inflight=0', '--max-mutating-requests-inflight=0'],
    /MaxRequestsInFlight=0 and MaxMutatingRequestsInFlight=0; they must add up to something positive/,
  )
})

test('kubectl shows schemas, levels and the dump of priority levels', async (t) => {
  const server = await cluster(t)
  await waitFor('conditions', async () => {
    const { items } = (await server.call('GET', `${group}/flowschemas`)) as unknown as {
      items: Readonly<Record<string, unknown>>[]
    }
    return items.every((item) => dangling(item) === 'False')
  })
  for (const program of installedKubectls()) {
    const kubectl = new Kubectl(program, server.kubeconfigFile, server.folder)
    const { stdout } = await kubectl.run('get flowschemas,prioritylevelconfigurations --no-headers')
    const cells = stdout.split('\n').map((line) => line.split(/ +/))
    const schema = cells.find(([name]) => name === 'flowschema.flowcontrol.apiserver.k8s.io/system-nodes')
    assert.deepEqual([schema?.[1], schema?.[2], schema?.[3], schema?.[5]], ['system', '500', 'ByUser', 'False'])
    const level = cells.find(
      ([name]) => name === 'prioritylevelconfiguration.flowcontrol.apiserver.k8s.io/workload-low',
    )
    assert.deepEqual(level?.slice(1, 6), ['Limited', '100', '128', '6', '50'])
    const raw = await kubectl.run('get --raw /debug/api_priority_and_fairness/dump_priority_levels')
    assert.match(
      raw.stdout,
      new RegExp(
        '^PriorityLevelName, +ActiveQueues, +IsIdle, +IsQuiescing, +WaitingRequests, +ExecutingRequests, ' +
          '+DispatchedRequests, +RejectedRequests, +TimedoutRequests, +CancelledRequests$',
        'm',
      ),
    )
    assert.match(raw.stdout, /^exempt, +0, +false, +false, +0, +1, +[1-9]\d*, +0, +0, +0$/m)
  }
})
