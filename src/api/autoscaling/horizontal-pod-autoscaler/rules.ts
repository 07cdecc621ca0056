/** Validation of HorizontalPodAutoscalers. v1 is converted to v2 first. */

import type { V2HorizontalPodAutoscaler } from '@kubernetes/client-node'
import type { Model } from '../../../machinery/object.ts'
import {
  type FieldError,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
} from '../../../machinery/validation/field-error.ts'
import {
  all,
  each,
  follows,
  nonNegative,
  nonNegativeQuantity,
  oneOf,
  requiredText,
  valid,
} from '../../../machinery/validation/field-rules.ts'
import { dnsLabel, pathSegment } from '../../../machinery/validation/names.ts'
import { signOf } from '../../../machinery/values/quantity.ts'
import { containerResourceName } from '../../core/quota/resource-rules.ts'
import { isFeatureOn } from '../../features/current.ts'

export type Autoscaler = Model<V2HorizontalPodAutoscaler>
export type AutoscalerSpec = NonNullable<Autoscaler['spec']>
export type Metric = NonNullable<AutoscalerSpec['metrics']>[number]
export type MetricStatus = NonNullable<NonNullable<Autoscaler['status']>['currentMetrics']>[number]
export type Behavior = NonNullable<AutoscalerSpec['behavior']>
type Target = NonNullable<Metric['resource']>['target']
type ScalingRules = NonNullable<Behavior['scaleUp']>

const metricTypes = ['ContainerResource', 'External', 'Object', 'Pods', 'Resource']
const maxWindow = 3600
const maxPeriod = 1800

/** Validates an autoscaler. An unchanged scaleTargetRef may have any apiVersion: validated since 1.34 only. */
export function autoscalerRules({ spec }: Autoscaler, old?: Autoscaler): readonly FieldError[] {
  if (!spec) return valid
  const { minReplicas, maxReplicas = 0, scaleTargetRef: target } = spec
  // minReplicas 0 may stay 0 without the feature gate.
  const lowestMinimum = isFeatureOn('HPAScaleToZero') || old?.spec?.minReplicas === 0 ? 0 : 1
  const before = old?.spec?.scaleTargetRef
  const isUnchanged = before !== undefined && before.apiVersion === target?.apiVersion && before.kind === target?.kind
  return all(
    minReplicas !== undefined && minReplicas < lowestMinimum
      ? [invalidValue('spec.minReplicas', minReplicas, `must be greater than or equal to ${lowestMinimum}`)]
      : valid,
    positiveMaximum(maxReplicas),
    minReplicas !== undefined && maxReplicas < minReplicas
      ? [invalidValue('spec.maxReplicas', maxReplicas, 'must be greater than or equal to `minReplicas`')]
      : valid,
    reference(target, 'spec.scaleTargetRef'),
    isUnchanged ? valid : targetVersion(target, 'spec.scaleTargetRef.apiVersion'),
    each(spec.metrics, 'spec.metrics', (metric, path) => metricRules(metric, path, hasWrongVersion(old))),
    scaleToZeroMetrics(spec),
    scalingRules(spec.behavior?.scaleUp, 'spec.behavior.scaleUp'),
    scalingRules(spec.behavior?.scaleDown, 'spec.behavior.scaleDown'),
  )
}

export const autoscalerStatusRules = ({ status }: Autoscaler): readonly FieldError[] =>
  all(
    nonNegative(status?.currentReplicas, 'status.currentReplicas'),
    nonNegative(status?.desiredReplicas, 'status.desiredReplicas'),
  )

const reference = (target: { kind?: string; name?: string } | undefined, path: string): readonly FieldError[] =>
  all(
    target?.kind ? follows(target.kind, `${path}.kind`, pathSegment) : [required(`${path}.kind`)],
    target?.name ? follows(target.name, `${path}.name`, pathSegment) : [required(`${path}.name`)],
  )

/** A missing maxReplicas counts as 0. */
function positiveMaximum(maxReplicas: number): readonly FieldError[] {
  const path = 'spec.maxReplicas'
  if (maxReplicas === 0) return [required(path, 'must be set and greater than 0')]
  return maxReplicas < 0 ? [invalidValue(path, maxReplicas, 'must be greater than 0')] : valid
}

const needsWorkMetric = 'must specify at least one Object or External metric to support scaling to zero replicas'

/** Without replicas there is no CPU usage: only metrics of other objects can scale up from 0. */
const scaleToZeroMetrics = ({ minReplicas, metrics }: AutoscalerSpec): readonly FieldError[] =>
  minReplicas === 0 && !metrics?.some(({ type }) => type === 'Object' || type === 'External')
    ? [forbiddenField('spec.metrics', needsWorkMetric)]
    : valid

/** Only a ReplicationController may omit the group: it is the only scalable kind of the core group. */
function targetVersion(
  target: Partial<AutoscalerSpec['scaleTargetRef']> | undefined,
  path: string,
): readonly FieldError[] {
  const version = target?.apiVersion ?? ''
  const errors = versionForm(version, path)
  const isGrouped = version.indexOf('/') > 0 || target?.kind === 'ReplicationController'
  return errors.length > 0 || isGrouped ? errors : [invalidValue(path, version, 'apiVersion must specify API group')]
}

const versionForm = (version: string, path: string): readonly FieldError[] =>
  version.split('/').length > 2 ? [invalidValue(path, version, `unexpected GroupVersion string: ${version}`)] : valid

/**
 * Returns true if the old object has a malformed describedObject.apiVersion, valid before 1.34: then none is validated.
 */
const hasWrongVersion = (scaler: Autoscaler | undefined): boolean =>
  scaler?.spec?.metrics?.some(({ object }) => versionForm(object?.describedObject.apiVersion ?? '', '').length > 0) ??
  false

const members = {
  Object: 'object',
  External: 'external',
  Pods: 'pods',
  Resource: 'resource',
  ContainerResource: 'containerResource',
} as const

function metricRules(metric: Metric, path: string, anyVersion: boolean): readonly FieldError[] {
  const errors: FieldError[] = []
  const { type } = metric
  if (!type) errors.push(required(`${path}.type`, 'must specify a metric source type'))
  const known = Object.hasOwn(members, type) ? (type as keyof typeof members) : undefined
  if (!known) errors.push(notSupported(`${path}.type`, type ?? '', metricTypes))
  const present = Object.values(members).filter((member) => metric[member])
  errors.push(...sourceRules(metric, path, anyVersion))
  const expected = known && members[known]
  if (expected && !metric[expected])
    errors.push(required(`${path}.${expected}`, 'must populate information for the given metric source'))
  if (!known) errors.push(notSupported(`${path}.type`, type ?? '', metricTypes))
  if (present.length > 1)
    for (const member of present)
      if (member !== expected)
        errors.push(forbiddenField(`${path}.${member}`, 'must populate the given metric source only'))
  return errors
}

/** Validates the first source, in the order of `members`. */
function sourceRules(
  { object, external, pods, resource, containerResource }: Metric,
  path: string,
  anyVersion: boolean,
): readonly FieldError[] {
  if (object) return objectRules(object, `${path}.object`, anyVersion)
  if (external) return externalRules(external, `${path}.external`)
  if (pods) return podsRules(pods, `${path}.pods`)
  if (resource) return resourceRules(resource, `${path}.resource`)
  return containerResource ? containerResourceRules(containerResource, `${path}.containerResource`) : valid
}

type Source<Member extends (typeof members)[keyof typeof members]> = NonNullable<Metric[Member]>

const objectRules = (
  { describedObject, metric, target }: Source<'object'>,
  path: string,
  anyVersion: boolean,
): readonly FieldError[] =>
  all(
    reference(describedObject, `${path}.describedObject`),
    anyVersion ? valid : versionForm(describedObject?.apiVersion ?? '', `${path}.describedObject.apiVersion`),
    identifier(metric, `${path}.metric`),
    targetRules(target, `${path}.target`),
    raw(target, path),
  )

const externalRules = ({ metric, target }: Source<'external'>, path: string): readonly FieldError[] =>
  all(
    identifier(metric, `${path}.metric`),
    targetRules(target, `${path}.target`),
    raw(target, path, 'must set either a target value for metric or a per-pod target'),
    target?.value !== undefined && target.averageValue !== undefined
      ? [forbiddenField(`${path}.target.value`, 'may not set both a target value for metric and a per-pod target')]
      : valid,
  )

const podsRules = ({ metric, target }: Source<'pods'>, path: string): readonly FieldError[] =>
  all(
    identifier(metric, `${path}.metric`),
    targetRules(target, `${path}.target`),
    target?.averageValue === undefined
      ? [required(`${path}.target.averageValue`, 'must specify a positive target averageValue')]
      : valid,
  )

const resourceRules = ({ name, target }: Source<'resource'>, path: string): readonly FieldError[] =>
  all(
    requiredText(name, `${path}.name`, 'must specify a resource name'),
    targetRules(target, `${path}.target`),
    utilization(target, path),
  )

const containerResourceRules = (
  { name, container, target }: Source<'containerResource'>,
  path: string,
): readonly FieldError[] =>
  all(
    name ? containerResourceName(name, `${path}.name`) : [required(`${path}.name`, 'must specify a resource name')],
    container
      ? follows(container, `${path}.container`, dnsLabel)
      : [required(`${path}.container`, 'must specify a container')],
    targetRules(target, `${path}.target`),
    utilization(target, path),
  )

/** Selectors are not validated: the metrics server interprets them. */
const identifier = (metric: { name: string } | undefined, path: string): readonly FieldError[] =>
  metric?.name
    ? follows(metric.name, `${path}.name`, pathSegment)
    : [required(`${path}.name`, 'must specify a metric name')]

function targetRules(target: Target | undefined, path: string): readonly FieldError[] {
  const { type, value, averageValue, averageUtilization } = target ?? ({} as Target)
  const errors: FieldError[] = []
  if (!type) errors.push(required(`${path}.type`, 'must specify a metric target type'))
  if (type !== 'Utilization' && type !== 'Value' && type !== 'AverageValue')
    errors.push(invalidValue(`${path}.type`, type ?? '', 'must be either Utilization, Value, or AverageValue'))
  if (value !== undefined && signOf(value) < 1) errors.push(invalidValue(`${path}.value`, value, 'must be positive'))
  if (averageValue !== undefined && signOf(averageValue) < 1)
    errors.push(invalidValue(`${path}.averageValue`, averageValue, 'must be positive'))
  if (averageUtilization !== undefined && averageUtilization < 1)
    errors.push(invalidValue(`${path}.averageUtilization`, averageUtilization, 'must be greater than 0'))
  return errors
}

const raw = (
  target: Target | undefined,
  path: string,
  detail = 'must set either a target value or averageValue',
): readonly FieldError[] =>
  target?.value === undefined && target?.averageValue === undefined
    ? [required(`${path}.target.averageValue`, detail)]
    : valid

function utilization(target: Target | undefined, path: string): readonly FieldError[] {
  const [percent, value] = [target?.averageUtilization, target?.averageValue]
  if (percent === undefined && value === undefined)
    return [required(`${path}.target.averageUtilization`, 'must set either a target raw value or a target utilization')]
  return percent !== undefined && value !== undefined
    ? [forbiddenField(`${path}.target.averageValue`, 'may not set both a target raw value and a target utilization')]
    : valid
}

function scalingRules(rules: ScalingRules | undefined, path: string): readonly FieldError[] {
  if (!rules) return valid
  const { stabilizationWindowSeconds: window, selectPolicy, policies, tolerance } = rules
  const errors: FieldError[] = []
  if (window !== undefined && window < 0)
    errors.push(invalidValue(`${path}.stabilizationWindowSeconds`, window, 'must be greater than or equal to zero'))
  if (window !== undefined && window > maxWindow)
    errors.push(
      invalidValue(`${path}.stabilizationWindowSeconds`, window, `must be less than or equal to ${maxWindow}`),
    )
  errors.push(...oneOf(selectPolicy, `${path}.selectPolicy`, ['Disabled', 'Max', 'Min']))
  if (!policies?.length) errors.push(required(`${path}.policies`, 'must specify at least one Policy'))
  policies?.forEach(({ type, value, periodSeconds }, i) => {
    const at = `${path}.policies[${i}]`
    if (type !== 'Percent' && type !== 'Pods') errors.push(notSupported(`${at}.type`, type, ['Percent', 'Pods']))
    if (value <= 0) errors.push(invalidValue(`${at}.value`, value, 'must be greater than zero'))
    if (periodSeconds <= 0) errors.push(invalidValue(`${at}.periodSeconds`, periodSeconds, 'must be greater than zero'))
    if (periodSeconds > maxPeriod)
      errors.push(invalidValue(`${at}.periodSeconds`, periodSeconds, `must be less than or equal to ${maxPeriod}`))
  })
  if (tolerance !== undefined) errors.push(...nonNegativeQuantity(tolerance, `${path}.tolerance`))
  return errors
}
