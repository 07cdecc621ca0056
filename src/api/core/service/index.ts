/** Services: one address for a set of pods. */

import { labelsText } from '../../../machinery/selectors/label-selector.ts'
import { dns1035Label, dnsLabel } from '../../../machinery/validation/names.ts'
import { isFeatureOn } from '../../features/current.ts'
import { age, column, name, resource, wide } from '../../resource.ts'
import { prepareCreate, prepareUpdate, serviceDefaults } from './prepare.ts'
import { type Service, serviceRules } from './rules.ts'
import { serviceStatus, serviceUpdate } from './update-rules.ts'
import { serviceWarnings } from './warnings.ts'

export type { Service, ServiceSpec } from './rules.ts'
export { needsClusterIP, needsHealthCheckPort, needsNodePorts } from './traits.ts'

/** Returns the unique addresses of load balancers, sorted. */
const balancerAddresses = ({ status }: Service): string[] =>
  [
    ...new Set((status?.loadBalancer?.ingress ?? []).map(({ ip, hostname }) => ip || hostname || '').filter(Boolean)),
  ].sort()

function externalIP(service: Service): string {
  const { type, externalIPs = [], externalName } = service.spec ?? {}
  if (type === 'ExternalName') return externalName ?? ''
  if (type !== 'LoadBalancer') return externalIPs.join(',') || '<none>'
  return [...balancerAddresses(service), ...externalIPs].join(',') || '<pending>'
}

const portsText = ({ spec }: Service): string =>
  (spec?.ports ?? [])
    .map(({ port, nodePort, protocol }) => (nodePort ? `${port}:${nodePort}/${protocol}` : `${port}/${protocol}`))
    .join(',') || '<none>'

export const services = resource<Service>({
  group: '',
  version: 'v1',
  kind: 'Service',
  plural: 'services',
  shortNames: ['svc'],
  categories: ['all'],
  scope: 'Namespaced',
  storagePath: 'services/specs',
  subresources: {
    status: true,
    special: [{ name: 'proxy', kind: 'ServiceProxyOptions', verbs: ['create', 'delete', 'get', 'patch', 'update'] }],
  },
  nameRule: (name, generated) =>
    (isFeatureOn('RelaxedServiceNameValidation') ? dnsLabel : dns1035Label)(name, generated),
  createOnUpdate: true,
  defaults: [serviceDefaults],
  prepare: { create: prepareCreate, update: prepareUpdate },
  validate: { object: serviceRules, update: serviceUpdate, status: serviceStatus },
  warnings: serviceWarnings,
  selectableFields: { 'spec.clusterIP': ({ spec }) => spec?.clusterIP, 'spec.type': ({ spec }) => spec?.type },
  columns: [
    name,
    column('Type', ({ spec }) => spec?.type ?? '', {
      description: 'The type, which determines where the Service is reachable.',
    }),
    column('Cluster-IP', ({ spec }) => spec?.clusterIPs?.[0] || spec?.clusterIP || '<none>', {
      description: 'The address inside the cluster.',
    }),
    column('External-IP', externalIP, { description: 'The addresses outside the cluster.' }),
    column('Port(s)', portsText, { description: 'The ports and node ports.' }),
    age,
    wide('Selector', ({ spec }) => labelsText(spec?.selector), { description: 'The labels of its pods.' }),
  ],
  deletion: { returnsObject: true },
})
