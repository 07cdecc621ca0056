/** The store in etcd. */
import { posix } from 'node:path'
import { PrefixedStore } from '../prefixed-store.ts'
import { type Store, StoreOpenError } from '../store.ts'
import { Channel } from './client/channel.ts'
import { type EtcdTls, endpointOf } from './client/endpoint.ts'
import { EtcdError } from './client/etcd-error.ts'
import { Health } from './health.ts'
import { writeSnapshot } from './snapshots/write-snapshot.ts'
import { EtcdStore } from './store.ts'

export type { EtcdTls } from './client/endpoint.ts'

export interface EtcdOptions {
  /** URLs of the members, the preferred one first: `https://10.0.0.1:2379`. */
  readonly servers: readonly string[]
  readonly tls?: EtcdTls
  /** Interval in ms at which the size of the database is read; 0 for never. Default: 30,000. */
  readonly pollMs?: number
  /** Maximum time in s for which keys that expire share a lease. Default: 60. */
  readonly leaseReuseSeconds?: number
  /** Interval in ms of compactions, which servers of one etcd share; 0 for none. Default: 300,000. */
  readonly compactionMs?: number
  /** The prefix of keys in etcd, in place of `/registry`. Default: `/registry`. */
  readonly prefix?: string
  /** Time in ms to find a server that can be used. Default: 20,000. */
  readonly timeoutMs?: number
}

const seen = '/registry'
const defaultPollMs = 30_000
const defaultLeaseReuseSeconds = 60
const defaultCompactionMs = 300_000
const defaultTimeoutMs = 20_000

/** Opens the store. Rejects with StoreOpenError, whose message has the remedy, if no server can be used. */
export async function openEtcdStore(options: EtcdOptions): Promise<Store> {
  const { pollMs = defaultPollMs, timeoutMs = defaultTimeoutMs } = options
  const { leaseReuseSeconds = defaultLeaseReuseSeconds, compactionMs = defaultCompactionMs } = options
  const stored = posix.join('/', options.prefix ?? seen).replace(/\/$/, '')
  const channel = channelTo(options)
  try {
    await channel.connection(timeoutMs)
    const store = new EtcdStore({ channel, health: new Health(channel, pollMs), leaseReuseSeconds, compactionMs })
    await store.open()
    return stored === seen ? store : new PrefixedStore(store, { seen, stored })
  } catch (error) {
    channel.close()
    throw new StoreOpenError(`cannot use the store: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    })
  }
}

/**
 * Saves the database of etcd, as `etcdctl snapshot save` does, to a new file with mode 0600. `progress` gets the bytes
 * that are written and those of all. Rejects with StoreOpenError if no server can be used, and with the errors of
 * files.
 */
export async function saveEtcdSnapshot(
  options: EtcdOptions,
  file: string,
  progress?: (written: number, all: number) => void,
): Promise<void> {
  const channel = channelTo(options)
  try {
    await writeSnapshot(await channel.connection(options.timeoutMs ?? defaultTimeoutMs), file, progress)
  } catch (error) {
    if (!(error instanceof EtcdError)) throw error
    throw new StoreOpenError(`cannot read etcd: ${error.message}`, { cause: error })
  } finally {
    channel.close()
  }
}

const channelTo = ({ servers, tls }: EtcdOptions): Channel =>
  new Channel({ endpoints: servers.map((url) => endpointOf(url, tls)), random: Math.random })
