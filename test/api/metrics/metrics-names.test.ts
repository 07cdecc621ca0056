/** Names, types and labels of kube-apiserver's metrics: each is served, or docs/metrics.md has the reason why not. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { http2Client } from '../../support/api-client.ts'
import { startTestServer } from '../../support/api-server.ts'
import { testCluster } from '../../support/test-cluster.ts'

const root = new URL('../../../', import.meta.url)
const lines = (path: string): string[] => readFileSync(new URL(path, root), 'utf8').trimEnd().split('\n')

interface Metric {
  readonly type: string
  readonly labels: readonly string[]
}

const recorded: ReadonlyMap<string, Metric> = new Map(
  lines('test/api/metrics/metrics-1.36.txt')
    .slice(1)
    .map((line) => {
      const [name = '', type = '', labels = ''] = line.split(' ')
      return [name, { type, labels: labels.split(',').filter(Boolean) }]
    }),
)

/** Names that are not served, from the table in the docs. */
const omitted = lines('docs/metrics.md').flatMap((line) => /^\| `([a-z0-9_]+\*?)` \|/.exec(line)?.[1] ?? [])
const matchesPattern = (name: string, pattern: string): boolean =>
  pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern

/** Labels of the recorded server that upstream's sources lack. */
const foreignLabels = new Set(['system_client', 'ocp_namespace'])

/** Parses a metrics page. Only metrics with samples have labels. */
function parseMetrics(page: string): ReadonlyMap<string, Metric> {
  return new Map(
    page.split(/^# HELP /m).map((part) => {
      const [name = '', type = ''] = /^# TYPE (\S+ \S+)$/m.exec(part)?.[1]?.split(' ') ?? []
      const sample =
        part.split('\n').find((line) => line.startsWith(`${name}{`) || line.startsWith(`${name}_bucket{`)) ?? ''
      const labels = [...sample.matchAll(/(\w+)="/g)].map(([, label = '']) => label).filter((label) => label !== 'le')
      return [name, { type, labels }] as const
    }),
  )
}

const core = '/api/v1/namespaces/default'
const headers = { 'content-type': 'application/json' }

test('every recorded metric is served with its type and labels, or documented as omitted', async (t) => {
  const { call, text } = await testCluster(t, { controllers: [] })
  const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { a: 'b' } }
  await call('POST', `${core}/configmaps`, map)
  await call('PUT', `${core}/configmaps/a`, { ...map, data: { a: 'c' } })
  await call('PATCH', `${core}/configmaps/a`, { data: { a: 'd' } }, 'application/merge-patch+json')
  await text('/api/v1/configmaps')
  await text('/api/v1/configmaps?limit=1&resourceVersion=1&resourceVersionMatch=NotOlderThan')
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 's' },
    spec: { type: 'NodePort', ports: [{ port: 80 }] },
  }
  await call('POST', `${core}/services`, service)
  await text(
    '/api/v1/configmaps?watch=1&timeoutSeconds=1&sendInitialEvents=true&' +
      'resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true',
  )
  await call('DELETE', `${core}/configmaps/a`)
  const found = parseMetrics(await text('/metrics'))

  const faults: string[] = []
  for (const [name, { type, labels }] of recorded) {
    const isLeftOut = omitted.some((pattern) => matchesPattern(name, pattern))
    const metric = found.get(name)
    if (!metric) {
      if (!isLeftOut) faults.push(`${name} is missing`)
      continue
    }
    if (isLeftOut) faults.push(`${name} is served, but docs/metrics.md lists it as omitted`)
    if (metric.type !== type) faults.push(`${name} is a ${metric.type}, not a ${type}`)
    const wanted = labels.filter((label) => !foreignLabels.has(label)).sort()
    // Metrics without labels had no samples on the recorded server.
    if (wanted.length > 0 && metric.labels.length > 0 && `${wanted}` !== `${[...metric.labels].sort()}`)
      faults.push(`${name} has the labels ${metric.labels}, not ${wanted}`)
  }
  assert.deepEqual(faults, [])
})

test('documented omissions are recorded metrics', () => {
  assert.deepEqual(
    omitted.filter((pattern) => ![...recorded.keys()].some((name) => matchesPattern(name, pattern))),
    [],
  )
})

test('requests, watches, lists and allocations are counted', async (t) => {
  const client = http2Client(t, await startTestServer(t))
  const post = (path: string, body: object) => client.request('POST', path, { body, headers })
  for (const name of ['a', 'b'])
    await post(`${core}/configmaps`, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 's' },
    spec: { type: 'NodePort', ports: [{ port: 80 }] },
  }
  await post(`${core}/services`, service)
  await client.request('GET', '/api/v1/namespaces/default/configmaps')
  await client.request('GET', `${core}/configmaps?watch=1&timeoutSeconds=1&resourceVersion=0`)
  const page = (await client.request('GET', '/metrics')).bytes.toString()
  const value = (series: string): number =>
    Number(
      page
        .split('\n')
        .find((line) => line.startsWith(`${series} `))
        ?.slice(series.length),
    )
  const maps = 'group="",resource="configmaps"'
  assert.ok(value(`apiserver_resource_objects{${maps}}`) >= 2)
  assert.equal(
    value(`etcd_requests_total{operation="create",${maps}}`),
    value(`etcd_request_duration_seconds_count{operation="create",${maps}}`),
  )
  assert.ok(value(`etcd_requests_total{operation="create",${maps}}`) >= 2)
  assert.ok(value(`apiserver_cache_list_total{${maps},index=""}`) >= 1)
  assert.ok(value(`apiserver_cache_list_returned_objects_total{${maps}}`) >= 2)
  assert.ok(value('apiserver_watch_events_total{group="",version="v1",resource="configmaps"}') >= 2)
  assert.equal(
    value('apiserver_watch_events_sizes_count{group="",version="v1",resource="configmaps"}'),
    value('apiserver_watch_events_total{group="",version="v1",resource="configmaps"}'),
  )
  assert.equal(value('kube_apiserver_clusterip_allocator_allocation_total{cidr="10.0.0.0/24",scope="dynamic"}'), 1)
  const allocated = value('kube_apiserver_clusterip_allocator_allocated_ips{cidr="10.0.0.0/24"}')
  assert.equal(allocated + value('kube_apiserver_clusterip_allocator_available_ips{cidr="10.0.0.0/24"}'), 254)
  assert.equal(value('kube_apiserver_nodeport_allocator_allocated_ports'), 1)
  assert.equal(value('kube_apiserver_nodeport_allocator_available_ports'), 2767)
  assert.equal(value('apiserver_request_body_size_bytes_count{group="",resource="configmaps",verb="create"}'), 2)
  assert.equal(value('field_validation_request_duration_seconds_count{field_validation="Warn"}'), 3)
  assert.equal(
    value(
      'apiserver_admission_step_admission_duration_seconds_count{type="admit",operation="CREATE",rejected="false"}',
    ) >= 3,
    true,
  )
  assert.match(
    page,
    /^apiserver_longrunning_requests\{verb="WATCH",group="",version="v1",resource="configmaps",[^}]*\} 0$/m,
  )
  assert.match(page, /^version_info\{component="kube",binary="1\.36",emulation="1\.36",min_compat="1\.35"\} 1$/m)
})
