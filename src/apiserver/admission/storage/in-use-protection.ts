/**
 * StorageObjectInUseProtection: adds a finalizer to claims, volumes and VolumeAttributesClasses, so that none is
 * deleted while in use.
 */
import type { ServedResource } from '../../registry/served-resource.ts'
import type { AdmissionPlugin, PluginSources } from '../plugin.ts'

export function storageObjectInUseProtection({ find }: PluginSources): AdmissionPlugin {
  const finalizers = new Map<ServedResource, string>([
    [find('v1/persistentvolumeclaims'), 'kubernetes.io/pvc-protection'],
    [find('v1/persistentvolumes'), 'kubernetes.io/pv-protection'],
    [find('storage.k8s.io/v1/volumeattributesclasses'), 'kubernetes.io/vac-protection'],
  ])
  return {
    name: 'StorageObjectInUseProtection',
    handles: ['CREATE'],
    mutate({ resource, subresource, object }) {
      const finalizer = finalizers.get(resource.storage)
      if (!finalizer || subresource || !object) return
      const { metadata } = object
      if (!metadata.finalizers?.includes(finalizer)) metadata.finalizers = [...(metadata.finalizers ?? []), finalizer]
    },
  }
}
