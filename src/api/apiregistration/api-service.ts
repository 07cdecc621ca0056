/** APIServices: whether this server or another one, behind a Service, serves a group version. */
import type { V1APIService } from '@kubernetes/client-node'
import type { Model } from '../../machinery/object.ts'
import { type FieldError, forbiddenField, invalidValue, required } from '../../machinery/validation/field-error.ts'
import { follows } from '../../machinery/validation/field-rules.ts'
import { dns1035Label, dnsSubdomain, portNumber } from '../../machinery/validation/names.ts'
import { age, column, name, resource } from '../resource.ts'

type APIService = Model<V1APIService>

export const apiServices = resource<APIService>({
  group: 'apiregistration.k8s.io',
  version: 'v1',
  kind: 'APIService',
  plural: 'apiservices',
  categories: ['api-extensions'],
  scope: 'Cluster',
  storagePath: 'apiregistration.k8s.io/apiservices',
  subresources: { status: true },
  // The core group's version is named `v1.`, which is no DNS subdomain.
  nameRule: (text) => (text.includes('/') || text.includes('%') ? ["may not contain '/' or '%'"] : []),
  defaults: [
    ({ spec }) => {
      if (spec?.service) spec.service.port ??= 443
    },
  ],
  resetFields: { status: ['metadata', 'spec'] },
  requiresVersionOnUpdate: true,
  prepare: {
    create: (service) => {
      service.status = {}
    },
  },
  validate: { object: serviceRules },
  columns: [
    name,
    column('Service', ({ spec }) => (spec?.service ? `${spec.service.namespace}/${spec.service.name}` : 'Local'), {
      description: 'The Service that serves the group version, or Local.',
    }),
    column('Available', availability, { description: 'Whether the server is available.' }),
    age,
  ],
})

function availability({ status }: APIService): string {
  const condition = status?.conditions?.find(({ type }) => type === 'Available')
  if (!condition) return 'Unknown'
  return condition.status === 'True' ? 'True' : `${condition.status} (${condition.reason ?? ''})`
}

function serviceRules({ metadata, spec }: APIService): readonly FieldError[] {
  const {
    group = '',
    version = '',
    service,
    insecureSkipTLSVerify,
    caBundle,
    groupPriorityMinimum = 0,
    versionPriority = 0,
  } = spec ?? {}
  const errors: FieldError[] = []
  if (metadata.name && metadata.name !== `${version}.${group}`)
    errors.push(invalidValue('metadata.name', metadata.name ?? '', 'must be `spec.version+"."+spec.group`'))
  // Only the core group has an empty name.
  if (group === '' && version !== 'v1')
    errors.push(required('spec.group', 'only v1 may have an empty group and it better be legacy kube'))
  if (group) errors.push(...follows(group, 'spec.group', dnsSubdomain))
  errors.push(...follows(version, 'spec.version', dns1035Label))
  if (groupPriorityMinimum <= 0 || groupPriorityMinimum > 20000)
    errors.push(invalidValue('spec.groupPriorityMinimum', groupPriorityMinimum, 'must be positive and less than 20000'))
  if (versionPriority <= 0 || versionPriority > 1000)
    errors.push(invalidValue('spec.versionPriority', versionPriority, 'must be positive and less than 1000'))
  if (!service) {
    if (caBundle)
      errors.push(
        invalidValue(
          'spec.caBundle',
          `${Buffer.from(caBundle, 'base64').length} bytes`,
          'local APIServices may not have a caBundle',
        ),
      )
    if (insecureSkipTLSVerify)
      errors.push(
        invalidValue('spec.insecureSkipTLSVerify', true, 'local APIServices may not have insecureSkipTLSVerify'),
      )
    return errors
  }
  if (!service.namespace) errors.push(required('spec.service.namespace'))
  if (!service.name) errors.push(required('spec.service.name'))
  for (const message of portNumber(service.port ?? 443))
    errors.push(invalidValue('spec.service.port', service.port, `port is not valid: ${message}`))
  if (insecureSkipTLSVerify && caBundle)
    errors.push(forbiddenField('spec.insecureSkipTLSVerify', 'may not be true if caBundle is present'))
  return errors
}
