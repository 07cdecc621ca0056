/** The probes of one container: liveness and readiness wait until its startup probe has succeeded. */
import type { Container, ContainerStatus, Pod } from '../pod-types.ts'
import { type Instance, ProbeWorker, type WorkerResult, type WorkerServices } from './probe-worker.ts'
import type { Probe, ProbeKind } from './prober.ts'

export const hasProbes = ({ livenessProbe, readinessProbe, startupProbe }: Container): boolean =>
  livenessProbe !== undefined || readinessProbe !== undefined || startupProbe !== undefined

export class ContainerProbes {
  readonly #services: WorkerServices
  readonly #onChange: (pod: Pod) => void
  readonly #startup: ProbeWorker | undefined
  readonly #liveness: ProbeWorker | undefined
  readonly #readiness: ProbeWorker | undefined
  #pod: Pod
  #container: Container
  #id: string | undefined
  /** True once the container has been seen running. */
  #isBegun = false

  constructor(pod: Pod, container: Container, services: WorkerServices, onChange: (pod: Pod) => void) {
    this.#pod = pod
    this.#container = container
    this.#services = services
    this.#onChange = onChange
    this.#startup = this.#workerOf('Startup', container.startupProbe)
    this.#liveness = this.#workerOf('Liveness', container.livenessProbe)
    this.#readiness = this.#workerOf('Readiness', container.readinessProbe)
  }

  /** The ID of the container that is probed, or was probed last. */
  get id(): string | undefined {
    return this.#id
  }

  get isAlive(): boolean {
    return this.#liveness?.result !== 'failure' && this.#startup?.result !== 'failure'
  }

  get isStarted(): boolean {
    return !this.#startup || this.#startup.result === 'success'
  }

  get isReady(): boolean {
    return this.isStarted && (!this.#readiness || this.#readiness.result === 'success')
  }

  /** Takes a newer version of the pod. */
  update(pod: Pod, container: Container): void {
    this.#pod = pod
    this.#container = container
  }

  /** Takes the state of the runtime: the newest container of this name, running or not. */
  observe(instance: Instance, isRunning: boolean): void {
    const workers = [this.#startup, this.#liveness, this.#readiness]
    if (instance.id !== this.#id) {
      this.#id = instance.id
      this.#isBegun = false
      this.#reset(instance)
    }
    if (!isRunning) for (const worker of workers) worker?.pause()
    else if (this.#isBegun) for (const worker of workers) worker?.move(instance.podIp)
    else this.#begin(instance)
  }

  /** Ends the probes that could restart the container: its pod terminates. */
  stopLiveness(): void {
    this.#liveness?.stop()
    this.#startup?.stop()
  }

  stop(): void {
    this.stopLiveness()
    this.#readiness?.stop()
  }

  #reset({ id, startedAt }: Instance): void {
    const isEarlier = startedAt > 0 && startedAt < this.#services.kubeletStart
    const earlier = isEarlier ? this.#statusOf(id) : {}
    // As since 1.35: a restart of the kubelet makes no container unready.
    this.#startup?.reset(earlier.started ? 'success' : 'unknown')
    this.#liveness?.reset('success')
    this.#readiness?.reset(earlier.ready ? 'success' : 'failure')
  }

  #begin(instance: Instance): void {
    this.#isBegun = true
    this.#liveness?.begin(instance)
    this.#readiness?.begin(instance)
    // One that has started under an earlier kubelet does not start again.
    if (!this.isStarted) this.#startup?.begin(instance)
  }

  /** The part of the status about this very container; empty if the status is of another one. */
  #statusOf(id: string): Partial<Pick<ContainerStatus, 'started' | 'ready'>> {
    const { containerStatuses = [], initContainerStatuses = [] } = this.#pod.status ?? {}
    const status = [...containerStatuses, ...initContainerStatuses].find(({ name }) => name === this.#container.name)
    return status?.containerID?.endsWith(`://${id}`) ? status : {}
  }

  #workerOf(kind: ProbeKind, probe: Probe | undefined): ProbeWorker | undefined {
    if (!probe) return undefined
    return new ProbeWorker(
      {
        kind,
        probe,
        subject: () => ({ pod: this.#pod, container: this.#container }),
        waits: () => kind !== 'Startup' && !this.isStarted,
        onChange: (result) => this.#changed(kind, result),
      },
      this.#services,
    )
  }

  #changed(kind: ProbeKind, result: WorkerResult): void {
    if (kind === 'Startup' && result === 'success') {
      this.#liveness?.wake()
      this.#readiness?.wake()
    }
    this.#onChange(this.#pod)
  }
}
