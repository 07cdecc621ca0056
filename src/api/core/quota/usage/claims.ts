/** Counts PersistentVolumeClaims and their requested storage, in total and by storage class. */
import type { V1PersistentVolumeClaim } from '@kubernetes/client-node'
import type { Model } from '../../../../machinery/object.ts'
import { compareQuantities, isWhole, wholeValue } from '../../../../machinery/values/quantity.ts'
import { claimClass } from '../../storage/binding/storage-class.ts'
import type { ResourceList } from '../resource-list.ts'
import { matchesScope, type Usage } from './usage.ts'

type Claim = Model<V1PersistentVolumeClaim>

const ofClass = '.storageclass.storage.k8s.io/'
const ofAll = ['persistentvolumeclaims', 'requests.storage']

const isCounted = (name: string): boolean =>
  name === 'count/persistentvolumeclaims' ||
  ofAll.includes(name) ||
  ofAll.some((resource) => name.endsWith(`${ofClass}${resource}`))

export const claimUsage: Usage = {
  matching: (names) => names.filter(isCounted),
  inScope: (scope, object) =>
    scope.scopeName === 'VolumeAttributesClass' && matchesScope(scope, attributesClasses(object as Claim)),
  usage(object) {
    const claim = object as Claim
    const storage = requestedStorage(claim)
    const usage: ResourceList = {
      persistentvolumeclaims: '1',
      ...(storage !== undefined && { 'requests.storage': storage }),
    }
    const storageClass = claimClass(claim)
    const byClass = storageClass
      ? Object.fromEntries(Object.entries(usage).map(([name, amount]) => [`${storageClass}${ofClass}${name}`, amount]))
      : {}
    return { 'count/persistentvolumeclaims': '1', ...usage, ...byClass }
  },
}

/** Returns the larger of requested and allocated storage, in whole bytes. */
function requestedStorage({ spec, status }: Claim): string | undefined {
  const request = spec?.resources?.requests?.storage
  if (request === undefined) return undefined
  const allocated = status?.allocatedResources?.storage
  const storage = allocated !== undefined && compareQuantities(allocated, request) > 0 ? allocated : request
  return isWhole(storage) ? storage : String(wholeValue(storage))
}

/** Returns the requested, current and target VolumeAttributesClass. */
const attributesClasses = ({ spec, status }: Claim): string[] =>
  [
    ...new Set([
      spec?.volumeAttributesClassName,
      status?.currentVolumeAttributesClassName,
      status?.modifyVolumeStatus?.targetVolumeAttributesClassName,
    ]),
  ].filter((name): name is string => name !== undefined && name !== '')
