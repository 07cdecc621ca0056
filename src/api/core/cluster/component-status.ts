/** ComponentStatuses: the health of control plane components, checked on each read. Deprecated. */
import type { V1ComponentStatus } from '@kubernetes/client-node'
import type { Model } from '../../../machinery/object.ts'
import { column, name, resource } from '../../resource.ts'

type ComponentStatus = Model<V1ComponentStatus>

const healthy = ({ conditions }: ComponentStatus) => conditions?.find(({ type }) => type === 'Healthy')

export const componentStatuses = resource<ComponentStatus>({
  group: '',
  version: 'v1',
  kind: 'ComponentStatus',
  plural: 'componentstatuses',
  singular: 'componentstatus',
  shortNames: ['cs'],
  scope: 'Cluster',
  verbs: ['get', 'list'],
  virtual: true,
  columns: [
    name,
    column(
      'Status',
      (status) =>
        healthy(status)?.status === 'True' ? 'Healthy' : healthy(status)?.status === 'False' ? 'Unhealthy' : 'Unknown',
      {
        description: 'The health of the component.',
      },
    ),
    column('Message', (status) => healthy(status)?.message ?? '', { description: 'The message of the health check.' }),
    column('Error', (status) => healthy(status)?.error ?? '', { description: 'The error of the health check.' }),
  ],
  deprecationWarning: 'v1 ComponentStatus is deprecated in v1.19+',
})
