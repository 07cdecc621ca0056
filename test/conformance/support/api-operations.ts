/** Tests of the conformance suite for every API of which it says that it "should support … API operations". */
import assert from 'node:assert/strict'
import { Watch } from '@kubernetes/client-node'
import { waitFor } from '../../support/wait-for.ts'
import type { Clients } from './clients.ts'

export interface ApiUnderTest {
  /** `flowcontrol.apiserver.k8s.io/v1`. */
  readonly groupVersion: string
  readonly kind: string
  readonly plural: string
  /** Where the objects are made, if they are in a namespace. */
  readonly namespace?: string
  /** The n-th of the objects, but for its kind and metadata. */
  object(n: number): object
  /** Names of the objects, where they cannot be generated. */
  readonly names?: readonly string[]
  /** A merge patch of the spec, and what is set by the update that follows. */
  readonly patch?: object
  readonly update?: object
  /** Further fields of a condition of its status, if it has conditions. */
  readonly condition?: object
}

interface Condition {
  readonly type: string
}

interface Tested {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly uid: string
    readonly resourceVersion: string
    readonly annotations?: Readonly<Record<string, string>>
    readonly finalizers?: readonly string[]
    readonly deletionTimestamp?: string
  }
  readonly spec?: object
  readonly status?: { readonly conditions?: readonly Condition[] }
}

interface TestedList {
  readonly metadata: { readonly resourceVersion: string }
  readonly items: readonly Tested[]
}

const merge = 'application/merge-patch+json'

/** Goes through discovery and through all verbs, of the objects and of their status. */
export async function supportsOperations({ cluster, config }: Clients, api: ApiUnderTest): Promise<void> {
  const { groupVersion, kind, plural, namespace, condition } = api
  const [group = '', version] = groupVersion.split('/')
  const ask = <T = Tested>(method: string, path: string, body?: object, type?: string) =>
    cluster.call(method, path, body, type) as unknown as Promise<T>

  const { groups } = await ask<{ groups: { name: string; versions: { version: string }[] }[] }>('GET', '/apis')
  const versions = groups.find(({ name }) => name === group)?.versions
  assert.ok(versions?.some((one) => one.version === version))
  assert.deepEqual((await ask<{ versions: unknown }>('GET', `/apis/${group}`)).versions, versions)
  const { resources } = await ask<{ resources: { name: string }[] }>('GET', `/apis/${groupVersion}`)
  for (const name of condition ? [plural, `${plural}/status`] : [plural])
    assert.ok(resources.some((resource) => resource.name === name))

  const label = `example-e2e-label=${plural}`
  const collection = `/apis/${groupVersion}${namespace ? `/namespaces/${namespace}` : ''}/${plural}`
  const selected = `${collection}?labelSelector=${label}`
  let created: Tested | undefined
  for (const n of [0, 1, 2]) {
    const name = api.names ? { name: api.names[n] } : { generateName: 'e2e-example-' }
    const metadata = { ...name, labels: { 'example-e2e-label': plural } }
    created = await ask('POST', collection, { apiVersion: groupVersion, kind, metadata, ...api.object(n) })
  }
  assert.ok(created)
  const { name, uid } = created.metadata
  const path = `${collection}/${name}`
  assert.equal((await ask('GET', path)).metadata.uid, uid)
  const list = await ask<TestedList>('GET', selected)
  assert.equal(list.items.length, 3)

  const events: { readonly type: string; readonly object: Tested }[] = []
  const query = { resourceVersion: list.metadata.resourceVersion, labelSelector: label }
  const watching = await new Watch(config).watch(
    collection,
    query,
    (type: string, object: Tested) => events.push({ type, object }),
    () => {},
  )
  try {
    const patched = await ask('PATCH', path, { metadata: { annotations: { patched: 'true' } }, ...api.patch }, merge)
    assert.equal(patched.metadata.annotations?.patched, 'true')
    if (api.patch) assert.partialDeepStrictEqual(patched, api.patch)
    assert.ok(BigInt(patched.metadata.resourceVersion) > BigInt(created.metadata.resourceVersion))
    await retryingConflicts(async () => {
      const read = await ask('GET', path)
      const annotations = { ...read.metadata.annotations, updated: 'true' }
      const updated = await ask(
        'PUT',
        path,
        merged({ ...read, metadata: { ...read.metadata, annotations } }, api.update ?? {}),
      )
      assert.equal(updated.metadata.annotations?.updated, 'true')
      if (api.update) assert.partialDeepStrictEqual(updated, api.update)
    })
    await waitFor('the event of the patch', () =>
      events.some(({ object }) => object.metadata.annotations?.patched === 'true'),
    )
    assert.deepEqual(new Set(events.map(({ type, object }) => `${type} ${object.kind}`)), new Set([`MODIFIED ${kind}`]))
  } finally {
    watching.abort()
  }

  if (condition) {
    const status = await ask('GET', `${path}/status`)
    assert.deepEqual([status.apiVersion, status.kind, status.metadata.uid], [groupVersion, kind, uid])
    const has = (object: Tested, type: string) => object.status?.conditions?.some((one) => one.type === type)
    const patched = await ask(
      'PATCH',
      `${path}/status`,
      { status: { conditions: [{ ...condition, type: 'PatchStatusFailed' }] } },
      merge,
    )
    assert.ok(has(patched, 'PatchStatusFailed'))
    await retryingConflicts(async () => {
      const read = await ask('GET', path)
      const all = [...(read.status?.conditions ?? []), { ...condition, type: 'StatusUpdateFailed' }]
      assert.ok(
        has(
          await ask('PUT', `${path}/status`, { ...read, status: { ...read.status, conditions: all } }),
          'StatusUpdateFailed',
        ),
      )
    })
  }

  // An object that a finalizer holds back counts as deleted.
  const left = async () =>
    (await ask<TestedList>('GET', selected)).items.filter(
      ({ metadata }) => !metadata.deletionTimestamp || !metadata.finalizers?.length,
    ).length
  await ask('DELETE', path)
  await ask('GET', path).then(
    ({ metadata }) => assert.ok(metadata.deletionTimestamp && metadata.finalizers?.length),
    (error: Error) => assert.match(error.message, /: 404 /),
  )
  assert.equal(await left(), 2)
  await ask('DELETE', selected)
  assert.equal(await left(), 0)
}

/** Tries again when the object has changed meanwhile, a few times, as clients do. */
async function retryingConflicts(attempt: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries++)
    try {
      return await attempt()
    } catch (error) {
      if (tries === 5 || !/: 409 /.test((error as Error).message)) throw error
    }
}

/** An object with the members of a patch set in it. */
function merged<T extends object>(object: T, patch: object): T {
  const result: Record<string, unknown> = Object.fromEntries(Object.entries(object))
  for (const [name, value] of Object.entries(patch)) {
    const old = result[name]
    result[name] = isObject(value) && isObject(old) ? merged(old, value) : value
  }
  return result as T
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
