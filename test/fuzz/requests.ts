/** Random requests to all kinds and to other paths, well-formed or nearly so. */
import { allResources } from '../../src/api/registry.ts'
import type { ResourceDefinition } from '../../src/api/resource.ts'
import { schemaOf } from '../../src/api/schema/index.ts'
import { toYaml } from '../../src/machinery/yaml.ts'
import type { Random } from './random.ts'
import {
  anything,
  hostileText,
  mutate,
  mutateBytes,
  names,
  namespaces,
  randomObject,
  randomPath,
  randomProtobuf,
  withoutServerFields,
} from './values.ts'

export interface FuzzRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Buffer
}

/** Returns true if the answer may be endless. */
export const isWatch = ({ path }: FuzzRequest): boolean => /\/watch(\/|\?|$)|[?&]watch(=|&|$)/.test(path)

/** The latest objects of each kind that the server stored, to be mutated and sent again. */
export class Corpus {
  readonly #objects = new Map<string, Record<string, unknown>[]>()

  add(key: string, object: Record<string, unknown>): void {
    const objects = this.#objects.get(key) ?? []
    objects.push(object)
    if (objects.length > 10) objects.shift()
    this.#objects.set(key, objects)
  }

  pick(r: Random, key: string): Record<string, unknown> | undefined {
    const objects = this.#objects.get(key)
    return objects && r.pick(objects)
  }
}

const token = 'fuzz'
/** The token of a user with few rights. */
const fewRights = 'few'
const kinds = allResources.filter((definition) => schemaOf(definition) !== undefined || definition.virtual)

export const keyOf = ({ group, version, kind }: Pick<ResourceDefinition, 'group' | 'version' | 'kind'>): string =>
  `${group ? `${group}/` : ''}${version} ${kind}`
const groupVersionOf = ({ group, version }: ResourceDefinition): string => (group ? `${group}/${version}` : version)

/** `/apis/apps/v1/namespaces/default/deployments`. */
export function collectionPath({ group, version, scope, plural }: ResourceDefinition, namespace: string): string {
  const prefix = group ? `/apis/${group}` : '/api'
  return `${prefix}/${version}/${scope === 'Namespaced' && namespace ? `namespaces/${namespace}/` : ''}${plural}`
}

const query = (r: Random): string => {
  const value = (): string =>
    encodeURIComponent(
      String(
        r.pick<unknown>([
          '',
          'true',
          'false',
          '0',
          '1',
          '2',
          '-1',
          '9'.repeat(30),
          'x',
          'All',
          'Strict',
          'Warn',
          'Ignore',
          'Exact',
          'NotOlderThan',
          'Metadata',
          'a=b',
          'a!=b,c in (d,e),!f',
          'metadata.name=a',
          'metadata.name!=a',
          'spec.nodeName=',
          'status.phase=Running',
          'a in (',
          '=',
          ',,,',
          'eyJydiI6MSwic3RhcnQiOiJhIn0',
          '{"v":"meta.k8s.io/v1","rv":5,"start":"a\\u0000"}',
          '😀',
          '\u0000',
          'Orphan',
          'Background',
          'fuzz',
          'a'.repeat(300),
        ]),
      ),
    )
  const parameters = r.some(4, () => {
    const name = r.pick([
      'limit',
      'continue',
      'resourceVersion',
      'resourceVersionMatch',
      'labelSelector',
      'fieldSelector',
      'timeoutSeconds',
      'allowWatchBookmarks',
      'sendInitialEvents',
      'watch',
      'dryRun',
      'fieldManager',
      'fieldValidation',
      'force',
      'pretty',
      'includeObject',
      'gracePeriodSeconds',
      'propagationPolicy',
      'orphanDependents',
      'exclude',
      'verbose',
      'container',
      'x',
      '%',
      '',
    ])
    // The server waits for a future resourceVersion, so those are rare.
    return name === 'resourceVersion' && r.chance(0.9)
      ? `${name}=${r.below(300)}`
      : `${name}=${r.chance(0.95) ? value() : '%zz'}`
  })
  return parameters.length ? `?${parameters.join('&')}` : ''
}

const accepts: readonly string[] = [
  'application/json',
  '*/*',
  'application/yaml',
  'application/json;as=Table;v=v1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json',
  'application/vnd.kubernetes.protobuf',
  'application/vnd.kubernetes.protobuf,application/json',
  'text/html',
  'application/json;as=Nothing',
  'application/json;stream=watch',
  ';;;',
  'a/b;q=x,*/*;q=0.1',
  'application/yaml;as=Table;g=meta.k8s.io;v=v1',
  'application/json;q=2;;=;',
  'application/cbor',
  'application/com.github.proto-openapi.spec.v2@v1.0+protobuf',
  ',',
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
]
const contentTypes: readonly string[] = [
  'application/json',
  'application/yaml',
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
  'application/vnd.kubernetes.protobuf',
  'application/apply-patch+cbor',
  'text/plain',
  '',
  'application/json; charset=utf-8',
  'a',
  ';',
]
const patchTypes = contentTypes.slice(2, 6)
const subresourceNames =
  'status scale nothing log exec eviction binding finalize approval token ephemeralcontainers resize'.split(' ')

function headers(r: Random, contentType: string): Record<string, string> {
  return {
    authorization: r.chance(0.75)
      ? `Bearer ${token}`
      : r.chance(0.9)
        ? `Bearer ${fewRights}`
        : r.pick(['Bearer x', 'Basic YTpi', 'Bearer', `Bearer  ${token}`, 'x'.repeat(3000)]),
    ...(contentType && { 'content-type': r.chance(0.97) ? contentType : r.pick(contentTypes) }),
    ...(r.chance(0.15) && { accept: r.pick(accepts) }),
    ...(r.chance(0.2) && {
      'user-agent': r.pick([
        'curl/8',
        'Mozilla/5.0',
        'kubectl/v1.36',
        '',
        '/',
        'ü'.normalize('NFD').replace(/[^ -~]/g, ''),
        'a'.repeat(500),
      ]),
    }),
    ...(r.chance(0.02) && { 'impersonate-user': r.pick(['jane', 'system:serviceaccount:a:b', 'system:anonymous']) }),
    ...(r.chance(0.01) && { 'impersonate-group': r.pick(['a', 'system:masters']) }),
    ...(r.chance(0.01) && { 'impersonate-extra-x%2f': '%zz' }),
    ...(r.chance(0.02) && { 'if-none-match': '"x"', range: 'bytes=0-1', 'accept-encoding': 'gzip', te: 'trailers' }),
  }
}

const pointer = (path: readonly (string | number)[]): string =>
  path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')

const jsonPatch = (r: Random, object: unknown): unknown =>
  r.some(4, () => ({
    op: r.chance(0.95) ? r.pick(['add', 'remove', 'replace', 'move', 'copy', 'test']) : anything(r, 0),
    path: r.chance(0.8)
      ? pointer(randomPath(r, object)) + (r.chance(0.2) ? '/-' : r.chance(0.1) ? '/new' : '')
      : anything(r, 0),
    ...(r.chance(0.8) && { value: anything(r, 3) }),
    ...(r.chance(0.5) && { from: r.chance(0.9) ? pointer(randomPath(r, object)) : anything(r, 0) }),
  }))

/** A mutated part of an object, with directives in it for a strategic merge. */
function mergePatch(r: Random, object: unknown, directives: boolean): unknown {
  const patch = mutate(r, object) as Record<string, unknown> | null
  if (typeof patch !== 'object' || patch === null) return patch
  if (!Array.isArray(patch))
    for (const key of Object.keys(patch)) if (r.chance(0.4) && key !== 'metadata') delete patch[key]
  if (!directives) return patch
  for (let i = r.below(3); i > 0; i--) {
    let at: unknown = patch
    for (const key of randomPath(r, patch)) {
      const next: unknown = (at as Record<string, unknown>)[key]
      if (typeof next !== 'object' || next === null) break
      at = next
    }
    const directive = r.pick([
      '$patch',
      '$retainKeys',
      '$deleteFromPrimitiveList/finalizers',
      '$setElementOrder/containers',
      '$setElementOrder/x',
      '$patch/x',
    ])
    const value = r.chance(0.7)
      ? r.pick<unknown>(['delete', 'replace', 'merge', ['name'], [{ name: 'a' }]])
      : anything(r, 2)
    if (Array.isArray(at)) at.push({ [directive]: value })
    else (at as Record<string, unknown>)[directive] = value
  }
  return patch
}

const encodeBody = (r: Random, value: unknown, yaml: boolean): Buffer => {
  if (r.chance(0.03)) return Buffer.from(hostileText(r))
  const text = yaml && r.chance(0.7) ? toYaml(value) : (JSON.stringify(value) ?? '')
  return r.chance(0.06) ? mutateBytes(r, text) : Buffer.from(text)
}

function nonResourceRequest(r: Random): FuzzRequest {
  const path = r.pick([
    '/',
    '/healthz',
    '/livez/etcd',
    '/readyz/%',
    '/version',
    '/metrics',
    '/api',
    '/apis',
    '/api/v1',
    '/apis/apps',
    '/apis/apps/v1',
    '/apis/nothing/v1',
    '/openapi/v2',
    '/openapi/v3',
    '/openapi/v3/api/v1',
    '/openapi/v3/apis/apps/v1?hash=x',
    '/.well-stored/openid-configuration',
    '/openid/v1/jwks',
    '/api/v1/namespaces//pods',
    '/api/v1//',
    '//',
    '/api/v1/watch',
    '/api/v1/watch/pods',
    '/api/v1/watch/namespaces/default/pods/a',
    '/api/v1/proxy/x',
    '/%2e%2e/',
    '/api/v1/namespaces/%00/pods',
    '/api/v1/namespaces/a%2fb/pods/c',
    '/logs',
    '/debug/pprof',
    '/api/v1/namespaces/default/pods/a/b/c/d',
    '*',
    `/${'x/'.repeat(2000)}`,
  ])
  const method = r.pick(['GET', 'GET', 'GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND'])
  const body =
    method === 'POST' || method === 'PUT' || method === 'PATCH' ? encodeBody(r, anything(r), false) : undefined
  return {
    method,
    path: path === '*' && method !== 'OPTIONS' ? '/*' : `${path}${path.includes('?') || path === '*' ? '' : query(r)}`,
    headers: headers(r, body ? 'application/json' : ''),
    body,
  }
}

export function randomRequest(r: Random, corpus: Corpus): FuzzRequest {
  if (r.chance(0.06)) return nonResourceRequest(r)
  const definition = r.pick(kinds)
  const type = schemaOf(definition)
  const namespace = r.chance(0.95) ? r.pick(namespaces) : r.pick(['', 'absent', 'A', '%20', 'ü'])
  const collection = collectionPath(definition, encodeURIComponent(namespace))
  const stored = corpus.pick(r, keyOf(definition))
  const storedName = (stored?.metadata as { name?: string } | undefined)?.name
  const name = storedName && r.chance(0.8) ? storedName : r.pick(names)
  const fresh = (): Record<string, unknown> =>
    type
      ? randomObject(r, type, groupVersionOf(definition), definition.kind, r.chance(0.9) ? name : undefined)
      : (anything(r) as Record<string, unknown>)
  const base = stored && r.chance(0.5) ? stored : fresh()
  const options = {
    gracePeriodSeconds: r.below(3),
    propagationPolicy: r.pick(['Orphan', 'Background', 'Foreground', 'x']),
    preconditions: r.chance(0.2) ? anything(r, 1) : undefined,
    dryRun: r.chance(0.1) ? ['All'] : undefined,
  }
  const { subresources = {} } = definition
  const subresource = r.chance(0.15)
    ? `/${r.pick([...subresourceNames, ...(subresources.special ?? []).map((special) => special.name)])}`
    : ''
  const item = `${collection}/${encodeURIComponent(name)}${subresource}${query(r)}`
  const yaml = r.chance(0.2)
  const contentType = yaml ? 'application/yaml' : 'application/json'
  const changed = (): unknown => (r.chance(0.6) ? mutate(r, base) : base)
  // Without a controller, deleted namespaces stay terminating and reject writes.
  const mayDelete = definition.plural !== 'namespaces' && definition.kind !== 'Namespace'
  return r.pick<() => FuzzRequest>([
    () => ({
      method: 'POST',
      path: `${collection}${r.chance(0.3) ? query(r) : ''}`,
      headers: headers(r, contentType),
      body: encodeBody(r, r.chance(0.7) ? fresh() : changed(), yaml),
    }),
    () => {
      const bytes = randomProtobuf(r, groupVersionOf(definition), definition.kind, name)
      const body = r.chance(0.3) ? mutateBytes(r, bytes) : bytes
      return {
        method: r.pick(['POST', 'POST', 'PUT']),
        path: r.chance(0.7) ? collection : item,
        headers: headers(r, 'application/vnd.kubernetes.protobuf'),
        body,
      }
    },
    () => ({
      method: 'POST',
      path: `${r.chance(0.9) ? collection : item}`,
      headers: headers(r, contentType),
      body: encodeBody(r, fresh(), yaml),
    }),
    () => ({ method: 'PUT', path: item, headers: headers(r, contentType), body: encodeBody(r, changed(), yaml) }),
    () => {
      const patchType = r.pick(patchTypes)
      const apply = patchType === 'application/apply-patch+yaml'
      const patch =
        patchType === 'application/json-patch+json'
          ? jsonPatch(r, base)
          : apply
            ? withoutServerFields(changed())
            : mergePatch(r, base, patchType.includes('strategic'))
      const path = apply ? `${item.split('?')[0]}?fieldManager=${r.pick(['m', 'n'])}&force=${r.chance(0.5)}` : item
      return {
        method: 'PATCH',
        path,
        headers: headers(r, patchType),
        body: encodeBody(r, r.chance(0.95) ? patch : anything(r), apply),
      }
    },
    () => ({ method: r.pick(['GET', 'GET', 'GET', 'GET', 'HEAD']), path: item, headers: headers(r, '') }),
    () => ({
      method: 'GET',
      path: `${r.chance(0.7) ? collection : collectionPath(definition, '')}${query(r)}`,
      headers: headers(r, ''),
    }),
    () => ({
      method: 'GET',
      path: `${collection}?watch=1&timeoutSeconds=1${query(r).replace('?', '&')}`,
      headers: headers(r, ''),
    }),
    () =>
      mayDelete
        ? {
            method: 'DELETE',
            path: item,
            headers: headers(r, r.chance(0.5) ? 'application/json' : ''),
            body: r.chance(0.5) ? encodeBody(r, r.chance(0.9) ? options : anything(r), false) : undefined,
          }
        : { method: 'GET', path: item, headers: headers(r, '') },
    () => ({
      method: mayDelete && r.chance(0.1) ? 'DELETE' : r.pick(['OPTIONS', 'GET', 'GET', 'GET']),
      path: `${collection}${query(r)}`,
      headers: headers(r, ''),
    }),
  ])()
}
