/** Tests of the conformance suite for probes (`test/e2e/common/node/container_probe.go`), on a real node. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { Pod } from '../../../src/client/kinds.ts'
import type { Container } from '../../../src/kubelet/pod-types.ts'
import { waitFor } from '../../support/wait-for.ts'
import { inNamespaces } from '../support/in-namespaces.ts'
import { dyingServer, webServer } from '../support/pods/web-server.ts'
import { type NewPod, TestNode } from '../support/test-node.ts'

type Probe = NonNullable<Container['livenessProbe']>

interface LivenessCase {
  /** Upstream's `testname`. */
  readonly title: string
  readonly script: string
  readonly probe: Probe
  readonly pod?: Partial<NewPod>
  readonly restarts: number
  /** A part of the event of the probe that fails. */
  readonly failure?: RegExp
}

/** Healthy at first: as upstream, but in fewer seconds. */
const healthySeconds = 4
const often = { periodSeconds: 1, timeoutSeconds: 20, failureThreshold: 1 }
const later = { ...often, initialDelaySeconds: healthySeconds + 2 }
const cat = { exec: { command: ['cat', '/tmp/health'] } }
const healthz = { httpGet: { path: '/healthz', port: 8080 } }

/** The machine's own programs, since there is no image with a gRPC server. */
const healthServer = join(import.meta.dirname, '../support/pods/health-server.ts')
const machine = {
  script: `exec chroot /machine ${process.execPath} ${healthServer}`,
  pod: {
    volumes: [{ name: 'machine', hostPath: { path: '/' } }],
    container: { volumeMounts: [{ name: 'machine', mountPath: '/machine', readOnly: true }] },
  },
}

const livenessCases: readonly LivenessCase[] = [
  {
    title: 'Pod liveness probe, using local file, restart',
    script: `echo ok > /tmp/health; sleep ${healthySeconds}; rm /tmp/health; sleep 600`,
    probe: { ...later, ...cat },
    restarts: 1,
    failure: /^Liveness probe failed: cat: can't open '\/tmp\/health': No such file or directory\n$/,
  },
  {
    title: 'Pod liveness probe, using local file, no restart',
    script: 'echo ok > /tmp/health; sleep 600',
    probe: { ...often, ...cat, initialDelaySeconds: 2 },
    restarts: 0,
  },
  {
    title: 'Pod liveness probe, using http endpoint, restart',
    script: dyingServer(healthySeconds),
    probe: { ...later, ...healthz },
    restarts: 1,
    failure: /^Liveness probe failed: HTTP probe failed with statuscode: 404$/,
  },
  {
    title: 'Pod liveness probe, using tcp socket, no restart',
    script: dyingServer(healthySeconds),
    probe: { ...later, tcpSocket: { port: 8080 } },
    restarts: 0,
  },
  {
    title: 'Pod liveness probe, using http endpoint, multiple restarts (slow)',
    script: dyingServer(2),
    probe: { ...often, ...healthz, initialDelaySeconds: 1 },
    restarts: 5,
    failure: /^Liveness probe failed: HTTP probe failed with statuscode: 404$/,
  },
  {
    title: 'Pod liveness probe, using http endpoint, failure',
    script: webServer,
    probe: { ...often, ...healthz, initialDelaySeconds: 2, failureThreshold: 5 },
    restarts: 0,
  },
  {
    title: 'Pod liveness probe, using grpc call, success',
    ...machine,
    probe: { ...often, grpc: { port: 5000 }, initialDelaySeconds: 5, failureThreshold: 5 },
    restarts: 0,
  },
  {
    title: 'Pod liveness probe, using grpc call, failure',
    ...machine,
    probe: { ...often, grpc: { port: 2333 }, initialDelaySeconds: healthySeconds, timeoutSeconds: 2 },
    restarts: 1,
    failure: /^Liveness probe failed: timeout: failed to connect service "(10\.88|172\.17)\.\d+\.\d+:2333" within 2s: /,
  },
]

/** The number of successful probes after which a container is taken for one that is not restarted. */
const enoughProbes = 8

const waiting = { deadlineMs: 120_000, everyMs: 200 }

const restartsOf = ({ status }: Pod): number => status?.containerStatuses?.[0]?.restartCount ?? 0

await inNamespaces(import.meta.filename, () =>
  describe('probes', { concurrency: true }, async () => {
    // The back-off of the test with five restarts would take minutes.
    const configuration = { crashLoopBackOff: { maxContainerRestartPeriod: '1s' } }
    const started = TestNode.start({}, { configuration })
    for (const [index, one] of livenessCases.entries())
      test(one.title, async () => testLiveness(await started, `live-${index}`, one))
    testReadiness(started)
  }),
)

async function testLiveness(node: TestNode, name: string, one: LivenessCase): Promise<void> {
  const { script, probe, pod: more = {}, restarts, failure } = one
  const container = { ...more.container, livenessProbe: probe }
  const pod = await node.create({ ...more, name, restartPolicy: 'Always', script, container })
  if (restarts === 0) {
    await node.running(pod)
    await waitFor(`${name} is probed`, async () => (await probesOf(node, name, 'successful')) >= enoughProbes, waiting)
    assert.equal(restartsOf(await node.read(pod)), 0)
    return
  }
  let last = 0
  await node.until(pod, `has restarted ${restarts} times`, (current) => {
    const count = restartsOf(current)
    assert.ok(count >= last, `the count of restarts went from ${last} to ${count}`)
    last = count
    return count >= restarts
  })
  assert.match((await node.recorded(pod, 'Unhealthy'))[0] ?? '', failure!)
  const killing = await node.recorded(pod, 'Killing')
  assert.ok(killing.includes('Container main failed liveness probe, will be restarted'), killing.join('\n'))
}

/** The number of probes of a pod with a result, by the kubelet's own metrics. */
async function probesOf(node: TestNode, name: string, result: 'successful' | 'failed'): Promise<number> {
  const lines = (await node.api.text('/api/v1/nodes/n1/proxy/metrics/probes')).split('\n')
  const line = lines.find(
    (text) =>
      text.startsWith('prober_probe_total{') && text.includes(`pod="${name}"`) && text.includes(`result="${result}"`),
  )
  return Number(line?.split(' ').at(-1) ?? 0)
}

function testReadiness(started: Promise<TestNode>): void {
  test('Pod readiness probe, with initial delay', async () => {
    const node = await started
    const initialDelaySeconds = 6
    const readinessProbe = { ...often, ...healthz, initialDelaySeconds }
    const pod = await node.create({ name: 'ready-later', script: webServer, container: { readinessProbe } })
    const isReady = ({ status }: Pod) => status?.conditions?.find(({ type }) => type === 'Ready')
    const { status } = await node.until(pod, 'is ready', (one) => isReady(one)?.status === 'True')
    const [container] = status?.containerStatuses ?? []
    const startedAt = Date.parse(container?.state?.running?.startedAt ?? '')
    const readyAt = Date.parse(isReady({ ...pod, status })?.lastTransitionTime ?? '')
    assert.ok(readyAt - startedAt >= initialDelaySeconds * 1000, `ready after ${readyAt - startedAt} ms`)
    assert.equal(container?.restartCount, 0)
  })

  test('Pod readiness probe, failure', async () => {
    const node = await started
    const readinessProbe = { ...often, exec: { command: ['false'] }, initialDelaySeconds: 1 }
    const pod = await node.create({ name: 'never-ready', script: 'sleep 600', container: { readinessProbe } })
    await node.running(pod)
    await waitFor('never-ready is probed', async () => (await probesOf(node, 'never-ready', 'failed')) >= 5, waiting)
    const { status } = await node.read(pod)
    assert.equal(status?.conditions?.find(({ type }) => type === 'Ready')?.status, 'False')
    assert.deepEqual([status?.containerStatuses?.[0]?.ready, restartsOf({ ...pod, status })], [false, 0])
  })
}
