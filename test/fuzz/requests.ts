/** Random requests to all kinds and to other paths, well-formed or nearly so. */
import { allResources } from '../../src/api/registry.ts'
import type { ResourceDefinition } from '../../src/api/resource.ts'
import { schemaOf } from '../../src/api/schema/index.ts'
import { toYaml } from '../../src/machinery/yaml.ts'
import type { Random } from './random.ts'
import { contentTypes, randomHeaders } from './random-headers.ts'
import { jsonPatch, mergePatch } from './random-patches.ts'
import { randomQuery } from './random-query.ts'
import {
  anything,
  hostileText,
  mutate,
  mutateBytes,
  names,
  namespaces,
  randomObject,
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

/** The latest objects of each kind that the server stored, to be mutated and sent once more. */
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

const kinds = allResources.filter((definition) => schemaOf(definition) !== undefined || definition.virtual)

const patchTypes = contentTypes.slice(2, 6)
const subresourceNames =
  'status scale nothing log exec eviction binding finalize approval token ephemeralcontainers resize'.split(' ')

export const keyOf = ({ group, version, kind }: Pick<ResourceDefinition, 'group' | 'version' | 'kind'>): string =>
  `${group ? `${group}/` : ''}${version} ${kind}`
const groupVersionOf = ({ group, version }: ResourceDefinition): string => (group ? `${group}/${version}` : version)

/** `/apis/apps/v1/namespaces/default/deployments`. */
export function collectionPath({ group, version, scope, plural }: ResourceDefinition, namespace: string): string {
  const prefix = group ? `/apis/${group}` : '/api'
  return `${prefix}/${version}/${scope === 'Namespaced' && namespace ? `namespaces/${namespace}/` : ''}${plural}`
}

const encodeBody = (r: Random, value: unknown, yaml: boolean): Buffer => {
  if (r.chance(0.03)) return Buffer.from(hostileText(r))
  const text = yaml && r.chance(0.7) ? toYaml(value) : (JSON.stringify(value) ?? '')
  return r.chance(0.06) ? mutateBytes(r, text) : Buffer.from(text)
}

const nonResourcePaths: readonly string[] = [
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
  '/.well-known/openid-configuration',
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
]
const methods = ['GET', 'GET', 'GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND']

function nonResourceRequest(r: Random): FuzzRequest {
  const path = r.pick(nonResourcePaths)
  const method = r.pick(methods)
  const hasBody = method === 'POST' || method === 'PUT' || method === 'PATCH'
  const body = hasBody ? encodeBody(r, anything(r), false) : undefined
  return {
    method,
    path:
      path === '*' && method !== 'OPTIONS'
        ? '/*'
        : `${path}${path.includes('?') || path === '*' ? '' : randomQuery(r)}`,
    headers: randomHeaders(r, body ? 'application/json' : ''),
    body,
  }
}

/** Requests for an object of a random kind, which may be stored already. */
class ResourceRequests {
  readonly #r: Random
  readonly #definition: ResourceDefinition
  readonly #name: string
  /** The path of the collection. */
  readonly #collection: string
  /** The path of the object or of one of its subresources, with a query. */
  readonly #item: string
  /** The object that requests change. */
  readonly #base: Record<string, unknown>
  readonly #isYaml: boolean
  /** False for namespaces: without a controller, deleted ones stay terminating and reject writes. */
  readonly #canDelete: boolean

  constructor(r: Random, corpus: Corpus) {
    this.#r = r
    this.#definition = r.pick(kinds)
    const { plural, kind, subresources = {} } = this.#definition
    const namespace = r.chance(0.95) ? r.pick(namespaces) : r.pick(['', 'absent', 'A', '%20', 'ü'])
    this.#collection = collectionPath(this.#definition, encodeURIComponent(namespace))
    const stored = corpus.pick(r, keyOf(this.#definition))
    const storedName = (stored?.metadata as { name?: string } | undefined)?.name
    this.#name = storedName && r.chance(0.8) ? storedName : r.pick(names)
    this.#base = stored && r.chance(0.5) ? stored : this.#newObject()
    const special = subresources.special ?? []
    const subresource = r.chance(0.15) ? `/${r.pick([...subresourceNames, ...special.map(({ name }) => name)])}` : ''
    this.#item = `${this.#collection}/${encodeURIComponent(this.#name)}${subresource}${randomQuery(r)}`
    this.#isYaml = r.chance(0.2)
    this.#canDelete = plural !== 'namespaces' && kind !== 'Namespace'
  }

  any(): FuzzRequest {
    const r = this.#r
    return r.one<FuzzRequest>(
      () => this.#create(),
      () => this.#writeProtobuf(),
      () => this.#createAtAnyPath(),
      () => this.#update(),
      () => this.#patch(),
      () => this.#get(),
      () => this.#list(),
      () => this.#watch(),
      () => (this.#canDelete ? this.#delete() : { method: 'GET', path: this.#item, headers: randomHeaders(r, '') }),
      () => this.#other(),
    )
  }

  #newObject(): Record<string, unknown> {
    const r = this.#r
    const type = schemaOf(this.#definition)
    if (!type) return anything(r) as Record<string, unknown>
    const { kind } = this.#definition
    return randomObject(r, type, groupVersionOf(this.#definition), kind, r.chance(0.9) ? this.#name : undefined)
  }

  #changedBase(): unknown {
    return this.#r.chance(0.6) ? mutate(this.#r, this.#base) : this.#base
  }

  #headers(): Readonly<Record<string, string>> {
    return randomHeaders(this.#r, this.#isYaml ? 'application/yaml' : 'application/json')
  }

  #create(): FuzzRequest {
    const r = this.#r
    return {
      method: 'POST',
      path: `${this.#collection}${r.chance(0.3) ? randomQuery(r) : ''}`,
      headers: this.#headers(),
      body: encodeBody(r, r.chance(0.7) ? this.#newObject() : this.#changedBase(), this.#isYaml),
    }
  }

  #writeProtobuf(): FuzzRequest {
    const r = this.#r
    const bytes = randomProtobuf(r, groupVersionOf(this.#definition), this.#definition.kind, this.#name)
    const body = r.chance(0.3) ? mutateBytes(r, bytes) : bytes
    return {
      method: r.pick(['POST', 'POST', 'PUT']),
      path: r.chance(0.7) ? this.#collection : this.#item,
      headers: randomHeaders(r, 'application/vnd.kubernetes.protobuf'),
      body,
    }
  }

  /** A new object, rarely posted to the path of an object. */
  #createAtAnyPath(): FuzzRequest {
    const r = this.#r
    return {
      method: 'POST',
      path: r.chance(0.9) ? this.#collection : this.#item,
      headers: this.#headers(),
      body: encodeBody(r, this.#newObject(), this.#isYaml),
    }
  }

  #update(): FuzzRequest {
    return {
      method: 'PUT',
      path: this.#item,
      headers: this.#headers(),
      body: encodeBody(this.#r, this.#changedBase(), this.#isYaml),
    }
  }

  #patch(): FuzzRequest {
    const r = this.#r
    const type = r.pick(patchTypes)
    const isApply = type === 'application/apply-patch+yaml'
    const patch = this.#patchOf(type)
    const path = isApply
      ? `${this.#item.split('?')[0]}?fieldManager=${r.pick(['m', 'n'])}&force=${r.chance(0.5)}`
      : this.#item
    return {
      method: 'PATCH',
      path,
      headers: randomHeaders(r, type),
      body: encodeBody(r, r.chance(0.95) ? patch : anything(r), isApply),
    }
  }

  #patchOf(type: string): unknown {
    if (type === 'application/json-patch+json') return jsonPatch(this.#r, this.#base)
    if (type === 'application/apply-patch+yaml') return withoutServerFields(this.#changedBase())
    return mergePatch(this.#r, this.#base, type.includes('strategic'))
  }

  #get(): FuzzRequest {
    const method = this.#r.pick(['GET', 'GET', 'GET', 'GET', 'HEAD'])
    return { method, path: this.#item, headers: randomHeaders(this.#r, '') }
  }

  #list(): FuzzRequest {
    const r = this.#r
    const collection = r.chance(0.7) ? this.#collection : collectionPath(this.#definition, '')
    return { method: 'GET', path: `${collection}${randomQuery(r)}`, headers: randomHeaders(r, '') }
  }

  #watch(): FuzzRequest {
    const r = this.#r
    const path = `${this.#collection}?watch=1&timeoutSeconds=1${randomQuery(r).replace('?', '&')}`
    return { method: 'GET', path, headers: randomHeaders(r, '') }
  }

  #delete(): FuzzRequest {
    const r = this.#r
    return {
      method: 'DELETE',
      path: this.#item,
      headers: randomHeaders(r, r.chance(0.5) ? 'application/json' : ''),
      body: r.chance(0.5) ? encodeBody(r, r.chance(0.9) ? this.#deleteOptions() : anything(r), false) : undefined,
    }
  }

  #deleteOptions(): object {
    const r = this.#r
    return {
      gracePeriodSeconds: r.below(3),
      propagationPolicy: r.pick(['Orphan', 'Background', 'Foreground', 'x']),
      preconditions: r.chance(0.2) ? anything(r, 1) : undefined,
      dryRun: r.chance(0.1) ? ['All'] : undefined,
    }
  }

  /** Deletes the collection, or reads it by OPTIONS or GET. */
  #other(): FuzzRequest {
    const r = this.#r
    const method = this.#canDelete && r.chance(0.1) ? 'DELETE' : r.pick(['OPTIONS', 'GET', 'GET', 'GET'])
    return { method, path: `${this.#collection}${randomQuery(r)}`, headers: randomHeaders(r, '') }
  }
}

export const randomRequest = (r: Random, corpus: Corpus): FuzzRequest =>
  r.chance(0.06) ? nonResourceRequest(r) : new ResourceRequests(r, corpus).any()
