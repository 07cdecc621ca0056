/** A namespace for one test. */
import { randomBytes } from 'node:crypto'
import type { WaitCondition } from '../../client/conditions/condition.ts'
import type { DynamicClient } from '../../client/discovery/dynamic-client.ts'
import { namespaces } from '../../client/kinds.ts'
import { type ApplyManifestsOptions, applyManifests } from '../../client/manifests/apply-manifests.ts'
import type { Manifests } from '../../client/manifests/read-manifests.ts'
import type { Unstructured } from '../../machinery/object.ts'
import { StatusError } from '../../machinery/status-error.ts'
import { type NamespaceControllers, namespaceReady } from './settled.ts'
import { type WaitForOptions, type WaitTarget, waitForObject } from './waiting/wait-for-object.ts'

/** The context of a test, which has hooks for its end: that of node:test, or `{ after: onTestFinished }` of Vitest. */
export interface TestLifetime {
  after(done: () => Promise<void>): unknown
}

/** A namespace, and the functions of the cluster in it. */
export interface TestNamespace extends AsyncDisposable {
  readonly name: string
  /** As the cluster's, with this namespace as the default. */
  apply(manifests: Manifests, options?: Omit<ApplyManifestsOptions, 'namespace'>): Promise<readonly Unstructured[]>
  /** As the cluster's, with this namespace as the default. */
  waitFor(
    target: WaitTarget,
    condition: WaitCondition,
    options?: Omit<WaitForOptions, 'namespace'>,
  ): Promise<Unstructured | undefined>
  /** Begins the deletion of the namespace and of everything in it. Does nothing if it is deleted already. */
  delete(): Promise<void>
}

/** Creates a namespace with an unused name, and waits for what every namespace has. */
export async function testNamespace(dynamic: DynamicClient, running: NamespaceControllers): Promise<TestNamespace> {
  const { client } = dynamic
  const name = `test-${randomBytes(4).toString('hex')}`
  await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  await namespaceReady(client, name, running)
  const remove = (): Promise<void> => deleteNamespace(dynamic, name, running.namespaces)
  return {
    name,
    apply: (manifests, options) => applyManifests(dynamic, manifests, { ...options, namespace: name }),
    waitFor: (target, condition, options) => waitForObject(dynamic, target, condition, { ...options, namespace: name }),
    delete: remove,
    [Symbol.asyncDispose]: remove,
  }
}

async function deleteNamespace(dynamic: DynamicClient, name: string, isControlled: boolean): Promise<void> {
  const { client } = dynamic
  try {
    await client.delete(namespaces, '', name)
    if (isControlled) return
    await deleteContents(dynamic, name)
    const namespace = await client.get(namespaces, '', name)
    await client.update(namespaces, { ...namespace, spec: { ...namespace.spec, finalizers: [] } }, 'finalize')
  } catch (error) {
    if (!(error instanceof StatusError && (error.code === 404 || error.code === 409))) throw error
  }
}

/** In place of the namespace controller. */
async function deleteContents({ client, mapper }: DynamicClient, namespace: string): Promise<void> {
  const resources = (await mapper.resources()).filter(
    ({ namespaced, preferred, verbs }) => namespaced && preferred && verbs.has('deletecollection'),
  )
  await Promise.all(
    resources.map((resource) => client.deleteCollection(resource, { namespace }, { gracePeriodSeconds: 0 })),
  )
}
