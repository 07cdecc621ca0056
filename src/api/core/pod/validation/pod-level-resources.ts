/** Rules for resources of a pod as a whole (KEP-2837): no less than its containers ask for, no container with more than it. */

import { type FieldError, forbiddenField, invalidValue, notSupported } from '../../../../machinery/validation/field-error.ts'
import { all, each, valid } from '../../../../machinery/validation/field-rules.ts'
import { compareQuantities } from '../../../../machinery/values/quantity.ts'
import { isHugePages } from '../../quota/resource-list.ts'
import { resourceName } from '../../quota/resource-rules.ts'
import type { PodSpec } from '../model.ts'
import { podRequests } from '../resources/pod-resources.ts'
import { requirements } from './containers/resources.ts'

const supported = ['cpu', 'memory']

function name(value: string, path: string): readonly FieldError[] {
  const errors = resourceName(value, path)
  return errors.length > 0 || supported.includes(value) || isHugePages(value) ? errors : [notSupported(path, value, supported)]
}

/** `resources` of a pod's spec. */
export function podLevelResources(spec: PodSpec, path: string): readonly FieldError[] {
  const { resources } = spec
  if (!resources) return valid
  return all(
    resources.claims ? [forbiddenField(`${path}.claims`, 'claims cannot be set for Resources at pod-level')] : valid,
    requirements(resources, path, name),
    enough(spec, `${path}.requests`),
    each(spec.containers, `${path}.containers`, ({ resources: own }, at) => withinLimits(own?.limits, resources.limits, at)),
  )
}

function enough(spec: PodSpec, path: string): readonly FieldError[] {
  const { resources, ...rest } = spec
  const asked = podRequests({ apiVersion: 'v1', kind: 'Pod', metadata: {}, spec: rest })
  return Object.entries(asked).flatMap(([resource, amount]) => {
    const given = resources?.requests?.[resource] ?? '0'
    return compareQuantities(amount, given) > 0
      ? [invalidValue(`${path}[${resource}]`, given, `must be greater than or equal to aggregate container requests of ${amount}`)]
      : valid
  })
}

const withinLimits = (limits: Record<string, string> = {}, ofPod: Record<string, string> = {}, path: string): readonly FieldError[] =>
  Object.entries(limits).flatMap(([resource, limit]) => {
    const most = ofPod[resource]
    return most !== undefined && compareQuantities(limit, most) > 0
      ? [invalidValue(`${path}[${resource}].limits`, limit, `must be less than or equal to pod limits of ${most}`)]
      : valid
  })
