/** DeviceTaintRules (beta) taint devices. ResourcePoolStatusRequests (alpha) request the status of drivers' pools. */
import type { V1alpha3ResourcePoolStatusRequest, V1beta2DeviceTaintRule } from '@kubernetes/client-node'
import type { Model } from '../../machinery/object.ts'
import { validateConditions } from '../../machinery/validation/conditions.ts'
import { type FieldError, tooMany } from '../../machinery/validation/field-error.ts'
import { all, follows, immutable, requiredRule, valid } from '../../machinery/validation/field-rules.ts'
import { dnsLabel, dnsSubdomain } from '../../machinery/validation/names.ts'
import { additionalVersion } from '../additional-version.ts'
import { resource } from '../resource.ts'
import { driverName, poolName } from './rules/names.ts'
import { deviceTaint } from './rules/taints.ts'

type TaintRule = Model<V1beta2DeviceTaintRule>
type TaintRuleSpec = NonNullable<TaintRule['spec']>

const maxConditions = 8

export const deviceTaintRules = resource<TaintRule>({
  group: 'resource.k8s.io',
  version: 'v1beta2',
  kind: 'DeviceTaintRule',
  plural: 'devicetaintrules',
  model: 'V1beta2DeviceTaintRule',
  scope: 'Cluster',
  subresources: { status: true },
  resetFields: { status: ['metadata', 'spec'] },
  generation: 'spec',
  enabledByDefault: false,
  validate: {
    create: ({ spec }) => taintRules(spec),
    update: ({ spec }, { spec: old }) => taintRules(spec, old),
    status: ({ status }) =>
      all(
        validateConditions(status?.conditions, 'status.conditions'),
        (status?.conditions?.length ?? 0) > maxConditions
          ? [tooMany('status.conditions', status?.conditions?.length ?? 0, maxConditions)]
          : valid,
      ),
  },
})

function taintRules(spec: Partial<TaintRuleSpec> = {}, old?: TaintRuleSpec): readonly FieldError[] {
  const { driver, pool, device } = spec.deviceSelector ?? {}
  return all(
    driver === undefined ? valid : driverName(driver, 'spec.deviceSelector.driver'),
    pool === undefined ? valid : poolName(pool, 'spec.deviceSelector.pool'),
    follows(device, 'spec.deviceSelector.device', dnsLabel),
    deviceTaint(spec.taint ?? {}, 'spec.taint', old?.taint.effect),
  )
}

export const alphaDeviceTaintRules = additionalVersion(deviceTaintRules, 'v1alpha3', 'V1alpha3DeviceTaintRule')

export const resourcePoolStatusRequests = resource<Model<V1alpha3ResourcePoolStatusRequest>>({
  group: 'resource.k8s.io',
  version: 'v1alpha3',
  kind: 'ResourcePoolStatusRequest',
  plural: 'resourcepoolstatusrequests',
  model: 'V1alpha3ResourcePoolStatusRequest',
  scope: 'Cluster',
  subresources: { status: true },
  resetFields: { status: ['metadata', 'spec'] },
  enabledByDefault: false,
  validate: {
    object: ({ spec }) => requiredRule(spec?.driver, 'spec.driver', dnsSubdomain),
    update: ({ spec }, { spec: old }) => immutable(spec, 'spec', old),
  },
})
