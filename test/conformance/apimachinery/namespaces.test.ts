/** Tests of the conformance suite for namespaces (`test/e2e/apimachinery/namespace.go`), under its names. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { V1Namespace } from '@kubernetes/client-node'
import { waitFor } from '../../support/wait-for.ts'
import { conformanceClients, merging, pod } from '../support/clients.ts'

const clients = conformanceClients({})
const finalizer = 'e2e.example.com/fakeFinalizer'

/** Deletes the namespace and, when it no longer exists, creates it once more. */
async function made(name: string): Promise<void> {
  const { core, namespace: make } = clients()
  await core.deleteNamespace({ name })
  await waitFor(
    `the namespace ${name} to go`,
    async () => !(await core.listNamespace()).items.some(({ metadata }) => metadata?.name === name),
  )
  await make(name)
}

describe('namespaces', { concurrency: 4 }, () => {
  test('namespace-deletion-removes-pods', async () => {
    const { core, namespace: make } = clients()
    const namespace = await make('removes-pods')
    await core.createNamespacedPod({ namespace, body: pod('test-pod') })
    await made(namespace)
    assert.deepEqual((await core.listNamespacedPod({ namespace })).items, [])
  })

  test('namespace-deletion-removes-services', async () => {
    const { core, namespace: make } = clients()
    const namespace = await make('removes-services')
    const spec = { selector: { foo: 'bar', baz: 'blah' }, ports: [{ port: 80, targetPort: 80 }] }
    await core.createNamespacedService({ namespace, body: { metadata: { name: 'test-service' }, spec } })
    await made(namespace)
    assert.deepEqual((await core.listNamespacedService({ namespace })).items, [])
  })

  test('Namespace patching', async () => {
    const { core, namespace: make } = clients()
    const name = await make('patched')
    await core.patchNamespace({ name, body: { metadata: { labels: { testLabel: 'testValue' } } } }, merging)
    assert.equal((await core.readNamespace({ name })).metadata?.labels?.testLabel, 'testValue')
  })

  test('Namespace, apply update to a namespace', async () => {
    const { core, namespace: make } = clients()
    const name = await make('updated')
    const live = await core.readNamespace({ name })
    const body: V1Namespace = {
      ...live,
      metadata: { ...live.metadata, labels: { ...live.metadata?.labels, updated: 'yes' } },
    }
    assert.equal((await core.replaceNamespace({ name, body })).metadata?.labels?.updated, 'yes')
    assert.equal((await core.readNamespace({ name })).metadata?.labels?.updated, 'yes')
  })

  test('Namespace, apply changes to a namespace status', async () => {
    const { core, namespace: make } = clients()
    const name = await make('status')
    assert.equal((await core.readNamespaceStatus({ name })).status?.phase, 'Active')
    const condition = (type: string) => ({
      type,
      status: 'True',
      reason: 'E2E',
      message: `Set from an e2e test: ${type}`,
    })
    const conditionsOf = ({ status }: V1Namespace) =>
      status?.conditions?.map(({ type, status, reason, message }) => ({ type, status, reason, message }))
    const patched = await core.patchNamespaceStatus(
      { name, body: { status: { conditions: [condition('StatusPatch')] } } },
      merging,
    )
    assert.deepEqual(conditionsOf(patched), [condition('StatusPatch')])
    const conditions = [...(patched.status?.conditions ?? []), condition('StatusUpdate')]
    const updated = await core.replaceNamespaceStatus({
      name,
      body: { ...patched, status: { ...patched.status, conditions } },
    })
    assert.deepEqual(conditionsOf(updated), [condition('StatusPatch'), condition('StatusUpdate')])
    assert.deepEqual(conditionsOf(await core.readNamespace({ name })), conditionsOf(updated))
  })

  test('Namespace, apply finalizer to a namespace', async () => {
    const { core, namespace: make } = clients()
    const name = await make('finalized')
    const put = async (finalizers: string[]): Promise<void> => {
      await core.replaceNamespaceFinalize({
        name,
        body: { ...(await core.readNamespace({ name })), spec: { finalizers } },
      })
    }
    const finalizers = async () => (await core.readNamespace({ name })).spec?.finalizers
    await put(['kubernetes', finalizer])
    assert.deepEqual(await finalizers(), ['kubernetes', finalizer])
    await put(['kubernetes'])
    assert.deepEqual(await finalizers(), ['kubernetes'])
  })
})
