/**
 * Leader election with a Lease, as client-go: one candidate leads while it renews the lease in time. Clocks of other
 * machines are not trusted: a lease has expired if it did not change for its duration by the local clock.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { EventRecorder } from '../events/event-recorder.ts'
import { type Lease, leases } from '../kinds.ts'
import { nameSelector, requireName } from '../resource.ts'
import { isConflict } from '../rest/api-errors.ts'
import type { RestClient } from '../rest/rest-client.ts'

/** The lease of an election, and its durations. */
export interface LeaderElectionOptions {
  readonly client: RestClient
  readonly namespace: string
  /** Name of the lease. */
  readonly name: string
  /** Unique name of the candidate, for example a host name with a random suffix. */
  readonly identity: string
  /** Time for which others wait before they replace a leader that does not renew, in ms. Default: 15,000. */
  readonly leaseDurationMs?: number
  /** Time after which a leader that cannot renew stops leading, in ms; less than the duration. Default: 10,000. */
  readonly renewDeadlineMs?: number
  /** Interval of attempts to renew or acquire the lease, in ms. Default: 2,000. */
  readonly retryPeriodMs?: number
  /** Releases the lease at the end, so that others need not wait. Default: true. */
  readonly release?: boolean
  /** Called with the identity of a new leader; empty if there is none. */
  readonly onNewLeader?: (leader: string) => void
  readonly events?: EventRecorder
  readonly log?: (line: string) => void
}

/** Why the leadership ended: the signal was aborted, the lease was lost, or the work was done. */
export type LeadershipEnd = 'stopped' | 'lost' | 'done'

/** Upstream's jitter factor between attempts. */
const jitter = 1.2

/**
 * A candidate for leadership.
 * @example
 * const elector = new LeaderElector({ client, namespace: 'default', name: 'fleet', identity: hostname() })
 * const end = await elector.run((signal) => work(signal), stopSignals())
 */
export class LeaderElector {
  readonly #options: LeaderElectionOptions
  readonly #leaseDurationMs: number
  readonly #renewDeadlineMs: number
  readonly #retryPeriodMs: number
  #observedLease: Lease | undefined
  #observedAt = 0
  #leader = ''
  /** The last logged error, so that each is logged once. */
  #lastError = ''

  /** Throws an Error for inconsistent durations, and for a lease without a name. */
  constructor(options: LeaderElectionOptions) {
    const { leaseDurationMs = 15_000, renewDeadlineMs = 10_000, retryPeriodMs = 2_000 } = options
    if (leaseDurationMs <= renewDeadlineMs) throw new Error('leaseDurationMs must be greater than renewDeadlineMs')
    if (renewDeadlineMs <= retryPeriodMs * jitter)
      throw new Error(`renewDeadlineMs must be greater than ${jitter} times retryPeriodMs`)
    requireName(options.name)
    this.#options = options
    this.#leaseDurationMs = leaseDurationMs
    this.#renewDeadlineMs = renewDeadlineMs
    this.#retryPeriodMs = retryPeriodMs
  }

  /** Identity of the leader as last observed; empty if unknown. */
  get leader(): string {
    return this.#leader
  }

  /** True while this candidate leads. */
  get isLeader(): boolean {
    return this.#leader === this.#options.identity
  }

  /**
   * Waits until it leads, then runs `work` until it is done, `signal` is aborted, or the lease is lost. In the last two
   * cases the signal of `work` is aborted; `work` should then end soon, since another candidate may lead. Rejects as
   * `work` does. Can be called again.
   */
  async run(work: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<LeadershipEnd> {
    while (!(await this.#tryAcquireOrRenew())) {
      await this.#waitUntilAvailable(signal)
      if (signal.aborted) return 'stopped'
    }
    if (signal.aborted) {
      await this.#release()
      return 'stopped'
    }
    const leading = new AbortController()
    const ended = Promise.withResolvers<LeadershipEnd>()
    const stop = (): void => ended.resolve('stopped')
    signal.addEventListener('abort', stop, { once: true })
    void this.#renew(leading.signal).then((end) => ended.resolve(end))
    const working = work(leading.signal)
    working.then(
      () => ended.resolve('done'),
      () => ended.resolve('done'),
    )
    const end = await ended.promise
    signal.removeEventListener('abort', stop)
    leading.abort()
    try {
      await working
    } finally {
      // Release only after the work has ended.
      if (end !== 'lost') await this.#release()
      else this.#setLeader('')
    }
    return end
  }

  /**
   * Resolves when the lease may be available: it was released, or it has expired. Without permission to watch leases,
   * resolves after the retry period.
   */
  async #waitUntilAvailable(signal: AbortSignal): Promise<void> {
    const { client, namespace, name } = this.#options
    const waiting = new AbortController()
    const abort = (): void => waiting.abort()
    signal.addEventListener('abort', abort, { once: true })
    let expiryTimer = setTimeout(abort, this.#remainingMs())
    try {
      const resourceVersion = this.#observedLease?.metadata.resourceVersion
      if (resourceVersion && !signal.aborted) {
        const fieldSelector = nameSelector(name)
        for await (const { type, object } of client.watch(leases, {
          namespace,
          fieldSelector,
          resourceVersion,
          signal: waiting.signal,
        })) {
          if (type === 'BOOKMARK') continue
          if (type === 'DELETED') return
          this.#observe(object)
          if (!object.spec?.holderIdentity) return
          clearTimeout(expiryTimer)
          expiryTimer = setTimeout(abort, this.#remainingMs())
        }
      }
    } catch {
      // The next attempt logs the error if it persists.
    } finally {
      clearTimeout(expiryTimer)
      signal.removeEventListener('abort', abort)
    }
    if (!waiting.signal.aborted)
      await delay(this.#retryPeriodMs * (1 + Math.random() * jitter), undefined, { signal }).catch(() => {})
  }

  /** Time until the lease expires unless it is renewed. */
  #remainingMs(): number {
    return Math.max(0, this.#observedAt + this.#leaseDurationMs - performance.now()) + 1
  }

  /** Renews the lease until it is lost or `signal` is aborted. */
  async #renew(signal: AbortSignal): Promise<LeadershipEnd> {
    let renewed = performance.now()
    while (!signal.aborted) {
      await delay(this.#retryPeriodMs, undefined, { signal }).catch(() => {})
      if (signal.aborted) break
      const remainingMs = Math.max(0, renewed + this.#renewDeadlineMs - performance.now())
      // A response after the deadline does not count.
      const deadline = Promise.withResolvers<undefined>()
      const timer = setTimeout(() => deadline.resolve(undefined), remainingMs)
      const began = performance.now()
      const held = await Promise.race([this.#tryAcquireOrRenew(), deadline.promise])
      clearTimeout(timer)
      if (held) renewed = began
      // Another candidate holds it, or the deadline has passed.
      else if (this.#leader !== this.#options.identity || performance.now() - renewed >= this.#renewDeadlineMs)
        return 'lost'
    }
    return 'stopped'
  }

  /** Acquires or renews the lease if possible; returns true if it is held. */
  async #tryAcquireOrRenew(): Promise<boolean> {
    const { client, namespace, name, identity, log } = this.#options
    try {
      const present = await client.find(leases, namespace, name)
      if (!present)
        return this.#acquired(
          await client.create(leases, {
            apiVersion: 'coordination.k8s.io/v1',
            kind: 'Lease',
            metadata: { namespace, name },
            spec: this.#spec(),
          }),
        )
      this.#observe(present)
      const { spec } = present
      const isMine = spec?.holderIdentity === identity
      if (!isMine && spec?.holderIdentity && performance.now() - this.#observedAt < this.#leaseDurationMs) return false
      return this.#acquired(
        await client.update(leases, {
          ...present,
          spec: { ...spec, ...this.#spec(isMine ? spec : undefined, spec?.leaseTransitions) },
        }),
      )
    } catch (error) {
      // A conflict means that another candidate was faster.
      const isLostRace = isConflict(error)
      const message =
        `cannot acquire or renew the lease ${namespace}/${name}: ` +
        `${error instanceof Error ? error.message : String(error)}`
      if (!isLostRace && message !== this.#lastError) log?.(message)
      if (!isLostRace) this.#lastError = message
      return false
    }
  }

  #spec(mine?: Lease['spec'], transitions?: number): NonNullable<Lease['spec']> {
    const now = microTime()
    return {
      holderIdentity: this.#options.identity,
      leaseDurationSeconds: Math.ceil(this.#leaseDurationMs / 1000),
      acquireTime: mine?.acquireTime ?? now,
      renewTime: now,
      leaseTransitions: transitions === undefined ? 0 : mine ? transitions : transitions + 1,
    }
  }

  #acquired(lease: Lease): boolean {
    this.#lastError = ''
    this.#observe(lease)
    return true
  }

  #observe(lease: Lease): void {
    const { resourceVersion } = lease.metadata
    if (resourceVersion !== this.#observedLease?.metadata.resourceVersion) this.#observedAt = performance.now()
    this.#observedLease = lease
    this.#setLeader(lease.spec?.holderIdentity ?? '')
  }

  #setLeader(leader: string): void {
    if (leader === this.#leader) return
    this.#leader = leader
    const { identity, onNewLeader, events } = this.#options
    if (leader === identity && this.#observedLease)
      events?.record(this.#observedLease, 'Normal', 'LeaderElection', `${identity} became leader`)
    onNewLeader?.(leader)
  }

  /** Releases the lease if this candidate still holds it. */
  async #release(): Promise<void> {
    const { client, release = true, identity, log } = this.#options
    const lease = this.#observedLease
    this.#setLeader('')
    if (!release || !lease || lease.spec?.holderIdentity !== identity) return
    const spec = {
      ...lease.spec,
      holderIdentity: '',
      leaseDurationSeconds: 1,
      renewTime: microTime(),
      acquireTime: microTime(),
    }
    await client
      .update(leases, { ...lease, spec })
      .catch((error) => log?.(`cannot release the lease ${lease.metadata.name}: ${error.message}`))
  }
}

const microTime = (): string => new Date().toISOString().replace('Z', '000Z')
