/** Opens the stores of a cluster in etcd, and takes possession of its data directory. */
import { readdirSync, rmdirSync } from 'node:fs'
import type { OtherStore } from '../../apiserver/server.ts'
import { makeDirectory } from '../../lib/files/make-directory.ts'
import type { Lifetime } from '../../lib/lifetime/lifetime.ts'
import { openEtcdStore } from '../../storage/etcd/index.ts'
import { acquire, ownerFileName } from '../../storage/log/owner.ts'
import type { Store } from '../../storage/store.ts'
import type { DataDirectory } from '../data-directory.ts'
import type { EtcdPlan } from './etcd-plan.ts'

export interface EtcdStores {
  readonly store: Store
  readonly otherStores: readonly OtherStore[]
}

/**
 * Opens the stores; they are closed at the end of `lifetime`. Rejects with a StoreOpenError if another process uses the
 * data directory, or if no member of etcd can be used.
 */
export async function openEtcd(
  { options, others }: EtcdPlan,
  data: DataDirectory | undefined,
  lifetime: Lifetime,
  log: (line: string) => void,
): Promise<EtcdStores> {
  if (data) possess(data, lifetime, log)
  const store = await openEtcdStore(options)
  lifetime.onEnd(() => store.close())
  const otherStores: OtherStore[] = []
  for (const { options, resources } of others) {
    const other = await openEtcdStore(options)
    lifetime.onEnd(() => other.close())
    otherStores.push({ store: other, resources })
  }
  return { store, otherStores }
}

/** Its lock is that of the log, so that a cluster with the log does not start beside this one. */
function possess({ path, store }: DataDirectory, lifetime: Lifetime, log: (line: string) => void): void {
  makeDirectory(store, 0o700)
  const owner = acquire(store)
  lifetime.onEnd(() => {
    owner.release()
    // An empty store would look like that of a cluster.
    if (readdirSync(store).length === 0) rmdirSync(store)
  })
  if (readdirSync(store).some((name) => !name.startsWith(ownerFileName)))
    log(`the data in ${store} are not used, since the store is etcd: t8s migrate --from ${path} copies them to it`)
}
