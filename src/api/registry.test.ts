import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import { allResources, compareVersions, resourceRegistry } from './registry.ts'
import { allVerbs, type ResourceDefinition, resourceKey } from './resource.ts'

const apis = fileURLToPath(import.meta.resolve('@kubernetes/client-node')).replace(/dist\/.*$/, 'dist/gen')

/** Operations of the official client that belong to no resource, with the reason. */
const otherPaths: readonly [RegExp, string][] = [
  [/^\/(api|apis)\/($|[^/]+\/$|[^/]+\/v[^/]+\/$)/, 'discovery'],
  [/^\/(version|logs|openid|\.well-known)\//, 'not resources'],
  [/\{(group|plural)\}/, 'custom resources are added while the server runs'],
  [/^\/api\/v1\/watch\/|^\/apis\/[^/]+\/[^/]+\/watch\//, 'deprecated watch paths of the same resources'],
]

/**
 * Returns methods and path templates of the client's API classes. The package contains stale files of older releases,
 * so only exported classes count.
 */
function clientOperations(): string[] {
  const exported = new Set(
    [...readFileSync(`${apis}/types/PromiseAPI.js`, 'utf8').matchAll(/class Promise(\w+Api) /g)].map(
      ([, name]) => name,
    ),
  )
  return [...exported].flatMap((name) => {
    const source = readFileSync(`${apis}/apis/${name}.js`, 'utf8')
    return [...source.matchAll(/const localVarPath = '([^']+)'[\s\S]*?HttpMethod\.([A-Z]+)/g)].map(
      ([, path, method]) => `${method} ${path}`,
    )
  })
}

/** Returns the methods and path templates that a resource serves. */
function servedOperations(resource: ResourceDefinition): string[] {
  const { group, version, plural, scope, subresources = {} } = resource
  const root = `${group ? `/apis/${group}` : '/api'}/${version}`
  const collection = scope === 'Namespaced' ? `${root}/namespaces/{namespace}/${plural}` : `${root}/${plural}`
  const item = `${scope === 'Namespaced' || plural !== 'namespaces' ? collection : `${root}/namespaces`}/{name}`
  const verbs = new Set(resource.verbs ?? allVerbs)
  const methods = { get: 'GET', update: 'PUT', patch: 'PATCH', delete: 'DELETE', create: 'POST' } as const
  const found: string[] = []
  if (verbs.has('list')) found.push(`GET ${collection}`, ...(scope === 'Namespaced' ? [`GET ${root}/${plural}`] : []))
  if (verbs.has('create')) found.push(`POST ${collection}`)
  if (verbs.has('deletecollection')) found.push(`DELETE ${collection}`)
  for (const verb of ['get', 'update', 'patch', 'delete'] as const)
    if (verbs.has(verb)) found.push(`${methods[verb]} ${item}`)
  const readWrite = [subresources.status && 'status', subresources.scale && 'scale'].filter(
    (name) => typeof name === 'string',
  )
  for (const name of readWrite) found.push(...['GET', 'PUT', 'PATCH'].map((method) => `${method} ${item}/${name}`))
  for (const { name, verbs: own } of subresources.special ?? []) {
    found.push(...own.map((verb) => `${methods[verb]} ${item}/${name}`))
    // Proxies take every method, also for paths below.
    if (name === 'proxy')
      found.push(
        ...['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'].flatMap((method) => [
          `${method} ${item}/${name}`,
          `${method} ${item}/${name}/{path}`,
        ]),
      )
  }
  return found
}

test('every operation of the official client is served', () => {
  const served = new Set(allResources.flatMap(servedOperations))
  const missing = [...new Set(clientOperations())].filter(
    (operation) =>
      !served.has(operation) && !otherPaths.some(([pattern]) => pattern.test(operation.replace(/^\w+ /, ''))),
  )
  assert.deepEqual(missing, [])
})

test('every served operation is known to the official client', () => {
  const known = new Set(clientOperations())
  const extra = allResources
    .flatMap(servedOperations)
    .filter((operation) => !known.has(operation) && !operation.includes('/proxy'))
  assert.deepEqual(extra, [])
})

test('resources are declared once, and storedAs names an existing resource', () => {
  const registry = resourceRegistry()
  const keys = allResources.map(resourceKey)
  assert.equal(new Set(keys).size, keys.length)
  for (const resource of allResources) assert.equal(registry.storageOf(resource).storedAs, undefined)
  const stored = allResources
    .filter(({ storedAs, virtual }) => !storedAs && !virtual)
    .map(({ storagePath, plural }) => storagePath ?? plural)
  assert.equal(new Set(stored).size, stored.length)
})

test('groups have the order of /apis, with the preferred version first', () => {
  const { groups } = resourceRegistry()
  assert.deepEqual(
    groups.map(({ group, versions }) => `${group}/${versions.map(({ version }) => version).join()}`),
    [
      '/v1',
      'apiregistration.k8s.io/v1',
      'apps/v1',
      'events.k8s.io/v1',
      'authentication.k8s.io/v1',
      'authorization.k8s.io/v1',
      'autoscaling/v2,v1',
      'batch/v1',
      'certificates.k8s.io/v1',
      'networking.k8s.io/v1',
      'policy/v1',
      'rbac.authorization.k8s.io/v1',
      'storage.k8s.io/v1',
      'admissionregistration.k8s.io/v1',
      'apiextensions.k8s.io/v1',
      'scheduling.k8s.io/v1',
      'coordination.k8s.io/v1',
      'node.k8s.io/v1',
      'discovery.k8s.io/v1',
      'resource.k8s.io/v1',
      'flowcontrol.apiserver.k8s.io/v1',
    ],
  )
})

test('versions are preferred by stability, then by number', () => {
  assert.deepEqual(['v1alpha1', 'v1', 'v2beta1', 'v2', 'v1beta2', 'foo'].sort(compareVersions), [
    'v2',
    'v1',
    'v2beta1',
    'v1beta2',
    'v1alpha1',
    'foo',
  ])
})
