import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../../../client/kinds.ts'
import { type PodSpec, statusOf } from '../../../node/pods/pod-types.ts'
import { advance, type NodeContext } from './advance.ts'
import type { PodMemory } from './pod-memory.ts'

function boundPod(spec: Partial<PodSpec>, annotations: Record<string, string>, metadata: Pod['metadata']): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'web',
      namespace: 'default',
      uid: '7b1f',
      annotations: Object.fromEntries(
        Object.entries(annotations).map(([name, value]) => [`simulation.typernetes.io/${name}`, value]),
      ),
      ...metadata,
    },
    spec: { nodeName: 'node-1', containers: [{ name: 'c', image: 'nginx:1' }], ...spec },
  }
}

/** A pod and its clock. Each step computes what a kubelet would write. */
function simulated(spec: Partial<PodSpec>, annotations: Record<string, string> = {}, metadata: Pod['metadata'] = {}) {
  let now = Date.parse('2026-01-01T00:00:00Z')
  let memory: PodMemory = new Map()
  const events: string[] = []
  const problems: string[] = []
  let pod = boundPod(spec, annotations, metadata)
  const surroundings = (): NodeContext => ({
    now,
    hostIP: '172.16.0.3',
    podIPs: ['10.0.0.2'],
    defaults: {},
    problem: (words) => problems.push(words),
  })
  let nextAt: number | undefined
  const step = (ms = 0) => {
    now += ms
    const result = advance(pod, memory, surroundings())
    pod = { ...pod, status: result.status }
    memory = result.memory
    nextAt = result.nextAt
    events.push(...result.events.map(({ reason, fieldPath }) => (fieldPath ? `${reason} ${fieldPath}` : reason)))
    return result
  }
  return {
    step,
    events,
    problems,
    change: (changes: Partial<Pod['metadata']>, spec: Partial<PodSpec> = {}) => {
      pod = { ...pod, metadata: { ...pod.metadata, ...changes }, spec: { ...pod.spec!, ...spec } }
    },
    get status() {
      return pod.status!
    },
    get nextInMs() {
      return nextAt === undefined ? undefined : nextAt - now
    },
    condition: (type: string) => {
      const found = pod.status?.conditions?.find((one) => one.type === type)
      return [found?.status, found?.reason, found?.message].filter(Boolean).join(' ')
    },
    state: (name = 'c') => {
      const { state, restartCount } = statusOf(pod, name)!
      const { waiting, running, terminated } = state ?? {}
      const phase = waiting?.reason ?? (running && 'Running') ?? `${terminated?.reason} ${terminated?.exitCode}`
      return restartCount ? `${phase} (${restartCount})` : phase
    },
  }
}

test("a plain pod is running and ready immediately, with a kubelet's conditions in its order", () => {
  const pod = simulated({})
  pod.step()
  assert.equal(pod.status.phase, 'Running')
  assert.deepEqual(
    pod.status.conditions?.map(({ type, status }) => `${type}=${status}`),
    ['PodReadyToStartContainers=True', 'Initialized=True', 'Ready=True', 'ContainersReady=True', 'PodScheduled=True'],
  )
  assert.deepEqual(pod.events, [
    'Pulled spec.containers{c}',
    'Created spec.containers{c}',
    'Started spec.containers{c}',
  ])
  assert.equal(pod.nextInMs, undefined)
  const { status } = pod
  assert.deepEqual(pod.step(60_000).status, status)
})

test('init containers run one by one, sidecars run beside the others and end with them', () => {
  const pod = simulated(
    {
      restartPolicy: 'Never',
      initContainers: [
        { name: 'first', image: 'i' },
        { name: 'side', image: 'i', restartPolicy: 'Always' },
        { name: 'second', image: 'i' },
      ],
    },
    { 'run-for.first': '2s', 'run-for.second': '1s', 'run-for.c': '5s', 'start-delay.side': '1s' },
  )
  pod.step()
  assert.deepEqual(
    [pod.state('first'), pod.state('side'), pod.state('second'), pod.state()],
    ['Running', 'PodInitializing', 'PodInitializing', 'PodInitializing'],
  )
  assert.equal(
    pod.condition('Initialized'),
    'False ContainersNotInitialized containers with incomplete status: [first side second]',
  )
  assert.equal(pod.status.phase, 'Pending')
  pod.step(2000)
  assert.deepEqual([pod.state('first'), pod.state('side')], ['Completed 0', 'PodInitializing'])
  pod.step(1000)
  assert.deepEqual([pod.state('side'), pod.state('second'), pod.state()], ['Running', 'Running', 'PodInitializing'])
  pod.step(1000)
  assert.deepEqual([pod.state('second'), pod.state(), pod.status.phase], ['Completed 0', 'Running', 'Running'])
  assert.equal(pod.nextInMs, 5000)
  pod.step(5000)
  assert.deepEqual([pod.state(), pod.state('side'), pod.status.phase], ['Completed 0', 'Error 143', 'Succeeded'])
  assert.equal(pod.condition('Ready'), 'False PodCompleted')
  assert.equal(pod.nextInMs, undefined)
})

test('a crashing container is restarted immediately, then with a growing back-off', () => {
  const pod = simulated({}, { 'crash-loop': 'true' })
  pod.step()
  pod.step(1000)
  assert.equal(pod.state(), 'Running (1)')
  pod.step(1000)
  assert.equal(pod.state(), 'CrashLoopBackOff (1)')
  assert.equal(
    pod.status.containerStatuses?.[0]?.state?.waiting?.message,
    'back-off 10s restarting failed container=c pod=web_default(7b1f)',
  )
  assert.equal(pod.status.containerStatuses?.[0]?.lastState?.terminated?.exitCode, 1)
  assert.equal(pod.condition('Ready'), 'False ContainersNotReady containers with unready status: [c]')
  assert.equal(pod.status.phase, 'Running')
  assert.equal(pod.nextInMs, 10_000)
  pod.step(10_000)
  assert.equal(pod.state(), 'Running (2)')
  pod.step(1000)
  assert.equal(pod.nextInMs, 20_000)
})

test('the restart policy decides the phase of a pod after its container has ended', () => {
  for (const [restartPolicy, exitCode, state, phase] of [
    ['Never', '0', 'Completed 0', 'Succeeded'],
    ['Never', '3', 'Error 3', 'Failed'],
    ['OnFailure', '0', 'Completed 0', 'Succeeded'],
    ['OnFailure', '3', 'Running (1)', 'Running'],
    ['Always', '0', 'Running (1)', 'Running'],
  ] as const) {
    const pod = simulated({ restartPolicy }, { 'run-for': '1s', 'exit-code': exitCode })
    pod.step()
    pod.step(1000)
    assert.deepEqual([pod.state(), pod.status.phase], [state, phase], `${restartPolicy} ${exitCode}`)
  }
})

test('a failing init container fails the pod with restartPolicy Never, otherwise it is restarted', () => {
  const spec = { initContainers: [{ name: 'i', image: 'i' }] }
  const failing = simulated({ ...spec, restartPolicy: 'Never' }, { 'exit-code.i': '2' })
  failing.step()
  assert.deepEqual(
    [failing.state('i'), failing.state(), failing.status.phase],
    ['Error 2', 'PodInitializing', 'Failed'],
  )
  const restarting = simulated(spec, { 'exit-code.i': '2' })
  restarting.step()
  assert.deepEqual(
    [restarting.state('i'), restarting.state(), restarting.status.phase],
    ['CrashLoopBackOff (1)', 'PodInitializing', 'Pending'],
  )
})

test('containers of Jobs end successfully after a second; others run until they are stopped', () => {
  const ownerReferences = [{ apiVersion: 'batch/v1', kind: 'Job', name: 'j', uid: 'u', controller: true }]
  const job = simulated({ restartPolicy: 'Never' }, {}, { ownerReferences })
  job.step()
  assert.equal(job.nextInMs, 1000)
  job.step(1000)
  assert.equal(job.status.phase, 'Succeeded')
  const alone = simulated({ restartPolicy: 'Never' })
  alone.step()
  assert.equal(alone.nextInMs, undefined)
})

test('readiness may be delayed or never come, and depends on readiness gates', () => {
  const slow = simulated({}, { 'ready-delay': '3s' })
  slow.step()
  assert.equal(slow.condition('Ready'), 'False ContainersNotReady containers with unready status: [c]')
  slow.step(3000)
  assert.equal(slow.condition('Ready'), 'True')
  const never = simulated({}, { ready: 'false' })
  never.step()
  assert.deepEqual([never.condition('ContainersReady').slice(0, 5), never.nextInMs], ['False', undefined])
  const gated = simulated({ readinessGates: [{ conditionType: 'example.com/gate' }] })
  gated.step()
  assert.equal(gated.condition('ContainersReady'), 'True')
  assert.equal(
    gated.condition('Ready'),
    'False ReadinessGatesNotReady corresponding condition of pod readiness gate "example.com/gate" does not exist.',
  )
})

test('a deleted pod ends with its containers or after its grace period', () => {
  for (const [annotations, afterMs, state] of [
    [{}, 0, 'Error 143'],
    [{ 'stop-delay': '2s', 'stop-exit-code': '0' }, 2000, 'Completed 0'],
    [{ 'stop-delay': '2m' }, 30_000, 'Error 137'],
  ] as const) {
    const pod = simulated({}, annotations)
    pod.step()
    pod.change({ deletionTimestamp: '2026-01-01T00:00:30Z', deletionGracePeriodSeconds: 30 })
    let last = pod.step()
    assert.equal(last.canDelete ?? false, afterMs === 0)
    if (afterMs > 0) {
      assert.equal(pod.nextInMs, afterMs)
      last = pod.step(afterMs)
    }
    assert.equal(last.canDelete, true)
    assert.equal(pod.state(), state)
    assert.equal(pod.events.filter((line) => line.startsWith('Killing')).length, 1)
  }
})

test('a pod fails after activeDeadlineSeconds', () => {
  const pod = simulated({ activeDeadlineSeconds: 5 })
  pod.step()
  assert.equal(pod.nextInMs, 5000)
  pod.step(5000)
  assert.deepEqual([pod.status.phase, pod.status.reason, pod.state()], ['Failed', 'DeadlineExceeded', 'Error 143'])
})

test('a container whose image pull fails waits', () => {
  const pod = simulated({}, { pull: 'fail' })
  pod.step()
  assert.deepEqual([pod.state(), pod.status.phase], ['ImagePullBackOff', 'Pending'])
  const events = pod.events.length
  pod.step(1000)
  assert.equal(pod.events.length, events)
})

test('invalid annotations are reported and ignored', () => {
  const pod = simulated({}, { 'run-for': 'soon', 'exit-code': '900' })
  pod.step()
  assert.deepEqual(pod.problems, [
    'annotation simulation.typernetes.io/run-for is "soon": it must be a duration such as 30s, or a range such ' +
      'as 1s-5s',
    'annotation simulation.typernetes.io/exit-code is "900": it must be a number from 0 to 255',
  ])
  assert.equal(pod.status.phase, 'Running')
})

test('an ephemeral container starts in a running pod, is never ready or restarted, and ends with the pod', () => {
  const pod = simulated({}, { 'run-for.debugger-2': '1s', 'exit-code.debugger-2': '1' })
  pod.step()
  pod.change(
    {},
    {
      ephemeralContainers: [
        { name: 'debugger', image: 'busybox:1' },
        { name: 'debugger-2', image: 'busybox:1' },
      ],
    },
  )
  pod.step()
  assert.equal(pod.state('debugger'), 'Running')
  const [status] = pod.status.ephemeralContainerStatuses ?? []
  assert.deepEqual([status?.ready, status?.started], [false, undefined])
  assert.equal(pod.condition('Ready'), 'True')
  assert.ok(pod.events.includes('Started spec.ephemeralContainers{debugger}'))
  pod.step(1_000)
  assert.equal(pod.state('debugger-2'), 'Error 1')
  pod.step(60_000)
  assert.deepEqual([pod.state('debugger-2'), pod.status.phase], ['Error 1', 'Running'])
  pod.change({ deletionTimestamp: '2026-01-01T00:01:00Z', deletionGracePeriodSeconds: 30 })
  assert.equal(pod.step().canDelete, true)
  assert.equal(pod.state('debugger'), 'Error 143')
})
