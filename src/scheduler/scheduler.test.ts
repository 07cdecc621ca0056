import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../client/kinds.ts'
import { failed, pluginFactory, unschedulable, type Victims, wait } from './framework/index.ts'
import { MemoryCluster } from './testing/memory-cluster.fixture.ts'
import { memoryScheduler } from './testing/memory-scheduler.fixture.ts'
import { aNode, aPod, withRequests } from './testing/objects.fixture.ts'

const nodeOf = (pod: Pod | undefined): string | undefined => pod?.spec?.nodeName
const condition = (pod: Pod | undefined) => pod?.status?.conditions?.find(({ type }) => type === 'PodScheduled')

test('a pod is bound to a node, and an event is recorded', async () => {
  const { cluster, scheduler, until } = await memoryScheduler()
  cluster.put(aNode('a'), aPod('p'))
  await until('p has a node', () => nodeOf(cluster.pod('p')) === 'a')
  await until('the event is recorded', () => cluster.events.length > 0)
  assert.deepEqual(cluster.events, [{ reason: 'Scheduled', note: 'Successfully assigned default/p to a', name: 'p' }])
  await scheduler.stop()
})

test('pods of other schedulers are ignored', async () => {
  const { cluster, scheduler, until } = await memoryScheduler()
  cluster.put(aNode('a'), aPod('theirs', { schedulerName: 'other' }), aPod('ours'))
  await until('ours has a node', () => nodeOf(cluster.pod('ours')) !== undefined)
  assert.equal(nodeOf(cluster.pod('theirs')), undefined)
  await scheduler.stop()
})

test('a pod that fits nowhere gets the reason in its status, and is retried when a fitting node is added', async () => {
  const { cluster, scheduler, until } = await memoryScheduler()
  cluster.put(
    aNode('small', { allocatable: { cpu: '1' } }),
    aNode('off', { spec: { unschedulable: true, taints: [] } }),
    aPod('p', withRequests({ cpu: '2' })),
  )
  await until('the condition', () => condition(cluster.pod('p')) !== undefined)
  const { status, reason, message } = condition(cluster.pod('p')) ?? {}
  assert.deepEqual([status, reason], ['False', 'Unschedulable'])
  assert.equal(
    message,
    '0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable. preemption: 0/2 nodes are ' +
      'available: 2 Preemption is not helpful for scheduling.',
  )
  assert.deepEqual(
    cluster.events.map(({ reason }) => reason),
    ['FailedScheduling'],
  )
  cluster.put(aNode('large'))
  await until('p has a node', () => nodeOf(cluster.pod('p')) === 'large')
  await scheduler.stop()
})

test('without nodes, a pod waits until one is added', async () => {
  const { cluster, scheduler, until } = await memoryScheduler()
  cluster.put(aPod('p'))
  await until('the condition', () => condition(cluster.pod('p'))?.message === 'no nodes available to schedule pods')
  assert.equal(scheduler.queue.sizes().unschedulable, 1)
  cluster.put(aNode('a'))
  await until('p has a node', () => nodeOf(cluster.pod('p')) === 'a')
  await scheduler.stop()
})

test('a rejected binding releases its reservations and is retried', async () => {
  const reserved: string[] = []
  let rejections = 1
  const binder = pluginFactory({
    name: 'Binder',
    make: (_args, { client }) => ({
      reserve: (_state, pod) => void reserved.push(`+${pod.name}`) as undefined,
      unreserve: (_state, pod) => void reserved.push(`-${pod.name}`),
      async bind(pod, node) {
        if (rejections-- > 0) return failed('no luck')
        await client.createUnder(
          { group: '', version: 'v1', kind: 'Pod', plural: 'pods', namespaced: true },
          pod.namespace,
          pod.name,
          'binding',
          {
            target: { name: node },
          },
        )
        return undefined
      },
    }),
  })
  const profiles = [
    { plugins: { multiPoint: { enabled: [{ name: 'Binder' }], disabled: [{ name: 'DefaultBinder' }] } } },
  ]
  const { cluster, scheduler, until } = await memoryScheduler({ plugins: [binder], configuration: { profiles } })
  cluster.put(aNode('a'), aPod('p'))
  await until('the condition', () => condition(cluster.pod('p')) !== undefined)
  assert.deepEqual(
    [condition(cluster.pod('p'))?.reason, condition(cluster.pod('p'))?.message],
    ['SchedulerError', 'running Bind plugin "Binder": no luck'],
  )
  assert.equal(scheduler.cache.podCount, 0)
  await until('p has a node', () => nodeOf(cluster.pod('p')) === 'a')
  assert.deepEqual(reserved, ['+p', '-p', '+p'])
  await scheduler.stop()
})

test('status.nominatedNodeName is set while a pod is prepared, and cleared if that fails', async () => {
  const prepared = Promise.withResolvers<void>()
  let attempts = 0
  const slow = pluginFactory({
    name: 'Slow',
    make: () => ({
      needsPreBind: (_state, pod) => pod.name === 'slow',
      preBind: () => (attempts++ === 0 ? prepared.promise.then(() => undefined) : new Promise<undefined>(() => {})),
    }),
  })
  const profiles = [{ plugins: { preBind: { enabled: [{ name: 'Slow' }] } } }]
  const { cluster, scheduler, until } = await memoryScheduler({ plugins: [slow], configuration: { profiles } })
  cluster.put(aNode('a'), aPod('slow'), aPod('quick'))
  await until('slow is expected', () => cluster.pod('slow')?.status?.nominatedNodeName === 'a')
  await until('quick has a node', () => nodeOf(cluster.pod('quick')) === 'a')
  assert.equal(cluster.pod('quick')?.status?.nominatedNodeName, undefined)
  prepared.reject(new Error('out of order'))
  await until('the condition', () => condition(cluster.pod('slow')) !== undefined)
  assert.equal(condition(cluster.pod('slow'))?.message, 'running PreBind plugin "Slow": out of order')
  assert.equal(cluster.pod('slow')?.status?.nominatedNodeName, undefined)
  await scheduler.stop()
})

test('Permit makes pods wait until their group is complete or the timeout ends', async () => {
  const gang = pluginFactory({
    name: 'Gang',
    make: (_args, handle) => ({
      events: [],
      permit(_state, pod) {
        if (pod.labels.alone) return wait(20)
        const others = [...handle.waitingPods.all()]
        if (others.length < 1) return wait(60_000)
        for (const other of others) other.allow('Gang')
        return undefined
      },
    }),
  })
  const profiles = [{ plugins: { permit: { enabled: [{ name: 'Gang' }] } } }]
  const { cluster, scheduler, until } = await memoryScheduler({ plugins: [gang], configuration: { profiles } })
  cluster.put(aNode('a'), aPod('alone', {}, { labels: { alone: 'yes' } }))
  await until('alone is rejected', () => condition(cluster.pod('alone')) !== undefined)
  assert.match(
    condition(cluster.pod('alone'))?.message ?? '',
    /^0\/1 nodes are available: 1 rejected due to timeout after waiting 20ms at plugin Gang\.$/,
  )
  cluster.put(aPod('one'))
  await until('one waits', () => scheduler.cache.assumedCount === 1)
  assert.equal(nodeOf(cluster.pod('one')), undefined)
  cluster.put(aPod('two'))
  await until('both have a node', () => nodeOf(cluster.pod('one')) === 'a' && nodeOf(cluster.pod('two')) === 'a')
  await scheduler.stop()
})

test('a waiting pod that is deleted but held by a finalizer releases its node immediately', async () => {
  const gate = pluginFactory({
    name: 'Gate',
    make: () => ({ events: [], permit: (_state, pod) => (pod.name === 'waiting' ? wait(60_000) : undefined) }),
  })
  const slow = pluginFactory({
    name: 'Slow',
    make: () => ({
      needsPreBind: (_state, pod) => pod.name === 'preparing',
      preBind: () => new Promise<undefined>(() => {}),
    }),
  })
  const profiles = [{ plugins: { permit: { enabled: [{ name: 'Gate' }] }, preBind: { enabled: [{ name: 'Slow' }] } } }]
  for (const name of ['waiting', 'preparing']) {
    const { cluster, scheduler, until } = await memoryScheduler({ plugins: [gate, slow], configuration: { profiles } })
    cluster.put(
      aNode('a', { allocatable: { cpu: '1' } }),
      aPod(name, withRequests({ cpu: '1' }), { finalizers: ['example.com/hold'] }),
    )
    await until(`${name} is expected`, () => cluster.pod(name)?.status?.nominatedNodeName === 'a')
    cluster.put(aPod('next', withRequests({ cpu: '1' })))
    await until('next is rejected', () => condition(cluster.pod('next')) !== undefined)
    const leaving = cluster.pod(name)!
    cluster.put({ ...leaving, metadata: { ...leaving.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } })
    await until('next has the place', () => nodeOf(cluster.pod('next')) === 'a')
    await scheduler.stop()
  }
})

test('a preemptor evicts pods of lower priority and waits for its nominated node', async () => {
  const cluster = new MemoryCluster()
  cluster.onDelete = (pod) => {
    // The deletion takes some time.
    cluster.put({ ...pod, metadata: { ...pod.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } } as Pod)
    return false
  }
  const { scheduler, until } = await memoryScheduler({}, cluster)
  const full = withRequests({ cpu: '3' })
  cluster.put(aNode('a'), aPod('low', { ...full, nodeName: 'a', priority: 1 }))
  cluster.put(aPod('high', { ...full, priority: 10 }))
  await until('low is being deleted', () => cluster.pod('low')?.metadata.deletionTimestamp !== undefined)
  await until('high is nominated', () => cluster.pod('high')?.status?.nominatedNodeName === 'a')
  const target = cluster.pod('low')?.status?.conditions?.find(({ type }) => type === 'DisruptionTarget')
  assert.deepEqual(
    [target?.status, target?.reason, target?.message],
    ['True', 'PreemptionByScheduler', 'default-scheduler: preempting to accommodate a higher priority pod'],
  )
  assert.equal(condition(cluster.pod('high'))?.message, '0/1 nodes are available: 1 Insufficient cpu.')
  assert.ok(
    cluster.events.some(
      ({ reason, note, name }) =>
        reason === 'Preempted' && name === 'low' && note === 'Preempted by pod uid-of-high on node a',
    ),
  )
  // A pod of lower priority must not take the freed resources.
  cluster.put(aPod('middle', { ...withRequests({ cpu: '2' }), priority: 5 }))
  cluster.remove('Pod', 'default/low')
  await until('high has its place', () => nodeOf(cluster.pod('high')) === 'a')
  assert.equal(nodeOf(cluster.pod('middle')), undefined)
  await scheduler.stop()
})

test('resources reserved for a nominated pod are released when it is bound elsewhere', async () => {
  const cluster = new MemoryCluster()
  cluster.onDelete = () => false
  const { scheduler, until } = await memoryScheduler({}, cluster)
  const [two, one] = [withRequests({ cpu: '2' }), withRequests({ cpu: '1' })]
  const taints = [{ key: 'dedicated', value: 'x', effect: 'NoSchedule' }]
  cluster.put(
    aNode('a', { allocatable: { cpu: '3' } }),
    aNode('b', { spec: { taints } }),
    aPod('low', { ...two, nodeName: 'a', priority: 0 }),
  )
  const high = aPod('high', { ...two, priority: 10 })
  cluster.put(high)
  await until('high is nominated', () => cluster.pod('high')?.status?.nominatedNodeName === 'a')
  cluster.put(aPod('small', { ...one, priority: 0 }))
  await until('small is unschedulable', () => condition(cluster.pod('small'))?.reason === 'Unschedulable')
  const tolerant: Pod = {
    ...cluster.pod('high')!,
    spec: { ...high.spec!, tolerations: [{ key: 'dedicated', operator: 'Exists' }] },
  }
  cluster.put(tolerant)
  await until('high goes elsewhere', () => nodeOf(cluster.pod('high')) === 'b')
  await until('small is bound', () => nodeOf(cluster.pod('small')) === 'a')
  await scheduler.stop()
})

test('an extender filters, scores and binds', async () => {
  const bound: string[] = []
  const cluster = new MemoryCluster()
  const extender = {
    name: 'extender',
    ignorable: false,
    weight: 10,
    isInterested: () => true,
    filter: async (_pod: unknown, nodes: readonly { name: string }[]) => ({
      feasible: nodes.filter(({ name }) => name !== 'a') as never,
      failed: { a: 'not a' },
      unresolvable: {},
    }),
    prioritize: async () => new Map([['c', 10]]),
    bind: async (pod: { name: string }, node: string) => {
      bound.push(`${pod.name} ${node}`)
      cluster.put({ ...cluster.pod(pod.name)!, spec: { ...cluster.pod(pod.name)!.spec!, nodeName: node } } as Pod)
    },
  }
  cluster.put(...['a', 'b', 'c'].map((name) => aNode(name)))
  const { scheduler, until } = await memoryScheduler({ extenders: [extender] }, cluster)
  cluster.put(aPod('p'))
  await until('p is bound', () => bound.length > 0)
  assert.deepEqual(bound, ['p c'])
  cluster.remove('Node', 'b')
  cluster.remove('Node', 'c')
  cluster.put(aPod('q'))
  await until('q is rejected', () => condition(cluster.pod('q')) !== undefined)
  assert.match(condition(cluster.pod('q'))?.message ?? '', /^0\/1 nodes are available: 1 not a\. /)
  await scheduler.stop()
})

test('a pod rejected by an extender without reasons waits for any event', async () => {
  const cluster = new MemoryCluster()
  const nothing = { feasible: [], failed: {}, unresolvable: {} }
  const extender = {
    name: 'extender',
    ignorable: false,
    weight: 1,
    isInterested: () => true,
    filter: async () => nothing,
  }
  cluster.put(aNode('a'))
  const { scheduler, until } = await memoryScheduler({ extenders: [extender] }, cluster)
  cluster.put(aPod('p'))
  await until('p waits', () => scheduler.queue.sizes().unschedulable === 1)
  assert.deepEqual([...(scheduler.queue.get('default/p')?.rejectedBy ?? [])], ['Extender'])
  await scheduler.stop()
})

test('extenders must leave at least one victim; an ignorable extender that fails is ignored', async () => {
  const cluster = new MemoryCluster()
  cluster.put(
    aNode('a', { allocatable: { cpu: '1' } }),
    aPod('low', { ...withRequests({ cpu: '1' }), nodeName: 'a', priority: 0 }),
  )
  let left: ReadonlyMap<string, Victims> = new Map()
  const extender = (ignorable: boolean) => ({
    name: 'extender',
    ignorable,
    weight: 1,
    isInterested: () => true,
    preempt: async () => left,
  })
  const message = async (ignorable: boolean): Promise<string | undefined> => {
    const { scheduler, until } = await memoryScheduler({ extenders: [extender(ignorable)], log: () => {} }, cluster)
    cluster.put(aPod('high', { ...withRequests({ cpu: '1' }), priority: 10 }))
    await until('the condition', () => condition(cluster.pod('high')) !== undefined)
    await scheduler.stop()
    const message = condition(cluster.pod('high'))?.message?.replace(/^.* preemption: /, '')
    cluster.remove('Pod', 'default/high')
    return message
  }
  assert.equal(await message(false), 'no candidate node for preemption')
  left = new Map([['a', { pods: [], violations: 0 }]])
  assert.equal(await message(false), 'expected at least one victim pod on node "a"')
  assert.equal(await message(true), 'no candidate node for preemption')
  assert.ok(cluster.pod('low'))
})

test('an error of a plug-in ends the attempt with its message', async () => {
  const throwing = (): never => {
    throw new Error('out of order')
  }
  const failing = pluginFactory({ name: 'Failing', make: () => ({ filter: throwing }) })
  const answering = pluginFactory({ name: 'Answering', make: () => ({ filter: () => failed('out of order') }) })
  const early = pluginFactory({ name: 'Early', make: () => ({ preFilter: () => failed('out of order') }) })
  const late = pluginFactory({ name: 'Late', make: () => ({ reserve: () => failed('out of order') }) })
  const rejecting = pluginFactory({
    name: 'Rejecting',
    make: () => ({ events: [], filter: () => unschedulable('no') }),
  })
  const profiles = [
    { schedulerName: 'failing', plugins: { filter: { enabled: [{ name: 'Failing' }] } } },
    { schedulerName: 'rejecting', plugins: { filter: { enabled: [{ name: 'Rejecting' }] } } },
    { schedulerName: 'answering', plugins: { filter: { enabled: [{ name: 'Answering' }] } } },
    { schedulerName: 'early', plugins: { preFilter: { enabled: [{ name: 'Early' }] } } },
    { schedulerName: 'late', plugins: { reserve: { enabled: [{ name: 'Late' }] } } },
  ]
  const { cluster, scheduler, until } = await memoryScheduler({
    plugins: [failing, answering, early, late, rejecting],
    configuration: { profiles },
  })
  const messages = {
    f: 'running "Failing" filter plugin: out of order',
    a: 'running "Answering" filter plugin: out of order',
    e: 'running PreFilter plugin "Early": out of order',
    l: 'running Reserve plugin "Late": out of order',
  }
  cluster.put(aNode('a'), ...profiles.map(({ schedulerName }) => aPod(schedulerName[0]!, { schedulerName })))
  await until('all conditions', () =>
    [...Object.keys(messages), 'r'].every((name) => condition(cluster.pod(name)) !== undefined),
  )
  for (const [name, message] of Object.entries(messages)) {
    const { reason, message: actual } = condition(cluster.pod(name)) ?? {}
    assert.deepEqual([reason, actual], ['SchedulerError', message])
  }
  assert.match(condition(cluster.pod('r'))?.message ?? '', /^0\/1 nodes are available: 1 no\./)
  assert.match(
    scheduler.metrics.registry.render(),
    /scheduler_schedule_attempts_total\{result="unschedulable",profile="rejecting"\} 1/,
  )
  await scheduler.stop()
})
