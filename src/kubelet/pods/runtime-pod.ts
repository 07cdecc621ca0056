/** The state of one pod in the runtime: the only memory of the kubelet that outlives it. */
import {
  ContainerState,
  type ContainerStatus,
  PodSandboxState,
  type PodSandboxStatus,
} from '#protobuf/cri-runtime_pb.js'
import { containerNameOf, type PodIdentity, restartCountOf, selectPod } from '../cri/labels.ts'
import type { CriRuntime } from '../cri/runtime.ts'

export interface RuntimePod {
  readonly identity: PodIdentity
  /** Newest first. */
  readonly sandboxes: readonly PodSandboxStatus[]
  /** Newest first; several of one name if it was restarted. */
  readonly containers: readonly ContainerStatus[]
  /** The addresses of the newest sandbox, if it is ready. */
  readonly ips: readonly string[]
}

/** Reads the state of a pod from the runtime. */
export async function readRuntimePod(runtime: CriRuntime, identity: PodIdentity): Promise<RuntimePod> {
  const labelSelector = selectPod(identity.uid)
  const [sandboxes, containers] = await Promise.all([
    runtime.sandboxes({ labelSelector }),
    runtime.containers({ labelSelector }),
  ])
  // Each may be removed between the list and its status.
  const [sandboxStatuses, statuses] = await Promise.all([
    Promise.all(sandboxes.map(({ id }) => runtime.sandboxStatus(id).then(({ status }) => status, ignoreNotFound))),
    Promise.all(containers.map(({ id }) => runtime.containerStatus(id).catch(ignoreNotFound))),
  ])
  const ordered = sandboxStatuses.filter((one) => one !== undefined).sort(newestFirst)
  return {
    identity,
    sandboxes: ordered,
    containers: statuses.filter((one) => one !== undefined).sort(newestFirst),
    ips: ipsOf(ordered[0]),
  }
}

function ignoreNotFound(error: unknown): undefined {
  if ((error as { code?: unknown }).code !== 'NotFound') throw error
}

const newestFirst = (a: { createdAt: bigint }, b: { createdAt: bigint }): number =>
  a.createdAt > b.createdAt ? -1 : a.createdAt < b.createdAt ? 1 : 0

/** The addresses of a sandbox, if it is ready. */
export function ipsOf(sandbox: PodSandboxStatus | undefined): string[] {
  if (sandbox?.state !== PodSandboxState.SANDBOX_READY || !sandbox.network?.ip) return []
  return [sandbox.network.ip, ...sandbox.network.additionalIps.map(({ ip }) => ip)]
}

/** The newest container of a name. */
export const newestContainer = ({ containers }: RuntimePod, name: string): ContainerStatus | undefined =>
  containers.find(({ labels }) => containerNameOf(labels) === name)

export const isRunning = ({ state }: ContainerStatus): boolean => state === ContainerState.CONTAINER_RUNNING
export const hasExited = ({ state }: ContainerStatus): boolean => state === ContainerState.CONTAINER_EXITED

export const runningContainers = ({ containers }: RuntimePod): readonly ContainerStatus[] =>
  containers.filter(isRunning)

/** The sandbox that works, if the newest does. */
export const readySandbox = ({ sandboxes: [newest] }: RuntimePod): PodSandboxStatus | undefined =>
  newest?.state === PodSandboxState.SANDBOX_READY ? newest : undefined

/** The number of the next container of a name: one more than that of the newest; undefined if there is none. */
export function nextRestartCount(pod: RuntimePod, name: string): number | undefined {
  const newest = newestContainer(pod, name)
  return newest && restartCountOf(newest.annotations) + 1
}
