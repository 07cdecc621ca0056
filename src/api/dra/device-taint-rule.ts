/** DeviceTaintRules keep pods away from devices; ResourcePoolStatusRequests ask drivers about their pools. Beta and alpha. */
import type { V1alpha3ResourcePoolStatusRequest, V1beta2DeviceTaintRule } from '@kubernetes/client-node'
import type { Model } from '../../machinery/object.ts'
import { required } from '../../machinery/validation/field-error.ts'
import { all, immutable, oneOf, requiredRule } from '../../machinery/validation/field-rules.ts'
import { dnsSubdomain, qualifiedName } from '../../machinery/validation/names.ts'
import { resource } from '../resource.ts'
import { servedAlso } from '../served-also.ts'

export const deviceTaintRules = resource<Model<V1beta2DeviceTaintRule>>({
  group: 'resource.k8s.io',
  version: 'v1beta2',
  kind: 'DeviceTaintRule',
  plural: 'devicetaintrules',
  model: 'V1beta2DeviceTaintRule',
  scope: 'Cluster',
  subresources: { status: true },
  resets: { status: ['metadata', 'spec'] },
  generation: 'spec',
  onByDefault: false,
  validate: {
    object: ({ spec }) =>
      all(
        requiredRule(spec?.taint?.key, 'spec.taint.key', qualifiedName),
        spec?.taint?.effect ? oneOf(spec.taint.effect, 'spec.taint.effect', ['NoExecute', 'NoSchedule', 'None']) : [required('spec.taint.effect')],
      ),
  },
})

export const alphaDeviceTaintRules = servedAlso(deviceTaintRules, 'v1alpha3', 'V1alpha3DeviceTaintRule')

export const resourcePoolStatusRequests = resource<Model<V1alpha3ResourcePoolStatusRequest>>({
  group: 'resource.k8s.io',
  version: 'v1alpha3',
  kind: 'ResourcePoolStatusRequest',
  plural: 'resourcepoolstatusrequests',
  model: 'V1alpha3ResourcePoolStatusRequest',
  scope: 'Cluster',
  subresources: { status: true },
  resets: { status: ['metadata', 'spec'] },
  onByDefault: false,
  validate: {
    object: ({ spec }) => requiredRule(spec?.driver, 'spec.driver', dnsSubdomain),
    update: ({ spec }, { spec: old }) => immutable(spec, 'spec', old),
  },
})
