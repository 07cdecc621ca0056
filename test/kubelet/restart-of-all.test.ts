/** Restarts of all containers of a pod in place (KEP-5532), on a container runtime. Needs root. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../../src/client/kinds.ts'
import type { Container } from '../../src/kubelet/pod-types.ts'
import { inNamespaces } from './support/in-namespaces.ts'
import { shell, TestNode } from './support/test-node.ts'

const volumeMounts = [{ name: 'shared', mountPath: '/shared' }]
const rule = { action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [42] } }

/** Ends with a stop signal. */
const forever = "{ trap 'exit 0' TERM; sleep 100000 & wait; }"

const statusesOf = ({ status }: Pod) => [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
const conditionOf = ({ status }: Pod, type: string) => status?.conditions?.find((one) => one.type === type)

/** True if the init container has ended, and all others run, after so many restarts. */
const runsAfter =
  (restarts: number) =>
  (pod: Pod): boolean =>
    statusesOf(pod).every(
      ({ name, state, restartCount }) =>
        restartCount === restarts && (name === 'prepare' ? state?.terminated : state?.running) !== undefined,
    )

/** The container of each name prints its number of starts, which the volume counts. */
const counting = (name: string, then: string, more: Partial<Container> = {}): Container =>
  shell(name, `echo . >> /shared/${name}; n=$(wc -l < /shared/${name}); echo start $n; ${then}`, {
    volumeMounts,
    ...more,
  })

/** Its container `source` ends twice with the exit code of its rule, once the others run. */
const gang = {
  name: 'gang',
  initContainers: [counting('prepare', 'exit 0'), counting('proxy', forever, { restartPolicy: 'Always' })],
  containers: [
    counting('source', `[ $n -eq 3 ] && ${forever}; until [ -e /shared/go$n ]; do sleep 0.1; done; exit 42`, {
      restartPolicy: 'Never',
      restartPolicyRules: [rule],
    }),
    counting('worker', `touch /shared/go$n; ${forever}`),
  ],
  volumes: [{ name: 'shared', emptyDir: {} }],
}

await inNamespaces(import.meta.filename, () => {
  const started = TestNode.start()

  test('an exit code of a rule restarts all containers in the same sandbox, init containers first', async () => {
    const node = await started
    const pod = await node.create(gang)
    const first = await node.until(pod, 'has an address', ({ status }) => status?.podIP !== undefined)
    const after = await node.until(pod, 'runs after two restarts', runsAfter(2))
    assert.equal(after.status?.podIP, first.status?.podIP)
    assert.equal(after.status?.phase, 'Running')
    for (const { name, lastState } of statusesOf(after)) {
      const { reason, exitCode } = lastState?.terminated ?? {}
      assert.deepEqual([name, reason, exitCode], [name, 'RestartingAllContainers', 137])
    }
    assert.equal(conditionOf(after, 'AllContainersRestarting')?.status, 'False')
    assert.equal(conditionOf(after, 'Initialized')?.status, 'True')
    assert.equal(
      (await node.recorded(pod, 'Killing')).every((message) => message === 'killing'),
      true,
    )
    // The logs of removed containers remain.
    for (const name of ['prepare', 'proxy', 'source', 'worker']) {
      const output = await node.outputWith(pod, 'start 3', name)
      assert.deepEqual(output.split('\n').filter(Boolean).sort(), ['start 1', 'start 2', 'start 3'])
    }
    await node.deleted(pod)
  })

  test('an init container restarts all containers, too, and another exit code ends the pod', async () => {
    const node = await started
    const rules = { restartPolicy: 'Never', restartPolicyRules: [rule] }
    const pod = await node.create({
      name: 'init',
      initContainers: [counting('prepare', '[ $n -eq 2 ] || exit 42', rules)],
      containers: [counting('main', 'exit 7', rules)],
      volumes: [{ name: 'shared', emptyDir: {} }],
    })
    await node.ended(pod)
    const { status } = await node.read(pod)
    assert.equal(status?.phase, 'Failed')
    assert.equal(status?.initContainerStatuses?.[0]?.restartCount, 1)
    assert.equal(status?.containerStatuses?.[0]?.restartCount, 0)
    assert.equal(status?.containerStatuses?.[0]?.state?.terminated?.exitCode, 7)
    assert.equal(conditionOf({ ...pod, status }, 'AllContainersRestarting')?.reason, 'PodFailed')
    await node.deleted(pod)
  })
})
