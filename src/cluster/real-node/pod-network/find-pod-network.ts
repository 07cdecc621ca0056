/** Finds the network of a pod through the container runtimes of this machine. */
import { PodSandboxState } from '#protobuf/cri-runtime_pb.js'
import { NamespaceMode } from '#protobuf/cri-values_pb.js'
import { selectPodNamed } from '../../../kubelet/cri/labels.ts'
import { CriRuntime } from '../../../kubelet/cri/runtime.ts'
import { ExplainedError, reasonOf } from '../../../lib/explained-error.ts'
import { runtimeEndpoint } from '../checks/other-runtime.ts'
import { localRuntimes } from './local-runtimes.ts'
import { namespaceFile } from './namespace-file.ts'

export interface PodName {
  readonly namespace: string
  readonly name: string
}

type Sandboxes = Pick<CriRuntime, 'sandboxes' | 'sandboxStatus' | 'sandboxInfo' | 'close'>

/** The parts of the machine that it reads. */
export interface Machine {
  /** URLs of the sockets of runtimes. */
  readonly endpoints: readonly string[]
  readonly connect: (endpoint: string) => Sandboxes
  /** The file of a network namespace, from the details of a sandbox. */
  readonly namespaceFile: (endpoint: string, details: Readonly<Record<string, string>>) => string | undefined
}

/** The time for a runtime to answer, in ms. */
const answerMs = 5000

/** This machine. `endpoint` is the socket of a runtime. Default: those that are found. @throws if it does not exist. */
export const thisMachine = (endpoint: string | undefined): Machine => ({
  endpoints: endpoint === undefined ? localRuntimes() : [runtimeEndpoint(endpoint)],
  connect: (one) => new CriRuntime(one, { timeoutMs: answerMs }),
  namespaceFile,
})

interface FoundSandbox {
  readonly endpoint: string
  readonly isReady: boolean
  readonly usesHostNetwork: boolean
  readonly file: string | undefined
}

/** Resolves with the file of the pod's network namespace. Rejects with an ExplainedError. */
export async function findPodNetwork(pod: PodName, machine: Machine): Promise<string> {
  const { endpoints } = machine
  const text = `${pod.namespace}/${pod.name}`
  if (endpoints.length === 0)
    throw new ExplainedError(
      `there is no container runtime on this machine to find the pod ${text} by: run this on the node of the pod ` +
        `(${whereText(pod)}), or name the socket of the runtime with --container-runtime-endpoint`,
    )
  const answers = await Promise.allSettled(endpoints.map((endpoint) => sandboxOf(pod, endpoint, machine)))
  const all = answers.flatMap((answer) => (answer.status === 'fulfilled' && answer.value ? [answer.value] : []))
  const ready = all.filter(({ isReady }) => isReady)
  const [found, second] = ready
  if (second)
    throw new ExplainedError(
      `several clusters on this machine have a pod ${text}: choose one with --container-runtime-endpoint ` +
        ready.map(({ endpoint }) => endpoint).join(' or '),
    )
  if (!found) throw all.length > 0 ? withoutNetwork(text) : notHere(pod, endpoints, answers)
  if (found.usesHostNetwork)
    throw new ExplainedError(`the pod ${text} uses the network of its node: leave out --pod to see it`)
  if (found.file === undefined)
    throw new ExplainedError(
      `the runtime at ${found.endpoint} does not show the network namespace of ${text} to this process: ` +
        'run this as root, outside of containers',
    )
  return found.file
}

/** The newest sandbox of the pod. */
async function sandboxOf(pod: PodName, endpoint: string, machine: Machine): Promise<FoundSandbox | undefined> {
  const runtime = machine.connect(endpoint)
  try {
    const sandboxes = await runtime.sandboxes({ labelSelector: selectPodNamed(pod.namespace, pod.name) })
    const [newest] = sandboxes.sort((a, b) => Number(b.createdAt - a.createdAt))
    if (!newest) return undefined
    const [{ status }, { info }] = await Promise.all([runtime.sandboxStatus(newest.id), runtime.sandboxInfo(newest.id)])
    return {
      endpoint,
      isReady: newest.state === PodSandboxState.SANDBOX_READY,
      usesHostNetwork: status?.linux?.namespaces?.options?.network === NamespaceMode.NODE,
      file: machine.namespaceFile(endpoint, info),
    }
  } finally {
    runtime.close()
  }
}

const withoutNetwork = (text: string): ExplainedError =>
  new ExplainedError(`the pod ${text} has no network now: it has ended, or it starts again; try again when it runs`)

function notHere(
  pod: PodName,
  endpoints: readonly string[],
  answers: readonly PromiseSettledResult<unknown>[],
): ExplainedError {
  const failures = answers.flatMap((answer, index) =>
    answer.status === 'rejected' ? [`; the runtime at ${endpoints[index]} did not answer: ${reason(answer)}`] : [],
  )
  const asked = endpoints.filter((_, index) => answers[index]?.status === 'fulfilled')
  const known = asked.length > 0 ? ` (runtimes without it: ${asked.join(', ')})` : ''
  return new ExplainedError(
    `the pod ${pod.namespace}/${pod.name} was not found on this node${known}: ${whereText(pod)} shows its node` +
      failures.join(''),
  )
}

function reason({ reason: error }: PromiseRejectedResult): string {
  const text = reasonOf(error)
  return text.includes('EACCES') ? 'its socket needs root, so run this with sudo' : text
}

const whereText = ({ namespace, name }: PodName): string => `kubectl get pod ${name} -n ${namespace} -o wide`
