/** A container runtime in virtual time: its calls may be slow and fail, and it checks what a kubelet does with it. */
import { create } from '@bufbuild/protobuf'
import {
  ContainerState,
  type ContainerStatus,
  ContainerStatusSchema,
  PodSandboxState,
  type PodSandboxStatus,
  PodSandboxStatusSchema,
} from '#protobuf/cri-runtime_pb.js'
import { containerNameOf, type PodIdentity } from '../../cri/labels.ts'
import type { ContainerConfig, SandboxConfig } from '../../cri/runtime.ts'
import { isRunning, type RuntimePod } from '../runtime-pod.ts'
import type { VirtualTime } from './virtual-time.fixture.ts'

interface Sandbox {
  readonly uid: string
  status: PodSandboxStatus
}

interface Instance {
  readonly uid: string
  readonly sandbox: string
  /** The time in ms between the stop signal and the end. */
  readonly endsAfterMs: number
  status: ContainerStatus
}

export interface Faults {
  /** From 0 to below 1. */
  next(): number
  /** The share of calls that fail, half of them after they have had their effect. */
  share: number
  maxDelayMs: number
}

const nanoseconds = (ms: number): bigint => BigInt(ms) * 1_000_000n

export class FakeRuntime {
  readonly sandboxes = new Map<string, Sandbox>()
  readonly containers = new Map<string, Instance>()
  /** Violations of what a kubelet may do. */
  readonly violations: string[] = []
  readonly faults: Faults
  readonly #time: VirtualTime
  readonly #onChange: (uid: string) => void
  readonly #mayKill: (uid: string, id: string) => boolean
  #ids = 0

  /** `mayKill` returns true if a container of a pod may be killed now. */
  constructor(
    time: VirtualTime,
    faults: Faults,
    onChange: (uid: string) => void,
    mayKill: (uid: string, id: string) => boolean,
  ) {
    this.#time = time
    this.faults = faults
    this.#onChange = onChange
    this.#mayKill = mayKill
  }

  /** One call: some time, its effect once, and perhaps an error before or after it. */
  async #call<T>(effect: () => T | Promise<T>): Promise<T> {
    const { next, share, maxDelayMs } = this.faults
    await this.#time.sleep(Math.floor(next() * maxDelayMs))
    const fault = next()
    if (fault < share / 2) throw new Error('the runtime is busy')
    const result = await effect()
    await this.#time.sleep(Math.floor(next() * maxDelayMs))
    if (fault < share) throw new Error('the connection to the runtime was lost')
    return result
  }

  runSandbox(uid: string, { metadata, labels }: SandboxConfig): Promise<string> {
    return this.#call(() => {
      const id = `s${++this.#ids}`
      const status = create(PodSandboxStatusSchema, {
        id,
        metadata: metadata as never,
        state: PodSandboxState.SANDBOX_READY,
        createdAt: nanoseconds(this.#time.now()) + BigInt(this.#ids),
        network: { ip: `10.0.0.${this.#ids}` },
        labels: labels as Record<string, string>,
      })
      this.sandboxes.set(id, { uid, status })
      this.#onChange(uid)
      return id
    })
  }

  stopSandbox(id: string): Promise<void> {
    return this.#call(() => {
      const sandbox = this.sandboxes.get(id)
      if (!sandbox) return
      for (const instance of this.containers.values())
        if (instance.sandbox === id && isRunning(instance.status)) this.#kill(instance, 'the end of its sandbox')
      sandbox.status = { ...sandbox.status, state: PodSandboxState.SANDBOX_NOTREADY }
      this.#onChange(sandbox.uid)
    })
  }

  createContainer(sandbox: string, config: ContainerConfig): Promise<string> {
    return this.#call(() => {
      const found = this.sandboxes.get(sandbox)
      if (found?.status.state !== PodSandboxState.SANDBOX_READY) throw new Error(`sandbox ${sandbox} is not ready`)
      const id = `c${++this.#ids}`
      const status = create(ContainerStatusSchema, {
        id,
        state: ContainerState.CONTAINER_CREATED,
        createdAt: nanoseconds(this.#time.now()) + BigInt(this.#ids),
        labels: config.labels as Record<string, string>,
        annotations: config.annotations as Record<string, string>,
        image: { image: 'image' },
      })
      const endsAfterMs = Math.floor(this.faults.next() * 30_000)
      this.containers.set(id, { uid: found.uid, sandbox, endsAfterMs, status })
      return id
    })
  }

  startContainer(id: string): Promise<void> {
    return this.#call(() => {
      const instance = this.containers.get(id)
      if (!instance) throw new Error('the container does not exist')
      if (this.sandboxes.get(instance.sandbox)?.status.state !== PodSandboxState.SANDBOX_READY)
        throw new Error('its sandbox is not ready')
      const name = containerNameOf(instance.status.labels)
      const others = [...this.containers.values()].filter(
        ({ uid, status }) => uid === instance.uid && containerNameOf(status.labels) === name && isRunning(status),
      )
      if (others.length > 0) this.violations.push(`two running copies of ${name} of ${instance.uid}`)
      instance.status = {
        ...instance.status,
        state: ContainerState.CONTAINER_RUNNING,
        startedAt: nanoseconds(this.#time.now()),
      }
      this.#onChange(instance.uid)
    })
  }

  removeContainer(id: string): Promise<void> {
    return this.#call(() => {
      const instance = this.containers.get(id)
      if (instance && isRunning(instance.status)) throw new Error('the container runs')
      this.containers.delete(id)
    })
  }

  async stopContainer(id: string, graceSeconds: number): Promise<void> {
    await this.#call(() => {})
    const instance = this.containers.get(id)
    if (!instance || !isRunning(instance.status)) return
    await this.#time.sleep(Math.min(instance.endsAfterMs, graceSeconds * 1000))
    if (!isRunning(instance.status)) return
    if (instance.endsAfterMs <= graceSeconds * 1000) this.end(id, 0)
    else this.#kill(instance, 'SIGKILL')
  }

  /** A container ends by itself, or by its stop signal. */
  end(id: string, exitCode: number): void {
    const instance = this.containers.get(id)
    if (!instance || !isRunning(instance.status)) return
    instance.status = {
      ...instance.status,
      state: ContainerState.CONTAINER_EXITED,
      exitCode,
      finishedAt: nanoseconds(this.#time.now()),
    }
    this.#onChange(instance.uid)
  }

  #kill({ uid, status }: Instance, reason: string): void {
    if (!this.#mayKill(uid, status.id))
      this.violations.push(`${containerNameOf(status.labels)} of ${uid} killed early by ${reason}`)
    this.end(status.id, 137)
  }

  read(identity: PodIdentity): Promise<RuntimePod> {
    return this.#call(() => {
      const { sandboxes, containers } = this.stateOf(identity.uid)
      const ready = sandboxes[0]?.state === PodSandboxState.SANDBOX_READY
      const ips = ready ? [sandboxes[0]?.network?.ip ?? ''] : []
      return { identity, sandboxes, containers, ips }
    })
  }

  /** The state of a pod now, newest first. */
  stateOf(uid: string): Pick<RuntimePod, 'sandboxes' | 'containers'> {
    const of = <T extends { createdAt: bigint }>(all: Map<string, { uid: string; status: T }>): T[] =>
      [...all.values()]
        .filter((one) => one.uid === uid)
        .map(({ status }) => ({ ...status }))
        .sort((a, b) => Number(b.createdAt - a.createdAt))
    return { sandboxes: of(this.sandboxes), containers: of(this.containers) }
  }

  /** The IDs of the containers that run, of one pod or of all. */
  running(uid?: string): string[] {
    const all = [...this.containers.values()]
    return all.filter((one) => isRunning(one.status) && (!uid || one.uid === uid)).map(({ status }) => status.id)
  }
}
