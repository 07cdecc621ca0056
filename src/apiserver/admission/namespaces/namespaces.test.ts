import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pluginFixture, rejectionOf } from '../plugin.fixture.ts'
import { namespaceAutoProvision } from './namespace-auto-provision.ts'
import { namespaceExists } from './namespace-exists.ts'
import { namespaceLifecycle } from './namespace-lifecycle.ts'

const secret = (namespace: string) => ({ metadata: { name: 's', namespace } })

async function withNamespaces() {
  const fixture = pluginFixture()
  await fixture.store('v1/namespaces', { metadata: { name: 'there' } })
  const { registry, find } = fixture.sources
  const namespaces = find('v1/namespaces')
  const put = async (name: string, phase: string) => {
    const live = await registry.newest(namespaces, namespaces.key('', name))
    const { object } = fixture.write('v1/namespaces', { metadata: { name }, status: { phase } })
    await registry.commits.put(namespaces, namespaces.key('', name), object!, live)
  }
  await put('ending', 'Terminating')
  return { ...fixture, put }
}

test('writes in a missing namespace and creates in a terminating one are rejected', async () => {
  const { sources, write } = await withNamespaces()
  const plugin = namespaceLifecycle(sources)
  const attempt = (namespace: string, more: object = {}) =>
    rejectionOf(plugin, write('v1/secrets', secret(namespace), more))
  assert.equal(await attempt('there'), undefined)
  assert.equal(await attempt('missing'), 'namespaces "missing" not found')
  assert.equal(await attempt('missing', { operation: 'UPDATE' }), 'namespaces "missing" not found')
  assert.equal(await attempt('missing', { operation: 'DELETE' }), undefined)
  assert.equal(
    await attempt('ending'),
    'secrets "s" is forbidden: unable to create new content in namespace ending because it is being terminated',
  )
  assert.equal(await attempt('ending', { operation: 'UPDATE' }), undefined)
})

test('a LocalSubjectAccessReview does not reveal whether the namespace exists', async () => {
  const { sources, write } = await withNamespaces()
  const review = { metadata: { name: '', namespace: 'missing' }, spec: {} }
  assert.equal(
    await rejectionOf(namespaceLifecycle(sources), write('authorization.k8s.io/v1/localsubjectaccessreviews', review)),
    undefined,
  )
})

test('three system namespaces cannot be deleted', async () => {
  const { sources, write } = await withNamespaces()
  const plugin = namespaceLifecycle(sources)
  const end = (name: string) =>
    rejectionOf(plugin, write('v1/namespaces', { metadata: { name } }, { operation: 'DELETE' }))
  for (const name of ['default', 'kube-system', 'kube-public'])
    assert.equal(await end(name), `namespaces "${name}" is forbidden: this namespace may not be deleted`)
  assert.equal(await end('there'), undefined)
})

test('a namespace is read from the store for a while after its delete through this server', async () => {
  const { sources, write, put } = await withNamespaces()
  const plugin = namespaceLifecycle(sources)
  await rejectionOf(plugin, write('v1/namespaces', { metadata: { name: 'there' } }, { operation: 'DELETE' }))
  assert.equal(await rejectionOf(plugin, write('v1/secrets', secret('there'))), undefined)
  await put('there', 'Terminating')
  assert.match(
    String(await rejectionOf(plugin, write('v1/secrets', secret('there')))),
    /because it is being terminated$/,
  )
})

test('NamespaceExists rejects all writes in a missing namespace', async () => {
  const { sources, write } = await withNamespaces()
  const plugin = namespaceExists(sources)
  for (const operation of ['CREATE', 'UPDATE', 'DELETE'] as const) {
    assert.equal(
      await rejectionOf(plugin, write('v1/secrets', secret('missing'), { operation })),
      'namespaces "missing" not found',
    )
    assert.equal(await rejectionOf(plugin, write('v1/secrets', secret('there'), { operation })), undefined)
  }
})

test('NamespaceAutoProvision creates the namespace, but not for a dry run', async () => {
  const { sources, write } = await withNamespaces()
  const plugin = namespaceAutoProvision(sources)
  const namespaces = sources.find('v1/namespaces')
  const find = () => sources.registry.newest(namespaces, namespaces.key('', 'missing'))
  assert.equal(await rejectionOf(plugin, write('v1/secrets', secret('missing'), { dryRun: true })), undefined)
  assert.equal(await find(), undefined)
  await Promise.all(
    [1, 2, 3].map(async () =>
      assert.equal(await rejectionOf(plugin, write('v1/secrets', secret('missing'))), undefined),
    ),
  )
  assert.equal((await find())?.summary.fields['status.phase'], 'Active')
  assert.equal((await find())?.summary.labels['kubernetes.io/metadata.name'], 'missing')
})
