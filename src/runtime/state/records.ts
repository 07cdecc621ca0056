/** Stored records of sandboxes and containers. Times are in ns since 1970. */
import { type DescMessage, fromJson, type JsonValue, type MessageShape, toJson } from '@bufbuild/protobuf'
import {
  type ContainerConfig,
  ContainerConfigSchema,
  type PodSandboxConfig,
  PodSandboxConfigSchema,
} from '#protobuf/cri-runtime_pb.js'
import type { ConnectorName } from '../network/network-mode.ts'
import type { NetworkResult } from '../network/network-result.ts'

export interface SandboxRecord {
  readonly id: string
  readonly config: PodSandboxConfig
  readonly runtimeHandler: string
  readonly createdAt: bigint
  /** False until it has started, and once it was stopped. */
  readonly isReady: boolean
  /** Of its network, from before it is connected until it is disconnected. Undefined for pods of the host's network. */
  readonly connector?: ConnectorName | undefined
  /** The result of the connector. */
  readonly network?: NetworkResult
  /** The first process of its PID namespace, if its containers share one. */
  readonly infra?: ProcessRecord
}

/** A process that may be gone: a later one with its number has another start time. */
export interface ProcessRecord {
  readonly pid: number
  /** In ticks since the boot. */
  readonly startTicks: string
}

export interface ContainerUser {
  readonly uid: number
  readonly gid: number
  readonly groups: readonly number[]
}

export interface ContainerRecord {
  readonly id: string
  readonly sandboxId: string
  readonly config: ContainerConfig
  /** The absolute path of the log; '' without one. */
  readonly logPath: string
  readonly imageId: string
  /** The name with a digest that the image was pulled by, or its ID. */
  readonly imageRef: string
  readonly stopSignal: string
  readonly user: ContainerUser
  /** The root file systems of its image volumes. */
  readonly volumes?: readonly string[]
  readonly createdAt: bigint
  readonly startedAt?: bigint
  readonly process?: ProcessRecord
  readonly end?: ContainerEnd
  /** Removal has begun. */
  readonly isRemoved?: boolean
}

export interface ContainerEnd {
  readonly at: bigint
  readonly code: number
  /** `Completed`, `Error`, `OOMKilled`, `StartError` or `Unknown`. */
  readonly reason: string
  readonly message: string
}

type Json = Readonly<Record<string, JsonValue>>

const bigints: ReadonlySet<string> = new Set(['createdAt', 'startedAt', 'at'])

const encode = (record: object): Json =>
  JSON.parse(JSON.stringify(record, (_, value) => (typeof value === 'bigint' ? String(value) : value)))

const revive = <Value>(value: object): Value =>
  JSON.parse(JSON.stringify(value), (key, member) => (bigints.has(key) ? BigInt(member) : member))

const configOf = <Desc extends DescMessage>(schema: Desc, config: JsonValue | undefined): MessageShape<Desc> =>
  fromJson(schema, config ?? {}, { ignoreUnknownFields: true })

export const encodeSandbox = ({ config, ...record }: SandboxRecord): Json => ({
  ...encode(record),
  config: toJson(PodSandboxConfigSchema, config),
})

export function decodeSandbox(json: unknown): SandboxRecord {
  const { config, ...record } = json as Json
  return { ...revive<Omit<SandboxRecord, 'config'>>(record), config: configOf(PodSandboxConfigSchema, config) }
}

export const encodeContainer = ({ config, ...record }: ContainerRecord): Json => ({
  ...encode(record),
  config: toJson(ContainerConfigSchema, config),
})

export function decodeContainer(json: unknown): ContainerRecord {
  const { config, ...record } = json as Json
  return { ...revive<Omit<ContainerRecord, 'config'>>(record), config: configOf(ContainerConfigSchema, config) }
}
