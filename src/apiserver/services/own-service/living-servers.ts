/**
 * The API servers of a cluster that live: each keeps a key in the store that expires soon after its last renewal.
 * Keys and values are those of kube-apiserver, so that servers of both kinds know each other.
 */
import { prefixRange, type Store } from '../../../storage/store.ts'

const prefix = '/registry/masterleases/'
/** Upstream's DefaultEndpointReconcilerTTL. */
const ttlSeconds = 15

export class LivingServers {
  readonly #store: Pick<Store, 'list' | 'commit'>
  #renewals = 0

  constructor(store: Pick<Store, 'list' | 'commit'>) {
    this.#store = store
  }

  /** Says that the server at this address lives for another 15 seconds. */
  async renew(address: string): Promise<void> {
    const lease = {
      kind: 'Endpoints',
      apiVersion: 'v1',
      // Upstream writes a value only if it differs from the last one.
      metadata: { generation: ++this.#renewals },
      subsets: [{ addresses: [{ ip: address }] }],
    }
    const operation = { key: prefix + address, value: Buffer.from(JSON.stringify(lease)), ttlSeconds }
    await this.#store.commit({ conditions: [], operations: [operation] })
  }

  async leave(address: string): Promise<void> {
    await this.#store.commit({ conditions: [], operations: [{ key: prefix + address, delete: true }] })
  }

  /** The addresses of all, sorted. */
  async addresses(): Promise<string[]> {
    const { entries } = await this.#store.list(prefixRange(prefix))
    return entries.map(({ key }) => key.slice(prefix.length)).sort()
  }
}
