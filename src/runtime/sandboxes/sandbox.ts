/** A pod's sandbox: namespaces, files and a network that its containers share. */
import type { PodSandboxConfig } from '#protobuf/cri-runtime_pb.js'
import { NamespaceMode, type NamespaceOption } from '#protobuf/cri-values_pb.js'
import type { SandboxPaths } from '../spec/mounts.ts'
import type { SandboxRecord } from '../state/records.ts'
import { podPaths } from './pod-files.ts'

/** The namespaces of a sandbox as its configuration states them. */
export const namespaceOptionsOf = ({ linux }: PodSandboxConfig): Partial<NamespaceOption> =>
  linux?.securityContext?.namespaceOptions ?? {}

export const usesHostNetwork = (config: PodSandboxConfig): boolean =>
  namespaceOptionsOf(config).network === NamespaceMode.NODE

export const usesHostIpc = (config: PodSandboxConfig): boolean => namespaceOptionsOf(config).ipc === NamespaceMode.NODE

/** True if the containers see each other's processes: the default of the field, also for a sandbox without options. */
export const sharesProcesses = (config: PodSandboxConfig): boolean =>
  (namespaceOptionsOf(config).pid ?? NamespaceMode.POD) === NamespaceMode.POD

export class Sandbox {
  readonly folder: string
  #record: SandboxRecord

  constructor(record: SandboxRecord, folder: string) {
    this.#record = record
    this.folder = folder
  }

  get record(): SandboxRecord {
    return this.#record
  }

  get id(): string {
    return this.#record.id
  }

  get config(): PodSandboxConfig {
    return this.#record.config
  }

  get isReady(): boolean {
    return this.#record.isReady
  }

  get paths(): SandboxPaths {
    return podPaths(this.folder, usesHostIpc(this.config))
  }

  set(change: Partial<SandboxRecord>): SandboxRecord {
    this.#record = { ...this.#record, ...change }
    return this.#record
  }
}
