import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod, PodDisruptionBudget } from '../../../client/kinds.ts'
import { PodInfo, pluginFactory, wait } from '../../framework/index.ts'
import { MemoryCluster } from '../../testing/memory-cluster.fixture.ts'
import { memoryScheduler } from '../../testing/memory-scheduler.fixture.ts'
import { aNode, aPod, withRequests } from '../../testing/objects.fixture.ts'
import { budgetOf, splitByBudgets } from './budgets.ts'
import { chooseCandidate } from './choose.ts'
import { byImportance } from './importance.ts'

const started = (minute: number): Pod['status'] => ({ startTime: `2026-01-01T00:0${minute}:00Z` })
const aVictim = (name: string, priority: number, minute = 0): PodInfo =>
  new PodInfo({ ...aPod(name, { priority }), status: started(minute) })

test('pods of higher priority, then older pods, are more important', () => {
  const pods = [
    aVictim('young', 1, 5),
    aVictim('old', 1, 1),
    aVictim('high', 2, 9),
    new PodInfo(aPod('not-started', { priority: 1 })),
  ]
  assert.deepEqual(
    pods.sort(byImportance).map(({ name }) => name),
    ['high', 'old', 'young', 'not-started'],
  )
})

test('the node with the least important victims is chosen', () => {
  const candidate = (node: string, violations: number, ...pods: PodInfo[]) => ({
    node,
    victims: { pods: pods.sort(byImportance), violations },
  })
  const cases: [string, ReturnType<typeof candidate>[], string][] = [
    ['fewest broken budgets', [candidate('a', 1, aVictim('p', 0)), candidate('b', 0, aVictim('q', 9))], 'b'],
    [
      'the lowest highest priority',
      [candidate('a', 0, aVictim('p', 5)), candidate('b', 0, aVictim('q', 4), aVictim('r', 4))],
      'b',
    ],
    [
      'the lowest sum',
      [candidate('a', 0, aVictim('p', 5), aVictim('q', 3)), candidate('b', 0, aVictim('r', 5), aVictim('s', 1))],
      'b',
    ],
    [
      'a sum counts negative priorities too',
      [candidate('a', 0, aVictim('p', 5), aVictim('q', -9)), candidate('b', 0, aVictim('r', 5))],
      'b',
    ],
    ['the youngest', [candidate('a', 0, aVictim('p', 5, 1)), candidate('b', 0, aVictim('q', 5, 2))], 'b'],
    ['the first of equals', [candidate('a', 0, aVictim('p', 5)), candidate('b', 0, aVictim('q', 5))], 'a'],
  ]
  for (const [title, candidates, expected] of cases) assert.equal(chooseCandidate(candidates)?.node, expected, title)
  assert.equal(chooseCandidate([]), undefined)
})

const aBudget = (
  name: string,
  matchLabels: Record<string, string>,
  disruptionsAllowed: number,
  disruptedPods = {},
): PodDisruptionBudget => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name, namespace: 'default' },
  spec: { selector: { matchLabels } },
  status: { disruptionsAllowed, disruptedPods, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 },
})

test('victims use up disruption budgets one after the other', () => {
  const [first, second, other] = ['first', 'second', 'other'].map(
    (name) => new PodInfo(aPod(name, {}, { labels: { app: name === 'other' ? 'b' : 'a' } })),
  )
  const bare = new PodInfo(aPod('bare'))
  const split = (...budgets: PodDisruptionBudget[]): readonly string[] =>
    splitByBudgets([first!, second!, other!, bare], budgets.map(budgetOf)).violating.map(({ name }) => name)
  assert.deepEqual(split(aBudget('a', { app: 'a' }, 1)), ['second'])
  assert.deepEqual(split(aBudget('a', { app: 'a' }, 0)), ['first', 'second'])
  assert.deepEqual(split(aBudget('all', {}, 0)), [])
  assert.deepEqual(split(aBudget('a', { app: 'a' }, 0, { first: '2026-01-01T00:00:00Z' })), ['second'])
})

/**
 * Nodes with 3 cores each, full of pods with these priorities, which request one core. The first letter of a pod is its
 * node.
 */
async function fullCluster(
  priorities: Readonly<Record<string, number>>,
  options: { readonly nodes?: readonly string[]; readonly more?: readonly object[] } = {},
) {
  const cluster = new MemoryCluster()
  for (const name of options.nodes ?? ['a']) cluster.put(aNode(name, { allocatable: { cpu: '3' } }))
  for (const [name, priority] of Object.entries(priorities))
    cluster.put({
      ...aPod(name, { ...withRequests({ cpu: '1' }), nodeName: name[0], priority }, { labels: { app: name } }),
      status: started(0),
    } as Pod)
  cluster.put(...((options.more ?? []) as PodDisruptionBudget[]))
  return memoryScheduler({}, cluster)
}

test('preemption evicts the fewest and least important pods', async () => {
  const { cluster, scheduler, until } = await fullCluster({ a1: 1, a2: 2, a3: 3 })
  cluster.put(aPod('urgent', { ...withRequests({ cpu: '2' }), priority: 10 }))
  await until('urgent has its place', () => cluster.pod('urgent')?.spec?.nodeName === 'a')
  assert.deepEqual(
    ['a1', 'a2', 'a3'].map((name) => cluster.pod(name) !== undefined),
    [false, false, true],
  )
  await scheduler.stop()
})

test('pods protected by a budget are spared if others can be evicted', async () => {
  const { cluster, scheduler, until } = await fullCluster(
    { a1: 1, a2: 2, a3: 3 },
    { more: [aBudget('a1', { app: 'a1' }, 0)] },
  )
  cluster.put(aPod('urgent', { ...withRequests({ cpu: '1' }), priority: 10 }))
  await until('urgent has its place', () => cluster.pod('urgent')?.spec?.nodeName === 'a')
  assert.deepEqual(
    ['a1', 'a2', 'a3'].map((name) => cluster.pod(name) !== undefined),
    [true, false, true],
  )
  await scheduler.stop()
})

test('a pod that may not preempt, or would not benefit, gets the reason in its condition', async () => {
  const { cluster, scheduler, until } = await fullCluster({ a1: 1, a2: 2, a3: 3 }, { nodes: ['a', 'b'] })
  cluster.put(aNode('b', { allocatable: { cpu: '3' }, spec: { unschedulable: true } }))
  const message = async (name: string, spec: object): Promise<string> => {
    cluster.put(aPod(name, { ...withRequests({ cpu: '1' }), ...spec }))
    const read = (): string | undefined =>
      cluster.pod(name)?.status?.conditions?.find(({ type }) => type === 'PodScheduled')?.message
    await until('the condition', () => read() !== undefined)
    return read() ?? ''
  }
  const filters = '0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable.'
  assert.equal(
    await message('never', { priority: 10, preemptionPolicy: 'Never' }),
    `${filters} preemption: not eligible due to preemptionPolicy=Never.`,
  )
  assert.equal(
    await message('lowest', { priority: 0 }),
    `${filters} preemption: 0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 ` +
      'Preemption is not helpful for scheduling.',
  )
  assert.match(scheduler.metrics.registry.render(), /scheduler_preemption_attempts_total 0/)
  await scheduler.stop()
})

test('a preemptor that needs resources of two victims is scheduled after the last of them', async () => {
  for (const last of ['port', 'cores']) {
    const cluster = new MemoryCluster()
    const ports = [{ containerPort: 80, hostPort: 80 }]
    const holder = { containers: [{ name: 'c', image: 'i', ports }] }
    const minute = (name: string): number => (name === last ? 1 : 2)
    cluster.put(aNode('a', { allocatable: { cpu: '3' } }))
    for (const [name, spec] of Object.entries({ port: holder, cores: withRequests({ cpu: '3' }) })) {
      const victim: Pod = { ...aPod(name, { ...spec, nodeName: 'a', priority: 0 }), status: started(minute(name)) }
      cluster.put(victim)
    }
    const { scheduler, until } = await memoryScheduler({}, cluster)
    cluster.put(
      aPod('urgent', {
        containers: [{ name: 'c', image: 'i', ports, resources: { requests: { cpu: '2' } } }],
        priority: 10,
      }),
    )
    await until(`urgent is scheduled, ${last} is deleted last`, () => cluster.pod('urgent')?.spec?.nodeName === 'a')
    await scheduler.stop()
  }
})

test('terminating pods are not evicted and get no event', async () => {
  const { cluster, scheduler, until } = await fullCluster({ a1: 1, a2: 2, a3: 3 })
  cluster.onDelete = ({ metadata }) => assert.fail(`${metadata.name} is deleted`)
  const leaving = cluster.pod('a1')!
  cluster.put({ ...leaving, metadata: { ...leaving.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } })
  cluster.put(aPod('urgent', { ...withRequests({ cpu: '1' }), priority: 10 }))
  await until('urgent is nominated', () => cluster.pod('urgent')?.status?.nominatedNodeName === 'a')
  cluster.remove('Pod', 'default/a1')
  await until('urgent has its place', () => cluster.pod('urgent')?.spec?.nodeName === 'a')
  assert.deepEqual(
    cluster.events.filter(({ reason }) => reason === 'Preempted'),
    [],
  )
  await scheduler.stop()
})

test('a victim that waits in Permit is rescheduled instead of deleted', async () => {
  const gate = pluginFactory({
    name: 'Gate',
    make: () => ({ events: [], permit: (_state, pod) => (pod.priority === 0 ? wait(60_000) : undefined) }),
  })
  const profiles = [{ plugins: { permit: { enabled: [{ name: 'Gate' }] } } }]
  const cluster = new MemoryCluster()
  cluster.put(aNode('a', { allocatable: { cpu: '1' } }))
  const { scheduler, until } = await memoryScheduler({ plugins: [gate], configuration: { profiles } }, cluster)
  cluster.put(aPod('lesser', { ...withRequests({ cpu: '1' }), priority: 0 }))
  await until('lesser waits', () => scheduler.cache.assumedCount === 1)
  cluster.put(aPod('urgent', { ...withRequests({ cpu: '1' }), priority: 10 }))
  await until('urgent has its place', () => cluster.pod('urgent')?.spec?.nodeName === 'a')
  assert.ok(
    cluster.events.some(
      ({ name, note }) =>
        name === 'lesser' && note === 'Preempted by pod uid-of-urgent on node a (in kube-scheduler memory).',
    ),
  )
  cluster.put(aNode('b', { allocatable: { cpu: '1' } }))
  await until('lesser has another node', () => scheduler.cache.nodeOf('uid-of-lesser') === 'b')
  await scheduler.stop()
})

test('a victim in PreBind is cancelled and rescheduled instead of deleted', async () => {
  let prepared = 0
  const slow = pluginFactory({
    name: 'Slow',
    make: () => ({
      needsPreBind: (_state, pod) => pod.priority === 0,
      preBind: async (_state, _pod, _node, signal) =>
        prepared++ === 0
          ? new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
          : undefined,
    }),
  })
  const profiles = [{ plugins: { preBind: { enabled: [{ name: 'Slow' }] } } }]
  const cluster = new MemoryCluster()
  cluster.onDelete = ({ metadata }) => assert.fail(`${metadata.name} is deleted`)
  cluster.put(aNode('a', { allocatable: { cpu: '1' } }))
  const { scheduler, until } = await memoryScheduler({ plugins: [slow], configuration: { profiles } }, cluster)
  cluster.put(aPod('lesser', { ...withRequests({ cpu: '1' }), priority: 0 }))
  await until('lesser is expected', () => cluster.pod('lesser')?.status?.nominatedNodeName === 'a')
  cluster.put(aPod('urgent', { ...withRequests({ cpu: '1' }), priority: 10 }))
  await until('urgent has its place', () => cluster.pod('urgent')?.spec?.nodeName === 'a')
  assert.ok(
    cluster.events.some(
      ({ name, note }) =>
        name === 'lesser' && note === 'Preempted by pod uid-of-urgent on node a (in kube-scheduler memory).',
    ),
  )
  assert.ok(
    cluster.events.some(
      ({ name, note }) => name === 'lesser' && note === 'running PreBind plugin "Slow": preempted by DefaultPreemption',
    ),
  )
  assert.equal(cluster.pod('lesser')?.status?.nominatedNodeName, undefined)
  cluster.put(aNode('b', { allocatable: { cpu: '1' } }))
  await until('lesser has another node', () => cluster.pod('lesser')?.spec?.nodeName === 'b')
  await scheduler.stop()
})
