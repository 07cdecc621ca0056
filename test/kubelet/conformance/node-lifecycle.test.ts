/** Tests of the conformance suite for the lives of pods (`test/e2e/common/node`), on a real node. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Pod, pods } from '../../../src/client/kinds.ts'
import type { Container } from '../../../src/kubelet/pod-types.ts'
import { inNamespaces } from '../support/in-namespaces.ts'
import { shell, TestNode } from '../support/test-node.ts'

const stateOf = ({ status }: Pod) => status?.containerStatuses?.[0]?.state
const restartsOf = ({ status }: Pod): number => status?.containerStatuses?.[0]?.restartCount ?? 0
const hasEnded = ({ status }: Pod): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed'

interface MessageCase {
  /** Upstream's `testname`. */
  readonly title: string
  readonly script: string
  readonly container: Partial<Container>
  readonly message: string | undefined
}

const fallback = { terminationMessagePolicy: 'FallbackToLogsOnError' } as const

const messageCases: readonly MessageCase[] = [
  {
    title: 'Container Runtime, TerminationMessagePath, non-root user and non-default path',
    script: 'printf DONE > /dev/custom-log',
    container: { terminationMessagePath: '/dev/custom-log', securityContext: { runAsUser: 1000 } },
    message: 'DONE',
  },
  {
    title: "Container Runtime, TerminationMessage, from container's log output of failing container",
    script: 'printf DONE; exit 1',
    container: fallback,
    message: 'DONE',
  },
  {
    title: 'Container Runtime, TerminationMessage, from log output of succeeding container',
    script: 'printf DONE',
    container: fallback,
    message: undefined,
  },
  {
    title: 'Container Runtime, TerminationMessage, from file of succeeding container',
    script: 'printf OK > /dev/termination-log; printf DONE',
    container: fallback,
    message: 'OK',
  },
]

/** Init containers of the suite: their scripts, and the pod that follows. */
const initCases = [
  { title: 'init-container-starts-app-restartnever-pod', restartPolicy: 'Never', second: 'exit 0', phase: 'Succeeded' },
  {
    title: 'init-container-fails-stops-app-restartnever-pod',
    restartPolicy: 'Never',
    second: 'exit 1',
    phase: 'Failed',
  },
  { title: 'init-container-starts-app-restartalways-pod', restartPolicy: 'Always', second: 'exit 0', phase: 'Running' },
] as const

await inNamespaces(import.meta.filename, () =>
  describe('lives of pods', { concurrency: 6 }, async () => {
    const started = TestNode.start()
    for (const define of [testMessages, testInitContainers, testContainers, testPods]) define(started)
  }),
)

function testMessages(started: Promise<TestNode>): void {
  for (const [index, { title, script, container, message }] of messageCases.entries())
    test(title, async () => {
      const node = await started
      const pod = await node.create({ name: `message-${index}`, script, container })
      assert.equal(stateOf(await node.until(pod, 'ends', hasEnded))?.terminated?.message, message)
    })
}

function testInitContainers(started: Promise<TestNode>): void {
  for (const { title, restartPolicy, second, phase } of initCases)
    test(title, async () => {
      const node = await started
      const main = restartPolicy === 'Always' ? 'sleep 1000' : 'exit 0'
      const pod = await node.create({
        name: title,
        restartPolicy,
        initContainers: [shell('init1', 'exit 0'), shell('init2', second)],
        containers: [shell('run1', main)],
      })
      const { status } = await node.until(pod, `is ${phase}`, (current) => current.status?.phase === phase)
      const initialized = status?.conditions?.find(({ type }) => type === 'Initialized')
      assert.equal(initialized?.status, second === 'exit 0' ? 'True' : 'False')
      if (phase === 'Failed') assert.ok(status?.containerStatuses?.[0]?.state?.waiting)
    })

  test('init-container-fails-stops-app-restartalways-pod', async () => {
    const node = await started
    const pod = await node.create({
      name: 'init-fails-always',
      restartPolicy: 'Always',
      initContainers: [shell('init1', 'exit 1'), shell('init2', 'exit 0')],
      containers: [shell('run1', 'sleep 1000')],
    })
    const failed = await node.until(
      pod,
      'has restarted its init container',
      ({ status }) => (status?.initContainerStatuses?.[0]?.restartCount ?? 0) >= 2,
    )
    assert.equal(failed.status?.phase, 'Pending')
    assert.ok(failed.status?.initContainerStatuses?.[1]?.state?.waiting)
    assert.ok(failed.status?.containerStatuses?.[0]?.state?.waiting)
  })
}

function testContainers(started: Promise<TestNode>): void {
  test('Container Runtime, Restart Policy, Pod Phases', async () => {
    const node = await started
    const script = 'exit 1'
    const create = (restartPolicy: 'Always' | 'OnFailure' | 'Never') =>
      node.create({ name: `terminate-${restartPolicy.toLowerCase()}`, restartPolicy, script })
    const [always, onFailure, never] = await Promise.all([create('Always'), create('OnFailure'), create('Never')])
    for (const pod of [always, onFailure]) {
      const current = await node.until(pod, 'has restarted', (one) => restartsOf(one) >= 1)
      assert.equal(current.status?.phase, 'Running')
    }
    const ended = await node.until(never, 'has failed', ({ status }) => status?.phase === 'Failed')
    assert.equal(restartsOf(ended), 0)
  })

  test('Kubelet, log output, default', async () => {
    const node = await started
    assert.equal(await node.ended(await node.create({ name: 'log', script: "echo 'Hello World'" })), 'Hello World')
  })

  test('Kubelet, failed pod, terminated reason', async () => {
    const node = await started
    const pod = await node.create({ name: 'bin-false', container: { command: ['/bin/false'] } })
    const terminated = stateOf(await node.until(pod, 'ends', hasEnded))?.terminated
    assert.deepEqual([terminated?.exitCode, terminated?.reason], [1, 'Error'])
  })

  test('Kubelet, failed pod, delete', async () => {
    const node = await started
    const pod = await node.create({ name: 'bin-false-deleted', restartPolicy: 'Always', script: 'exit 1' })
    await node.until(pod, 'has restarted', (one) => restartsOf(one) >= 1)
    await node.deleted(pod)
  })

  test('Kubelet, hostAliases', async () => {
    const node = await started
    const pod = await node.create({
      name: 'host-aliases',
      hostAliases: [{ ip: '123.45.67.89', hostnames: ['foo', 'bar'] }],
      script: 'cat /etc/hosts',
    })
    assert.match(await node.ended(pod), /^123\.45\.67\.89\tfoo\tbar$/m)
  })
}

function testPods(started: Promise<TestNode>): void {
  test('Pods, ActiveDeadlineSeconds', async () => {
    const node = await started
    const pod = await node.create({ name: 'deadline', script: 'sleep 1000' })
    await node.running(pod)
    await node.client.patch(pods, 'default', 'deadline', { spec: { activeDeadlineSeconds: 2 } })
    const { status } = await node.until(pod, 'has failed', (one) => one.status?.phase === 'Failed')
    assert.equal(status?.reason, 'DeadlineExceeded')
  })

  test('Pods, assigned hostip', async () => {
    const node = await started
    const pod = await node.create({ name: 'host-ip', script: 'sleep 1000' })
    await node.until(pod, 'has a host IP', ({ status }) => Boolean(status?.hostIP))
  })
}
