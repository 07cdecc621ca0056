/**
 * Labels of Docker's containers. They hold everything that CRI's clients want to know again, so that the runtime has
 * no records of its own. The first group is that of dockershim, which tools know; the second is read here.
 */
import { type DescMessage, fromBinary, type MessageShape, toBinary } from '@bufbuild/protobuf'
import {
  type ContainerConfig,
  ContainerConfigSchema,
  type PodSandboxConfig,
  PodSandboxConfigSchema,
} from '#protobuf/cri-runtime_pb.js'
import type { ContainerUser } from '../../state/records.ts'
import type { Labels } from '../engine-types.ts'

const annotationPrefix = 'annotation.'

const names = {
  type: 'io.kubernetes.docker.type',
  containerName: 'io.kubernetes.container.name',
  logPath: 'io.kubernetes.container.logpath',
  sandboxId: 'io.kubernetes.sandbox.id',
  /** The runtime that manages the container: an engine may serve several clusters. */
  owner: 't8s.dev/runtime',
  config: 't8s.dev/config',
  createdAt: 't8s.dev/created-at',
  user: 't8s.dev/user',
  handler: 't8s.dev/runtime-handler',
} as const

/** `helper` is a container that never runs. */
export type DockerType = 'podsandbox' | 'container' | 'helper'

export interface SandboxLabels {
  readonly config: PodSandboxConfig
  /** In ns since 1970. */
  readonly createdAt: bigint
  readonly runtimeHandler: string
}

export interface ContainerLabels {
  readonly config: ContainerConfig
  readonly createdAt: bigint
  readonly sandboxId: string
  readonly logPath: string
  readonly user: ContainerUser
}

export function sandboxLabels(owner: string, { config, createdAt, runtimeHandler }: SandboxLabels): Labels {
  return {
    ...visibleLabels(config),
    [names.type]: 'podsandbox' satisfies DockerType,
    [names.containerName]: 'POD',
    [names.owner]: owner,
    [names.config]: encode(PodSandboxConfigSchema, config),
    [names.createdAt]: String(createdAt),
    [names.handler]: runtimeHandler,
  }
}

export function containerLabels(owner: string, container: ContainerLabels): Labels {
  const { config, createdAt, sandboxId, logPath, user } = container
  return {
    ...visibleLabels(config),
    [names.type]: 'container' satisfies DockerType,
    [names.sandboxId]: sandboxId,
    [names.logPath]: logPath,
    [names.owner]: owner,
    // The engine shows the command and the variables itself.
    [names.config]: encode(ContainerConfigSchema, { ...config, envs: [], command: [], args: [] }),
    [names.createdAt]: String(createdAt),
    [names.user]: JSON.stringify(user),
  }
}

export const helperLabels = (owner: string): Labels => ({
  [names.type]: 'helper' satisfies DockerType,
  [names.owner]: owner,
})

/** The filter for lists and events of the engine. */
export const labelFilter = (owner: string, type: DockerType, sandboxId?: string): { readonly label: string[] } => ({
  label: [
    `${names.owner}=${owner}`,
    `${names.type}=${type}`,
    ...(sandboxId === undefined ? [] : [`${names.sandboxId}=${sandboxId}`]),
  ],
})

/** Undefined for other containers. */
export function readSandboxLabels(owner: string, labels: Labels): SandboxLabels | undefined {
  if (!belongs(owner, 'podsandbox', labels)) return undefined
  return {
    config: decode(PodSandboxConfigSchema, labels[names.config]),
    createdAt: BigInt(labels[names.createdAt] ?? 0),
    runtimeHandler: labels[names.handler] ?? '',
  }
}

/** Undefined for other containers. */
export function readContainerLabels(owner: string, labels: Labels): ContainerLabels | undefined {
  if (!belongs(owner, 'container', labels)) return undefined
  return {
    config: decode(ContainerConfigSchema, labels[names.config]),
    createdAt: BigInt(labels[names.createdAt] ?? 0),
    sandboxId: labels[names.sandboxId] ?? '',
    logPath: labels[names.logPath] ?? '',
    user: JSON.parse(labels[names.user] ?? '{}') as ContainerUser,
  }
}

const belongs = (owner: string, type: DockerType, labels: Labels): boolean =>
  labels[names.owner] === owner && labels[names.type] === type

/** Docker has no annotations. */
const visibleLabels = ({ labels, annotations }: { readonly labels: Labels; readonly annotations: Labels }): Labels => ({
  ...labels,
  ...Object.fromEntries(Object.entries(annotations).map(([key, value]) => [`${annotationPrefix}${key}`, value])),
})

const encode = <Schema extends DescMessage>(schema: Schema, message: MessageShape<Schema>): string =>
  Buffer.from(toBinary(schema, message)).toString('base64')

const decode = <Schema extends DescMessage>(schema: Schema, text = ''): MessageShape<Schema> =>
  fromBinary(schema, Buffer.from(text, 'base64'))
