import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ContainerState } from '#protobuf/cri-runtime_pb.js'
import type { Container, Pod } from '../pod-types.ts'
import type { RuntimePod } from '../pods/runtime-pod.ts'
import { ProbeManager } from './probe-manager.ts'
import { ProbeMetrics } from './probe-metrics.ts'
import type { ProbeTarget, Verdict } from './prober.ts'

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

interface Seen {
  readonly id: string
  readonly state?: 'created' | 'running' | 'exited'
  /** In seconds of the test's time. */
  readonly startedAt?: number
}

const states = {
  created: ContainerState.CONTAINER_CREATED,
  running: ContainerState.CONTAINER_RUNNING,
  exited: ContainerState.CONTAINER_EXITED,
} as const

const runtimePodOf = ({ id, state = 'running', startedAt = 0 }: Seen): RuntimePod =>
  ({
    ips: ['10.0.0.1'],
    sandboxes: [],
    containers: [
      {
        id,
        state: states[state],
        startedAt: state === 'created' ? 0n : BigInt(epoch + startedAt * 1000) * 1_000_000n,
        labels: { 'io.kubernetes.container.name': 'c' },
      },
    ],
  }) as unknown as RuntimePod

const podOf = (container: Partial<Container>, more: Partial<Pod> = {}): Pod =>
  ({
    metadata: { name: 'web', namespace: 'default', uid: 'u' },
    spec: { containers: [{ name: 'c', ...container }] },
    ...more,
  }) as Pod

/** Ms since 1970 at which the test and the kubelet start. */
const epoch = 1_000_000_000

/** A manager with its own time, whose probes answer what `verdicts` says: by kind, success by default. */
function managerOf(options: { readonly random?: number } = {}) {
  let now = epoch
  const timers = new Set<{ readonly callback: () => void; readonly at: number }>()
  const verdicts: Record<string, Verdict> = {}
  const probed: string[] = []
  let changes = 0
  const manager = new ProbeManager({
    prober: {
      async probe(kind: string, _probe: unknown, { containerId }: ProbeTarget) {
        probed.push(`${kind} ${containerId} ${(now - epoch) / 1000}`)
        return kind in verdicts ? verdicts[kind] : 'success'
      },
    },
    metrics: new ProbeMetrics(),
    now: () => now,
    random: () => options.random ?? 0.5,
    schedule(callback, ms) {
      const timer = { callback, at: now + ms }
      timers.add(timer)
      return () => timers.delete(timer)
    },
    kubeletStart: epoch,
    hostIp: () => '192.168.0.1',
    onChange: () => void changes++,
  })
  /** Lets time pass until so many seconds after the start. */
  async function passTo(seconds: number): Promise<void> {
    for (;;) {
      await settled()
      const [first] = [...timers].sort((a, b) => a.at - b.at)
      if (!first || first.at > epoch + seconds * 1000) break
      timers.delete(first)
      now = first.at
      first.callback()
    }
    now = epoch + seconds * 1000
  }
  const results = (id: string) => [manager.isStarted(id), manager.isAlive(id), manager.isReady(id)]
  return { manager, verdicts, probed, passTo, results, changes: () => changes }
}

const period = (periodSeconds: number, more: object = {}) => ({ exec: { command: ['x'] }, periodSeconds, ...more })

test('a container without probes is started, alive and ready', () => {
  const { manager, results } = managerOf()
  manager.observe(podOf({}), runtimePodOf({ id: 'a' }))
  assert.deepEqual(results('a'), [true, true, true])
})

test('a readiness probe runs after its delay in its period, and ready means its threshold is reached', async () => {
  const { manager, probed, passTo, results, changes } = managerOf()
  const readinessProbe = period(5, { initialDelaySeconds: 3, successThreshold: 2 })
  manager.observe(podOf({ readinessProbe }), runtimePodOf({ id: 'a' }))
  assert.deepEqual(results('a'), [true, true, false])
  await passTo(7.9)
  assert.deepEqual(results('a'), [true, true, false])
  await passTo(8)
  assert.deepEqual(results('a'), [true, true, true])
  assert.deepEqual(probed, ['Readiness a 3', 'Readiness a 8'])
  assert.equal(changes(), 1)
})

test('readiness is lost after failures in a row, and comes back', async () => {
  const { manager, verdicts, passTo, results, changes } = managerOf()
  manager.observe(podOf({ readinessProbe: period(1, { failureThreshold: 2 }) }), runtimePodOf({ id: 'a' }))
  await passTo(0)
  assert.deepEqual(results('a'), [true, true, true])
  verdicts.Readiness = 'failure'
  await passTo(1)
  assert.deepEqual(results('a'), [true, true, true])
  await passTo(2)
  assert.deepEqual(results('a'), [true, true, false])
  verdicts.Readiness = 'success'
  await passTo(3)
  assert.deepEqual(results('a'), [true, true, true])
  assert.equal(changes(), 3)
})

test('a probe without a verdict counts neither way', async () => {
  const { manager, verdicts, passTo, results, probed } = managerOf()
  verdicts.Liveness = undefined
  manager.observe(podOf({ livenessProbe: period(1, { failureThreshold: 1 }) }), runtimePodOf({ id: 'a' }))
  await passTo(3)
  assert.deepEqual(results('a'), [true, true, true])
  assert.equal(probed.length, 4)
})

test('a container whose liveness probe has failed rests until a new container runs', async () => {
  const { manager, verdicts, passTo, results, probed } = managerOf()
  const pod = podOf({ livenessProbe: period(1, { failureThreshold: 3 }) })
  verdicts.Liveness = 'failure'
  manager.observe(pod, runtimePodOf({ id: 'a' }))
  await passTo(10)
  assert.deepEqual(results('a'), [true, false, true])
  assert.equal(probed.length, 3)
  manager.observe(pod, runtimePodOf({ id: 'b', state: 'created' }))
  assert.deepEqual(results('b'), [true, true, true])
  verdicts.Liveness = 'success'
  manager.observe(pod, runtimePodOf({ id: 'b', startedAt: 11 }))
  await passTo(12)
  assert.deepEqual(results('b'), [true, true, true])
  assert.deepEqual(results('a'), [true, true, true])
  assert.equal(probed.at(-1), 'Liveness b 12')
})

test('liveness and readiness wait for the startup probe, which then ends', async () => {
  const { manager, verdicts, passTo, results, probed } = managerOf()
  const pod = podOf({ startupProbe: period(2), livenessProbe: period(10), readinessProbe: period(10) })
  verdicts.Startup = 'failure'
  manager.observe(pod, runtimePodOf({ id: 'a' }))
  await passTo(3)
  assert.deepEqual(results('a'), [false, true, false])
  verdicts.Startup = 'success'
  await passTo(12)
  assert.deepEqual(results('a'), [true, true, true])
  assert.deepEqual(probed, ['Startup a 0', 'Startup a 2', 'Startup a 4', 'Liveness a 4', 'Readiness a 4'])
})

test('a startup probe that fails ends the container', async () => {
  const { manager, verdicts, passTo, results } = managerOf()
  verdicts.Startup = 'failure'
  manager.observe(podOf({ startupProbe: period(1, { failureThreshold: 2 }) }), runtimePodOf({ id: 'a' }))
  await passTo(1)
  assert.deepEqual(results('a'), [false, false, false])
})

test('a container that has ended is not probed', async () => {
  const { manager, passTo, probed } = managerOf()
  const pod = podOf({ livenessProbe: period(1) })
  manager.observe(pod, runtimePodOf({ id: 'a' }))
  await passTo(0)
  manager.observe(pod, runtimePodOf({ id: 'a', state: 'exited' }))
  await passTo(5)
  assert.deepEqual(probed, ['Liveness a 0'])
})

test('in termination liveness and startup end, readiness goes on until the pod is removed', async () => {
  for (const isNew of [false, true]) {
    const { manager, passTo, probed } = managerOf()
    const pod = podOf({ livenessProbe: period(2), readinessProbe: period(2) })
    if (!isNew) manager.observe(pod, runtimePodOf({ id: 'a' }))
    await passTo(1)
    manager.stopLiveness(pod)
    manager.observe(pod, runtimePodOf({ id: 'a' }))
    await passTo(4)
    manager.remove(pod)
    await passTo(8)
    assert.deepEqual(
      probed,
      isNew ? ['Readiness a 1', 'Readiness a 3'] : ['Liveness a 0', 'Readiness a 0', 'Readiness a 2', 'Readiness a 4'],
    )
  }
})

const statusOf = (started: boolean, ready: boolean, id = 'a'): Partial<Pod> =>
  ({
    status: { containerStatuses: [{ name: 'c', containerID: `containerd://${id}`, started, ready }] },
  }) as Partial<Pod>

const allProbes = { startupProbe: period(10), livenessProbe: period(10), readinessProbe: period(10) }

for (const [title, more, expected, first] of [
  ['was ready', statusOf(true, true), [true, true, true], 'Liveness a 5'],
  ['was not ready', statusOf(true, false), [true, true, false], 'Liveness a 5'],
  ['had not started', statusOf(false, false), [false, true, false], 'Startup a 5'],
  ['has no status', {}, [false, true, false], 'Startup a 5'],
  ['has the status of another', statusOf(true, true, 'b'), [false, true, false], 'Startup a 5'],
] as const)
  test(`after a restart of the kubelet a container that ${title} is probed within its period`, async () => {
    const { manager, passTo, probed, results } = managerOf()
    manager.observe(podOf(allProbes, more), runtimePodOf({ id: 'a', startedAt: -1 }))
    assert.deepEqual(results('a'), expected)
    await passTo(5)
    assert.equal(probed[0], first)
  })

test('a verdict about a container that was replaced meanwhile counts for nothing', async () => {
  const first = Promise.withResolvers<Verdict>()
  const { manager, passTo, results, verdicts } = managerOf()
  const pod = podOf({ readinessProbe: period(1) })
  verdicts.Readiness = first.promise as unknown as Verdict
  manager.observe(pod, runtimePodOf({ id: 'a' }))
  await passTo(0)
  verdicts.Readiness = 'failure'
  manager.observe(pod, runtimePodOf({ id: 'b' }))
  first.resolve('success')
  await passTo(1)
  assert.deepEqual(results('b'), [true, true, false])
})

test('metrics of a pod end with it', async () => {
  const metrics = new ProbeMetrics()
  metrics.count('Readiness', podOf({}), 'c', 'failure', 0.1)
  metrics.count('Readiness', podOf({}), 'c', 'success', 0.1)
  const text = metrics.render()
  const labels = 'container="c",pod="web",namespace="default",pod_uid="u"'
  assert.ok(text.includes(`prober_probe_total{probe_type="Readiness",result="failed",${labels}} 1`))
  assert.match(text, /^prober_probe_duration_seconds_count\{probe_type="Readiness",.*\} 1$/m)
  metrics.remove('u')
  assert.doesNotMatch(metrics.render(), /\{/)
})
