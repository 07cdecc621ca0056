/** The container runtime, through CRI: sandboxes and containers. Each call has a time limit. */
import type { MessageInitShape } from '@bufbuild/protobuf'
import {
  type AttachRequestSchema,
  CgroupDriver,
  type Container,
  type ContainerConfigSchema,
  type ContainerEventResponse,
  type ContainerFilterSchema,
  type ContainerStatus,
  type ExecRequestSchema,
  type ExecSyncResponse,
  type PodSandbox,
  type PodSandboxConfigSchema,
  type PodSandboxFilterSchema,
  type PodSandboxStatusResponse,
  RuntimeService,
  type StatusResponse,
  type VersionResponse,
} from '#protobuf/cri-runtime_pb.js'
import type { ContainerStats } from '#protobuf/cri-stats_pb.js'
import type { LinuxContainerResourcesSchema } from '#protobuf/cri-values_pb.js'
import { type ClientSettings, ObservedClient } from './observed-client.ts'

export type SandboxConfig = MessageInitShape<typeof PodSandboxConfigSchema>
export type ContainerConfig = MessageInitShape<typeof ContainerConfigSchema>
export type LinuxResources = MessageInitShape<typeof LinuxContainerResourcesSchema>

/** Details by name; most runtimes have one, `info`, which is JSON. */
export interface RuntimeDetails {
  readonly info: Readonly<Record<string, string>>
  /** In ns since 1970. */
  readonly startedAt: bigint
}

/** The time limit of most calls in ms. */
const defaultTimeoutMs = 120_000

const { method } = RuntimeService

/** All methods reject with a GrpcError. */
export class CriRuntime {
  readonly #client: ObservedClient
  readonly #timeoutMs: number

  /** `endpoint` is for example `unix:///run/containerd/containerd.sock`. */
  constructor(endpoint: string, settings: ClientSettings = {}) {
    this.#client = new ObservedClient(endpoint, settings)
    this.#timeoutMs = settings.timeoutMs ?? defaultTimeoutMs
  }

  version(): Promise<VersionResponse> {
    return this.#client.call(method.version, { version: 'v1' }, { timeoutMs: this.#timeoutMs })
  }

  /** `verbose` adds the runtime's own information. */
  status(verbose = false): Promise<StatusResponse> {
    return this.#client.call(method.status, { verbose }, { timeoutMs: this.#timeoutMs })
  }

  /** The driver of cgroups that the runtime is configured with; undefined if it does not report it. */
  async cgroupDriver(): Promise<'cgroupfs' | 'systemd' | undefined> {
    try {
      const { linux } = await this.#client.call(method.runtimeConfig, {}, { timeoutMs: this.#timeoutMs })
      return linux && (linux.cgroupDriver === CgroupDriver.SYSTEMD ? 'systemd' : 'cgroupfs')
    } catch (error) {
      if ((error as { code?: unknown }).code === 'Unimplemented') return undefined
      throw error
    }
  }

  /** Sends the node's range of pod addresses to the runtime. */
  async setPodRange(podCidr: string): Promise<void> {
    const request = { runtimeConfig: { networkConfig: { podCidr } } }
    await this.#client.call(method.updateRuntimeConfig, request, { timeoutMs: this.#timeoutMs })
  }

  /** Returns the ID of the sandbox. Its network may take twice the usual time. */
  async runSandbox(config: SandboxConfig, runtimeHandler = ''): Promise<string> {
    const request = { config, runtimeHandler }
    const { podSandboxId } = await this.#client.call(method.runPodSandbox, request, { timeoutMs: 2 * this.#timeoutMs })
    return podSandboxId
  }

  /** Ends all containers of a sandbox and frees its network. */
  async stopSandbox(podSandboxId: string): Promise<void> {
    await this.#client.call(method.stopPodSandbox, { podSandboxId }, { timeoutMs: this.#timeoutMs })
  }

  async removeSandbox(podSandboxId: string): Promise<void> {
    await this.#client.call(method.removePodSandbox, { podSandboxId }, { timeoutMs: this.#timeoutMs })
  }

  sandboxStatus(podSandboxId: string): Promise<PodSandboxStatusResponse> {
    return this.#client.call(method.podSandboxStatus, { podSandboxId }, { timeoutMs: this.#timeoutMs })
  }

  async sandboxes(filter?: MessageInitShape<typeof PodSandboxFilterSchema>): Promise<PodSandbox[]> {
    return (await this.#client.call(method.listPodSandbox, { filter }, { timeoutMs: this.#timeoutMs })).items
  }

  /** Returns the ID of the container. */
  async createContainer(podSandboxId: string, config: ContainerConfig, sandboxConfig: SandboxConfig): Promise<string> {
    const request = { podSandboxId, config, sandboxConfig }
    return (await this.#client.call(method.createContainer, request, { timeoutMs: this.#timeoutMs })).containerId
  }

  async startContainer(containerId: string): Promise<void> {
    await this.#client.call(method.startContainer, { containerId }, { timeoutMs: this.#timeoutMs })
  }

  /** Sends the stop signal, and SIGKILL if the container has not ended after `graceSeconds`. Resolves at its end. */
  async stopContainer(containerId: string, graceSeconds: number): Promise<void> {
    const request = { containerId, timeout: BigInt(graceSeconds) }
    await this.#client.call(method.stopContainer, request, { timeoutMs: graceSeconds * 1000 + this.#timeoutMs })
  }

  async removeContainer(containerId: string): Promise<void> {
    await this.#client.call(method.removeContainer, { containerId }, { timeoutMs: this.#timeoutMs })
  }

  async containers(filter?: MessageInitShape<typeof ContainerFilterSchema>): Promise<Container[]> {
    return (await this.#client.call(method.listContainers, { filter }, { timeoutMs: this.#timeoutMs })).containers
  }

  /** Undefined if the runtime no longer knows the container. */
  async containerStatus(containerId: string): Promise<ContainerStatus | undefined> {
    return (await this.#client.call(method.containerStatus, { containerId }, { timeoutMs: this.#timeoutMs })).status
  }

  /** The runtime's own details of a container, such as its process, which CRI does not define. */
  async containerInfo(containerId: string): Promise<RuntimeDetails> {
    const request = { containerId, verbose: true }
    const { status, info } = await this.#client.call(method.containerStatus, request, { timeoutMs: this.#timeoutMs })
    return { info, startedAt: status?.startedAt ?? 0n }
  }

  async sandboxInfo(podSandboxId: string): Promise<RuntimeDetails> {
    const request = { podSandboxId, verbose: true }
    const { status, info } = await this.#client.call(method.podSandboxStatus, request, { timeoutMs: this.#timeoutMs })
    return { info, startedAt: status?.createdAt ?? 0n }
  }

  async updateResources(containerId: string, linux: LinuxResources): Promise<void> {
    await this.#client.call(method.updateContainerResources, { containerId, linux }, { timeoutMs: this.#timeoutMs })
  }

  /** Notifies the runtime of the resources of a sandbox. Most runtimes do not size sandboxes, and ignore it. */
  async updateSandboxResources(
    podSandboxId: string,
    resources: LinuxResources,
    overhead: LinuxResources,
  ): Promise<void> {
    const request = { podSandboxId, resources, overhead }
    try {
      await this.#client.call(method.updatePodSandboxResources, request, { timeoutMs: defaultTimeoutMs })
    } catch (error) {
      // containerd 2.2 answers with the code Unknown.
      const { code, message } = error as { readonly code?: unknown; readonly message: string }
      if (code !== 'Unimplemented' && !(code === 'Unknown' && message.includes('not implemented'))) throw error
    }
  }

  async reopenLog(containerId: string): Promise<void> {
    await this.#client.call(method.reopenContainerLog, { containerId }, { timeoutMs: this.#timeoutMs })
  }

  /** Runs a command; `timeoutMs` 0 means no limit of its own. Rejects with `DeadlineExceeded` after that time. */
  exec(containerId: string, cmd: readonly string[], timeoutMs = 0): Promise<ExecSyncResponse> {
    const request = { containerId, cmd: [...cmd], timeout: BigInt(Math.ceil(timeoutMs / 1000)) }
    return this.#client.call(method.execSync, request, timeoutMs ? { timeoutMs: timeoutMs + this.#timeoutMs } : {})
  }

  /** Writes the state of a container into an archive. `timeoutSeconds` 0 means the runtime's own limit. */
  async checkpoint(containerId: string, location: string, timeoutSeconds: number): Promise<void> {
    const request = { containerId, location, timeout: BigInt(timeoutSeconds) }
    const timeoutMs = timeoutSeconds > 0 ? timeoutSeconds * 1000 : this.#timeoutMs
    await this.#client.call(method.checkpointContainer, request, { timeoutMs })
  }

  /** The URLs of the runtime's streaming server. */
  async execUrl(request: MessageInitShape<typeof ExecRequestSchema>): Promise<string> {
    return (await this.#client.call(method.exec, request, { timeoutMs: this.#timeoutMs })).url
  }

  async attachUrl(request: MessageInitShape<typeof AttachRequestSchema>): Promise<string> {
    return (await this.#client.call(method.attach, request, { timeoutMs: this.#timeoutMs })).url
  }

  async portForwardUrl(podSandboxId: string): Promise<string> {
    return (await this.#client.call(method.portForward, { podSandboxId }, { timeoutMs: this.#timeoutMs })).url
  }

  async containerStats(): Promise<ContainerStats[]> {
    return (await this.#client.call(method.listContainerStats, {}, { timeoutMs: this.#timeoutMs })).stats
  }

  /** The events of all containers from now on. Throws a GrpcError, `Unimplemented` if the runtime sends none. */
  events(signal: AbortSignal): AsyncGenerator<ContainerEventResponse> {
    return this.#client.stream(method.getContainerEvents, {}, { signal })
  }

  close(): void {
    this.#client.close()
  }
}
