import assert from 'node:assert/strict'
import test from 'node:test'
import { resourceRegistry } from '../../api/registry.ts'
import type { ResourceDefinition } from '../../api/resource.ts'
import { DiscoveryForms } from './documents.ts'
import { chooseForm } from './index.ts'

const all: ResourceDefinition[] = [
  {
    group: '',
    version: 'v1',
    kind: 'Pod',
    plural: 'pods',
    shortNames: ['po'],
    categories: ['all'],
    scope: 'Namespaced',
    subresources: {
      status: true,
      special: [{ name: 'eviction', kind: 'Eviction', group: 'policy', version: 'v1', verbs: ['create'] }],
    },
  },
  {
    group: 'apps',
    version: 'v1',
    kind: 'Deployment',
    plural: 'deployments',
    scope: 'Namespaced',
    subresources: { status: true, scale: { replicas: '.a', observed: '.b', selector: '.c' } },
  },
  {
    group: 'who',
    version: 'v1',
    kind: 'TokenReview',
    plural: 'tokenreviews',
    scope: 'Cluster',
    verbs: ['create'],
    virtual: true,
  },
]
const forms = new DiscoveryForms(resourceRegistry({ all }), '127.0.0.1:6443')
const at = (path: string) => forms.get(path) ?? assert.fail(path)
const read = (path: string, form: 'legacy' | 'v2' = 'legacy') => JSON.parse(String(at(path)[form]?.body))

test('the core group lists its versions and the server address', () => {
  assert.deepEqual(read('/api'), {
    kind: 'APIVersions',
    versions: ['v1'],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: '127.0.0.1:6443' }],
  })
})

test('a group lists its versions and the preferred one', () => {
  const version = { groupVersion: 'apps/v1', version: 'v1' }
  assert.deepEqual(read('/apis/apps'), {
    kind: 'APIGroup',
    apiVersion: 'v1',
    name: 'apps',
    versions: [version],
    preferredVersion: version,
  })
  assert.deepEqual(
    read('/apis').groups.map(({ name }: { name: string }) => name),
    ['apps', 'who'],
  )
})

test('a group version lists resources and subresources', () => {
  const list = read('/api/v1')
  assert.deepEqual([list.apiVersion, list.groupVersion], [undefined, 'v1'])
  const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']
  assert.deepEqual(list.resources, [
    {
      name: 'pods',
      singularName: 'pod',
      namespaced: true,
      kind: 'Pod',
      verbs,
      shortNames: ['po'],
      categories: ['all'],
      storageVersionHash: 'xPOwRZ+Yhw8=',
    },
    {
      name: 'pods/eviction',
      singularName: '',
      namespaced: true,
      group: 'policy',
      version: 'v1',
      kind: 'Eviction',
      verbs: ['create'],
    },
    { name: 'pods/status', singularName: '', namespaced: true, kind: 'Pod', verbs: ['get', 'patch', 'update'] },
  ])
  assert.equal(read('/apis/apps/v1').apiVersion, 'v1')
  assert.deepEqual(read('/apis/who/v1').resources, [
    { name: 'tokenreviews', singularName: 'tokenreview', namespaced: false, kind: 'TokenReview', verbs: ['create'] },
  ])
})

test('the aggregated form contains everything below a path', () => {
  const list = read('/apis', 'v2')
  assert.deepEqual([list.kind, list.apiVersion, list.metadata], ['APIGroupDiscoveryList', 'apidiscovery.k8s.io/v2', {}])
  const [{ metadata, versions }] = list.items
  assert.deepEqual(
    [metadata.name, versions[0].freshness, versions[0].resources[0].responseKind],
    ['apps', 'Current', { group: 'apps', version: 'v1', kind: 'Deployment' }],
  )
  assert.deepEqual(
    versions[0].resources[0].subresources.map(
      ({ subresource, responseKind }: { subresource: string; responseKind: { kind: string } }) =>
        `${subresource} ${responseKind.kind}`,
    ),
    ['scale Scale', 'status Deployment'],
  )
  assert.equal(read('/api', 'v2').apiVersion, 'apidiscovery.k8s.io/v2')
  assert.match(at('/apis').v2?.etag ?? '', /^"[0-9A-F]{128}"$/)
})

test('the Accept header selects the form', () => {
  const as = (version: string) => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`
  const chosen = (path: string, accept?: string) => {
    const { document, format } = chooseForm(accept, at(path))
    return `${document === at(path).legacy ? 'legacy' : JSON.parse(String(document.body)).apiVersion} ${format}`
  }
  const cases: [string, string | undefined, string][] = [
    ['/apis', undefined, 'legacy json'],
    ['/apis', '*/*', 'legacy json'],
    ['/apis', 'application/yaml', 'legacy yaml'],
    ['/apis', `${as('v2')},${as('v2beta1')},application/json`, 'apidiscovery.k8s.io/v2 json'],
    ['/apis', `${as('v9')},application/json`, 'legacy json'],
    ['/apis/apps', `${as('v2')},application/json`, 'legacy json'],
  ]
  for (const [path, accept, expected] of cases) assert.equal(chosen(path, accept), expected, `${path} ${accept}`)
  for (const [path, accept] of [
    ['/apis', as('v9')],
    ['/api', as('v2beta1')],
    ['/apis/apps', as('v2')],
    ['/apis', 'text/html'],
  ] as const)
    assert.throws(() => chosen(path, accept), { code: 406 })
})
