import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { type ResourceDefinition, resource } from '../../api/resource.ts'
import { runSync } from '../../lib/flow/steps.ts'
import type { Request, Response } from '../http/exchange.ts'
import { openapiDocument } from './document.ts'
import { type DocumentForm, jsonV2, jsonV3, protobufV2, protobufV3 } from './forms.ts'
import { openapiDocuments } from './index.ts'
import { documentPaths, groupVersionPath } from './paths/static-paths.ts'

const scale = { replicas: '.spec.replicas', observed: '.status.replicas', selector: '.status.selector' }
const pods = resource({
  group: '',
  version: 'v1',
  kind: 'Pod',
  plural: 'pods',
  scope: 'Namespaced',
  subresources: {
    status: true,
    special: [
      { name: 'exec', kind: 'PodExecOptions', verbs: ['create', 'get'] },
      { name: 'log', kind: 'Pod', verbs: ['get'] },
      { name: 'eviction', kind: 'Eviction', group: 'policy', version: 'v1', verbs: ['create'] },
    ],
  },
})
const deployments = resource({
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  plural: 'deployments',
  scope: 'Namespaced',
  subresources: { status: true, scale },
})
const parcelSchema = {
  description: 'A parcel on its way.',
  type: 'object',
  required: ['spec'],
  properties: {
    spec: {
      type: 'object',
      properties: {
        weight: { anyOf: [{ type: 'integer' }, { type: 'string' }], 'x-kubernetes-int-or-string': true },
        height: { 'x-kubernetes-int-or-string': true },
        note: { type: 'string', nullable: true },
      },
    },
    metadata: { type: 'object' },
  },
}
const parcels = resource({
  group: 'rp-access.example.com',
  version: 'v1',
  kind: 'Parcel',
  plural: 'parcels',
  scope: 'Namespaced',
  subresources: { status: true, scale },
  custom: {
    fingerprint: 'parcels',
    type: () => assert.fail('not needed'),
    prune: () => [],
    decodeError: () => undefined,
    schema: () => parcelSchema,
  },
})
const all = [pods, deployments, parcels]

const options = { version: '1.36' }

// biome-ignore lint/suspicious/noExplicitAny: tests read documents of any structure
type Document = any
const made = (form: DocumentForm, paths: readonly string[], resources: readonly ResourceDefinition[] = all): Buffer =>
  Buffer.concat(
    runSync(openapiDocument({ ...options, paths, resources, builtIn: [pods, deployments], others: [] }, form)),
  )
const v3 = (path: string): Document =>
  JSON.parse(
    made(
      jsonV3,
      [path],
      all.filter((one) => groupVersionPath(one) === path),
    ).toString(),
  )
const v2 = (): Document => JSON.parse(made(jsonV2, documentPaths(all)).toString())
const at = (document: Document, method: string, path: string): Document =>
  document.paths[path]?.[method] ?? assert.fail(`no ${method} ${path}`)

test('operations have the ids, actions and kinds that clients look up', () => {
  const apps = v3('apis/apps/v1')
  const item = '/apis/apps/v1/namespaces/{namespace}/deployments/{name}'
  const patch = at(apps, 'patch', item)
  assert.equal(patch.operationId, 'patchAppsV1NamespacedDeployment')
  assert.equal(patch['x-kubernetes-action'], 'patch')
  assert.deepEqual(patch['x-kubernetes-group-version-kind'], { group: 'apps', version: 'v1', kind: 'Deployment' })
  assert.ok(patch.parameters.some((one: Document) => one.name === 'fieldValidation'))
  assert.deepEqual(Object.keys(patch.requestBody.content), [
    'application/json-patch+json',
    'application/merge-patch+json',
    'application/strategic-merge-patch+json',
    'application/apply-patch+yaml',
  ])
  assert.equal(at(apps, 'get', `${item}/scale`).operationId, 'readAppsV1NamespacedDeploymentScale')
  assert.equal(
    at(apps, 'get', '/apis/apps/v1/watch/deployments').operationId,
    'watchAppsV1DeploymentListForAllNamespaces',
  )
  assert.equal(
    at(apps, 'delete', '/apis/apps/v1/namespaces/{namespace}/deployments').operationId,
    'deleteAppsV1CollectionNamespacedDeployment',
  )
  const core = v3('api/v1')
  assert.equal(
    at(core, 'post', '/api/v1/namespaces/{namespace}/pods/{name}/exec').operationId,
    'connectCoreV1PostNamespacedPodExec',
  )
  assert.equal(
    at(core, 'post', '/api/v1/namespaces/{namespace}/pods/{name}/eviction')['x-kubernetes-group-version-kind'].group,
    'policy',
  )
  assert.equal(
    at(core, 'get', '/api/v1/namespaces/{namespace}/pods/{name}/log').responses[200].content['text/plain'].schema.type,
    'string',
  )
})

test('every reference in every document resolves, and ids are unique', () => {
  for (const path of documentPaths(all)) {
    const document = v3(path)
    const text = JSON.stringify(document)
    for (const [, name] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g))
      assert.ok(document.components.schemas[name!], `${path}: ${name}`)
    const ids = [...text.matchAll(/"operationId":"([^"]+)"/g)].map(([, id]) => id)
    assert.equal(new Set(ids).size, ids.length)
  }
  const whole = v2()
  for (const [, section, name] of JSON.stringify(whole).matchAll(/"#\/(definitions|parameters)\/([^"]+)"/g))
    assert.ok(whole[section!][name!], name)
})

test('schemas define how lists merge', () => {
  const { schemas } = v3('api/v1').components
  const { ports } = schemas['io.k8s.api.core.v1.Container'].properties
  assert.equal(ports['x-kubernetes-patch-merge-key'], 'containerPort')
  assert.equal(ports['x-kubernetes-patch-strategy'], 'merge')
  assert.deepEqual(ports['x-kubernetes-list-map-keys'], ['containerPort', 'protocol'])
  assert.deepEqual(schemas['io.k8s.api.core.v1.Pod']['x-kubernetes-group-version-kind'], [
    { group: '', kind: 'Pod', version: 'v1' },
  ])
  assert.equal(schemas['io.k8s.api.core.v1.ContainerPort'].properties.protocol.default, 'TCP')
  assert.match(schemas['io.k8s.api.core.v1.PodSpec'].properties.nodeName.description, /node/)
  assert.equal(schemas['io.k8s.apimachinery.pkg.util.intstr.IntOrString'].format, 'int-or-string')
})

test('custom resources are published with type and metadata, without strategic merge and watch paths', () => {
  const document = v3('apis/rp-access.example.com/v1')
  const root = '/apis/rp-access.example.com/v1'
  assert.deepEqual(
    Object.keys(document.paths),
    [
      '/namespaces/{namespace}/parcels',
      '/namespaces/{namespace}/parcels/{name}',
      '/namespaces/{namespace}/parcels/{name}/scale',
      '/namespaces/{namespace}/parcels/{name}/status',
      '/parcels',
    ].map((path) => root + path),
  )
  const patch = at(document, 'patch', `${root}/namespaces/{namespace}/parcels/{name}`)
  assert.equal(patch.operationId, 'patchRpAccessExampleComV1NamespacedParcel')
  assert.deepEqual(patch.tags, ['rpAccessExampleCom_v1'])
  assert.deepEqual(Object.keys(patch.requestBody.content), [
    'application/json-patch+json',
    'application/merge-patch+json',
    'application/apply-patch+yaml',
  ])
  const parcel = document.components.schemas['com.example.rp-access.v1.Parcel']
  assert.deepEqual(Object.keys(parcel.properties).sort(), ['apiVersion', 'kind', 'metadata', 'spec'])
  assert.deepEqual(parcel['x-kubernetes-group-version-kind'], [
    { group: 'rp-access.example.com', kind: 'Parcel', version: 'v1' },
  ])
  assert.deepEqual(document.components.schemas['com.example.rp-access.v1.ParcelList'].required, ['items'])
  const intOrString = { 'x-kubernetes-int-or-string': true }
  assert.deepEqual(v2().definitions['com.example.rp-access.v1.Parcel'].properties.spec.properties, {
    weight: intOrString,
    height: intOrString,
    note: {},
  })
  for (const name of ['weight', 'height'])
    assert.deepEqual(parcel.properties.spec.properties[name].anyOf, [{ type: 'integer' }, { type: 'string' }])
})

test('operations of custom resources have the parameters and media types of upstream', () => {
  const { paths } = v2()
  const {
    post,
    get,
    delete: collection,
    parameters,
  } = paths['/apis/rp-access.example.com/v1/namespaces/{namespace}/parcels']
  const { patch, delete: one } = paths['/apis/rp-access.example.com/v1/namespaces/{namespace}/parcels/{name}']
  const types = ['application/json', 'application/yaml']
  assert.deepEqual([post.consumes, post.produces, get.produces, one.consumes], [types, types, types, types])
  assert.deepEqual(patch.consumes, [
    'application/json-patch+json',
    'application/merge-patch+json',
    'application/apply-patch+yaml',
  ])
  assert.deepEqual(Object.keys(patch.responses), ['200', '401'])
  const named = (list: Document[]): string[] =>
    list.map(({ $ref, name }) => name ?? $ref.replace(/^.*\/(.*)-.{8}$/, '$1'))
  assert.deepEqual(named(parameters), ['namespace', 'pretty'])
  assert.deepEqual(named(collection.parameters), named(get.parameters))
  assert.ok(named(get.parameters).includes('shardSelector'))
  assert.deepEqual(named(post.parameters), ['body', 'dryRun', 'fieldManager', 'fieldValidation'])
  assert.equal(named(one.parameters)[0], 'body')
})

interface Asked {
  readonly headers?: Record<string, string>
}

const openapi = openapiDocuments(all, options)
async function get(url: string, { headers = {} }: Asked = {}): Promise<Response> {
  const { pathname, searchParams } = new URL(url, 'http://localhost')
  return (
    (await openapi.find(pathname)?.({
      path: pathname,
      query: searchParams,
      header: (name: string) => headers[name],
    } as Request)) ?? assert.fail('not served')
  )
}
const parsed = (response: Response): Document => JSON.parse(String(response.body))

test('the index links to immutable documents', async () => {
  const { paths } = parsed(await get('/openapi/v3'))
  assert.deepEqual(Object.keys(paths), [
    '.well-known/openid-configuration',
    'api',
    'api/v1',
    'apis',
    'apis/apps',
    'apis/apps/v1',
    'apis/rp-access.example.com/v1',
    'openid/v1/jwks',
    'version',
  ])
  const url = paths['apis/apps/v1'].serverRelativeURL
  assert.match(url, /^\/openapi\/v3\/apis\/apps\/v1\?hash=[0-9A-F]{128}$/)
  const response = await get(url)
  assert.equal(response.headers['cache-control'], 'public, immutable')
  assert.equal(parsed(response).openapi, '3.0.0')
  const stale = await get('/openapi/v3/apis/apps/v1?hash=OLD')
  assert.equal(stale.status, 301)
  assert.equal(stale.headers.location, url)
  await assert.rejects(get('/openapi/v3/apis/none/v1'), { code: 404 })
})

test('a matching ETag gives 304, and large documents are compressed', async () => {
  const { headers } = await get('/openapi/v2')
  assert.equal((await get('/openapi/v2', { headers: { 'if-none-match': String(headers.etag) } })).status, 304)
  const compressed = await get('/openapi/v2', { headers: { 'accept-encoding': 'gzip' } })
  assert.equal(compressed.headers['content-encoding'], 'gzip')
  assert.equal(JSON.parse(gunzipSync(compressed.body as Buffer).toString()).swagger, '2.0')
})

test('the index changes when resources are added or removed', async () => {
  let resources: readonly ResourceDefinition[] = [pods]
  const { find } = openapiDocuments(() => resources)
  const ask = async (): Promise<string[]> =>
    Object.keys(
      parsed(
        (await find('/openapi/v3')?.({
          path: '/openapi/v3',
          query: new URLSearchParams(),
          header: () => undefined,
        } as unknown as Request))!,
      ).paths,
    )
  assert.equal((await ask()).includes('apis/apps/v1'), false)
  resources = [pods, deployments]
  assert.equal((await ask()).includes('apis/apps/v1'), true)
})

test('unchanged documents are not rebuilt, and documents are built in a step per resource', async () => {
  let read = 0
  const custom = (group: string, fingerprint: string): ResourceDefinition => ({
    ...parcels,
    group,
    custom: {
      ...parcels.custom!,
      fingerprint,
      schema: () => {
        read++
        return parcelSchema
      },
    },
  })
  const kept = custom('kept.example.com', 'a')
  let resources = [kept, custom('changed.example.com', 'a')]
  const { find } = openapiDocuments(() => resources)
  const ask = async (path: string): Promise<Response> =>
    (await find(path)?.({ path, query: new URLSearchParams(), header: () => undefined } as unknown as Request)) ??
    assert.fail('not served')
  const groups = ['kept', 'changed'].map((name) => `/openapi/v3/apis/${name}.example.com/v1`)
  for (const group of groups) await ask(group)
  assert.equal(read, 2)
  resources = [kept, custom('changed.example.com', 'b')]
  for (const group of groups) await ask(group)
  assert.equal(read, 3)

  const many = Array.from({ length: 50 }, (_, i) => custom(`g${i}.example.com`, ''))
  const steps = openapiDocument({ ...options, paths: [], resources: many, builtIn: [], others: [] }, jsonV2)
  for (let i = 0; i < many.length; i++) assert.equal(steps.next().done, false)
})

/** Reads one level of a protobuf message: [field, bytes or number]. */
function protobuf(bytes: Buffer): [number, Buffer | number][] {
  const result: [number, Buffer | number][] = []
  let at = 0
  const varint = (): number => {
    let value = 0
    for (let shift = 1; ; shift *= 128) {
      const byte = bytes[at++]!
      value += (byte % 128) * shift
      if (byte < 128) return value
    }
  }
  while (at < bytes.length) {
    const key = varint()
    if (key % 8 === 0) result.push([Math.floor(key / 8), varint()])
    else {
      const length = key % 8 === 1 ? 8 : varint()
      result.push([Math.floor(key / 8), bytes.subarray(at, at + length)])
      at += length
    }
  }
  return result
}

test('Go clients get v2 as protobuf', async () => {
  const accept = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf'
  const response = await get('/openapi/v2', { headers: { accept } })
  assert.equal(response.headers['content-type'], 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf')
  const document = v2()
  assert.deepEqual(response.body, made(protobufV2, documentPaths(all)))
  const fields = new Map(protobuf(response.body as Buffer))
  assert.equal(String(fields.get(1)), '2.0')
  const definitions = protobuf(fields.get(9) as Buffer).map(([, named]) =>
    String(new Map(protobuf(named as Buffer)).get(1)),
  )
  assert.deepEqual(definitions, Object.keys(document.definitions as object))
  const paths = protobuf(fields.get(8) as Buffer).map(([, named]) => String(new Map(protobuf(named as Buffer)).get(1)))
  assert.deepEqual(paths, Object.keys(document.paths as object))
  const parameters = protobuf(fields.get(10) as Buffer).map(([, named]) =>
    String(new Map(protobuf(named as Buffer)).get(1)),
  )
  assert.deepEqual(parameters, Object.keys(document.parameters as object))
  const text = (response.body as Buffer).toString('latin1')
  for (const name of parameters) assert.ok(text.includes(`#/parameters/${name}`), name)
})

test('v3 is available as protobuf, with the same tag and hash', async () => {
  const url = '/openapi/v3/apis/apps/v1'
  const json = await get(url, { headers: { accept: '*/*' } })
  assert.equal(parsed(json).openapi, '3.0.0')
  const etag = String(json.headers.etag)
  const name = 'application/com.github.proto-openapi.spec.v3.v1.0+protobuf'
  for (const accept of [name, 'application/com.github.proto-openapi.spec.v3@v1.0+protobuf, */*;q=0.1']) {
    const response = await get(url, { headers: { accept } })
    const { 'content-type': type, vary } = response.headers
    assert.deepEqual({ type, etag: response.headers.etag, vary }, { type: name, etag, vary: 'Accept' })
    assert.deepEqual(response.body, made(protobufV3, ['apis/apps/v1'], [deployments]))
    assert.equal((await get(url, { headers: { accept, 'if-none-match': etag } })).status, 304)
    const named = await get(`${url}?hash=${etag.replaceAll('"', '')}`, { headers: { accept } })
    assert.deepEqual([named.headers['content-type'], named.headers['cache-control']], [name, 'public, immutable'])
    assert.equal((await get(`${url}?hash=OLD`, { headers: { accept } })).status, 301)
  }
})

test('the tags depend on the release of the server', async () => {
  const tags = ['v1.36.2+t8s.1', 'v1.36.2+t8s.2', 'v1.36.2+t8s.1'].map(async (release) => {
    const request = { path: '/openapi/v2', query: new URLSearchParams(), header: () => undefined } as unknown as Request
    return (await openapiDocuments(all, { ...options, release }).find('/openapi/v2')?.(request))?.headers.etag
  })
  const [one, other, again] = await Promise.all(tags)
  assert.equal(one, again)
  assert.notEqual(one, other)
})

test('unsupported forms are rejected with 406', async () => {
  for (const url of ['/openapi/v2', '/openapi/v3/api/v1']) {
    await assert.rejects(get(url, { headers: { accept: 'application/yaml, application/json;q=0' } }), { code: 406 })
    assert.equal(
      (await get(url, { headers: { accept: 'text/html, application/*;q=0.5' } })).headers['content-type'],
      'application/json',
    )
  }
})
