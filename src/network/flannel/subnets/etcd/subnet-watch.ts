/** Follows subnets of a network in etcd: a snapshot, then each change. Survives lost connections and compactions. */
import { setTimeout as delay } from 'node:timers/promises'
import { create, fromBinary, toBinary } from '@bufbuild/protobuf'
import { Event_EventType, Watch, type WatchResponse } from '#protobuf/flannel-etcd_pb.js'
import { messageOf } from '../../../../lib/message-of.ts'
import type { EtcdCalls } from './client/etcd-calls.ts'
import { parseSubnetKey, type Subnets } from './subnet-key.ts'
import type { StoredLease, StoredLeases, SubnetRegistry } from './subnet-registry.ts'

export type StoredEvent =
  | { readonly type: 'snapshot'; readonly leases: readonly StoredLease[] }
  | { readonly type: 'written'; readonly lease: StoredLease }
  | { readonly type: 'removed'; readonly subnets: Subnets }

export interface SubnetWatchOptions {
  readonly calls: Pick<EtcdCalls, 'stream'>
  readonly registry: Pick<SubnetRegistry, 'list' | 'range' | 'leaseOf'>
  readonly log: (line: string) => void
}

/** The pause after a failure in ms grows from the first to the last: upstream's. */
const pauseMs = { first: 100, most: 5_000 } as const

/** Why a stream ended. */
interface End {
  readonly isCompacted: boolean
  readonly reason: string
}

export class SubnetWatch {
  readonly #options: SubnetWatchOptions
  #failures = 0
  #logged = ''
  /** All events up to this revision have been delivered; undefined: a snapshot is due. */
  #position: bigint | undefined

  constructor(options: SubnetWatchOptions) {
    this.#options = options
  }

  /** Notifies of events until the signal is aborted. Resolves then. */
  async run(notify: (event: StoredEvent) => void, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        const { isCompacted, reason } = await this.#follow(notify, signal)
        if (isCompacted) this.#position = undefined
        else this.#fail(reason)
      } catch (error) {
        this.#fail(messageOf(error))
      }
      if (signal.aborted) return
      const ms = Math.min(pauseMs.most, pauseMs.first * 2 ** this.#failures++)
      await delay(ms, undefined, { signal }).catch(() => {})
    }
  }

  /** Resolves when the stream has ended. */
  async #follow(notify: (event: StoredEvent) => void, signal: AbortSignal): Promise<End> {
    const { calls, registry } = this.#options
    if (this.#position === undefined) {
      const { revision, leases }: StoredLeases = await registry.list()
      if (signal.aborted) return { isCompacted: false, reason: '' }
      this.#position = revision
      notify({ type: 'snapshot', leases })
    }
    const { promise, resolve, reject } = Promise.withResolvers<End>()
    const { watch } = Watch.method
    const stream = await calls.stream(watch, {
      message: (bytes) => {
        const end = this.#receive(fromBinary(watch.output, bytes), notify)
        if (end) resolve(end)
      },
      end: reject,
    })
    const stop = () => resolve({ isCompacted: false, reason: '' })
    signal.addEventListener('abort', stop)
    try {
      const value = { ...registry.range, startRevision: this.#position + 1n }
      stream.send(toBinary(watch.input, create(watch.input, { requestUnion: { case: 'createRequest', value } })))
      return await promise
    } finally {
      signal.removeEventListener('abort', stop)
      stream.close()
    }
  }

  #receive(response: WatchResponse, notify: (event: StoredEvent) => void): End | undefined {
    const { header, canceled, compactRevision, cancelReason, events, created } = response
    if (canceled) {
      // A token that has expired ends a watch as well.
      return { isCompacted: compactRevision > 0n, reason: cancelReason || 'etcd ended the watch' }
    }
    if (created) {
      if (this.#logged !== '') this.#options.log('etcd is followed again')
      this.#logged = ''
      return undefined
    }
    this.#failures = 0
    for (const { type, kv } of events) {
      if (!kv) continue
      if (type === Event_EventType.DELETE) {
        const subnets = parseSubnetKey(Buffer.from(kv.key).toString())
        if (subnets) notify({ type: 'removed', subnets })
        continue
      }
      const lease = this.#options.registry.leaseOf(kv)
      if (lease) notify({ type: 'written', lease })
    }
    if (header && header.revision > 0n) this.#position = header.revision
    return undefined
  }

  #fail(reason: string): void {
    if (reason === '') return
    const line = `cannot follow the subnets in etcd: ${reason}; trying again`
    if (this.#logged !== line) this.#options.log(line)
    this.#logged = line
  }
}
