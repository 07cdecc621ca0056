/**
 * Tests of the conformance suite for containers that terminate (`test/e2e/common/node/{init_container,kubelet}.go`),
 * simulated by annotations.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Pod } from '../../../src/client/kinds.ts'
import { testCluster } from '../../support/test-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'
import { Requests } from '../support/requests.ts'

const cluster = testCluster({ after }, { nodes: 1 })

interface Outcome {
  readonly api: Requests
  /** Resolves with the pod when `is` returns true for it. */
  readonly when: (what: string, is: (pod: Pod) => boolean) => Promise<Pod>
}

async function made(
  namespace: string,
  restartPolicy: string,
  annotations: Record<string, string>,
  init: readonly string[] = ['init1', 'init2'],
): Promise<Outcome> {
  const api = await Requests.in(await cluster, namespace)
  const prefixed = Object.fromEntries(
    Object.entries(annotations).map(([name, value]) => [`simulation.typernetes.io/${name}`, value]),
  )
  const spec = {
    restartPolicy,
    initContainers: init.map((name) => ({ name, image: 'busybox:1' })),
    containers: [{ name: 'run1', image: 'pause:1' }],
  }
  await api.post(`${api.core}/pods`, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'pod-init', annotations: prefixed },
    spec,
  })
  return {
    api,
    when: (what, is) =>
      waitFor(what, async () => {
        const pod = await api.get<Pod>(`${api.core}/pods/pod-init`)
        return is(pod) && pod
      }),
  }
}

const initialized = ({ status }: Pod) => status?.conditions?.find(({ type }) => type === 'Initialized')

test('InitContainer should invoke init containers on a RestartAlways pod', async () => {
  const { when } = await made('init-always', 'Always', {})
  const pod = await when('running', ({ status }) => status?.phase === 'Running')
  assert.equal(initialized(pod)?.status, 'True')
  assert.deepEqual(
    pod.status?.initContainerStatuses?.map(({ ready, state }) => [ready, state?.terminated?.exitCode]),
    [
      [true, 0],
      [true, 0],
    ],
  )
})

test('InitContainer should invoke init containers on a RestartNever pod', async () => {
  const { when } = await made('init-never', 'Never', { 'run-for.run1': '10ms' })
  const pod = await when('its end', ({ status }) => status?.phase === 'Succeeded')
  assert.equal(initialized(pod)?.status, 'True')
  for (const { ready, state } of pod.status?.initContainerStatuses ?? [])
    assert.deepEqual([ready, state?.terminated?.exitCode], [true, 0])
})

test(
  'InitContainer ' + 'should not start app containers and fail the pod if init containers fail on a RestartNever pod',
  async () => {
    const { when } = await made('init-fails-never', 'Never', { 'exit-code.init2': '1' })
    const pod = await when('its failure', ({ status }) => status?.phase === 'Failed')
    assert.deepEqual(
      [initialized(pod)?.status, initialized(pod)?.message],
      ['False', 'containers with incomplete status: [init2]'],
    )
    const [first, second] = pod.status?.initContainerStatuses ?? []
    assert.deepEqual([first?.state?.terminated?.exitCode, second?.state?.terminated?.exitCode], [0, 1])
    assert.ok(pod.status?.containerStatuses?.[0]?.state?.waiting)
  },
)

test('InitContainer should not start app containers if init containers fail on a RestartAlways pod', async () => {
  const { when } = await made('init-fails-always', 'Always', { 'exit-code.init1': '1', 'back-off.init1': '50ms' })
  const pod = await when(
    'it to be started again and again',
    ({ status }) => (status?.initContainerStatuses?.[0]?.restartCount ?? 0) >= 3,
  )
  assert.deepEqual(
    [pod.status?.phase, initialized(pod)?.message],
    ['Pending', 'containers with incomplete status: [init1 init2]'],
  )
  assert.deepEqual(
    [pod.status?.initContainerStatuses?.[1], pod.status?.containerStatuses?.[0]].map(
      (one) => one?.state?.waiting?.reason,
    ),
    ['PodInitializing', 'PodInitializing'],
  )
})

test(
  'Kubelet when scheduling a busybox command that always fails in a pod should have an terminated reason, and ' +
    'should be possible to delete',
  async () => {
    const { api, when } = await made(
      'always-fails',
      'Always',
      { 'crash-loop.run1': 'true', 'run-for.run1': '10ms' },
      [],
    )
    const pod = await when(
      'an end',
      ({ status }) => status?.containerStatuses?.[0]?.lastState?.terminated !== undefined,
    )
    assert.equal(pod.status?.containerStatuses?.[0]?.lastState?.terminated?.reason, 'Error')
    await api.delete(`${api.core}/pods/pod-init`)
    await api.gone(`${api.core}/pods/pod-init`)
  },
)
