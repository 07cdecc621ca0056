/** Tests of the conformance suite for watches (`test/e2e/apimachinery/watch.go`). */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type V1ConfigMap, Watch } from '@kubernetes/client-node'
import { waitFor } from '../../support/wait-for.ts'
import { conformanceClients, merging } from '../support/clients.ts'

const clients = conformanceClients({ controllers: [], apiServerFlags: ['--disable-admission-plugins=ServiceAccount'] })
const namespace = 'default'

interface Followed {
  /** The received events, such as `ADDED name=mutation`. */
  readonly events: string[]
  readonly versions: string[]
  stop(): void
}

/** Watches config maps with a label from a revision, or from now on. */
async function follow(t: TestContext, label: string, resourceVersion?: string): Promise<Followed> {
  const { config, core } = clients()
  const from = resourceVersion ?? (await core.listNamespacedConfigMap({ namespace })).metadata?.resourceVersion
  const events: string[] = []
  const versions: string[] = []
  const query = { labelSelector: label, resourceVersion: from }
  const controller = await new Watch(config).watch(
    `/api/v1/namespaces/${namespace}/configmaps`,
    query,
    (type: string, { metadata, data }: V1ConfigMap) => {
      events.push(`${type} ${metadata?.name} ${data?.mutation ?? '-'}`)
      versions.push(metadata?.resourceVersion ?? '')
    },
    () => {},
  )
  t.after(() => controller.abort())
  return { events, versions, stop: () => controller.abort() }
}

const make = (name: string, label: Record<string, string>) =>
  clients().core.createNamespacedConfigMap({ namespace, body: { metadata: { name, labels: label } } })
const mutate = (name: string, mutation: number, labels?: Record<string, string>) =>
  clients().core.patchNamespacedConfigMap(
    { namespace, name, body: { data: { mutation: `${mutation}` }, ...(labels && { metadata: { labels } }) } },
    merging,
  )
const remove = (name: string) => clients().core.deleteNamespacedConfigMap({ namespace, name })
const seen = (followed: Followed, expected: readonly string[]) =>
  waitFor('the events', () => followed.events.length >= expected.length).then(() =>
    assert.deepEqual(followed.events, expected),
  )

test('Watchers should observe add, update, and delete watch notifications on configmaps', async (t) => {
  const [a, b, both] = await Promise.all(['w in (a)', 'w in (b)', 'w in (a,b)'].map((label) => follow(t, label)))
  await make('multiple-a', { w: 'a' })
  await mutate('multiple-a', 1)
  await mutate('multiple-a', 2)
  await remove('multiple-a')
  await make('multiple-b', { w: 'b' })
  await remove('multiple-b')
  const ofA = ['ADDED multiple-a -', 'MODIFIED multiple-a 1', 'MODIFIED multiple-a 2', 'DELETED multiple-a 2']
  const ofB = ['ADDED multiple-b -', 'DELETED multiple-b -']
  await seen(a!, ofA)
  await seen(b!, ofB)
  await seen(both!, [...ofA, ...ofB])
})

test('Watchers should be able to start watching from a specific resource version', async (t) => {
  await make('from-version', { w: 'version' })
  const first = await mutate('from-version', 1)
  await mutate('from-version', 2)
  await remove('from-version')
  await seen(await follow(t, 'w=version', first.metadata?.resourceVersion), [
    'MODIFIED from-version 2',
    'DELETED from-version 2',
  ])
})

test(
  'Watchers should be able to restart watching from the last ' + 'resource version observed by the previous watch',
  async (t) => {
    const first = await follow(t, 'w=restart')
    await make('restart', { w: 'restart' })
    await mutate('restart', 1)
    await seen(first, ['ADDED restart -', 'MODIFIED restart 1'])
    first.stop()
    await mutate('restart', 2)
    await remove('restart')
    await seen(await follow(t, 'w=restart', first.versions.at(-1)), ['MODIFIED restart 2', 'DELETED restart 2'])
  },
)

test('Watchers should observe an object deletion if it stops meeting the requirements of the selector', async (t) => {
  const followed = await follow(t, 'w=label')
  await make('label', { w: 'label' })
  await mutate('label', 1)
  await mutate('label', 1, { w: 'wrong' })
  await mutate('label', 2)
  await mutate('label', 3, { w: 'label' })
  await mutate('label', 4)
  await remove('label')
  await seen(followed, [
    'ADDED label -',
    'MODIFIED label 1',
    'DELETED label 1',
    'ADDED label 3',
    'MODIFIED label 4',
    'DELETED label 4',
  ])
})

test('Watchers should receive events on concurrent watches in same order', async (t) => {
  const writes = 20
  const first = await follow(t, 'w=order')
  for (let at = 0; at < writes; at++) await make(`order-${at}`, { w: 'order' })
  await Promise.all(Array.from({ length: writes }, (_, at) => mutate(`order-${at}`, at)))
  await waitFor('all events', () => first.versions.length === 2 * writes)
  for (const at of [0, 7, 19]) {
    const later = await follow(t, 'w=order', first.versions[at])
    await waitFor('the same events', () => later.versions.length === 2 * writes - at - 1)
    assert.deepEqual(later.versions, first.versions.slice(at + 1))
  }
})
