/** Counts the usage of one quota and writes it, unless its status is current or the server counts it. */
import { onlyNamed, sameAmounts } from '../../api/core/quota/resource-lists.ts'
import type { ReconcileContext } from '../../client/controller/controller.ts'
import { keyOf } from '../../client/informers/informer.ts'
import { type ResourceQuota, resourceQuotas } from '../../client/kinds.ts'
import { ignoreNotFound } from '../api-errors.ts'
import { CountedKinds } from './counted-kinds.ts'
import type { CountingCheck } from './server-counting.ts'
import { UsageCounter } from './usage-counter.ts'

type Context = Pick<ReconcileContext, 'caches' | 'requeue'>

/** Time in which a server that counts usage itself has done so, in ms. */
const serverDelayMs = 1000

export class QuotaSync {
  readonly #isCountedByServer: CountingCheck
  readonly #kinds = new CountedKinds()
  readonly #usage = new UsageCounter()
  /** Keys of quotas to count regardless of their status. */
  readonly #due = new Set<string>()
  /** Keys of quotas that were delayed to let the server count them. */
  readonly #delayed = new Set<string>()

  constructor(isCountedByServer: CountingCheck) {
    this.#isCountedByServer = isCountedByServer
  }

  async sync(quota: ResourceQuota, context: ReconcileContext): Promise<void> {
    const { client, requeue } = context
    const key = keyOf(quota)
    if (isCounted(quota) && !this.#due.has(key)) return
    const isCountedByServer = await this.#isCountedByServer(client)
    if (isCountedByServer && !this.#due.has(key) && !this.#delayed.delete(key)) {
      this.#delayed.add(key)
      return requeue(key, serverDelayMs, { isRealTime: true })
    }
    const kinds = await this.#kinds.of(quota, client)
    if (!isCountedByServer) this.#usage.watch(kinds, context, (namespace) => this.recountNamespace(namespace, context))
    const counted = await this.#usage.count(quota, kinds, context)
    const hard = quota.spec?.hard ?? {}
    const used = onlyNamed({ ...quota.status?.used, ...counted }, Object.keys(hard))
    if (!isCounted(quota) || !sameAmounts(used, quota.status?.used ?? {})) {
      const status = { ...quota.status, hard, used }
      await client.updateStatus(resourceQuotas, { ...quota, status }).catch(ignoreNotFound)
    }
    this.#due.delete(key)
  }

  /** Recounts the quotas of a namespace unless the server does. Failures are ignored: the period applies too. */
  async recountUnlessServer(namespace: string, context: ReconcileContext): Promise<void> {
    const isCountedByServer = await this.#isCountedByServer(context.client).catch(() => true)
    if (!isCountedByServer) this.recountNamespace(namespace, context)
  }

  recountNamespace(namespace: string, { caches, requeue }: Context): void {
    this.recount(caches.in(resourceQuotas, namespace), requeue)
  }

  /** Queues quotas to be counted regardless of their status. */
  recount(quotas: Iterable<ResourceQuota>, requeue: ReconcileContext['requeue']): void {
    for (const quota of quotas) {
      this.#due.add(keyOf(quota))
      requeue(keyOf(quota))
    }
  }

  /** Drops the state of a deleted quota. */
  forget(key: string): void {
    this.#due.delete(key)
    this.#delayed.delete(key)
  }

  async stop(): Promise<void> {
    await this.#usage.stop()
  }
}

/** Returns true if the status covers exactly the limits of the spec. */
export const isCounted = ({ spec, status }: ResourceQuota): boolean =>
  status?.used !== undefined && sameAmounts(spec?.hard ?? {}, status.hard ?? {})
