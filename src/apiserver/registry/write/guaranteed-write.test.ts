/**
 * The write loop on stores in memory: writers of one server, and of several servers that know nothing of each other.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { allResources } from '../../../api/registry.ts'
import { resourceKey } from '../../../api/resource.ts'
import type { Unstructured } from '../../../machinery/object.ts'
import { requestTimeout, StatusError } from '../../../machinery/status-error.ts'
import { memoryStore } from '../../../storage/memory/index.ts'
import { type CommitResult, CommitUnknownError, type Store, type Transaction } from '../../../storage/store.ts'
import { AdmissionChain } from '../../admission/admission-chain.ts'
import type { AdmissionPlugin } from '../../admission/plugin.ts'
import type { ObjectChange } from '../cache/object-change.ts'
import { Registry } from '../registry.ts'
import { createObject } from './create-object.ts'
import { deleteObject } from './delete-object.ts'
import { updateObject } from './update-object.ts'
import { timestamp, type WriteContext } from './write-context.ts'

interface WriterOptions {
  readonly store?: Store
  readonly plugins?: readonly AdmissionPlugin[]
  readonly kind?: string
}

/** The write path of a server. */
function writer(t: TestContext, { store = memoryStore(), plugins = [], kind = 'v1/configmaps' }: WriterOptions = {}) {
  const registry = new Registry(store, allResources)
  t.after(() => registry.stop())
  const resource = registry.served(allResources.find((definition) => resourceKey(definition) === kind)!)
  const admission = new AdmissionChain(plugins)
  const context = (dryRun = false, signal?: AbortSignal): WriteContext => ({
    registry,
    admission,
    resource,
    namespace: 'ns',
    name: 'one',
    subresource: '',
    user: { name: 'me', groups: [] },
    manager: 'test',
    options: { dryRun, fieldManager: '', fieldValidation: 'Ignore', force: false },
    warnings: [],
    annotate: () => {},
    ...(signal && { request: { signal } }),
    now: () => timestamp(Date.now()),
    pause: () => undefined,
  })
  const key = resource.key('ns', 'one')
  const label = (name: string, given = context()) =>
    updateObject(given, {
      startsFromLive: true,
      change: (live) => ({
        object: { ...live!, metadata: { ...live!.metadata, labels: { ...live!.metadata.labels, [name]: 'yes' } } },
      }),
    })
  return {
    registry,
    resource,
    key,
    context,
    label,
    create: (metadata: object = {}, rest: object = {}) =>
      createObject(context(), {
        kind: resource.definition.kind,
        apiVersion: resource.groupVersion,
        metadata: { name: 'one', ...metadata },
        ...rest,
      } as Unstructured),
    remove: (preconditions?: { resourceVersion?: string }) =>
      deleteObject(context(), { dryRun: false, ...(preconditions && { preconditions }) }),
    live: async () => (await registry.newest(resource, key))?.parse(),
  }
}

/** A store that counts transactions, and may replace their results. */
function counting(
  store: Store,
  instead: (transaction: Transaction, count: number) => Promise<CommitResult | undefined> = async () => undefined,
) {
  const counted = { commits: 0 }
  const commit = async (transaction: Transaction): Promise<CommitResult> => {
    const count = ++counted.commits
    return (await instead(transaction, count)) ?? store.commit(transaction)
  }
  return { store: overlay(store, { commit }), counted }
}

/** A store with some methods replaced. */
const overlay = (store: Store, calls: Partial<Store>): Store =>
  new Proxy(store, {
    get(target, member) {
      const value: unknown = Reflect.get(member in calls ? calls : target, member)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })

/** A store whose watches never receive changes. */
const withoutEvents = (store: Store): Store =>
  overlay(store, {
    watch: (range, after, observer) =>
      store.watch(range, after, { events() {}, caughtUp: () => observer.caughtUp?.(), end() {} }),
  })

const numbers = (count: number): string[] => Array.from({ length: count }, (_, i) => `l${i}`)

test('500 concurrent updates of one object all succeed, with at most two attempts each', async (t) => {
  const { store, counted } = counting(memoryStore())
  const { create, label, live, registry, key } = writer(t, { store })
  await create()
  const names = numbers(500)
  await Promise.all(names.map((name) => label(name)))
  assert.deepEqual(Object.keys((await live())?.metadata.labels ?? {}).sort(), names.sort())
  assert.ok(counted.commits <= 1001, `${counted.commits} commits`)
  assert.equal(registry.turns.isTaken(key), false)
})

test('servers that share a store and know nothing of each other lose no update', async (t) => {
  const store = memoryStore()
  const servers = [writer(t, { store }), writer(t, { store }), writer(t, { store })] as const
  await servers[0].create()
  const names = numbers(90)
  await Promise.all(names.map((name, i) => servers[i % 3]!.label(name)))
  assert.deepEqual(Object.keys((await servers[0].live())?.metadata.labels ?? {}).sort(), names.sort())
})

test('a server that has not received the newest changes still writes on top of them', async (t) => {
  const shared = memoryStore()
  const one = writer(t, { store: shared })
  await one.create()
  const other = writer(t, { store: withoutEvents(shared) })
  await other.label('first')
  for (const name of ['a', 'b']) {
    await one.label(`one-${name}`)
    await other.label(`other-${name}`)
  }
  assert.equal(Object.keys((await one.live())?.metadata.labels ?? {}).length, 5)
  await one.remove()
  await assert.rejects(other.label('late'), (error) => error instanceof StatusError && error.code === 404)
})

test('a writer whose request is aborted while it waits writes nothing, and the others continue', async (t) => {
  const { create, label, live, context, registry, key } = writer(t)
  await create()
  const leaving = new AbortController()
  const turn = await registry.turns.take(key)
  const gone = label('gone', context(false, leaving.signal))
  const stays = label('stays')
  leaving.abort(requestTimeout())
  await assert.rejects(gone, (error) => error instanceof StatusError && error.code === 504)
  turn.end()
  await stays
  assert.deepEqual((await live())?.metadata.labels, { stays: 'yes' })
})

test('dry runs and writes with a resourceVersion do not wait for a turn', async (t) => {
  const { create, label, context, registry, key, resource, remove } = writer(t)
  await create()
  const turn = await registry.turns.take(key)
  assert.deepEqual((await label('dry', context(true))).object.parse().metadata.labels, { dry: 'yes' })
  const put = (resourceVersion: string | undefined) =>
    updateObject(context(), {
      change: () => ({
        object: {
          kind: 'ConfigMap',
          apiVersion: 'v1',
          metadata: { name: 'one', namespace: 'ns', resourceVersion },
          data: { a: 'b' },
        } as Unstructured,
      }),
      conditional: resourceVersion !== undefined,
    })
  const version = (await registry.get(resource, key))?.parse().metadata.resourceVersion
  await put(version)
  await assert.rejects(put(version), (error) => error instanceof StatusError && error.code === 409)
  await assert.rejects(
    remove({ resourceVersion: version! }),
    (error) => error instanceof StatusError && error.code === 409,
  )
  const waiting = put(undefined)
  turn.end()
  await waiting
})

test('mutating and validating admission see every attempt, with the newer object', async (t) => {
  const seen: string[] = []
  const note = (step: string) => (attributes: Parameters<NonNullable<AdmissionPlugin['mutate']>>[0]) => {
    if (attributes.operation === 'UPDATE') seen.push(`${step} ${Object.keys(attributes.old?.metadata.labels ?? {})}`)
  }
  const { store } = counting(memoryStore(), async (_, count) => {
    if (count === 2) await other.label('other')
    return undefined
  })
  const one = writer(t, { store, plugins: [{ name: 'Notes', mutate: note('mutate'), validate: note('validate') }] })
  const other = writer(t, { store })
  await one.create()
  await one.label('own')
  assert.deepEqual(seen, ['mutate ', 'validate ', 'mutate other', 'validate other'])
  assert.deepEqual((await one.live())?.metadata.labels, { other: 'yes', own: 'yes' })
})

test('a write refused by conditions on other objects is retried, then ends with ServerTimeout', async (t) => {
  const store = memoryStore()
  const { create, label, resource, context } = writer(t, { store })
  await create()
  let refusals = 2
  let asked = 0
  // Another key, which must not be there.
  resource.writeHook = {
    begin: async () => () => {},
    commit: (_key, _object, { conditions, operations }) => {
      asked++
      const other = { key: '/registry/other', revision: refusals-- > 0 ? 99 : 0 }
      return store.commit({ conditions: [...conditions, other], operations })
    },
  }
  await label('late')
  assert.equal(asked, 3)
  refusals = Number.POSITIVE_INFINITY
  await assert.rejects(
    label('never'),
    (error) =>
      error instanceof StatusError && error.reason === 'ServerTimeout' && error.status.details?.retryAfterSeconds === 1,
  )
  assert.ok(asked < 10)
  await assert.rejects(
    createObject(context(), { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'two' } } as Unstructured),
    (error) => error instanceof StatusError && error.reason === 'ServerTimeout',
  )
})

const container = { name: 'c', image: 'i', imagePullPolicy: 'Always', terminationMessagePolicy: 'File' }
const podSpec = { spec: { containers: [container], restartPolicy: 'Always', dnsPolicy: 'ClusterFirst' } }

test('a pod deleted without grace is shown as terminating, then removed, by two transactions', async (t) => {
  const { store, counted } = counting(memoryStore())
  const { create, remove, registry, resource } = writer(t, { store, kind: 'v1/pods' })
  const created = await create({}, podSpec)
  const changes: ObjectChange[] = []
  const view = await registry.cacher(resource).ready()
  view.subscribe({ changes: (batch) => changes.push(...batch), end() {} })
  const { object, removed } = await remove()
  assert.equal(removed, true)
  assert.equal(counted.commits, 3)
  assert.deepEqual(
    changes.map(({ type, revision }) => [type, revision - created.revision]),
    [
      ['put', 1],
      ['delete', 2],
    ],
  )
  for (const change of [...changes.map((change) => change.object), object]) {
    const { deletionTimestamp, deletionGracePeriodSeconds, resourceVersion } = change.parse().metadata
    assert.equal(typeof deletionTimestamp, 'string')
    assert.equal(deletionGracePeriodSeconds, 0)
    assert.equal(resourceVersion, String(change.revision))
  }
  assert.equal(object.revision, changes[1]!.revision)
})

test('a pod that another server removes between the two transactions of its deletion counts as deleted', async (t) => {
  const shared = memoryStore()
  const { store } = counting(shared, async (_, count) => {
    if (count === 3) await shared.commit({ conditions: [], operations: [{ key, delete: true }] })
    return undefined
  })
  const { create, remove, key } = writer(t, { store, kind: 'v1/pods' })
  await create({}, podSpec)
  const { object, removed } = await remove()
  assert.equal(removed, true)
  assert.equal(object.parse().metadata.deletionGracePeriodSeconds, 0)
})

test('concurrent removals of the last finalizers of a deleted object all succeed', async (t) => {
  const { create, remove, context, live } = writer(t)
  await create({ finalizers: ['example.com/hold'] })
  await remove()
  const finish = () =>
    updateObject(context(), {
      startsFromLive: true,
      change: (old) => ({ object: { ...old!, metadata: { ...old!.metadata, finalizers: [] } } }),
    })
  await Promise.all([finish(), finish(), finish()])
  assert.equal(await live(), undefined)
})

test(
  'deletes and updates of one object race without losing either: earlier updates succeed, later ones ' + 'get 404',
  async (t) => {
    const { create, remove, label, live } = writer(t)
    await create()
    const outcomes = await Promise.allSettled([
      ...numbers(20).map((name) => label(name)),
      remove(),
      ...numbers(20).map((name) => label(`after-${name}`)),
      remove(),
    ])
    assert.equal(await live(), undefined)
    const failures = outcomes.flatMap((outcome) =>
      outcome.status === 'rejected' ? [outcome.reason as StatusError] : [],
    )
    assert.deepEqual([...new Set(failures.map(({ code }) => code))], [404])
    assert.equal(outcomes.filter((outcome) => outcome.status === 'fulfilled' && 'removed' in outcome.value).length, 1)
  },
)

test(
  'a write that fails or changes nothing on the cached object is retried on the newest if another server wrote ' + 'it',
  async (t) => {
    const shared = memoryStore()
    const one = writer(t, { store: shared })
    const withStaleCache = () => writer(t, { store: withoutEvents(shared) })
    const early = withStaleCache()
    await early.registry.cacher(early.resource).ready()
    await one.create()
    // Its cache does not have the object.
    await early.label('a')
    const late = withStaleCache()
    await late.registry.cacher(late.resource).ready()
    await one.label('b')
    // Its cached object has no label b yet: the wanted change seems to be done.
    const { object } = await updateObject(late.context(), {
      startsFromLive: true,
      change: (live) => ({ object: { ...live!, metadata: { ...live!.metadata, labels: { a: 'yes' } } } }),
    })
    assert.deepEqual(object.parse().metadata.labels, { a: 'yes' })
    assert.deepEqual((await one.live())?.metadata.labels, { a: 'yes' })
    await early.remove()
    await assert.rejects(early.label('gone'), (error) => error instanceof StatusError && error.code === 404)
  },
)

test('a write whose outcome is unknown is not tried again: it may have been written', async (t) => {
  const inner = memoryStore()
  const store = counting(inner, async (transaction, count) => {
    if (count !== 2) return undefined
    await inner.commit(transaction)
    throw new CommitUnknownError('no answer')
  })
  const { create, label, live } = writer(t, { store: store.store })
  await create()
  await assert.rejects(label('a'), CommitUnknownError)
  assert.deepEqual((await live())?.metadata.labels, { a: 'yes' })
})
