/** The tests of the conformance suite named "should support … API operations", which are the same for many APIs. */
import assert from 'node:assert/strict'
import { Watch } from '@kubernetes/client-node'
import { waitFor } from '../../support/wait-for.ts'
import type { Clients } from './clients.ts'

export interface ApiUnderTest {
  /** `flowcontrol.apiserver.k8s.io/v1`. */
  readonly groupVersion: string
  readonly kind: string
  readonly plural: string
  /** Namespace of the objects, if they have one. */
  readonly namespace?: string
  /** Returns the n-th object without its kind and metadata. */
  object(n: number): object
  /** Names of the objects, if they cannot be generated. */
  readonly names?: readonly string[]
  /** A merge patch of the spec. */
  readonly patch?: object
  /** The fields that the update after it sets. */
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

/** Checks discovery and all verbs, for the objects and for their status. */
export async function supportsOperations(clients: Clients, api: ApiUnderTest): Promise<void> {
  const operations = new Operations(clients, api)
  await operations.checkDiscovery()
  const created = await operations.createThree()
  await operations.checkWrites(created)
  if (api.condition) await operations.checkStatus(created, api.condition)
  await operations.checkDeletes(created)
}

/** The operations of an API under test, on the objects that it creates. */
class Operations {
  readonly #clients: Clients
  readonly #api: ApiUnderTest
  readonly #label: string
  readonly #collection: string
  /** The collection of the created objects only. */
  readonly #selected: string

  constructor(clients: Clients, api: ApiUnderTest) {
    const { groupVersion, namespace, plural } = api
    this.#clients = clients
    this.#api = api
    this.#label = `example-e2e-label=${plural}`
    this.#collection = `/apis/${groupVersion}${namespace ? `/namespaces/${namespace}` : ''}/${plural}`
    this.#selected = `${this.#collection}?labelSelector=${this.#label}`
  }

  #call<T = Tested>(method: string, path: string, body?: object, type?: string): Promise<T> {
    return this.#clients.cluster.call(method, path, body, type) as unknown as Promise<T>
  }

  #pathOf({ metadata }: Tested): string {
    return `${this.#collection}/${metadata.name}`
  }

  /** Checks that the group, its version and its resources are listed. */
  async checkDiscovery(): Promise<void> {
    const { groupVersion, plural, condition } = this.#api
    const [group = '', version] = groupVersion.split('/')
    const { groups } = await this.#call<{ groups: { name: string; versions: { version: string }[] }[] }>('GET', '/apis')
    const versions = groups.find(({ name }) => name === group)?.versions
    assert.ok(versions?.some((one) => one.version === version))
    assert.deepEqual((await this.#call<{ versions: unknown }>('GET', `/apis/${group}`)).versions, versions)
    const { resources } = await this.#call<{ resources: { name: string }[] }>('GET', `/apis/${groupVersion}`)
    for (const name of condition ? [plural, `${plural}/status`] : [plural])
      assert.ok(resources.some((resource) => resource.name === name))
  }

  /** Creates three objects. Returns the last. */
  async createThree(): Promise<Tested> {
    const { groupVersion, kind, plural, names } = this.#api
    let created: Tested | undefined
    for (const n of [0, 1, 2]) {
      const name = names ? { name: names[n] } : { generateName: 'e2e-example-' }
      const metadata = { ...name, labels: { 'example-e2e-label': plural } }
      const object = { apiVersion: groupVersion, kind, metadata, ...this.#api.object(n) }
      created = await this.#call('POST', this.#collection, object)
    }
    assert.ok(created)
    assert.equal((await this.#call('GET', this.#pathOf(created))).metadata.uid, created.metadata.uid)
    return created
  }

  /** Patches and updates an object during a watch. */
  async checkWrites(created: Tested): Promise<void> {
    const list = await this.#call<TestedList>('GET', this.#selected)
    assert.equal(list.items.length, 3)
    const events: { readonly type: string; readonly object: Tested }[] = []
    const query = { resourceVersion: list.metadata.resourceVersion, labelSelector: this.#label }
    const watching = await new Watch(this.#clients.config).watch(
      this.#collection,
      query,
      (type: string, object: Tested) => events.push({ type, object }),
      () => {},
    )
    try {
      await this.#patch(created)
      await retryingConflicts(() => this.#update(created))
      await waitFor('the event of the patch', () =>
        events.some(({ object }) => object.metadata.annotations?.patched === 'true'),
      )
      assert.deepEqual(
        new Set(events.map(({ type, object }) => `${type} ${object.kind}`)),
        new Set([`MODIFIED ${this.#api.kind}`]),
      )
    } finally {
      watching.abort()
    }
  }

  async #patch(created: Tested): Promise<void> {
    const { patch } = this.#api
    const body = { metadata: { annotations: { patched: 'true' } }, ...patch }
    const patched = await this.#call('PATCH', this.#pathOf(created), body, merge)
    assert.equal(patched.metadata.annotations?.patched, 'true')
    if (patch) assert.partialDeepStrictEqual(patched, patch)
    assert.ok(BigInt(patched.metadata.resourceVersion) > BigInt(created.metadata.resourceVersion))
  }

  async #update(created: Tested): Promise<void> {
    const { update } = this.#api
    const path = this.#pathOf(created)
    const read = await this.#call('GET', path)
    const annotations = { ...read.metadata.annotations, updated: 'true' }
    const object = merged({ ...read, metadata: { ...read.metadata, annotations } }, update ?? {})
    const updated = await this.#call('PUT', path, object)
    assert.equal(updated.metadata.annotations?.updated, 'true')
    if (update) assert.partialDeepStrictEqual(updated, update)
  }

  /** Reads, patches and updates the status of an object. */
  async checkStatus(created: Tested, condition: object): Promise<void> {
    const path = `${this.#pathOf(created)}/status`
    const status = await this.#call('GET', path)
    assert.deepEqual(
      [status.apiVersion, status.kind, status.metadata.uid],
      [this.#api.groupVersion, this.#api.kind, created.metadata.uid],
    )
    const has = (object: Tested, type: string) => object.status?.conditions?.some((one) => one.type === type)
    const patch = { status: { conditions: [{ ...condition, type: 'PatchStatusFailed' }] } }
    assert.ok(has(await this.#call('PATCH', path, patch, merge), 'PatchStatusFailed'))
    await retryingConflicts(async () => {
      const read = await this.#call('GET', this.#pathOf(created))
      const conditions = [...(read.status?.conditions ?? []), { ...condition, type: 'StatusUpdateFailed' }]
      const updated = await this.#call('PUT', path, { ...read, status: { ...read.status, conditions } })
      assert.ok(has(updated, 'StatusUpdateFailed'))
    })
  }

  /** Deletes an object, then the others as a collection. */
  async checkDeletes(created: Tested): Promise<void> {
    const path = this.#pathOf(created)
    await this.#call('DELETE', path)
    await this.#call('GET', path).then(
      ({ metadata }) => assert.ok(metadata.deletionTimestamp && metadata.finalizers?.length),
      (error: Error) => assert.match(error.message, /: 404 /),
    )
    assert.equal(await this.#countRemaining(), 2)
    await this.#call('DELETE', this.#selected)
    assert.equal(await this.#countRemaining(), 0)
  }

  /** Returns the number of objects that remain. One that waits for a finalizer counts as deleted. */
  async #countRemaining(): Promise<number> {
    const { items } = await this.#call<TestedList>('GET', this.#selected)
    return items.filter(({ metadata }) => !metadata.deletionTimestamp || !metadata.finalizers?.length).length
  }
}

/** Retries a few times if the object has changed meanwhile, as clients do. */
async function retryingConflicts(attempt: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries++)
    try {
      return await attempt()
    } catch (error) {
      if (tries === 5 || !/: 409 /.test((error as Error).message)) throw error
    }
}

/** Returns the object with the members of the patch. */
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
