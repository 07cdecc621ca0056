/** CRI's messages of sandboxes and containers, from the records of the runtime. */
import type { MessageInitShape } from '@bufbuild/protobuf'
import {
  type ContainerConfig,
  type ContainerSchema,
  ContainerState,
  type ContainerStatusSchema,
  type PodSandboxSchema,
  PodSandboxState,
  type PodSandboxStatusSchema,
} from '#protobuf/cri-runtime_pb.js'
import type { Container } from '../containers/container.ts'
import { addressesOf } from '../network/network-result.ts'
import type { Sandbox } from '../sandboxes/sandbox.ts'

const sandboxState = (isReady: boolean): PodSandboxState =>
  isReady ? PodSandboxState.SANDBOX_READY : PodSandboxState.SANDBOX_NOTREADY

export function sandboxMessage({ id, record }: Sandbox, isReady: boolean): MessageInitShape<typeof PodSandboxSchema> {
  const { metadata, labels, annotations } = record.config
  const { createdAt, runtimeHandler } = record
  return { id, metadata, state: sandboxState(isReady), createdAt, labels, annotations, runtimeHandler }
}

export function sandboxStatus(
  { id, record }: Sandbox,
  isReady: boolean,
): MessageInitShape<typeof PodSandboxStatusSchema> {
  const { metadata, labels, annotations } = record.config
  const { createdAt, runtimeHandler, network } = record
  const [ip = '', ...others] = network && isReady ? addressesOf(network) : []
  return {
    id,
    metadata,
    state: sandboxState(isReady),
    createdAt,
    network: { ip, additionalIps: others.map((other) => ({ ip: other })) },
    linux: { namespaces: { options: record.config.linux?.securityContext?.namespaceOptions } },
    labels,
    annotations,
    runtimeHandler,
  }
}

const states = {
  created: ContainerState.CONTAINER_CREATED,
  running: ContainerState.CONTAINER_RUNNING,
  exited: ContainerState.CONTAINER_EXITED,
} as const

export const containerState = ({ state }: Container): ContainerState => states[state]

export function containerMessage(container: Container): MessageInitShape<typeof ContainerSchema> {
  const { id, sandboxId, config, imageRef, imageId, createdAt } = container.record
  return {
    id,
    podSandboxId: sandboxId,
    metadata: config.metadata,
    image: imageSpecOf(container.record.config),
    imageRef,
    imageId,
    state: containerState(container),
    createdAt,
    labels: config.labels,
    annotations: config.annotations,
  }
}

/** The name that the pod has, if the container was created by the ID of its image. */
export const imageSpecOf = (config: ContainerConfig) => ({
  image: config.image?.userSpecifiedImage || (config.image?.image ?? ''),
  annotations: config.image?.annotations ?? {},
  userSpecifiedImage: config.image?.userSpecifiedImage ?? '',
})

export function containerStatus(container: Container): MessageInitShape<typeof ContainerStatusSchema> {
  const { id, config, createdAt, startedAt = 0n, end, imageRef, imageId, logPath, user } = container.record
  return {
    id,
    metadata: config.metadata,
    state: containerState(container),
    createdAt,
    startedAt,
    finishedAt: end?.at ?? 0n,
    exitCode: end?.code ?? 0,
    image: imageSpecOf(container.record.config),
    imageRef,
    imageId,
    reason: end?.reason ?? '',
    message: end?.message ?? '',
    labels: config.labels,
    annotations: config.annotations,
    mounts: config.mounts,
    logPath,
    resources: { linux: config.linux?.resources },
    user: {
      linux: { uid: BigInt(user.uid), gid: BigInt(user.gid), supplementalGroups: user.groups.map(BigInt) },
    },
    stopSignal: config.stopSignal,
  }
}

/** True if an object has all labels of a selector. */
export const hasLabels = (
  labels: Readonly<Record<string, string>>,
  selector: Readonly<Record<string, string>> = {},
): boolean => Object.entries(selector).every(([key, value]) => Object.hasOwn(labels, key) && labels[key] === value)
