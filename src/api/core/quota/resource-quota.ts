/** ResourceQuotas: limits of the total usage of a namespace. */

import type { V1ResourceQuota } from '@kubernetes/client-node'
import { own } from '../../../lib/own.ts'
import { semanticallyEqual } from '../../../machinery/equality.ts'
import type { Model } from '../../../machinery/object.ts'
import { type FieldError, invalidValue, required } from '../../../machinery/validation/field-error.ts'
import { all, valid } from '../../../machinery/validation/field-rules.ts'
import { list, optional, struct, text } from '../../../machinery/validation/internal-type.ts'
import { age, column, name, resource } from '../../resource.ts'
import { isQuotaResource, resourceListDefaults } from './resource-list.ts'
import { resourceAmount, resourceName } from './resource-rules.ts'

type ResourceQuota = Model<V1ResourceQuota>
type QuotaSpec = NonNullable<ResourceQuota['spec']>

const scopes = new Set([
  'Terminating',
  'NotTerminating',
  'BestEffort',
  'NotBestEffort',
  'PriorityClass',
  'CrossNamespacePodAffinity',
  'VolumeAttributesClass',
])
const podCompute = new Set(['pods', 'cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory'])
const existing = new Set(['Terminating', 'NotTerminating', 'BestEffort', 'NotBestEffort', 'CrossNamespacePodAffinity'])
const opposites = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
]

/** Returns true if a scope applies to a resource, or if either is unknown. */
function applies(scope: string, resource: string): boolean {
  if (!scopes.has(scope) || !isQuotaResource(resource)) return true
  if (scope === 'BestEffort') return resource === 'pods'
  if (scope === 'VolumeAttributesClass') return ['persistentvolumeclaims', 'requests.storage'].includes(resource)
  return podCompute.has(resource)
}

/** Returns a cached function that is true for scopes that apply to all of the resources. */
function applicable(resources: readonly string[]): (scope: string) => boolean {
  const known = new Map<string, boolean>()
  return (scope) => {
    let every = known.get(scope)
    if (every === undefined) known.set(scope, (every = resources.every((resource) => applies(scope, resource))))
    return every
  }
}

function scopeList(
  given: readonly string[] | undefined,
  resources: readonly string[],
  path: string,
): readonly FieldError[] {
  if (!given?.length) return valid
  const errors: FieldError[] = []
  const isApplicable = applicable(resources)
  for (const scope of given) {
    if (!scopes.has(scope)) errors.push(invalidValue(path, given, 'unsupported scope'))
    else if (!isApplicable(scope)) errors.push(invalidValue(path, given, 'unsupported scope applied to resource'))
  }
  for (const pair of opposites)
    if (pair.every((scope) => given.includes(scope))) errors.push(invalidValue(path, given, 'conflicting scopes'))
  return errors
}

const shownSelector = struct({ MatchExpressions: list({ ScopeName: text, Operator: text, Values: optional }) })

function scopeSelector(
  { scopeSelector: selector, scopes: list }: QuotaSpec,
  resources: readonly string[],
): readonly FieldError[] {
  if (!selector) return valid
  const path = 'spec.scopeSelector.matchExpressions'
  const isApplicable = applicable(resources)
  const requirements = selector.matchExpressions ?? []
  const names = new Set(requirements.map(({ scopeName }) => scopeName))
  return all(
    requirements.flatMap(({ scopeName, operator, values = [] }) => {
      const errors: FieldError[] = []
      if (!scopes.has(scopeName)) errors.push(invalidValue(`${path}.scopeName`, scopeName, 'unsupported scope'))
      else if (!isApplicable(scopeName))
        errors.push(invalidValue(path, shownSelector(selector), 'unsupported scope applied to resource'))
      if (existing.has(scopeName) && operator !== 'Exists')
        errors.push(
          invalidValue(
            `${path}.operator`,
            operator,
            "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, " +
              'ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ' +
              'ResourceQuotaScopeCrossNamespacePodAffinity',
          ),
        )
      if (operator === 'In' || operator === 'NotIn') {
        if (values.length === 0)
          errors.push(
            required(
              `${path}.values`,
              "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
            ),
          )
      } else if (operator === 'Exists' || operator === 'DoesNotExist') {
        if (values.length > 0)
          errors.push(
            invalidValue(
              `${path}.values`,
              values,
              "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector",
            ),
          )
      } else errors.push(invalidValue(`${path}.operator`, operator, 'not a valid selector operator'))
      return errors
    }),
    // Upstream shows spec.scopes here.
    opposites.flatMap((pair) =>
      pair.every((scope) => names.has(scope)) ? [invalidValue(path, list ?? null, 'conflicting scopes')] : valid,
    ),
  )
}

function hardName(resource: string, path: string): readonly FieldError[] {
  const errors = resourceName(resource, path)
  return resource.includes('/') || isQuotaResource(resource)
    ? errors
    : [...errors, invalidValue(path, resource, 'must be a standard resource for quota')]
}

const amounts = (list: Record<string, string> | undefined, path: string): readonly FieldError[] =>
  Object.entries(list ?? {}).flatMap(([resource, amount]) =>
    all(hardName(resource, `${path}[${resource}]`), resourceAmount(resource, amount, `${path}[${resource}]`)),
  )

function rules({ spec = {} }: ResourceQuota): readonly FieldError[] {
  const resources = Object.keys(spec.hard ?? {})
  return all(
    amounts(spec.hard, 'spec.hard'),
    scopeList(spec.scopes, resources, 'spec.scopes'),
    scopeSelector(spec, resources),
  )
}

/** Returns requests or limits, sorted: `pods: 0/5, requests.cpu: 0/2`. */
function used({ status }: ResourceQuota, limits: boolean): string {
  return Object.keys(status?.hard ?? {})
    .filter((resource) => resource.startsWith('limits') === limits)
    .sort()
    .map((resource) => `${resource}: ${own(status?.used, resource) ?? '0'}/${status?.hard?.[resource]}`)
    .join(', ')
}

export const resourceQuotas = resource<ResourceQuota>({
  group: '',
  version: 'v1',
  kind: 'ResourceQuota',
  plural: 'resourcequotas',
  shortNames: ['quota'],
  scope: 'Namespaced',
  subresources: { status: true },
  defaults: [
    (quota) => {
      quota.spec ??= {}
      const spec = quota.spec
      quota.status ??= {}
      const status = quota.status
      resourceListDefaults(spec.hard)
      resourceListDefaults(status.hard)
      resourceListDefaults(status.used)
    },
  ],
  prepare: {
    create: (quota) => {
      quota.status = {}
    },
  },
  validate: {
    object: rules,
    update: ({ spec }, { spec: old }) =>
      semanticallyEqual([...(spec?.scopes ?? [])].sort(), [...(old?.scopes ?? [])].sort())
        ? valid
        : [invalidValue('spec.scopes', spec?.scopes ?? null, 'field is immutable')],
    status: ({ status }) => all(amounts(status?.hard, 'status.hard'), amounts(status?.used, 'status.used')),
  },
  columns: [
    name,
    column('Request', (quota) => used(quota, false), { description: 'Used and hard amounts of requests.' }),
    column('Limit', (quota) => used(quota, true), { description: 'Used and hard amounts of limits.' }),
    age,
  ],
  deletion: { returnsObject: true },
})
