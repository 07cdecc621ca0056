/** Validation of scheduling fields: tolerations, affinity, topology spread constraints, scheduling gates. */

import { type LabelSelector, validateLabelSelector } from '../../../../machinery/selectors/label-selector.ts'
import {
  duplicate,
  type FieldError,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
} from '../../../../machinery/validation/field-error.ts'
import { all, duplicateFinder, each, follows, oneOf, valid } from '../../../../machinery/validation/field-rules.ts'
import { dnsLabel, dnsSubdomain, labelValue, qualifiedName } from '../../../../machinery/validation/names.ts'
import type { Affinity, PodSpec } from '../model.ts'

type Toleration = NonNullable<PodSpec['tolerations']>[number]
type SpreadConstraint = NonNullable<PodSpec['topologySpreadConstraints']>[number]
type PodAffinityTerm = NonNullable<
  NonNullable<Affinity['podAffinity']>['requiredDuringSchedulingIgnoredDuringExecution']
>[number]
export type NodeSelectorTerm = NonNullable<
  NonNullable<Affinity['nodeAffinity']>['requiredDuringSchedulingIgnoredDuringExecution']
>['nodeSelectorTerms'][number]
type NodeRequirement = NonNullable<NodeSelectorTerm['matchExpressions']>[number]

export const taintEffects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']
const requiredField = 'requiredDuringSchedulingIgnoredDuringExecution'
const preferredField = 'preferredDuringSchedulingIgnoredDuringExecution'

function toleration(toleration: Toleration, path: string): readonly FieldError[] {
  const { key, operator, value, effect, tolerationSeconds } = toleration
  const errors: FieldError[] = key ? [...follows(key, `${path}.key`, qualifiedName)] : []
  if (!key && operator !== 'Exists')
    errors.push(
      invalidValue(
        `${path}.operator`,
        operator ?? '',
        'operator must be Exists when `key` is empty, which means "match all values and all keys"',
      ),
    )
  if (tolerationSeconds !== undefined && effect !== 'NoExecute')
    errors.push(
      invalidValue(`${path}.effect`, effect ?? '', "effect must be 'NoExecute' when `tolerationSeconds` is set"),
    )
  if (!operator || operator === 'Equal') {
    const messages = labelValue(value ?? '')
    if (messages.length > 0) errors.push(invalidValue(`${path}.operator`, value, messages.join(';')))
  } else if (operator === 'Exists') {
    if (value) errors.push(invalidValue(`${path}.operator`, value, "value must be empty when `operator` is 'Exists'"))
  } else errors.push(notSupported(`${path}.operator`, operator, ['Equal', 'Exists']))
  return all(errors, oneOf(effect, `${path}.effect`, taintEffects))
}

export const tolerations = (list: readonly Toleration[] | undefined, path: string): readonly FieldError[] =>
  each(list, path, toleration)

function nodeRequirement(
  { key, operator, values = [] }: NodeRequirement,
  path: string,
  labelValues: boolean,
): readonly FieldError[] {
  const errors: FieldError[] = []
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length === 0)
      errors.push(required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'"))
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (values.length > 0)
      errors.push(
        forbiddenField(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
      )
  } else if (operator === 'Gt' || operator === 'Lt') {
    if (values.length !== 1)
      errors.push(required(`${path}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'"))
  } else errors.push(invalidValue(`${path}.operator`, operator, 'not a valid selector operator'))
  return all(
    errors,
    follows(key, `${path}.key`, qualifiedName),
    labelValues ? each(values, `${path}.values`, (value, at) => follows(value, at, labelValue)) : valid,
  )
}

function nodeField({ key, operator, values = [] }: NodeRequirement, path: string): readonly FieldError[] {
  const errors: FieldError[] = []
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length !== 1)
      errors.push(
        required(`${path}.values`, "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"),
      )
  } else errors.push(invalidValue(`${path}.operator`, operator, 'not a valid selector operator'))
  if (key !== 'metadata.name') return [...errors, invalidValue(`${path}.key`, key, 'not a valid field selector key')]
  return all(
    errors,
    values.flatMap((value, i) => follows(value, `${path}.values[${i}]`, dnsSubdomain)),
  )
}

/** Validates one term of a node selector. Preferred terms may have invalid label values. */
export const nodeSelectorTerm = (
  term: NodeSelectorTerm,
  path: string,
  use: 'required' | 'preferred' = 'required',
): readonly FieldError[] => {
  const { matchExpressions = [], matchFields = [] } = term
  return all(
    matchExpressions.flatMap((item, i) => nodeRequirement(item, `${path}.matchExpressions[${i}]`, use === 'required')),
    matchFields.flatMap((item, i) => nodeField(item, `${path}.matchFields[${i}]`)),
  )
}

/** Validates a node selector, which needs at least one term. */
export const nodeSelector = (
  { nodeSelectorTerms: terms }: { nodeSelectorTerms?: NodeSelectorTerm[] },
  path: string,
): readonly FieldError[] =>
  terms?.length
    ? terms.flatMap((term, i) => nodeSelectorTerm(term, `${path}.nodeSelectorTerms[${i}]`))
    : [required(`${path}.nodeSelectorTerms`, 'must have at least one node selector term')]

const weight = (value: number, path: string): readonly FieldError[] =>
  value >= 1 && value <= 100 ? valid : [invalidValue(path, value, 'must be in the range 1-100')]

const topologyKey = (key: string, path: string): readonly FieldError[] =>
  all(key ? valid : [required(path, 'can not be empty')], follows(key ?? '', path, qualifiedName))

function podAffinityTerm(term: PodAffinityTerm, path: string): readonly FieldError[] {
  const {
    labelSelector,
    namespaceSelector,
    namespaces = [],
    matchLabelKeys,
    mismatchLabelKeys,
    topologyKey: key,
  } = term
  return all(
    validateLabelSelector(labelSelector, `${path}.labelSelector`),
    validateLabelSelector(namespaceSelector, `${path}.namespaceSelector`),
    namespaces.flatMap((name) => follows(name, `${path}.namespace`, dnsLabel)),
    labelKeys(matchLabelKeys, labelSelector, `${path}.matchLabelKeys`),
    labelKeys(mismatchLabelKeys, labelSelector, `${path}.mismatchLabelKeys`),
    // Upstream's path omits matchLabelKeys.
    validateNotSelected(matchLabelKeys, labelSelector, path),
    each(matchLabelKeys, `${path}.matchLabelKeys`, (label, at) =>
      mismatchLabelKeys?.includes(label)
        ? [invalidValue(at, label, 'exists in both matchLabelKeys and mismatchLabelKeys')]
        : valid,
    ),
    topologyKey(key, `${path}.topologyKey`),
  )
}

/** Validates matchLabelKeys or mismatchLabelKeys, which need a labelSelector. */
function labelKeys(
  keys: readonly string[] | undefined,
  selector: LabelSelector | undefined,
  path: string,
): readonly FieldError[] {
  if (!keys?.length) return valid
  return selector
    ? each(keys, path, (key, at) => follows(key, at, qualifiedName))
    : [forbiddenField(path, 'must not be specified when labelSelector is not set')]
}

/**
 * Rejects keys that are in the selector too. The create has added each of `matchLabelKeys` to the selector, so a key
 * that occurs twice was in it before.
 */
function validateNotSelected(
  keys: readonly string[] | undefined,
  selector: LabelSelector | undefined,
  path: string,
): readonly FieldError[] {
  if (!keys?.length || !selector) return valid
  const isRepeated = duplicateFinder<string>()
  for (const key of Object.keys(selector.matchLabels ?? {})) isRepeated(key)
  return (selector.matchExpressions ?? []).flatMap(({ key }) =>
    isRepeated(key) && keys.includes(key)
      ? [invalidValue(`${path}[${keys.lastIndexOf(key)}]`, key, 'exists in both matchLabelKeys and labelSelector')]
      : valid,
  )
}

const podAffinity = (affinity: Affinity['podAffinity'], path: string): readonly FieldError[] =>
  all(
    each(affinity?.[requiredField], `${path}.${requiredField}`, podAffinityTerm),
    (affinity?.[preferredField] ?? []).flatMap((term, i) =>
      all(
        weight(term.weight, `${path}.${preferredField}[${i}].weight`),
        podAffinityTerm(term.podAffinityTerm, `${path}.${preferredField}[${i}].podAffinityTerm`),
      ),
    ),
  )

/** Validates `affinity`. */
export function affinity(affinity: Affinity | undefined, path: string): readonly FieldError[] {
  if (!affinity) return valid
  const { nodeAffinity, podAffinity: near, podAntiAffinity: far } = affinity
  const at = `${path}.nodeAffinity`
  return all(
    nodeAffinity?.[requiredField] ? nodeSelector(nodeAffinity[requiredField], `${at}.${requiredField}`) : valid,
    (nodeAffinity?.[preferredField] ?? []).flatMap((term, i) =>
      all(
        weight(term.weight, `${at}.${preferredField}[${i}].weight`),
        nodeSelectorTerm(term.preference, `${at}.${preferredField}[${i}].preference`, 'preferred'),
      ),
    ),
    podAffinity(near, `${path}.podAffinity`),
    podAffinity(far, `${path}.podAntiAffinity`),
  )
}

function spreadConstraint(constraint: SpreadConstraint, path: string, isRepeated: boolean): readonly FieldError[] {
  const {
    maxSkew,
    topologyKey: key,
    whenUnsatisfiable,
    minDomains,
    labelSelector,
    nodeAffinityPolicy,
    nodeTaintsPolicy,
    matchLabelKeys,
  } = constraint
  return all(
    maxSkew > 0 ? valid : [invalidValue(`${path}.maxSkew`, maxSkew, 'must be greater than zero')],
    key ? follows(key, `${path}.topologyKey`, qualifiedName) : [required(`${path}.topologyKey`, 'can not be empty')],
    whenUnsatisfiable === 'DoNotSchedule' || whenUnsatisfiable === 'ScheduleAnyway'
      ? valid
      : [notSupported(`${path}.whenUnsatisfiable`, whenUnsatisfiable ?? '', ['DoNotSchedule', 'ScheduleAnyway'])],
    isRepeated ? [duplicate(`${path}.{topologyKey, whenUnsatisfiable}`, `{${key}, ${whenUnsatisfiable}}`)] : valid,
    minDomains !== undefined && minDomains <= 0
      ? [invalidValue(`${path}.minDomains`, minDomains, 'must be greater than zero')]
      : valid,
    minDomains !== undefined && whenUnsatisfiable !== 'DoNotSchedule'
      ? [
          invalidValue(
            `${path}.minDomains`,
            minDomains,
            `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${whenUnsatisfiable}`,
          ),
        ]
      : valid,
    oneOf(nodeAffinityPolicy, `${path}.nodeAffinityPolicy`, ['Honor', 'Ignore']),
    oneOf(nodeTaintsPolicy, `${path}.nodeTaintsPolicy`, ['Honor', 'Ignore']),
    labelKeys(matchLabelKeys, labelSelector, `${path}.matchLabelKeys`),
    validateNotSelected(matchLabelKeys, labelSelector, `${path}.matchLabelKeys`),
    validateLabelSelector(labelSelector, `${path}.labelSelector`),
  )
}

/** Validates `topologySpreadConstraints`: pairs of key and policy are unique. The earlier duplicate is reported. */
export function spreadConstraints(list: readonly SpreadConstraint[] | undefined, path: string): readonly FieldError[] {
  if (!list?.length) return valid
  const pairOf = ({ topologyKey: key, whenUnsatisfiable }: SpreadConstraint): string => `{${key}, ${whenUnsatisfiable}}`
  const last = new Map(list.map((constraint, i) => [pairOf(constraint), i]))
  return list.flatMap((constraint, i) =>
    spreadConstraint(constraint, `${path}[${i}]`, last.get(pairOf(constraint)) !== i),
  )
}

/** Validates `schedulingGates`: unique names. */
export function schedulingGates(gates: readonly { name: string }[] | undefined, path: string): readonly FieldError[] {
  if (!gates?.length) return valid
  const seen = new Set<string>()
  return gates.flatMap(({ name }, i) => {
    const twice = seen.has(name) ? [duplicate(`${path}[${i}]`, name)] : valid
    seen.add(name)
    return all(follows(name ?? '', `${path}[${i}]`, qualifiedName), twice)
  })
}
