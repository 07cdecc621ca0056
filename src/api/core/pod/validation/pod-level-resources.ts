/**
 * Validation of pod-level resources (KEP-2837): at least the sum of the containers' requests, and at least the limit of
 * each container.
 */

import { own } from '../../../../lib/own.ts'
import {
  type FieldError,
  forbiddenField,
  invalidValue,
  notSupported,
} from '../../../../machinery/validation/field-error.ts'
import { all, each, valid } from '../../../../machinery/validation/field-rules.ts'
import { compareQuantities } from '../../../../machinery/values/quantity.ts'
import { isHugePages, type ResourceList } from '../../quota/resource-list.ts'
import { resourceName } from '../../quota/resource-rules.ts'
import type { Pod, PodSpec } from '../model.ts'
import { podLimits, podRequests } from '../resources/pod-resources.ts'
import { requirements } from './containers/resources.ts'

const supported = ['cpu', 'memory']

function name(value: string, path: string): readonly FieldError[] {
  const errors = resourceName(value, path)
  return errors.length > 0 || supported.includes(value) || isHugePages(value)
    ? errors
    : [notSupported(path, value, supported)]
}

/** Validates `resources` of a pod's spec. */
export function podLevelResources(spec: PodSpec, path: string): readonly FieldError[] {
  const { resources } = spec
  if (!resources) return valid
  if (spec.os?.name === 'windows') return [forbiddenField(path, 'may not be set for a windows pod')]
  return all(
    resources.claims ? [forbiddenField(`${path}.claims`, 'claims may not be set for Resources at pod-level')] : valid,
    requirements(resources, path, name),
    validateAtLeast(podRequests(containersOf(spec)), resources.requests, `${path}.requests`, 'requests'),
    validateAtLeast(hugePages(podLimits(containersOf(spec))), resources.limits, `${path}.limits`, 'limits'),
    each(spec.containers, `${path}.containers`, ({ resources: own }, at) =>
      withinLimits(own?.limits, resources.limits, at),
    ),
  )
}

/** Returns a pod of the same containers without pod-level resources. */
function containersOf(spec: PodSpec): Pod {
  const { resources: _whole, ...rest } = spec
  return { apiVersion: 'v1', kind: 'Pod', metadata: {}, spec: rest }
}

/** Returns the huge pages of a list. They are never overcommitted, so their limits are summed up too. */
const hugePages = (list: ResourceList): ResourceList =>
  Object.fromEntries(Object.entries(list).filter(([resource]) => isHugePages(resource)))

/** Requires that pod-level amounts are at least the sum of the containers' amounts. */
const validateAtLeast = (
  containerTotals: ResourceList,
  podLevel: ResourceList = {},
  path: string,
  what: 'requests' | 'limits',
): readonly FieldError[] =>
  Object.entries(containerTotals).flatMap(([resource, amount]) => {
    const given = own(podLevel, resource)
    return given !== undefined && compareQuantities(amount, given) > 0
      ? [
          invalidValue(
            `${path}[${resource}]`,
            given,
            `must be greater than or equal to aggregate container ${what} of ${amount}`,
          ),
        ]
      : valid
  })

const withinLimits = (
  limits: Record<string, string> = {},
  ofPod: Record<string, string> = {},
  path: string,
): readonly FieldError[] =>
  Object.entries(limits).flatMap(([resource, limit]) => {
    const most = ofPod[resource]
    return most !== undefined && compareQuantities(limit, most) > 0
      ? [invalidValue(`${path}[${resource}].limits`, limit, `must be less than or equal to pod limits of ${most}`)]
      : valid
  })
