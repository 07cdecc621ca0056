/** The admission of pods at their node, with our API server and a container runtime. Needs root. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { events as eventResource, nodes, type Pod, pods } from '../../src/client/kinds.ts'
import { clientFor } from '../support/client-for.ts'
import { apiControllers, testCluster } from '../support/test-cluster.ts'
import { waitFor } from '../support/wait-for.ts'
import { runtimeKind, startNodeRuntime, usesEmbeddedRuntime } from './support/runtimes/node-runtime.ts'
import { images } from './support/runtimes/test-images.ts'
import { startKubelet } from './support/start-kubelet.ts'

const skip = process.getuid?.() === 0 ? false : 'needs root'

const podOf = (name: string, spec: object = {}, container: object = {}, metadata: object = {}): Pod =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', ...metadata },
    spec: {
      nodeName: 'n1',
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 1,
      containers: [{ name: 'c', image: images.busybox, command: ['sleep', '10000'], ...container }],
      ...spec,
    },
  }) as Pod

const cpu = (amount: string) => ({ resources: { requests: { cpu: amount } } })

type Rejection = readonly [Pod, reason: string, message: string]

test('a node rejects pods that it cannot run, with the reasons of upstream', { skip, timeout: 240_000 }, async (t) => {
  const root = mkdtempSync(join(tmpdir(), 't8s-admission-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  const cluster = await testCluster(t, { controllers: apiControllers })
  const client = clientFor(t, cluster)
  const nodeRuntime = await startNodeRuntime()
  t.after(() => nodeRuntime.stop())
  const logged: string[] = []
  const configuration = { maxPods: 4 }
  const start = () =>
    startKubelet(cluster, nodeRuntime.endpoint, root, (line) => void logged.push(line), { configuration })
  let kubelet = await start()
  t.after(() => kubelet.stop())
  const messages = async (name: string): Promise<readonly string[]> =>
    (await client.list(eventResource, { namespace: 'default' })).items
      .filter(({ involvedObject }) => involvedObject.name === name)
      .map(({ type, reason, message }) => `${type} ${reason} ${message}`)
  const until = (name: string, phase: string): Promise<Pod> =>
    waitFor(`${name} is ${phase}`, async () => {
      const pod = await client.get(pods, 'default', name)
      return pod.status?.phase === phase ? pod : undefined
    })
  const remove = async (name: string): Promise<void> => {
    await client.delete(pods, 'default', name)
    await waitFor(`${name} is removed`, async () => !(await client.find(pods, 'default', name)))
  }
  const milli = Number((await client.get(nodes, '', 'n1')).status?.allocatable?.cpu) * 1000

  // containerd 1.6 has no policies for groups; the embedded runtime has.
  const strictGroups: Rejection = [
    podOf('groups', { securityContext: { supplementalGroupsPolicy: 'Strict' } }),
    'SupplementalGroupsPolicyNotSupported',
    'SupplementalGroupsPolicy=Strict is not supported in this node',
  ]
  const rejections: readonly Rejection[] = [
    [
      podOf('big', {}, cpu('10000')),
      'OutOfcpu',
      `Node didn't have enough resource: cpu, requested: 10000000, used: 0, capacity: ${milli}`,
    ],
    [
      podOf('elsewhere', { nodeSelector: { zone: 'moon' } }),
      'NodeAffinity',
      "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
    ],
    [
      podOf('tuned', { securityContext: { sysctls: [{ name: 'net.core.somaxconn', value: '64' }] } }),
      'SysctlForbidden',
      'forbidden sysctl: "net.core.somaxconn" not allowlisted',
    ],
    [
      podOf('windows', { os: { name: 'windows' } }),
      'PodOSNotSupported',
      "Failed to admit pod as the OS field doesn't match node OS",
    ],
    ...(runtimeKind() === 'containerd' ? [strictGroups] : []),
  ]
  for (const [pod, reason, message] of rejections)
    await t.test(`a pod is rejected with ${reason}`, async () => {
      const name = pod.metadata.name ?? ''
      await client.create(pods, pod)
      const { metadata, status } = await until(name, 'Failed')
      const { startTime, ...rest } = status ?? {}
      assert.ok(startTime)
      assert.deepEqual(rest, {
        observedGeneration: metadata.generation,
        phase: 'Failed',
        reason,
        message: `Pod was rejected: ${message}`,
        qosClass: reason === 'OutOfcpu' ? 'Burstable' : 'BestEffort',
      })
      await waitFor('the event is written', async () => (await messages(name)).includes(`Warning ${reason} ${message}`))
      await remove(name)
    })

  await t.test('a second pod with a host port is rejected with NodePorts', async () => {
    const ports = { ports: [{ containerPort: 80, hostPort: 18080 }] }
    await client.create(pods, podOf('port', {}, ports))
    await client.create(pods, podOf('port-2', {}, ports))
    const { status } = await until('port-2', 'Failed')
    assert.equal(status?.reason, 'NodePorts')
    await remove('port')
    await remove('port-2')
  })

  await t.test('a taint NoExecute rejects pods that do not tolerate it', async () => {
    const taints = [{ key: 'dedicated', value: 'x', effect: 'NoExecute' }]
    await client.patch(nodes, '', 'n1', { spec: { taints } }, 'merge')
    const rejected = await waitFor('a pod is rejected', async () => {
      const name = 'tainted'
      await client.create(pods, podOf(name))
      const { status } = await waitFor('a phase', async () => {
        const pod = await client.get(pods, 'default', name)
        return pod.status?.phase === 'Pending' ? undefined : pod
      })
      await remove(name)
      return status?.phase === 'Failed' && status
    })
    assert.equal(rejected.reason, 'TaintToleration')
    assert.equal(
      rejected.message,
      "Pod was rejected: Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate",
    )
    await client.patch(nodes, '', 'n1', { spec: { taints: null } }, 'merge')
    await waitFor('the node admits pods again', async () => {
      await client.create(pods, podOf('untainted'))
      const { status } = await waitFor('a phase', async () => {
        const pod = await client.get(pods, 'default', 'untainted')
        return pod.status?.phase === 'Pending' ? undefined : pod
      })
      await remove('untainted')
      return status?.phase === 'Running'
    })
  })

  await t.test('a critical pod ends others whose resources it needs', async () => {
    await client.create(pods, podOf('victim', {}, cpu(`${milli - 500}m`)))
    await until('victim', 'Running')
    await client.create(pods, podOf('critical', { priorityClassName: 'system-node-critical' }, cpu(`${milli - 500}m`)))
    await until('critical', 'Running')
    const { status } = await until('victim', 'Failed')
    assert.equal(status?.reason, 'Preempting')
    assert.equal(status?.message, 'Preempted in order to admit critical pod')
    const disruption = status?.conditions?.find(({ type }) => type === 'DisruptionTarget')
    assert.deepEqual([disruption?.status, disruption?.reason], ['True', 'TerminationByKubelet'])
    const event = 'Warning Preempting Preempted in order to admit critical pod'
    await waitFor('the event is written', async () => (await messages('victim')).includes(event))
    const metrics = await cluster.text('/api/v1/nodes/n1/proxy/metrics')
    assert.match(metrics, /^kubelet_preemptions\{preemption_signal="cpu"\} 1$/m)
    await remove('critical')
    await remove('victim')
  })

  await t.test('a restarted kubelet admits running pods before newer ones', async () => {
    await client.create(pods, podOf('z-old', {}, cpu(`${milli - 500}m`)))
    await until('z-old', 'Running')
    await kubelet.stop()
    // Times of creation are in seconds.
    const { metadata } = await client.get(pods, 'default', 'z-old')
    await waitFor('the next second', () => Date.now() >= Date.parse(String(metadata.creationTimestamp)) + 1000)
    await client.create(pods, podOf('a-new', {}, cpu(`${milli - 500}m`)))
    kubelet = await start()
    const { status } = await until('a-new', 'Failed')
    assert.equal(status?.reason, 'OutOfcpu')
    const old = await client.get(pods, 'default', 'z-old')
    assert.deepEqual([old.status?.phase, old.status?.containerStatuses?.[0]?.restartCount], ['Running', 0])
    await remove('z-old')
    await remove('a-new')
  })

  const skip = usesEmbeddedRuntime() && 'the embedded runtime maps users'
  await t.test('a pod with users of its own does not start on a runtime that cannot map users', { skip }, async () => {
    await client.create(pods, podOf('mapped', { hostUsers: false }))
    const message =
      'Warning FailedCreatePodSandBox Failed to create pod sandbox: ' +
      "can't set `spec.hostUsers: false`, runtime does not support user namespaces"
    await waitFor('the event is written', async () => (await messages('mapped')).includes(message))
    await remove('mapped')
    const { status } = await client.get(nodes, '', 'n1')
    assert.deepEqual(status?.features, { supplementalGroupsPolicy: runtimeKind() === 'docker' })
  })

  await t.test('a full node rejects pods with OutOfpods', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) await client.create(pods, podOf(name))
    const { status } = await until('e', 'Failed')
    assert.equal(status?.reason, 'OutOfpods')
    assert.equal(
      status?.message,
      "Pod was rejected: Node didn't have enough resource: pods, requested: 1, used: 4, capacity: 4",
    )
  })
  assert.deepEqual(
    logged.filter((line) => !line.includes('cgroup') && !line.includes('hostUsers')),
    [],
  )
})
