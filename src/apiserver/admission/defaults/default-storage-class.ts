/** DefaultStorageClass: sets the default class on claims without one. */
import type { V1PersistentVolumeClaim } from '@kubernetes/client-node'
import { defaultAnnotations, namesClass } from '../../../api/core/storage/binding/storage-class.ts'
import type { Model } from '../../../machinery/object.ts'
import type { AdmissionPlugin, PluginSources } from '../plugin.ts'
import { newestDefault } from './newest-default.ts'

export function defaultStorageClass(sources: PluginSources): AdmissionPlugin {
  const claims = sources.find('v1/persistentvolumeclaims')
  const classes = newestDefault(sources, 'storage.k8s.io/v1/storageclasses', defaultAnnotations)
  return {
    name: 'DefaultStorageClass',
    handles: ['CREATE'],
    mutate({ resource, subresource, object }) {
      if (resource !== claims || subresource || classes.current === undefined) return
      const claim = object as Model<V1PersistentVolumeClaim>
      if (claim.spec && !namesClass(claim)) claim.spec.storageClassName = classes.current
    },
    start: () => classes.start(),
    stop: () => classes.stop(),
  }
}
