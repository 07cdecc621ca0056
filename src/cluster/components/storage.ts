/** The store and the certificates: what a cluster keeps between its runs. */
import type { Clock } from '../../lib/clock/clock.ts'
import type { Store } from '../../storage/store.ts'
import { serverHosts } from '../addresses/addresses.ts'
import { recordServiceRange } from '../addresses/service-range.ts'
import type { ClusterOptions } from '../cluster-options.ts'
import type { DataDirectory } from '../data-directory.ts'
import { filePki, memoryPki } from '../pki/pki.ts'
import { component } from './component.ts'

export const store = component({
  name: 'store',
  needs: ['options', 'data', 'etcd', 'clock', 'log'],
  gives: ['store', 'otherStores'],
  async start({ options, data, etcd, clock, log }, lifetime) {
    if (etcd) return (await import('../etcd/open-etcd.ts')).openEtcd(etcd, data, lifetime, log)
    const store = await openStore(data, options, clock)
    lifetime.onEnd(() => store.close())
    return { store, otherStores: [] }
  },
})

async function openStore(data: DataDirectory | undefined, { storage }: ClusterOptions, clock: Clock): Promise<Store> {
  if (!data) return (await import('../../storage/memory/index.ts')).memoryStore(clock)
  const given = typeof storage === 'object' && !('etcd' in storage) ? storage : {}
  return (await import('../../storage/log/index.ts')).openLogStore({ ...given, directory: data.store, clock })
}

/** Starts after the store, so that a second process on the same directory fails before it creates certificates. */
export const certificates = component({
  name: 'certificates',
  needs: ['options', 'addresses', 'flagged', 'data', 'store', 'realNode', 'log'],
  gives: ['pki'],
  async start({ options, addresses, flagged: { advertiseAddress = [] }, data, store, realNode, log }) {
    const { bindAddress, serviceRanges } = addresses
    const hosts = [
      ...new Set([...serverHosts(bindAddress, serviceRanges)].concat(advertiseAddress, realNode?.serverHosts ?? [])),
    ]
    if (store.isShared) {
      const { checkSharedCluster } = await import('../etcd/shared-cluster.ts')
      const authority = data ? undefined : (await memoryPki(hosts)).authority.cert
      const chosen = options.serviceClusterIpRange === undefined ? serviceRanges : undefined
      await checkSharedCluster({ store, data, authority, serviceRanges: chosen })
    }
    if (data) recordServiceRange(data, serviceRanges)
    const pki = await (data ? filePki(data.pki, hosts) : memoryPki(hosts))
    // Created now, so that a copy for another process of the cluster is complete.
    if (store.isShared) await pki.serviceAccountKey()
    for (const warning of pki.warnings) log(warning)
    // The first start creates all of them.
    const names = pki.created.includes('ca') ? '' : `: ${[...pki.created].sort().join(', ')}`
    if (pki.created.length > 0) log(`certificates created in ${data?.pki}${names}`)
    return { pki }
  },
})
