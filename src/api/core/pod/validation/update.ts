/**
 * Validation of pod updates: images, deadlines, tolerations and scheduling gates may change, and ephemeral containers
 * through their subresource.
 */

import { own } from '../../../../lib/own.ts'
import { differingPaths, semanticallyEqual } from '../../../../machinery/equality.ts'
import { type FieldError, forbiddenField, invalidValue } from '../../../../machinery/validation/field-error.ts'
import { all, valid } from '../../../../machinery/validation/field-rules.ts'
import { list, map, struct } from '../../../../machinery/validation/internal-type.ts'
import { nodeTermShape } from '../../node-term-shape.ts'
import type { Container, Pod, PodSpec } from '../model.ts'
import { mirrorAnnotation, podAnnotationsUpdate, validateDeletionCostUpdate } from './annotations.ts'
import type { NodeSelectorTerm } from './scheduling.ts'

const updatable =
  'pod updates may not change fields other than ' +
  '`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` ' +
  '(only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it ' +
  'was previously negative)'

/** Validates an update of a pod. */
export function podUpdate({ metadata, spec }: Pod, { metadata: before, spec: old }: Pod): readonly FieldError[] {
  return all(
    podAnnotationsUpdate(metadata.annotations, before.annotations, 'metadata.annotations'),
    // The validation of the spec, which includes it, is skipped for the identical spec.
    spec === old ? validateDeletionCostUpdate(metadata.annotations, before.annotations, 'metadata.annotations') : valid,
    specUpdate(spec, old),
  )
}

function specUpdate(spec: PodSpec | undefined, old: PodSpec | undefined): readonly FieldError[] {
  if (!spec || !old || semanticallyEqual(spec, old)) return valid
  for (const field of ['containers', 'initContainers'] as const) {
    if ((spec[field]?.length ?? 0) !== (old[field]?.length ?? 0))
      return [forbiddenField(`spec.${field}`, 'pod updates may not add or remove containers')]
  }
  const deadline = deadlines(spec.activeDeadlineSeconds, old.activeDeadlineSeconds)
  if (deadline.length > 0 && spec.activeDeadlineSeconds !== undefined) return deadline
  const errors = [
    ...deadline,
    ...onlyAddedTolerations(spec.tolerations, old.tolerations),
    ...onlyRemovedGates(spec.schedulingGates, old.schedulingGates),
  ]
  const rest: PodSpec = {
    ...spec,
    containers: withImagesOf(spec.containers, old.containers) ?? [],
    initContainers: withImagesOf(spec.initContainers, old.initContainers),
    activeDeadlineSeconds: old.activeDeadlineSeconds,
    tolerations: old.tolerations,
    schedulingGates: old.schedulingGates,
  }
  if ((old.terminationGracePeriodSeconds ?? 0) < 0 && spec.terminationGracePeriodSeconds === 1)
    rest.terminationGracePeriodSeconds = old.terminationGracePeriodSeconds
  if (old.schedulingGates?.length) {
    errors.push(...onlyAddedSelectors(spec.nodeSelector, old.nodeSelector))
    rest.nodeSelector = old.nodeSelector
    errors.push(...narrowedAffinity(rest, old))
  }
  if (!semanticallyEqual(rest, old))
    errors.push(forbiddenField('spec', `${updatable}\nchanged: ${differingPaths(rest, old, 'spec').join(', ')}\n`))
  return errors
}

const withImagesOf = (
  containers: readonly Container[] | undefined,
  old: readonly Container[] | undefined,
): Container[] | undefined => containers?.map((container, i) => ({ ...container, image: old?.[i]?.image }))

function deadlines(deadline: number | undefined, old: number | undefined): readonly FieldError[] {
  const at = 'spec.activeDeadlineSeconds'
  if (deadline === undefined)
    return old === undefined ? valid : [invalidValue(at, null, 'must not update from a positive integer to nil value')]
  if (deadline < 0 || deadline > 2 ** 31 - 1)
    return [invalidValue(at, deadline, 'must be between 0 and 2147483647, inclusive')]
  return old !== undefined && old < deadline
    ? [invalidValue(at, deadline, 'must be less than or equal to previous value')]
    : valid
}

function onlyAddedTolerations(
  list: PodSpec['tolerations'] = [],
  old: PodSpec['tolerations'] = [],
): readonly FieldError[] {
  const textOf = ({ key, operator, value, effect }: (typeof old)[number]): string =>
    JSON.stringify([key, operator, value, effect])
  const remaining = new Set(list.map(textOf))
  return old.every((toleration) => remaining.has(textOf(toleration)))
    ? valid
    : [forbiddenField('spec.tolerations', 'existing toleration can not be modified except its tolerationSeconds')]
}

function onlyRemovedGates(
  gates: PodSpec['schedulingGates'] = [],
  old: PodSpec['schedulingGates'] = [],
): readonly FieldError[] {
  const known = new Set(old.map(({ name }) => name))
  return gates.flatMap(({ name }, i) =>
    known.has(name)
      ? valid
      : [
          forbiddenField(
            `spec.schedulingGates[${i}].name`,
            `only deletion is allowed, but found new scheduling gate '${name}'`,
          ),
        ],
  )
}

function onlyAddedSelectors(
  selector: Record<string, string> = {},
  old: Record<string, string> = {},
): readonly FieldError[] {
  return Object.entries(old).every(([key, value]) => own(selector, key) === value)
    ? valid
    : [
        invalidValue(
          'spec.nodeSelector',
          map(selector),
          'only additions to spec.nodeSelector are allowed (no mutations or deletions)',
        ),
      ]
}

const shownTerms = list(nodeTermShape)

/** The required node affinity of a gated pod may only become narrower; preferred terms may change freely. */
function narrowedAffinity(spec: PodSpec, old: PodSpec): readonly FieldError[] {
  const field = 'requiredDuringSchedulingIgnoredDuringExecution'
  const terms = spec.affinity?.nodeAffinity?.[field]?.nodeSelectorTerms
  const before = old.affinity?.nodeAffinity?.[field]?.nodeSelectorTerms
  const at = `spec.affinity.nodeAffinity.${field}.nodeSelectorTerms`
  const affinity = { ...spec.affinity, nodeAffinity: old.affinity?.nodeAffinity }
  spec.affinity = old.affinity || spec.affinity?.podAffinity || spec.affinity?.podAntiAffinity ? affinity : undefined
  if (!before) return valid
  if (terms?.length !== before.length)
    return [
      invalidValue(at, shownTerms(terms), 'no additions/deletions to non-empty NodeSelectorTerms list are allowed'),
    ]
  return terms.flatMap((term, i) =>
    isNarrower(term, before[i] ?? {})
      ? valid
      : [
          invalidValue(
            `${at}[${i}]`,
            struct(nodeTermShape)(term),
            'only additions are allowed (no mutations or deletions)',
          ),
        ],
  )
}

const parts = ['matchExpressions', 'matchFields'] as const

/** An empty term matches nothing and must stay empty. */
function isNarrower(term: NodeSelectorTerm, before: NodeSelectorTerm): boolean {
  if (parts.every((part) => !before[part]?.length)) return parts.every((part) => !term[part]?.length)
  return parts.every((part) =>
    (before[part] ?? []).every((expression, j) => semanticallyEqual(expression, term[part]?.[j])),
  )
}

/** Validates a write to `/ephemeralcontainers`: containers may be added, but not changed or removed. */
export function ephemeralContainersUpdate({ spec }: Pod, { metadata, spec: old }: Pod): readonly FieldError[] {
  if (metadata.annotations?.[mirrorAnnotation] !== undefined)
    return [forbiddenField('', 'static pods do not support ephemeral containers')]
  const containers = new Map((spec?.ephemeralContainers ?? []).map((container) => [container.name, container]))
  return (old?.ephemeralContainers ?? []).flatMap((container) => {
    const now = containers.get(container.name)
    if (!now)
      return [
        forbiddenField(
          'spec.ephemeralContainers',
          `existing ephemeral containers ${JSON.stringify(container.name)} may not be removed\n`,
        ),
      ]
    return semanticallyEqual(now, container)
      ? valid
      : [
          forbiddenField(
            'spec.ephemeralContainers',
            `existing ephemeral containers ${JSON.stringify(container.name)} may not be changed\n`,
          ),
        ]
  })
}
