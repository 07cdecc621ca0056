/** ServiceAccount: pods without a service account run under `default`. */
import type { KubeObject } from '../../../machinery/object.ts'
import type { ServedResource } from '../../registry/served-resource.ts'
import type { AdmissionPlugin } from '../plugin.ts'

interface PodAccount extends KubeObject {
  spec?: { serviceAccountName?: string; serviceAccount?: string }
}

const isMirror = ({ metadata }: KubeObject): boolean => metadata.annotations?.['kubernetes.io/config.mirror'] !== undefined

export const serviceAccount = (pods: ServedResource): AdmissionPlugin => ({
  name: 'ServiceAccount',
  mutate({ operation, resource, subresource, object }) {
    if (resource !== pods || subresource || operation !== 'CREATE' || !object || isMirror(object)) return
    const { spec } = object as PodAccount
    if (!spec) return
    spec.serviceAccountName ||= 'default'
    spec.serviceAccount = spec.serviceAccountName
  },
})
