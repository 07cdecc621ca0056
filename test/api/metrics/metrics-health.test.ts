/** Health, version and metrics endpoints, as probes and Prometheus read them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { clientOf, http2Client, json, protocols } from '../../support/api-client.ts'
import { serve, startTestServer } from '../../support/api-server.ts'
import { configMapsPath } from '../../support/objects.ts'

for (const protocol of protocols) {
  test(`health checks are ok, listed with verbose, can be excluded or read alone (${protocol})`, async (t) => {
    const client = clientOf(t, protocol, await startTestServer(t))
    const get = async (path: string): Promise<[number, string]> => {
      const { status, bytes } = await client.request('GET', path)
      return [status, bytes.toString()]
    }
    for (const path of ['healthz', 'livez', 'readyz']) {
      assert.deepEqual(await get(`/${path}`), [200, 'ok'])
      const [status, verbose] = await get(`/${path}?verbose`)
      assert.equal(status, 200)
      const lines = verbose.trimEnd().split('\n')
      assert.equal(lines.at(-1), `${path} check passed`)
      assert.deepEqual(lines.slice(0, 3), ['[+]ping ok', '[+]log ok', '[+]etcd ok'])
      for (const line of lines.slice(0, -1)) assert.match(line, /^\[\+\][\w/-]+ ok$/)
      const [, without] = await get(`/${path}?verbose=true&exclude=etcd&exclude=ping`)
      assert.match(without, /^\[\+\]ping excluded: ok\n\[\+\]log ok\n\[\+\]etcd excluded: ok\n/)
      const [, unknown] = await get(`/${path}?verbose&exclude=nothing`)
      assert.match(unknown, /warn: some health checks cannot be excluded: no matches for "nothing"\n/)
      for (const line of lines.slice(0, -1))
        assert.deepEqual(await get(`/${path}/${/\](\S+)/.exec(line)?.[1]}`), [200, 'ok'])
      assert.equal((await get(`/${path}/nothing`))[0], 404)
      assert.equal((await client.request('POST', `/${path}`)).status, 405)
      assert.deepEqual((await client.request('HEAD', `/${path}`)).bytes.length, 0)
    }
    const [, ready] = await get('/readyz?verbose')
    assert.match(ready, /\[\+\]shutdown ok\n/)
    // The post-start hooks that upstream's tests expect.
    for (const step of [
      'generic-apiserver-start-informers',
      'crd-informer-synced',
      'rbac/bootstrap-roles',
      'bootstrap-controller',
      'apiservice-openapi-controller',
    ])
      assert.ok(ready.includes(`[+]poststarthook/${step} ok\n`), step)
    assert.match(ready, /\[\+\]etcd-readiness ok\n\[\+\]informer-sync ok\n[\s\S]*\[\+\]autoregister-completion ok\n/)
  })
}

test('health reports a failing store without the reason', async (t) => {
  const store = memoryStore()
  const server = await serve(t, store)
  const client = http2Client(t, server)
  assert.equal((await client.request('GET', '/readyz')).status, 200)
  await store.close()
  const { status, bytes } = await client.request('GET', '/readyz')
  assert.equal(status, 500)
  assert.match(bytes.toString(), /\[-\]etcd failed: reason withheld\n(.*\n)*readyz check failed\n$/)
  assert.equal((await client.request('GET', '/readyz?exclude=etcd&exclude=etcd-readiness')).status, 200)
})

test('/metrics/slis reports the last result and the number of results of each check', async (t) => {
  const store = memoryStore()
  const client = http2Client(t, await serve(t, store))
  const readSlis = async () => {
    const { status, bytes, headers } = await client.request('GET', '/metrics/slis')
    assert.deepEqual([status, headers['content-type']], [200, 'text/plain; version=0.0.4; charset=utf-8'])
    const families = parsePrometheus(bytes.toString())
    return (family: string, labels: Readonly<Record<string, string>>) =>
      families.get(family)?.samples.find((sample) => isDeepStrictEqual({ ...sample.labels }, labels))?.value
  }
  for (const path of ['/livez', '/livez?exclude=etcd', '/livez/etcd', '/livez'])
    assert.equal((await client.request('GET', path)).status, 200)
  const well = await readSlis()
  assert.equal(well('kubernetes_healthcheck', { name: 'etcd', type: 'livez' }), 1)
  assert.equal(well('kubernetes_healthchecks_total', { name: 'ping', status: 'success', type: 'livez' }), 3)
  assert.equal(
    well('kubernetes_healthchecks_total', { name: 'etcd', status: 'success', type: 'livez' }),
    2,
    'excluded or read alone, a check is not counted',
  )
  assert.equal(well('kubernetes_healthcheck', { name: 'etcd', type: 'readyz' }), undefined)
  await store.close()
  await client.request('GET', '/livez')
  const ill = await readSlis()
  assert.equal(ill('kubernetes_healthcheck', { name: 'etcd', type: 'livez' }), 0)
  assert.equal(ill('kubernetes_healthchecks_total', { name: 'etcd', status: 'error', type: 'livez' }), 1)
  assert.equal(ill('kubernetes_healthchecks_total', { name: 'etcd', status: 'success', type: 'livez' }), 2)
})

test('/version reports the version of Kubernetes', async (t) => {
  const client = http2Client(t, await startTestServer(t), { token: '' })
  const answer = await client.request('GET', '/version')
  const version = json<Record<string, string>>(answer)
  assert.equal(answer.headers['content-type'], 'application/json')
  assert.deepEqual([version.major, version.minor], ['1', '36'])
  assert.deepEqual([version.emulationMajor, version.emulationMinor], ['1', '36'])
  assert.deepEqual([version.minCompatibilityMajor, version.minCompatibilityMinor], ['1', '35'])
  assert.match(version.gitVersion ?? '', /^v1\.36\.\d+\+t8s\./)
  for (const field of ['gitCommit', 'gitTreeState', 'buildDate', 'goVersion', 'compiler', 'platform'])
    assert.equal(typeof version[field], 'string', field)
})

interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

interface Family {
  readonly type: string
  readonly samples: Sample[]
}

const sampleLine = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*",?)*)\})? (\S+)$/

/** Parses the text format 0.0.4 strictly. Throws on input that Prometheus rejects. */
function parsePrometheus(text: string): ReadonlyMap<string, Family> {
  assert.ok(text.endsWith('\n'))
  const families = new Map<string, Family>()
  const seen = new Set<string>()
  let current: Family | undefined
  let name = ''
  for (const line of text.slice(0, -1).split('\n')) {
    if (line.startsWith('# HELP ')) {
      name = line.split(' ')[2] ?? ''
      assert.ok(!families.has(name), `${name} comes twice`)
      continue
    }
    if (line.startsWith('# TYPE ')) {
      const [, , typed, type = ''] = line.split(' ')
      assert.equal(typed, name)
      assert.ok(['counter', 'gauge', 'histogram', 'summary', 'untyped'].includes(type))
      families.set(name, (current = { type, samples: [] }))
      continue
    }
    const match = sampleLine.exec(line)
    assert.ok(match && current, `not a sample: ${line}`)
    const [, sample = '', labels = '', value = ''] = match
    assert.ok(
      sample === name ||
        (current.type === 'histogram' && [`${name}_bucket`, `${name}_sum`, `${name}_count`].includes(sample)),
      `${sample} stands under ${name}`,
    )
    assert.ok(!seen.has(line.slice(0, line.lastIndexOf(' '))), `${line} comes twice`)
    seen.add(line.slice(0, line.lastIndexOf(' ')))
    assert.ok(!Number.isNaN(Number(value)), `${line}: not a number`)
    current.samples.push({
      name: sample,
      labels: Object.fromEntries(
        [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key, text]) => [key, text]),
      ),
      value: Number(value),
    })
  }
  return families
}

test('/metrics is Prometheus text and counts requests', async (t) => {
  const client = http2Client(t, await startTestServer(t))
  for (let i = 0; i < 3; i++) await client.request('GET', configMapsPath)
  await client.request('GET', `${configMapsPath}/absent`)
  await client.request('POST', `${configMapsPath}?dryRun=All`, { body: { metadata: { name: 'a' } } })
  const watching = client.lines(`${configMapsPath}?watch=1&timeoutSeconds=1`, () => {})
  await watching.ended
  const answer = await client.request('GET', '/metrics')
  assert.equal(answer.headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8')
  const families = parsePrometheus(answer.bytes.toString())
  const count = (labels: Record<string, string>): number =>
    families
      .get('apiserver_request_total')!
      .samples.filter((sample) =>
        Object.entries({ resource: 'configmaps', ...labels }).every(([key, value]) => sample.labels[key] === value),
      )
      .reduce((sum, { value }) => sum + value, 0)
  assert.equal(count({ verb: 'LIST', code: '200', scope: 'namespace', version: 'v1' }), 3)
  assert.equal(count({ verb: 'GET', code: '404', scope: 'resource' }), 1)
  assert.equal(count({ verb: 'POST', code: '201', dry_run: 'All' }), 1)
  assert.equal(count({ verb: 'WATCH', code: '200' }), 1)
  const { type, samples } = families.get('apiserver_request_duration_seconds')!
  assert.equal(type, 'histogram')
  const lists = samples.filter(({ labels }) => labels.verb === 'LIST' && labels.resource === 'configmaps')
  const buckets = lists.filter(({ name }) => name.endsWith('_bucket')).map(({ value }) => value)
  assert.ok(buckets.length > 10 && buckets.every((value, i) => i === 0 || value >= buckets[i - 1]!), 'buckets add up')
  assert.equal(lists.find(({ labels }) => labels.le === '+Inf')?.value, 3)
  assert.equal(lists.find(({ name }) => name.endsWith('_count'))?.value, 3)
  assert.equal(families.get('process_resident_memory_bytes')?.type, 'gauge')
  if (process.platform === 'linux') assert.ok((families.get('process_open_fds')?.samples[0]?.value ?? 0) > 3)
  assert.equal(count({ resource: 'nothing' }), 0)
})

test('/metrics has separate series for applies, connections and deprecated APIs', async (t) => {
  const client = http2Client(t, await startTestServer(t))
  const applied = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }
  await client.request('PATCH', `${configMapsPath}/a?fieldManager=me`, {
    body: applied,
    headers: { 'content-type': 'application/apply-patch+yaml' },
  })
  await client.request('PATCH', `${configMapsPath}/a`, {
    body: {},
    headers: { 'content-type': 'application/merge-patch+json' },
  })
  await client.request('POST', configMapsPath, { body: { ...applied, metadata: { name: 'b' } } })
  await client.request('GET', '/api/v1/namespaces/default/pods/none/log')
  const deprecated = async (): Promise<readonly unknown[]> =>
    parsePrometheus((await client.request('GET', '/metrics')).bytes.toString())
      .get('apiserver_requested_deprecated_apis')!
      .samples.map(({ labels, value }) => [labels, value])
  assert.deepEqual(await deprecated(), [])
  for (let i = 0; i < 2; i++) await client.request('GET', '/api/v1/endpoints')
  assert.deepEqual(await deprecated(), [
    [{ group: '', version: 'v1', resource: 'endpoints', subresource: '', removed_release: '' }, 1],
  ])
  const { samples } = parsePrometheus((await client.request('GET', '/metrics')).bytes.toString()).get(
    'apiserver_request_total',
  )!
  assert.deepEqual(
    samples
      .filter(({ labels }) => ['configmaps', 'pods'].includes(labels.resource ?? ''))
      .map(({ labels: { verb, scope, code }, value }) => [verb, scope, code, value])
      .sort(),
    [
      ['APPLY', 'resource', '201', 1],
      ['CONNECT', 'resource', '404', 1],
      ['PATCH', 'resource', '200', 1],
      ['POST', 'resource', '201', 1],
    ],
  )
})

test('requests for unknown resources create no further series', async (t) => {
  const client = http2Client(t, await startTestServer(t))
  const size = async (): Promise<number> =>
    (await client.request('GET', '/metrics')).bytes.toString().split('\n').length
  const ask = async (i: number): Promise<void> => {
    await client.request('GET', `/api/v1/namespaces/default/things${i}`)
    await client.request('GET', `/apis/group${i}/v1/things`)
    await client.request('GET', `${configMapsPath}/a/part${i}`)
    await client.request('POST', `${configMapsPath}?dryRun=Value${i}`, { body: {} })
    await client.request(`METHOD${i}`, configMapsPath)
  }
  await ask(0)
  await size()
  const before = await size()
  for (let i = 1; i < 20; i++) await ask(i)
  assert.ok((await size()) - before < 20, `${(await size()) - before} lines more`)
})
