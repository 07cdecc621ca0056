/**
 * Leader election on a Lease: of many that ask for it, one leads, as long as it renews the lease in time. Times of
 * other machines do not count: a lease has ended when nobody has changed it for as long as it lasts, by our own clock.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { EventRecorder } from '../events/event-recorder.ts'
import { type Lease, leases } from '../kinds.ts'
import { nameSelector, requireName } from '../resource.ts'
import { isConflict } from '../rest/refusals.ts'
import type { RestClient } from '../rest/rest-client.ts'

export interface LeaderElectionOptions {
  readonly client: RestClient
  readonly namespace: string
  /** Of the lease. */
  readonly name: string
  /** Who asks, such as the name of a pod with something random: two that run must not have the same. */
  readonly identity: string
  /** How long others wait for a leader that is silent; 15,000 unless said. */
  readonly leaseMs?: number
  /** When a leader that cannot renew gives up, before the others may take over; 10,000 unless said. */
  readonly renewMs?: number
  /** How often the lease is renewed, or asked for; 2,000 unless said. */
  readonly retryMs?: number
  /** Whether the lease is given back at the end, so that nobody has to wait; true unless said. */
  readonly release?: boolean
  /** Told who leads when that changes. */
  readonly changed?: (leader: string) => void
  readonly events?: EventRecorder
  readonly log?: (line: string) => void
}

/** How leading ended: because it was to end, because the lease was lost, or because the work was done. */
export type LeadershipEnd = 'stopped' | 'lost' | 'done'

/** Upstream's jitter between two who ask. */
const jitter = 1.2

export class LeaderElector {
  readonly #options: LeaderElectionOptions
  readonly #leaseMs: number
  readonly #renewMs: number
  readonly #retryMs: number
  #seen: Lease | undefined
  #seenAt = 0
  #leader = ''
  /** What was said last of a lease that cannot be had: once is enough. */
  #complaint = ''

  /** Throws an Error for times that do not go together, and for a lease without a name. */
  constructor(options: LeaderElectionOptions) {
    const { leaseMs = 15_000, renewMs = 10_000, retryMs = 2_000 } = options
    if (leaseMs <= renewMs) throw new Error('a lease has to last longer than its leader tries to renew it')
    if (renewMs <= retryMs * jitter) throw new Error('a leader has to try to renew its lease more than once')
    requireName(options.name)
    this.#options = options
    this.#leaseMs = leaseMs
    this.#renewMs = renewMs
    this.#retryMs = retryMs
  }

  /** Who leads, as far as is known. */
  get leader(): string {
    return this.#leader
  }

  get isLeader(): boolean {
    return this.#leader === this.#options.identity
  }

  /**
   * Waits until it leads, then does `work` until that is done, `signal` is aborted, or the lease is lost: in the latter
   * cases the signal of the work is aborted, and `work` should end soon, as somebody else may lead then. Rejects as
   * `work` does. May be called again.
   */
  async run(work: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<LeadershipEnd> {
    while (!(await this.#try())) {
      await this.#turn(signal)
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
      // Given back when the work has ended, not before.
      if (end !== 'lost') await this.#release()
      else this.#lead('')
    }
    return end
  }

  /**
   * Resolves when it makes sense to ask for the lease: when it was given back, or nobody has renewed it for as long as
   * it lasts. Who may not watch leases asks now and then.
   */
  async #turn(signal: AbortSignal): Promise<void> {
    const { client, namespace, name } = this.#options
    const turn = new AbortController()
    const come = (): void => turn.abort()
    signal.addEventListener('abort', come, { once: true })
    let silence = setTimeout(come, this.#leftMs())
    try {
      const resourceVersion = this.#seen?.metadata.resourceVersion
      if (resourceVersion && !signal.aborted) {
        const fieldSelector = nameSelector(name)
        for await (const { type, object } of client.watch(leases, {
          namespace,
          fieldSelector,
          resourceVersion,
          signal: turn.signal,
        })) {
          if (type === 'BOOKMARK') continue
          if (type === 'DELETED') return
          this.#observe(object)
          if (!object.spec?.holderIdentity) return
          clearTimeout(silence)
          silence = setTimeout(come, this.#leftMs())
        }
      }
    } catch {
      // What is wrong with the server, the next attempt tells.
    } finally {
      clearTimeout(silence)
      signal.removeEventListener('abort', come)
    }
    if (!turn.signal.aborted)
      await delay(this.#retryMs * (1 + Math.random() * jitter), undefined, { signal }).catch(() => {})
  }

  /** How long the lease holds if nobody renews it. */
  #leftMs(): number {
    return Math.max(0, this.#seenAt + this.#leaseMs - performance.now()) + 1
  }

  /** Renews the lease until it is lost or `signal` is aborted. */
  async #renew(signal: AbortSignal): Promise<LeadershipEnd> {
    let renewed = performance.now()
    while (!signal.aborted) {
      await delay(this.#retryMs, undefined, { signal }).catch(() => {})
      if (signal.aborted) break
      const leftMs = Math.max(0, renewed + this.#renewMs - performance.now())
      // An answer that does not come in time is none.
      const late = Promise.withResolvers<undefined>()
      const timer = setTimeout(() => late.resolve(undefined), leftMs)
      const began = performance.now()
      const held = await Promise.race([this.#try(), late.promise])
      clearTimeout(timer)
      if (held) renewed = began
      // Somebody else has it, or time is over.
      else if (this.#leader !== this.#options.identity || performance.now() - renewed >= this.#renewMs) return 'lost'
    }
    return 'stopped'
  }

  /** Takes the lease or renews it, if that can be; whether it is held. */
  async #try(): Promise<boolean> {
    const { client, namespace, name, identity, log } = this.#options
    try {
      const present = await client.find(leases, namespace, name)
      if (!present)
        return this.#holds(
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
      if (!isMine && spec?.holderIdentity && performance.now() - this.#seenAt < this.#leaseMs) return false
      return this.#holds(
        await client.update(leases, {
          ...present,
          spec: { ...spec, ...this.#spec(isMine ? spec : undefined, spec?.leaseTransitions) },
        }),
      )
    } catch (error) {
      // Somebody was faster.
      const isRace = isConflict(error)
      const message =
        `the lease ${namespace}/${name} cannot be had just now: ` +
        `${error instanceof Error ? error.message : String(error)}`
      if (!isRace && message !== this.#complaint) log?.(message)
      if (!isRace) this.#complaint = message
      return false
    }
  }

  #spec(mine?: Lease['spec'], transitions?: number): NonNullable<Lease['spec']> {
    const now = microTime()
    return {
      holderIdentity: this.#options.identity,
      leaseDurationSeconds: Math.ceil(this.#leaseMs / 1000),
      acquireTime: mine?.acquireTime ?? now,
      renewTime: now,
      leaseTransitions: transitions === undefined ? 0 : mine ? transitions : transitions + 1,
    }
  }

  #holds(lease: Lease): boolean {
    this.#complaint = ''
    this.#observe(lease)
    return true
  }

  #observe(lease: Lease): void {
    const { resourceVersion } = lease.metadata
    if (resourceVersion !== this.#seen?.metadata.resourceVersion) this.#seenAt = performance.now()
    this.#seen = lease
    this.#lead(lease.spec?.holderIdentity ?? '')
  }

  #lead(leader: string): void {
    if (leader === this.#leader) return
    this.#leader = leader
    const { identity, changed, events } = this.#options
    if (leader === identity && this.#seen)
      events?.record(this.#seen, 'Normal', 'LeaderElection', `${identity} became leader`)
    changed?.(leader)
  }

  /** Gives the lease back, if it is still ours. */
  async #release(): Promise<void> {
    const { client, release = true, identity, log } = this.#options
    const lease = this.#seen
    this.#lead('')
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
      .catch((error) => log?.(`the lease ${lease.metadata.name} could not be given back: ${error.message}`))
  }
}

const microTime = (): string => new Date().toISOString().replace('Z', '000Z')
