/** `typernetes/test`: one cluster, which every test leaves as it was. */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, type TestContext, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import type { TraceData } from '../../src/apiserver/test-control/traces/trace-data.ts'
import { ConnectionLost } from '../../src/client/connection/connection-lost.ts'
import { Informer } from '../../src/client/informers/informer.ts'
import { configMaps, deployments, pods, services } from '../../src/client/kinds.ts'
import { startTestCluster, type TestCluster, type TraceableTest } from '../../src/cluster/testkit/index.ts'
import type { Unstructured } from '../../src/machinery/object.ts'
import { StatusError } from '../../src/machinery/status-error.ts'
import { waitFor as until } from '../support/wait-for.ts'

const traces = mkdtempSync(join(tmpdir(), 't8s-traces-'))
let cluster: TestCluster
before(async () => {
  cluster = await startTestCluster({ nodes: 1, scheduler: true, trace: { mode: 'on-failure', directory: traces } })
})
after(async () => {
  await cluster.stop()
  rmSync(traces, { recursive: true })
})
afterEach(() => cluster.reset())

const boats = `
apiVersion: example.com/v1
kind: Boat
metadata: { name: dinghy }
spec: { crew: 3 }
status: { afloat: true }
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: boats.example.com }
spec:
  group: example.com
  scope: Namespaced
  names: { plural: boats, kind: Boat }
  versions:
  - name: v1
    served: true
    storage: true
    subresources: { status: {} }
    schema: { openAPIV3Schema: { type: object, x-kubernetes-preserve-unknown-fields: true } }
`
const web = `
apiVersion: apps/v1
kind: Deployment
metadata: { name: web }
spec:
  replicas: 2
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: web, image: nginx }] }
`
const configMap = (name: string, data: Record<string, string> = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
  data,
})

test('custom resources are applied after their definitions, with a status if that is wanted', async (t) => {
  const namespace = await cluster.namespace(t)
  const [dinghy, definition] = await namespace.apply(boats, { status: true })
  assert.equal(definition?.kind, 'CustomResourceDefinition')
  assert.deepEqual(dinghy?.status, { afloat: true })
  assert.equal(dinghy?.metadata.namespace, namespace.name)
  await namespace.waitFor('boat/dinghy', 'jsonpath={.status.afloat}=true')
  await cluster.reset()
  await assert.rejects(cluster.waitFor('boat/dinghy', 'create'), /the server has no resource "boat"/)
  await cluster.apply(boats)
})

test('manifests are files, folders and objects, too', async () => {
  const folder = mkdtempSync(join(tmpdir(), 't8s-kit-'))
  try {
    writeFileSync(join(folder, 'a.yaml'), 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\n')
    writeFileSync(join(folder, 'b.json'), JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [configMap('b')] }))
    const applied = await cluster.apply([folder, join(folder, 'a.yaml'), configMap('c')])
    assert.deepEqual(
      applied.map(({ metadata }) => metadata.name),
      ['a', 'b', 'a', 'c'],
    )
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('a Deployment becomes Available, and a wait that fails shows conditions and events', async (t) => {
  const namespace = await cluster.namespace(t)
  const [deployment] = await namespace.apply(web)
  await namespace.waitFor(deployment!, 'Available')
  await namespace.waitFor('deploy/web', (object) => (object as typeof object & Replicas)?.status?.readyReplicas === 2)
  await assert.rejects(namespace.waitFor('deploy/web', 'Available=False', { timeoutMs: 20 }), ({ message }: Error) => {
    assert.match(message, /^Deployment test-\w+\/web did not meet Available=False within 0.02 s:\n/)
    assert.match(message, /\n {4}Available=True \(MinimumReplicasAvailable: /)
    return true
  })
  await assert.rejects(namespace.waitFor('pod/none', 'Ready', { timeoutMs: 20 }), /it does not exist/)
})

interface Replicas {
  readonly status?: { readonly readyReplicas?: number }
}

test('a restored snapshot reaches informers as events, and addresses are free or taken as before', async (t) => {
  await cluster.apply(web)
  await cluster.waitFor('deploy/web', 'Available')
  const service = (name: string, clusterIP?: string): Unstructured => ({
    ...{ apiVersion: 'v1', kind: 'Service', metadata: { name, namespace: 'default' } },
    spec: { ports: [{ port: 80 }], ...(clusterIP && { clusterIP }) },
  })
  await cluster.apply(service('kept', '10.0.0.77'))
  const snapshot = await cluster.snapshot()
  const informer = new Informer({ client: cluster.api, resource: pods, namespace: 'default', log: () => {} })
  void informer.run(stopping(t).signal)
  await until('the informer has 2 pods', () => informer.size === 2)
  const { resourceVersion = '0' } = (await cluster.api.get(deployments, 'default', 'web')).metadata

  await cluster.api.delete(deployments, 'default', 'web')
  await until('the informer has no pods', () => informer.size === 0)
  await cluster.api.delete(services, 'default', 'kept')
  await cluster.apply([service('added', '10.0.0.78'), configMap('added')])
  const started = performance.now()
  assert.ok((await cluster.restore(snapshot)) >= 6)
  assert.ok(performance.now() - started < 2000)

  await until('the informer has 2 pods', () => informer.size === 2)
  const restored = await cluster.api.get(deployments, 'default', 'web')
  assert.ok(Number(restored.metadata.resourceVersion) > Number(resourceVersion))
  assert.equal(await cluster.api.find(configMaps, 'default', 'added'), undefined)
  await assert.rejects(cluster.apply(service('other', '10.0.0.77')), /provided IP is already allocated/)
  await cluster.apply(service('other', '10.0.0.78'))
})

test('the log has the requests of the code under test, and no others', async () => {
  await cluster.apply(configMap('ignored'))
  const { api } = await cluster.user({ name: 'ada', groups: ['system:masters'] })
  await api.create(configMaps, configMap('a', { key: 'value' }))
  await api.find(configMaps, 'default', 'missing')
  const requests = await cluster.requests({ user: 'ada', bodies: true })
  assert.deepEqual(
    requests.map(({ verb, resource, namespace, name, code }) => [verb, resource, namespace, name, code]),
    [
      ['create', 'configmaps', 'default', 'a', 201],
      ['get', 'configmaps', 'default', 'missing', 404],
    ],
  )
  assert.deepEqual(JSON.parse(requests[0]?.body ?? '').data, { key: 'value' })
  assert.deepEqual(await cluster.requests({ name: 'ignored' }), [])
  await cluster.clearRequests()
  assert.deepEqual(await cluster.requests(), [])
})

test('faults hit matching requests, so many times, and only them', async () => {
  const { api } = await cluster.user({ name: 'ada', groups: ['system:masters'] })
  const conflicts = await cluster.fault({
    verb: 'update',
    resource: 'configmaps',
    name: 'a',
    code: 409,
    skip: 1,
    times: 2,
  })
  const created = await api.create(configMaps, configMap('a'))
  await api.create(configMaps, configMap('b'))
  const update = (name: string) => api.update(configMaps, configMap(name, { at: 'x' }))
  await update('a')
  await assert.rejects(update('a'), { code: 409, reason: 'Conflict' })
  await update('b')
  await assert.rejects(update('a'), /Operation cannot be fulfilled on configmaps "a": the object has been modified/)
  await update('a')
  assert.equal(await conflicts.hits(), 2)

  await cluster.fault({ verb: 'create', resource: 'configmaps', name: 'c', code: 409 })
  await assert.rejects(api.create(configMaps, configMap('c')), /configmaps "c" already exists/)
  // The client waits for Retry-After, and tries again.
  await cluster.fault({ verb: 'get', name: 'a', code: 429, retryAfterSeconds: 1 })
  await api.get(configMaps, 'default', 'a')
  await cluster.fault({ resource: 'configmaps', code: 401, times: 0 })
  await assert.rejects(api.get(configMaps, 'default', 'a'), { code: 401, reason: 'Unauthorized' })
  await cluster.apply(configMap('d'))
  await cluster.clearFaults()
  assert.equal((await api.get(configMaps, 'default', 'a')).metadata.uid, created.metadata.uid)

  await cluster.fault({ verb: 'create', name: 'lost', lose: 'request' })
  await assert.rejects(api.create(configMaps, configMap('lost')), { name: 'ConnectionLost' })
  assert.equal(await api.find(configMaps, 'default', 'lost'), undefined)
  await cluster.fault({ verb: 'create', name: 'lost', lose: 'response' })
  await assert.rejects(api.create(configMaps, configMap('lost')), { name: 'ConnectionLost' })
  assert.ok(await api.find(configMaps, 'default', 'lost'))
  const started = performance.now()
  await cluster.fault({ verb: 'get', latencyMs: 60 })
  await api.get(configMaps, 'default', 'a')
  assert.ok(performance.now() - started >= 60)
  await assert.rejects(cluster.fault({ verb: 'get' }), /A fault needs code, lose, expire or latencyMs/)
})

test('watches break and expire on demand, and informers recover', async (t) => {
  const { api } = await cluster.user({ name: 'ada', groups: ['system:masters'] })
  const { signal } = stopping(t)
  const watch = async (): Promise<void> => {
    for await (const _ of api.watch(configMaps, { namespace: 'default', resourceVersion: '', signal }));
  }
  const ended = (): Promise<unknown> =>
    watch().then(
      () => 'in order',
      (error) => error,
    )
  const match = { user: 'ada', resource: 'configmaps' }
  await cluster.reset()
  const dropped = ended()
  await until('the first watch is dropped', async () => (await cluster.dropWatches(match)) === 1)
  assert.ok((await dropped) instanceof ConnectionLost)
  const expired = ended()
  await until('the second watch is expired', async () => (await cluster.expireWatches(match)) === 1)
  assert.equal(codeOf(await expired), 410)
  assert.equal(await cluster.expireWatches(match), 0)
  await cluster.fault({ ...match, verb: 'watch', expire: true })
  await assert.rejects(watch(), { code: 410, reason: 'Expired' })

  const informer = new Informer({ client: api, resource: configMaps, namespace: 'default', log: () => {} })
  void informer.run(signal)
  await until('the watch of the informer is expired', async () => (await cluster.expireWatches(match)) === 1)
  await api.create(configMaps, configMap('later'))
  await until('the informer has the new object', () => informer.get('default', 'later') !== undefined)
})

/** Aborted after the test. */
function stopping(t: TestContext): AbortController {
  const controller = new AbortController()
  t.after(() => controller.abort())
  return controller
}

const codeOf = (error: unknown): number | undefined => (error instanceof StatusError ? error.code : undefined)

test('users have the rights of their roles, and kubeconfigs that only their owner reads', async () => {
  const folder = mkdtempSync(join(tmpdir(), 't8s-kit-'))
  try {
    const user = await cluster.user({ name: 'eve', groups: ['team'] })
    await assert.rejects(user.api.list(pods), /User "eve" cannot list resource "pods"/)
    const files = [join(folder, 'eve'), join(folder, 'admin')]
    user.writeKubeconfig(files[0]!)
    cluster.writeKubeconfig(files[1]!)
    for (const file of files) assert.equal(statSync(file).mode & 0o777, 0o600)
    assert.match(readFileSync(files[0]!, 'utf8'), /name: eve/)
    assert.throws(
      () => cluster.writeKubeconfig(join(folder, 'none', 'x')),
      /Cannot write the kubeconfig .*no such file/,
    )
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('a namespace is deleted after its test', async (t) => {
  let name = ''
  await t.test('inner', async (inner) => {
    name = (await cluster.namespace(inner)).name
  })
  await cluster.waitFor(`namespace/${name}`, 'delete')
  {
    await using namespace = await cluster.namespace()
    name = namespace.name
  }
  await cluster.waitFor(`namespace/${name}`, 'delete')
})

test('a failed test leaves a trace with requests and versions, and without values of Secrets', async () => {
  const { test: standIn, end } = endedTest({
    name: 'a < b',
    filePath: '/x/shop.test.ts',
    error: new Error('no correct-horse'),
  })
  await cluster.trace(standIn)
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 's' },
    stringData: { password: 'correct-horse' },
  }
  await cluster.apply([
    configMap('a', { html: '</script><b>' }),
    { ...secret, metadata: { name: 's', namespace: 'default' } },
  ])
  await cluster.api.update(configMaps, configMap('a', { html: '<i>' }))
  const pod = { ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'stuck', namespace: 'default' } } }
  await cluster.apply({ ...pod, spec: { nodeSelector: { disk: 'none' }, containers: [{ name: 'c', image: 'c' }] } })
  await cluster.waitFor('pod/stuck', 'PodScheduled=False')
  await end()
  const file = join(traces, 'shop-test-a-b.html')
  assert.equal(statSync(file).mode & 0o777, 0o600)
  const trace = readTrace(file)
  assert.doesNotMatch(JSON.stringify(trace), /correct-horse|Y29ycmVjdC1ob3JzZ/)
  assert.deepEqual([trace.test.outcome, trace.test.error], ['failed', 'no redacted 3'])
  const [first, second] = trace.versions.filter(({ name }) => name === 'a')
  assert.deepEqual(
    trace.requests.filter(({ wrote }) => wrote === second?.revision).map(({ verb, code }) => [verb, code]),
    [['update', 200]],
  )
  assert.ok(first && second && first.revision < second.revision)
  assert.ok(trace.versions.some(({ name, object }) => name === 'stuck' && /Unschedulable/.test(JSON.stringify(object))))
})

test('tests that pass leave no trace, and a test without a hook ends with the next one', async () => {
  const passing = endedTest({ name: 'passes', passed: true })
  await cluster.trace(passing.test)
  await passing.end()
  await cluster.reset({ name: 'without a hook', passed: false })
  await cluster.reset()
  let finish = async (): Promise<void> => {}
  const task = { name: 'of Vitest', result: { state: 'fail', errors: [{ message: 'expected 1', stack: 'at x' }] } }
  await cluster.trace({ task, onTestFinished: (done) => void (finish = done) })
  await finish()
  assert.deepEqual(readdirSync(traces).sort(), ['of-Vitest.html', 'shop-test-a-b.html', 'without-a-hook.html'])
  const { test: traced } = readTrace(join(traces, 'of-Vitest.html'))
  assert.deepEqual([traced.name, traced.error, traced.stack], ['of Vitest', 'expected 1', 'at x'])
  await assert.rejects(startTestCluster({ trace: 'always' as 'on' }), /trace must be off, on, on-failure/)
})

/** A stand-in for the context of a test of node:test. */
function endedTest(test: Omit<TraceableTest, 'after'>): { readonly test: TraceableTest; end(): Promise<void> } {
  let done = async (): Promise<void> => {}
  return { test: { passed: false, ...test, after: (callback) => void (done = callback) }, end: () => done() }
}

function readTrace(file: string): TraceData {
  const [, base64 = ''] = /<script id="trace"[^>]*>([^<]*)</.exec(readFileSync(file, 'utf8')) ?? []
  return JSON.parse(gunzipSync(Buffer.from(base64, 'base64')).toString()) as TraceData
}

test('only administrators control the server', async () => {
  const { api } = await cluster.user({ name: 'eve' })
  await assert.rejects(api.read('/debug/testing/requests'), /User "eve" cannot get path "\/debug\/testing\/requests"/)
})

test('without controllers, namespaces are deleted with their objects', async (t) => {
  const bare = await startTestCluster({ controllers: false })
  t.after(() => bare.stop())
  const namespace = await bare.namespace()
  const [made] = await namespace.apply('apiVersion: v1\nkind: Secret\nmetadata: { name: a }\n')
  await namespace.delete()
  await bare.waitFor(`namespace/${namespace.name}`, 'delete')
  await bare.waitFor(made!, 'delete')
})
