/**
 * One probe of one container: when it runs, and its result after the thresholds. A container with a new ID starts from
 * the beginning.
 */
import type { Container, Pod } from '../pod-types.ts'
import type { ProbeMetrics } from './probe-metrics.ts'
import type { Probe, ProbeKind, Prober } from './prober.ts'

/** `unknown` as long as a startup probe has not ended. */
export type WorkerResult = 'success' | 'failure' | 'unknown'

/** A running container. */
export interface Instance {
  readonly id: string
  /** Ms since 1970. */
  readonly startedAt: number
  readonly podIp: string
}

export interface WorkerServices {
  readonly prober: Pick<Prober, 'probe'>
  readonly metrics: ProbeMetrics
  readonly now: () => number
  /** A number from 0 to 1. */
  readonly random: () => number
  /** Calls back once after so many ms; the returned function cancels that. */
  readonly schedule: (callback: () => void, ms: number) => () => void
  /** The start of the kubelet, in ms since 1970. */
  readonly kubeletStart: number
}

export interface WorkerOptions {
  readonly kind: ProbeKind
  readonly probe: Probe
  /** The pod and container as last seen. */
  subject(): { readonly pod: Pod; readonly container: Container }
  /** True if the probe must wait, as for the startup probe. */
  waits(): boolean
  onChange(result: WorkerResult): void
}

/** Defaults in case the API server has not set them. */
const defaultPeriodSeconds = 10
const defaultFailureThreshold = 3

export class ProbeWorker {
  readonly #options: WorkerOptions
  readonly #services: WorkerServices
  #instance: Instance | undefined
  #result: WorkerResult = 'unknown'
  #lastVerdict: WorkerResult | undefined
  /** How often in a row the last verdict was given. */
  #run = 0
  #isProbing = false
  #isStopped = false
  #cancelTimer: (() => void) | undefined

  constructor(options: WorkerOptions, services: WorkerServices) {
    this.#options = options
    this.#services = services
  }

  get result(): WorkerResult {
    return this.#result
  }

  /** Forgets the container before; the result of the next one is `initial` until it has been probed. */
  reset(initial: WorkerResult): void {
    this.pause()
    this.#result = initial
    this.#lastVerdict = undefined
    this.#run = 0
    this.#isProbing = false
  }

  /** Begins to probe a container. */
  begin(instance: Instance): void {
    this.#instance = instance
    this.wake()
  }

  /** Updates the address of the pod. */
  move(podIp: string): void {
    if (this.#instance) this.#instance = { ...this.#instance, podIp }
  }

  /** Schedules the first probe, unless one is due or running. */
  wake(): void {
    if (this.#instance && !this.#cancelTimer && !this.#isProbing) this.#schedule(this.#firstDelayMs(this.#instance))
  }

  /** Probes no longer until the next container begins; the result remains. */
  pause(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    this.#instance = undefined
  }

  /** Probes no more. */
  stop(): void {
    this.#isStopped = true
    this.pause()
  }

  #firstDelayMs({ startedAt }: Instance): number {
    const { now, random, kubeletStart } = this.#services
    const left = startedAt + (this.#options.probe.initialDelaySeconds ?? 0) * 1000 - now()
    // The probes of all containers that run already are spread over their period.
    const isSpread = startedAt < kubeletStart && this.#periodMs > now() - kubeletStart
    return Math.max(0, left) + (isSpread ? random() * this.#periodMs : 0)
  }

  get #periodMs(): number {
    return (this.#options.probe.periodSeconds ?? defaultPeriodSeconds) * 1000
  }

  #schedule(ms: number): void {
    if (this.#isStopped) return
    this.#cancelTimer = this.#services.schedule(() => {
      this.#cancelTimer = undefined
      void this.#tick()
    }, ms)
  }

  async #tick(): Promise<void> {
    const instance = this.#instance
    if (!instance || this.#options.waits()) return
    const { kind, probe, subject } = this.#options
    const { prober, metrics, now } = this.#services
    const { pod, container } = subject()
    const started = now()
    this.#isProbing = true
    const verdict = await prober.probe(kind, probe, { pod, container, containerId: instance.id, podIp: instance.podIp })
    // Another container has begun, or none is left.
    if (this.#isStopped || this.#instance?.id !== instance.id) return
    this.#isProbing = false
    const elapsedMs = now() - started
    if (verdict) metrics.count(kind, pod, container.name, verdict, elapsedMs / 1000)
    const continues = verdict === undefined || this.#count(verdict)
    if (continues) this.#schedule(Math.max(0, this.#periodMs - elapsedMs))
  }

  /** Counts a verdict. Returns false if this container is probed no more. */
  #count(verdict: 'success' | 'failure'): boolean {
    const { kind, probe, onChange } = this.#options
    this.#run = this.#lastVerdict === verdict ? this.#run + 1 : 1
    this.#lastVerdict = verdict
    const threshold =
      verdict === 'success' ? (probe.successThreshold ?? 1) : (probe.failureThreshold ?? defaultFailureThreshold)
    if (this.#run < threshold) return true
    const hasChanged = this.#result !== verdict
    this.#result = verdict
    if (hasChanged) onChange(verdict)
    // A container that will be restarted rests; one that has started needs no startup probe.
    return kind === 'Readiness' || (kind === 'Liveness' && verdict === 'success')
  }
}
