/** Upstream's conformance tests of scheduling predicates, and related tests, against a cluster with a scheduler. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Pod } from '../../src/client/kinds.ts'
import { type ScheduledPods, scheduledPods } from './scheduled-pods.ts'

type PodSpec = NonNullable<Pod['spec']>
type Term = { matchExpressions: { key: string; operator: string; values?: string[] }[] }

/** A cluster of nodes `a` and `b`. */
async function twoNodes(t: TestContext): Promise<ScheduledPods> {
  const pods = await scheduledPods(t)
  await pods.node('a')
  await pods.node('b')
  return pods
}

test('[Conformance] validates resource limits of pods that are allowed to run', async (t) => {
  const pods = await twoNodes(t)
  // The fillers leave too little room for one more pod.
  await pods.create('filler-0', {}, { cpu: '2800m' })
  await pods.create('filler-1', {}, { cpu: '2800m' })
  assert.deepEqual([await pods.nodeOf('filler-0'), await pods.nodeOf('filler-1')].sort(), ['a', 'b'])
  await pods.create('additional', {}, { cpu: '2' })
  const message = '0/2 nodes are available: 2 Insufficient cpu.'
  assert.ok((await pods.unschedulableMessage('additional')).startsWith(message))
  assert.ok((await pods.eventNotes('additional', 'FailedScheduling')).some((note) => note.startsWith(message)))
  // It is scheduled when there is room.
  const node = await pods.nodeOf('filler-0')
  await pods.delete('filler-0')
  assert.equal(await pods.nodeOf('additional'), node)
  assert.deepEqual(await pods.eventNotes('additional', 'Scheduled'), [
    `Successfully assigned default/additional to ${node}`,
  ])
})

test('[Conformance] validates that NodeSelector is respected if not matching', async (t) => {
  const pods = await twoNodes(t)
  await pods.create('restricted', { nodeSelector: { label: 'nonempty' } })
  assert.match(
    await pods.unschedulableMessage('restricted'),
    /^0\/2 nodes are available: 2 node\(s\) didn't match Pod's node affinity\/selector\./,
  )
  assert.ok((await pods.eventNotes('restricted', 'FailedScheduling')).length > 0)
  // It waits only for the label.
  await pods.patchNode('b', { metadata: { labels: { label: 'nonempty' } } })
  assert.equal(await pods.nodeOf('restricted'), 'b')
})

test('[Conformance] validates that NodeSelector is respected if matching', async (t) => {
  const pods = await twoNodes(t)
  await pods.patchNode('b', { metadata: { labels: { 'kubernetes.io/e2e-1': '42' } } })
  await pods.create('with-labels', { nodeSelector: { 'kubernetes.io/e2e-1': '42' } })
  assert.equal(await pods.nodeOf('with-labels'), 'b')
})

const withHostPort = (hostPort: number, hostIP = '', protocol = 'TCP'): Partial<PodSpec> => ({
  nodeSelector: { 'kubernetes.io/hostname': 'a' },
  containers: [
    { name: 'c', image: 'i', ports: [{ containerPort: 8080, hostPort, protocol, ...(hostIP && { hostIP }) }] },
  ],
})

test(
  '[Conformance] validates that there exists conflict between pods with same hostPort and protocol but one using ' +
    '0.0.0.0 hostIP',
  async (t) => {
    const pods = await twoNodes(t)
    await pods.create('everywhere', withHostPort(54322))
    assert.equal(await pods.nodeOf('everywhere'), 'a')
    await pods.create('here', withHostPort(54322, '127.0.0.1'))
    assert.match(
      await pods.unschedulableMessage('here'),
      /1 node\(s\) didn't have free ports for the requested pod ports/,
    )
    await pods.delete('everywhere')
    assert.equal(await pods.nodeOf('here'), 'a')
  },
)

test('hostPorts do not conflict if their hostIP and protocol differ', async (t) => {
  const pods = await twoNodes(t)
  await pods.create('first', withHostPort(54321, '127.0.0.1'))
  await pods.create('other-address', withHostPort(54321, '127.0.0.2'))
  await pods.create('other-protocol', withHostPort(54321, '127.0.0.2', 'UDP'))
  for (const name of ['first', 'other-address', 'other-protocol']) assert.equal(await pods.nodeOf(name), 'a')
})

const requiring = (...nodeSelectorTerms: Term[]): Partial<PodSpec> => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
})

test('validates that NodeAffinity is respected if not matching', async (t) => {
  const pods = await twoNodes(t)
  const terms: Term[] = [
    { matchExpressions: [{ key: 'foo', operator: 'In', values: ['bar', 'value2'] }] },
    {
      matchExpressions: [
        { key: 'bar', operator: 'Exists' },
        { key: 'kubernetes.io/hostname', operator: 'DoesNotExist' },
      ],
    },
  ]
  await pods.create('restricted', requiring(...terms))
  assert.match(
    await pods.unschedulableMessage('restricted'),
    /^0\/2 nodes are available: 2 node\(s\) didn't match Pod's node affinity\/selector\./,
  )
})

test('validates that required NodeAffinity setting is respected if matching', async (t) => {
  const pods = await twoNodes(t)
  await pods.patchNode('b', { metadata: { labels: { 'kubernetes.io/e2e-2': '42' } } })
  await pods.create(
    'with-affinity',
    requiring({ matchExpressions: [{ key: 'kubernetes.io/e2e-2', operator: 'In', values: ['42'] }] }),
  )
  assert.equal(await pods.nodeOf('with-affinity'), 'b')
})

test('validates that taints-tolerations is respected if matching', async (t) => {
  const pods = await scheduledPods(t)
  await pods.node('a', {
    taints: [{ key: 'kubernetes.io/e2e-taint-key', value: 'testing-taint-value', effect: 'NoSchedule' }],
  })
  await pods.create('tolerant', {
    tolerations: [{ key: 'kubernetes.io/e2e-taint-key', value: 'testing-taint-value', effect: 'NoSchedule' }],
  })
  assert.equal(await pods.nodeOf('tolerant'), 'a')
})

test('validates that taints-tolerations is respected if not matching', async (t) => {
  const pods = await scheduledPods(t)
  await pods.node('a', {
    taints: [{ key: 'kubernetes.io/e2e-taint-key', value: 'testing-taint-value', effect: 'NoSchedule' }],
  })
  await pods.create('intolerant')
  assert.match(
    await pods.unschedulableMessage('intolerant'),
    new RegExp(
      String.raw`^0/1 nodes are available: 1 node\(s\) had untolerated taint\(s\)\. preemption: 0/1 nodes are ` +
        String.raw`available: 1 Preemption is not helpful for scheduling\.$`,
    ),
  )
  await pods.patchNode('a', {
    spec: { taints: [{ $patch: 'delete', key: 'kubernetes.io/e2e-taint-key', effect: 'NoSchedule' }] },
  })
  assert.equal(await pods.nodeOf('intolerant'), 'a')
})

test('cordoned nodes get no pods until they are uncordoned', async (t) => {
  const pods = await scheduledPods(t)
  await pods.node('a')
  await pods.patchNode('a', { spec: { unschedulable: true } })
  await pods.create('waits')
  assert.match(await pods.unschedulableMessage('waits'), /1 node\(s\) were unschedulable/)
  await pods.patchNode('a', { spec: { unschedulable: false } })
  assert.equal(await pods.nodeOf('waits'), 'a')
})

test('validates Pods with non-empty schedulingGates are blocked on scheduling', async (t) => {
  const pods = await twoNodes(t)
  const gates = ['foo', 'bar'].map((name) => ({ name }))
  await pods.create('gated', { schedulingGates: gates })
  // Later pods do not wait for it.
  await pods.create('later')
  await pods.nodeOf('later')
  const { spec, status } = await pods.get('gated')
  assert.equal(spec?.nodeName, undefined)
  assert.equal(status?.conditions?.find(({ type }) => type === 'PodScheduled')?.reason, 'SchedulingGated')
  await pods.cluster.call(
    'PATCH',
    '/api/v1/namespaces/default/pods/gated',
    { spec: { schedulingGates: null } },
    'application/merge-patch+json',
  )
  assert.ok(['a', 'b'].includes(await pods.nodeOf('gated')))
})

test('nodes run at most their allocatable pods and extended resources', async (t) => {
  const pods = await scheduledPods(t)
  await pods.node('a', { allocatable: { pods: '2', 'example.com/gpu': '1' } })
  await pods.create('first', {}, { 'example.com/gpu': '1' })
  assert.equal(await pods.nodeOf('first'), 'a')
  await pods.create('second', {}, { 'example.com/gpu': '1' })
  assert.match(
    await pods.unschedulableMessage('second'),
    /^0\/1 nodes are available: 1 Insufficient example\.com\/gpu\./,
  )
  await pods.create('third')
  assert.equal(await pods.nodeOf('third'), 'a')
  await pods.create('fourth')
  assert.match(await pods.unschedulableMessage('fourth'), /^0\/1 nodes are available: 1 Too many pods\./)
})
