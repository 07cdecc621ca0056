/** PersistentVolumeClaimResize: a claim may grow only if it is bound and its storage class allows it. */
import type { V1PersistentVolumeClaim, V1StorageClass } from '@kubernetes/client-node'
import { claimClass } from '../../../api/core/storage/binding/storage-class.ts'
import type { Model } from '../../../machinery/object.ts'
import { compareQuantities } from '../../../machinery/values/quantity.ts'
import { Informer } from '../../registry/informer.ts'
import { forbiddenWrite } from '../forbidden-write.ts'
import type { AdmissionPlugin, PluginSources } from '../plugin.ts'

type Claim = Model<V1PersistentVolumeClaim>

const size = ({ spec }: Claim): string => spec?.resources?.requests?.storage ?? '0'

export function persistentVolumeClaimResize({ registry, find, log }: PluginSources): AdmissionPlugin {
  const claims = find('v1/persistentvolumeclaims')
  /** By name: true if a class allows expansion. */
  const expandable = new Informer<boolean>({
    registry,
    resource: find('storage.k8s.io/v1/storageclasses'),
    read: (object) => object.parse<Model<V1StorageClass>>().allowVolumeExpansion === true,
    log,
  })
  return {
    name: 'PersistentVolumeClaimResize',
    handles: ['UPDATE'],
    validate(attributes) {
      if (attributes.resource !== claims || attributes.subresource) return
      const claim = attributes.object as Claim
      const old = attributes.old as Claim
      if (compareQuantities(size(claim), size(old)) <= 0) return
      if (old.status?.phase !== 'Bound')
        throw forbiddenWrite(attributes, 'Only bound persistent volume claims can be expanded')
      const name = claimClass(claim)
      if (name === '' || name !== claimClass(old) || !expandable.get('', name)) {
        throw forbiddenWrite(
          attributes,
          'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must ' +
            'support resize',
        )
      }
    },
    start: () => expandable.start(),
    stop: () => expandable.stop(),
  }
}
