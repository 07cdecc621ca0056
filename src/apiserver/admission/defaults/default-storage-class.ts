/** DefaultStorageClass: claims that name no class get the default one. */
import type { V1PersistentVolumeClaim } from '@kubernetes/client-node'
import type { Model } from '../../../machinery/object.ts'
import type { AdmissionPlugin, PluginSources } from '../plugin.ts'
import { newestDefault } from './newest-default.ts'

const classAnnotation = 'volume.beta.kubernetes.io/storage-class'
const defaultAnnotations = ['storageclass.kubernetes.io/is-default-class', 'storageclass.beta.kubernetes.io/is-default-class']

export function defaultStorageClass(sources: PluginSources): AdmissionPlugin {
  const claims = sources.find('v1/persistentvolumeclaims')
  const classes = newestDefault(sources, 'storage.k8s.io/v1/storageclasses', defaultAnnotations)
  return {
    name: 'DefaultStorageClass',
    handles: ['CREATE'],
    mutate({ resource, subresource, object }) {
      if (resource !== claims || subresource || classes.current === undefined) return
      const { metadata, spec } = object as Model<V1PersistentVolumeClaim>
      if (!spec || spec.storageClassName !== undefined || metadata.annotations?.[classAnnotation] !== undefined) return
      spec.storageClassName = classes.current
    },
    start: () => classes.start(),
    stop: () => classes.stop(),
  }
}
