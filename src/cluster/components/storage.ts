/** The store and the certificates: what a cluster keeps between its runs. */
import type { Store } from '../../storage/store.ts'
import { serverHosts } from '../addresses.ts'
import type { StorageDirectory } from '../cluster-options.ts'
import type { DataDirectory } from '../data-directory.ts'
import { filePki, memoryPki } from '../pki/pki.ts'
import { recordServiceRange } from '../service-range.ts'
import { component } from './component.ts'

export const store = component({
  name: 'store',
  needs: ['options', 'data'],
  gives: ['store'],
  async start({ options, data }, lifetime) {
    const onDisk = options.storage === 'memory' ? undefined : options.storage
    const store = await openStore(data, onDisk)
    lifetime.onEnd(() => store.close())
    return { store }
  },
})

async function openStore(data: DataDirectory | undefined, options?: StorageDirectory): Promise<Store> {
  if (!data) return (await import('../../storage/memory/index.ts')).memoryStore()
  return (await import('../../storage/log/index.ts')).openLogStore({ ...options, directory: data.store })
}

/** Starts after the store, so that a second process on the same directory fails before it creates certificates. */
export const certificates = component({
  name: 'certificates',
  needs: ['addresses', 'flagged', 'data', 'store', 'log'],
  gives: ['pki'],
  async start({ addresses: { bindAddress, serviceRanges }, flagged: { advertiseAddress = [] }, data, log }) {
    if (data) recordServiceRange(data, serviceRanges)
    const hosts = [...new Set([...serverHosts(bindAddress, serviceRanges)].concat(advertiseAddress))]
    const pki = await (data ? filePki(data.pki, hosts) : memoryPki(hosts))
    for (const warning of pki.warnings) log(warning)
    if (pki.created.length > 0) log(`certificates created in ${data?.pki}: ${[...pki.created].sort().join(', ')}`)
    return { pki }
  },
})
