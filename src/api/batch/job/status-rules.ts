/**
 * Validation of a Job's status. Another controller may write it (`managedBy`), so inconsistent changes are rejected;
 * unchanged fields are not validated.
 */

import { semanticallyEqual } from '../../../machinery/equality.ts'
import {
  duplicate,
  type FieldError,
  fieldError,
  invalidValue,
  required,
} from '../../../machinery/validation/field-error.ts'
import { all, duplicateFinder, each, valid } from '../../../machinery/validation/field-rules.ts'
import { optional, pointer } from '../../../machinery/validation/internal-type.ts'
import { validateCounts } from '../../workload/template-rules.ts'
import { firstCommonIndex, parseIndexes } from './indexes.ts'
import type { Job } from './rules.ts'

type Status = NonNullable<Job['status']>
type Type = 'Complete' | 'Failed' | 'FailureTarget' | 'SuccessCriteriaMet' | 'Suspended'

interface Change {
  readonly spec: NonNullable<Job['spec']>
  readonly status: Status
  readonly old: Status
  /** Returns true if a condition has status True now. */
  readonly isSet: (type: Type) => boolean
  readonly wasSet: (type: Type) => boolean
  /** Returns true if one of the conditions has changed. */
  readonly hasToggled: (...types: Type[]) => boolean
  readonly hasChanged: (...fields: (keyof Status)[]) => boolean
}

export function jobStatusRules(job: Job, { status: old = {} }: Job): readonly FieldError[] {
  const { spec = {} as NonNullable<Job['spec']>, status = {} } = job
  const isSet = (type: Type): boolean => hasCondition(status, type)
  const wasSet = (type: Type): boolean => hasCondition(old, type)
  const hasToggled = (...types: Type[]): boolean => types.some((type) => isSet(type) !== wasSet(type))
  const hasChanged = (...fields: (keyof Status)[]): boolean =>
    fields.some((field) => !semanticallyEqual(status[field], old[field]))
  const change: Change = { spec, status, old, isSet, wasSet, hasToggled, hasChanged }
  return all(
    validateCounts(status, ['active', 'succeeded', 'failed', 'ready', 'terminating']),
    uncounted(status.uncountedTerminatedPods),
    validateCompletion(change),
    validateFinished(change),
    validateIndexes(change),
    validateConsistency(change),
    validateTransitions(change),
  )
}

const hasCondition = ({ conditions = [] }: Status, wanted: Type, value = 'True'): boolean =>
  conditions.some(({ type, status }) => type === wanted && status === value)

function uncounted({ succeeded, failed }: NonNullable<Status['uncountedTerminatedPods']> = {}): readonly FieldError[] {
  const isRepeated = duplicateFinder<string>()
  const rule = (uid: string, path: string): readonly FieldError[] =>
    uid === '' ? [invalidValue(path, uid, 'must not be empty')] : isRepeated(uid) ? [duplicate(path, uid)] : valid
  const path = 'status.uncountedTerminatedPods'
  return all(each(succeeded, `${path}.succeeded`, rule), each(failed, `${path}.failed`, rule))
}

const conditionFault = (detail: string): FieldError =>
  fieldError('FieldValueInvalid', 'status.conditions', `Invalid value: ${detail}`)

/** Validates terminal conditions and completionTime. */
function validateCompletion({
  status: { completionTime, startTime },
  isSet,
  hasToggled,
  hasChanged,
}: Change): readonly FieldError[] {
  const errors: FieldError[] = []
  if (hasToggled('Complete', 'Failed') && isSet('Complete') && isSet('Failed'))
    errors.push(conditionFault('cannot set Complete=True and Failed=true conditions'))
  if (hasToggled('Complete', 'FailureTarget') && isSet('Complete') && isSet('FailureTarget'))
    errors.push(conditionFault('cannot set Complete=True and FailureTarget=true conditions'))
  const path = 'status.completionTime'
  if (hasToggled('Complete') || hasChanged('completionTime')) {
    if (completionTime && !isSet('Complete'))
      errors.push(
        invalidValue(path, completionTime, 'cannot set completionTime when there is no Complete=True condition'),
      )
    if (!completionTime && isSet('Complete'))
      errors.push(required(path, 'completionTime is required for Complete jobs'))
  }
  if (
    hasChanged('startTime', 'completionTime') &&
    startTime &&
    completionTime &&
    Date.parse(completionTime) < Date.parse(startTime)
  )
    errors.push(invalidValue(path, completionTime, 'completionTime cannot be set before startTime'))
  if (hasToggled('Failed') && isSet('Failed') && !isSet('FailureTarget'))
    errors.push(conditionFault('cannot set Failed=True condition without the FailureTarget=true condition'))
  if (hasToggled('Complete') && isSet('Complete') && !isSet('SuccessCriteriaMet'))
    errors.push(conditionFault('cannot set Complete=True condition without the SuccessCriteriaMet=true condition'))
  return errors
}

const shownUncounted = pointer({ Succeeded: optional, Failed: optional })

/** Validates a finished Job: it has no active or uncounted pods. */
function validateFinished({ spec, status, old, isSet, wasSet, hasChanged }: Change): readonly FieldError[] {
  const isFinished = isSet('Complete') || isSet('Failed')
  if (!isFinished) return valid
  const ends = !wasSet('Complete') && !wasSet('Failed')
  const { active = 0, startTime, uncountedTerminatedPods: pods, terminating = 0 } = status
  const errors: FieldError[] = []
  if ((ends || active !== (old.active ?? 0)) && active > 0)
    errors.push(invalidValue('status.active', active, 'active>0 is invalid for finished job'))
  const hasNothingToDo = spec.suspend === true && spec.completions === 0
  if ((ends || hasChanged('startTime')) && !startTime && !hasNothingToDo)
    errors.push(required('status.startTime', 'startTime is required for finished job'))
  if (
    (ends || hasChanged('uncountedTerminatedPods')) &&
    (pods?.failed?.length ?? 0) + (pods?.succeeded?.length ?? 0) > 0
  )
    errors.push(
      invalidValue(
        'status.uncountedTerminatedPods',
        shownUncounted(pods),
        'uncountedTerminatedPods needs to be empty for finished job',
      ),
    )
  if ((ends || hasChanged('terminating')) && terminating > 0)
    errors.push(invalidValue('status.terminating', terminating, 'terminating>0 is invalid for finished job'))
  return errors
}

function validateIndexes({
  spec: { completions, completionMode, backoffLimitPerIndex },
  status,
  hasChanged,
}: Change): readonly FieldError[] {
  const { completedIndexes: completed = '', failedIndexes: failed } = status
  const errors: FieldError[] = []
  const [completedPath, failedPath] = ['status.completedIndexes', 'status.failedIndexes']
  if (hasChanged('completedIndexes')) {
    if (completions !== undefined) errors.push(...indexErrors(completedPath, completed, completions))
    if (completed && completionMode !== 'Indexed')
      errors.push(
        invalidValue(
          completedPath,
          completed,
          'cannot set non-empty completedIndexes when non-indexed completion mode',
        ),
      )
  }
  if (failed === undefined) return errors
  if (hasChanged('failedIndexes')) {
    if (backoffLimitPerIndex === undefined)
      errors.push(
        invalidValue(failedPath, failed, 'cannot set non-null failedIndexes when backoffLimitPerIndex is null'),
      )
    else if (completions !== undefined) errors.push(...indexErrors(failedPath, failed, completions))
  }
  if (hasChanged('completedIndexes', 'failedIndexes') && completions !== undefined && completed && failed) {
    const both = firstCommonIndex(completed, failed, completions)
    if (both !== undefined)
      errors.push(invalidValue(failedPath, failed, `failedIndexes and completedIndexes overlap at index: ${both}`))
  }
  return errors
}

function indexErrors(path: string, text: string, completions: number): readonly FieldError[] {
  const read = parseIndexes(text, completions)
  return typeof read === 'string'
    ? [invalidValue(path, text, `error parsing ${path.slice('status.'.length)}: ${read}`)]
    : valid
}

/** Rejects values that contradict each other. */
function validateConsistency({ spec, status: { ready = 0, active = 0 }, old, isSet }: Change): readonly FieldError[] {
  const errors: FieldError[] = []
  const isNew = ready !== (old.ready ?? 0) || active !== (old.active ?? 0)
  if (isNew && ready > active)
    errors.push(invalidValue('status.ready', ready, 'cannot set more ready pods than active'))
  if (isSet('SuccessCriteriaMet')) {
    if (isSet('Failed')) errors.push(conditionFault('cannot set SuccessCriteriaMet=True and Failed=true conditions'))
    if (isSet('FailureTarget'))
      errors.push(conditionFault('cannot set SuccessCriteriaMet=True and FailureTarget=true conditions'))
  } else if (spec.successPolicy && isSet('Complete'))
    errors.push(conditionFault('cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True'))
  return errors
}

/** Rejects changes that revert terminal conditions, counters or times. */
function validateTransitions({ spec, status, old, isSet, wasSet, hasChanged }: Change): readonly FieldError[] {
  const errors: FieldError[] = []
  for (const type of ['Failed', 'Complete', 'FailureTarget'] as const)
    if (wasSet(type) && !isSet(type)) errors.push(conditionFault(`cannot disable the terminal ${type}=True condition`))
  const { failed = 0, succeeded = 0, completionTime } = status
  if (failed < (old.failed ?? 0))
    errors.push(invalidValue('status.failed', failed, 'cannot decrease the failed counter'))
  const maySucceedLess = spec.completionMode === 'Indexed' && spec.completions === spec.parallelism
  if (!maySucceedLess && succeeded < (old.succeeded ?? 0))
    errors.push(invalidValue('status.succeeded', succeeded, 'cannot decrease the succeeded counter'))
  if (completionTime && old.completionTime && hasChanged('completionTime'))
    errors.push(invalidValue('status.completionTime', completionTime, 'completionTime cannot be mutated'))
  const isResumed = wasSet('Suspended') && hasCondition(status, 'Suspended', 'False')
  if (old.startTime && hasChanged('startTime') && !spec.suspend && !isResumed)
    errors.push(required('status.startTime', 'startTime cannot be removed for unsuspended job'))
  if (wasSet('SuccessCriteriaMet') && !isSet('SuccessCriteriaMet'))
    errors.push(conditionFault('cannot disable the SuccessCriteriaMet=True condition'))
  if (wasSet('Complete') && !wasSet('SuccessCriteriaMet') && isSet('SuccessCriteriaMet'))
    errors.push(conditionFault('cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions'))
  return errors
}
