/** The steps of a pod: conditions such as `phase=Failed,event=BackOff`, and the actions `delete` and `debug`. */
import { type Pod, pods } from '../../../src/client/kinds.ts'
import type { RestClient } from '../../../src/client/rest/rest-client.ts'
import type { ContainerStatus } from '../../../src/kubelet/pod-types.ts'
import { images } from '../support/runtimes/test-images.ts'

type Condition = (pod: Pod, value: string) => boolean

const statusesOf = ({ status }: Pod): readonly ContainerStatus[] => [
  ...(status?.initContainerStatuses ?? []),
  ...(status?.containerStatuses ?? []),
]

const isTrue = ({ status }: Pod, type: string): boolean =>
  status?.conditions?.some((one) => one.type === type && one.status === 'True') === true

const conditions: Readonly<Record<string, Condition>> = {
  phase: ({ status }, value) => status?.phase === value,
  reason: ({ status }, value) => status?.reason === value,
  waiting: (pod, value) => statusesOf(pod).some(({ state }) => state?.waiting?.reason === value),
  restarts: (pod, value) => statusesOf(pod).some(({ restartCount }) => restartCount === Number(value)),
  running: ({ status }) => (status?.containerStatuses ?? []).some(({ state }) => state?.running),
  'init-running': ({ status }) => (status?.initContainerStatuses ?? []).some(({ state }) => state?.running),
  ready: (pod) => isTrue(pod, 'Ready'),
  'containers-ready': (pod) => isTrue(pod, 'ContainersReady'),
  settled: (pod) => statusesOf(pod).every(({ state }) => !state?.running),
  'debug-ended': ({ status }) => (status?.ephemeralContainerStatuses ?? []).some(({ state }) => state?.terminated),
}

/** Returns true if a version of a pod satisfies all conditions of a step; `reasons` are those of its events. */
export function isSatisfied(step: string, pod: Pod, isDeleted: boolean, reasons: ReadonlySet<string>): boolean {
  return step.split(',').every((term) => {
    const [name = '', value = ''] = term.split('=')
    if (name === 'gone') return isDeleted
    if (name === 'event') return reasons.has(value)
    const condition = conditions[name]
    if (!condition) throw new Error(`the step ${step} has an unknown condition: ${name}`)
    return condition(pod, value)
  })
}

/** Carries out an action; undefined if a step is a condition. */
export function actionOf(step: string): ((client: RestClient, pod: Pod) => Promise<unknown>) | undefined {
  return step === 'delete' ? deletePod : step === 'debug' ? addDebugger : undefined
}

const deletePod = (client: RestClient, { metadata: { namespace = '', name = '' } }: Pod): Promise<void> =>
  client.delete(pods, namespace, name)

/** Adds an ephemeral container, as `kubectl debug` does. */
const addDebugger = (client: RestClient, { metadata: { namespace = '', name = '' } }: Pod): Promise<Pod> => {
  const debug = { name: 'debug', image: images.busybox, command: ['sh', '-c', 'exit 3'], targetContainerName: 'main' }
  const patch = { spec: { ephemeralContainers: [debug] } }
  return client.patch(pods, namespace, name, patch, 'strategic', 'ephemeralcontainers')
}
