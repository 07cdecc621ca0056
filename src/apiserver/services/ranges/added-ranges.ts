/** Additional ranges of cluster IPs: those of ready ServiceCIDRs (KEP-1880). */
import type { V1ServiceCIDR } from '@kubernetes/client-node'
import type { Model } from '../../../machinery/object.ts'
import type { CacheView } from '../../registry/cache/cache-view.ts'
import type { StoredObject } from '../../registry/stored-object.ts'
import { type AddressRange, parseAddressRanges } from './address-range.ts'

/** The ServiceCIDR of the server's own ranges. */
const ownName = 'kubernetes'
/** Cache by revision of the object, because every creation of a Service reads them. */
const rangesOf = new WeakMap<StoredObject, readonly AddressRange[]>()

export const addedRanges = ({ resource, objects }: CacheView): readonly AddressRange[] =>
  objects.slice(resource.range('')).flatMap((stored) => {
    const known = rangesOf.get(stored) ?? readyRanges(stored)
    rangesOf.set(stored, known)
    return known
  })

function readyRanges(stored: StoredObject): readonly AddressRange[] {
  if (stored.name === ownName) return []
  const { metadata, spec, status } = stored.parse<Model<V1ServiceCIDR>>()
  const isReady = status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True')
  return isReady && !metadata.deletionTimestamp && spec?.cidrs ? parseAddressRanges(spec.cidrs.join(',')) : []
}
