/** DenyServiceExternalIPs: rejects new external addresses of Services (CVE-2020-8554). */
import type { V1Service } from '@kubernetes/client-node'
import type { Model } from '../../../machinery/object.ts'
import { forbidden } from '../../../machinery/status-error.ts'
import type { ServedResource } from '../../registry/served-resource.ts'
import type { AdmissionPlugin } from '../plugin.ts'

type Service = Model<V1Service>

export const denyServiceExternalIPs = (services: ServedResource): AdmissionPlugin => ({
  name: 'DenyServiceExternalIPs',
  handles: ['CREATE', 'UPDATE'],
  validate({ resource, subresource, name, object, old }) {
    if (resource !== services || subresource) return
    const addresses = (object as Service).spec?.externalIPs ?? []
    if (addresses.length === 0) return
    const known = new Set((old as Service | undefined)?.spec?.externalIPs)
    if (!addresses.every((address) => known.has(address))) {
      throw forbidden(resource.groupResource, name, 'Use of external IPs is denied by admission control')
    }
  },
})
