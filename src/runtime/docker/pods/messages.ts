/** CRI's messages of sandboxes and containers, from those of the engine. */
import type { MessageInitShape } from '@bufbuild/protobuf'
import {
  type ContainerSchema,
  ContainerState,
  type ContainerStatusSchema,
  type PodSandboxSchema,
  PodSandboxState,
  type PodSandboxStatusSchema,
} from '#protobuf/cri-runtime_pb.js'
import { imageSpecOf } from '../../cri/messages.ts'
import type { ContainerInspection } from '../engine-types.ts'
import { reportedResources } from '../spec/resources.ts'
import type { Container, InspectedContainer, InspectedSandbox, Sandbox } from './pods.ts'

const sandboxFields = (sandbox: Sandbox) => {
  const { id, createdAt, runtimeHandler, config, isReady } = sandbox
  const { metadata, labels, annotations } = config
  const state = isReady ? PodSandboxState.SANDBOX_READY : PodSandboxState.SANDBOX_NOTREADY
  return { id, metadata, state, createdAt, labels, annotations, runtimeHandler }
}

export const sandboxMessage = (sandbox: Sandbox): MessageInitShape<typeof PodSandboxSchema> => sandboxFields(sandbox)

export function sandboxStatus(sandbox: InspectedSandbox): MessageInitShape<typeof PodSandboxStatusSchema> {
  const [ip = '', ...others] = addressesOf(sandbox.inspection)
  return {
    ...sandboxFields(sandbox),
    network: { ip, additionalIps: others.map((other) => ({ ip: other })) },
    linux: { namespaces: { options: sandbox.config.linux?.securityContext?.namespaceOptions } },
  }
}

/** The addresses of a pod; none with the network of the host, or after its end. */
export function addressesOf({ NetworkSettings: { Networks } }: ContainerInspection): string[] {
  const networks = Object.values(Networks ?? {})
  return [...networks.map(({ IPAddress }) => IPAddress), ...networks.map((one) => one.GlobalIPv6Address)].filter(
    Boolean,
  )
}

/** The engine's words for states. */
const states: Readonly<Record<string, ContainerState>> = {
  created: ContainerState.CONTAINER_CREATED,
  running: ContainerState.CONTAINER_RUNNING,
  paused: ContainerState.CONTAINER_RUNNING,
  removing: ContainerState.CONTAINER_EXITED,
  exited: ContainerState.CONTAINER_EXITED,
  dead: ContainerState.CONTAINER_EXITED,
}

export const containerState = ({ state }: Pick<Container, 'state'>): ContainerState =>
  states[state] ?? ContainerState.CONTAINER_UNKNOWN

export function containerMessage(container: Container): MessageInitShape<typeof ContainerSchema> {
  const { id, sandboxId, config, imageId, createdAt } = container
  const { metadata, labels, annotations } = config
  return {
    ...{ id, podSandboxId: sandboxId, metadata, labels, annotations, createdAt },
    ...{ image: imageSpecOf(config), imageRef: imageId, imageId },
    state: containerState(container),
  }
}

/** `imageRef` is a name of the image with a digest, or its ID. */
export function containerStatus(
  container: InspectedContainer,
  imageRef: string,
): MessageInitShape<typeof ContainerStatusSchema> {
  const { id, config, createdAt, imageId, logPath, user, inspection } = container
  const { State } = inspection
  const { metadata, labels, annotations, mounts, stopSignal } = config
  // A program that is missing, for example: the engine reports an exit code, but no times.
  const isFailedStart = State.Status === 'created' && State.ExitCode !== 0
  const state = isFailedStart ? ContainerState.CONTAINER_EXITED : containerState(container)
  const isExited = state === ContainerState.CONTAINER_EXITED
  return {
    ...{ id, metadata, labels, annotations, mounts, stopSignal, createdAt, logPath, state },
    ...{ image: imageSpecOf(config), imageRef, imageId },
    startedAt: isFailedStart ? createdAt : nanosecondsOf(State.StartedAt),
    finishedAt: isFailedStart ? createdAt : isExited ? nanosecondsOf(State.FinishedAt) : 0n,
    exitCode: isExited ? State.ExitCode : 0,
    reason: isExited ? (isFailedStart ? 'ContainerCannotRun' : reasonOf(State)) : '',
    message: State.Error,
    resources: { linux: reportedResources(inspection) },
    user: { linux: { uid: BigInt(user.uid), gid: BigInt(user.gid), supplementalGroups: user.groups.map(BigInt) } },
  }
}

function reasonOf({ OOMKilled, ExitCode }: ContainerInspection['State']): string {
  if (OOMKilled) return 'OOMKilled'
  return ExitCode === 0 ? 'Completed' : 'Error'
}

/** `2026-11-27T14:10:01.229126805Z` in ns since 1970; 0 for the year 1, which stands for no time. */
export function nanosecondsOf(text: string): bigint {
  const [, seconds = '', fraction = '', zone = ''] = /^([\d-]+T[\d:]+)(?:\.(\d+))?(.*)$/.exec(text) ?? []
  const ms = Date.parse(`${seconds}${zone}`)
  return ms > 0 ? BigInt(ms) * 1_000_000n + BigInt(fraction.slice(0, 9).padEnd(9, '0')) : 0n
}
