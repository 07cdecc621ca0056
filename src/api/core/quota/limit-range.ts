/** LimitRanges: bounds and defaults of resource requests and limits in a namespace. */
import { randomUUID } from 'node:crypto'
import type { V1LimitRange } from '@kubernetes/client-node'
import { own, setOwn } from '../../../lib/own.ts'
import type { Model } from '../../../machinery/object.ts'
import {
  duplicate,
  type FieldError,
  forbiddenField,
  invalidValue,
  required,
} from '../../../machinery/validation/field-error.ts'
import { all, follows, valid } from '../../../machinery/validation/field-rules.ts'
import { qualifiedName } from '../../../machinery/validation/names.ts'
import { compareQuantities, parseQuantity } from '../../../machinery/values/quantity.ts'
import { defaultColumns, resource } from '../../resource.ts'
import { isOvercommitAllowed, type ResourceList, resourceListDefaults } from './resource-list.ts'
import { containerResourceName, resourceName } from './resource-rules.ts'

type LimitRange = Model<V1LimitRange>

/** As on the wire: the client's model calls `default` `_default`. */
interface Item {
  type: string
  max?: ResourceList
  min?: ResourceList
  default?: ResourceList
  defaultRequest?: ResourceList
  maxLimitRequestRatio?: ResourceList
}
const lists = ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'] as const

const itemsOf = ({ spec }: LimitRange): Item[] => spec?.limits ?? []

/** Sets a container item's missing defaults from its bounds. */
function itemDefaults(item: Item): void {
  for (const list of lists) resourceListDefaults(item[list])
  if (item.type !== 'Container') return
  const fill = (list: 'default' | 'defaultRequest', from: ResourceList | undefined): void => {
    for (const key in from) {
      item[list] ??= {}
      if (!Object.hasOwn(item[list], key)) setOwn(item[list], key, from[key] as string)
    }
  }
  fill('default', item.max)
  fill('defaultRequest', item.default)
  fill('defaultRequest', item.min)
}

function itemRules(item: Item, path: string): readonly FieldError[] {
  const errors: FieldError[] = []
  const names = (field: (typeof lists)[number]): void => {
    for (const key in item[field])
      errors.push(
        ...(item.type === 'Container' || item.type === 'Pod' ? containerResourceName : resourceName)(
          key,
          `${path}.${field}[${key}]`,
        ),
      )
  }
  names('max')
  names('min')
  if (item.type === 'Pod') {
    if (Object.keys(item.default ?? {}).length > 0)
      errors.push(forbiddenField(`${path}.default`, "may not be specified when `type` is 'Pod'"))
    if (Object.keys(item.defaultRequest ?? {}).length > 0)
      errors.push(forbiddenField(`${path}.defaultRequest`, "may not be specified when `type` is 'Pod'"))
  } else {
    names('default')
    names('defaultRequest')
  }
  if (item.type === 'PersistentVolumeClaim' && item.min?.storage === undefined && item.max?.storage === undefined)
    errors.push(
      required(`${path}.limits`, 'either minimum or maximum storage value is required, but neither was provided'),
    )
  names('maxLimitRequestRatio')
  const compared = item.type === 'Pod' ? { ...item, default: undefined, defaultRequest: undefined } : item
  const keys = new Set(lists.flatMap((field) => Object.keys(compared[field] ?? {})))
  for (const key of keys) errors.push(...bounds(compared, key, path))
  return errors
}

const typeRule = (type: string, path: string): readonly FieldError[] => {
  const errors = follows(type ?? '', path, qualifiedName)
  if (errors.length > 0 || type.includes('/') || ['Container', 'Pod', 'PersistentVolumeClaim'].includes(type))
    return errors
  return [invalidValue(path, type, 'must be a standard limit type or fully qualified')]
}

/** Validates one resource: min ≤ defaultRequest ≤ default ≤ max, and a possible ratio. */
function bounds(item: Item, key: string, path: string): readonly FieldError[] {
  const errors: FieldError[] = []
  const at = (field: string): string => `${path}.${field}[${key}]`
  const [max, min, fallback, request, ratio] = lists.map((field) => own(item[field], key))
  const above = (a: string | undefined, b: string | undefined): boolean =>
    a !== undefined && b !== undefined && compareQuantities(a, b) > 0
  if (above(min, max)) errors.push(invalidValue(at('min'), min, `min value ${min} is greater than max value ${max}`))
  if (above(min, request))
    errors.push(
      invalidValue(at('defaultRequest'), request, `min value ${min} is greater than default request value ${request}`),
    )
  if (above(request, max))
    errors.push(
      invalidValue(at('defaultRequest'), request, `default request value ${request} is greater than max value ${max}`),
    )
  if (above(request, fallback))
    errors.push(
      invalidValue(
        at('defaultRequest'),
        request,
        `default request value ${request} is greater than default limit value ${fallback}`,
      ),
    )
  if (above(min, fallback))
    errors.push(invalidValue(at('default'), min, `min value ${min} is greater than default value ${fallback}`))
  if (above(fallback, max))
    errors.push(invalidValue(at('default'), max, `default value ${fallback} is greater than max value ${max}`))
  if (ratio !== undefined && compareQuantities(ratio, '1') < 0)
    errors.push(invalidValue(at('maxLimitRequestRatio'), ratio, `ratio ${ratio} is less than 1`))
  if (ratio !== undefined && min !== undefined && max !== undefined && parseQuantity(min).nano > 0n) {
    const most = Number(parseQuantity(max).nano) / Number(parseQuantity(min).nano)
    if (Number(parseQuantity(ratio).nano) / 1e9 > most)
      errors.push(
        invalidValue(at('maxLimitRequestRatio'), ratio, `ratio ${ratio} is greater than max/min = ${most.toFixed(6)}`),
      )
  }
  if (
    !isOvercommitAllowed(key) &&
    fallback !== undefined &&
    request !== undefined &&
    compareQuantities(fallback, request) !== 0
  )
    errors.push(
      invalidValue(
        at('defaultRequest'),
        request,
        `default value ${fallback} must equal to defaultRequest value ${request} in ${key}`,
      ),
    )
  return errors
}

export const limitRanges = resource<LimitRange>({
  group: '',
  version: 'v1',
  kind: 'LimitRange',
  plural: 'limitranges',
  shortNames: ['limits'],
  scope: 'Namespaced',
  createOnUpdate: true,
  defaults: [
    (range) => {
      range.spec ??= { limits: null as never }
      const spec = range.spec
      spec.limits ??= null as never
      itemsOf(range).forEach(itemDefaults)
    },
  ],
  prepare: {
    // The only kind that may be created without a name.
    create: ({ metadata }) => {
      metadata.name ||= randomUUID()
    },
  },
  validate: {
    object: (range) => {
      const seen = new Set<string>()
      return itemsOf(range).flatMap((item, i) => {
        const path = `spec.limits[${i}]`
        const twice = seen.has(item.type) ? [duplicate(`${path}.type`, item.type)] : valid
        seen.add(item.type)
        return all(typeRule(item.type, `${path}.type`), twice, itemRules(item, path))
      })
    },
  },
  columns: defaultColumns,
})
