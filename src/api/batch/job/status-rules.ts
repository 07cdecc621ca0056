/**
 * What may be said of a Job. Its status may come from somebody else than the controller (`managedBy`): what does not go
 * together is refused, as far as a write changes it.
 */

import { semanticallyEqual } from '../../../machinery/equality.ts'
import {
  duplicate,
  type FieldError,
  fieldError,
  invalidValue,
  required,
} from '../../../machinery/validation/field-error.ts'
import { all, each, repeats, valid } from '../../../machinery/validation/field-rules.ts'
import { optional, pointer } from '../../../machinery/validation/internal-type.ts'
import { counts } from '../../workload/template-rules.ts'
import { firstInBoth, readIndexes } from './indexes.ts'
import type { Job } from './rules.ts'

type Status = NonNullable<Job['status']>
type Type = 'Complete' | 'Failed' | 'FailureTarget' | 'SuccessCriteriaMet' | 'Suspended'

interface Change {
  readonly spec: NonNullable<Job['spec']>
  readonly status: Status
  readonly old: Status
  /** Whether a condition is true now. */
  readonly is: (type: Type) => boolean
  readonly was: (type: Type) => boolean
  /** Whether one of these is no more what it was. */
  readonly turns: (...types: Type[]) => boolean
  readonly changes: (...fields: (keyof Status)[]) => boolean
}

export function jobStatusRules(job: Job, { status: old = {} }: Job): readonly FieldError[] {
  const { spec = {} as NonNullable<Job['spec']>, status = {} } = job
  const is = (type: Type): boolean => holds(status, type)
  const was = (type: Type): boolean => holds(old, type)
  const turns = (...types: Type[]): boolean => types.some((type) => is(type) !== was(type))
  const changes = (...fields: (keyof Status)[]): boolean =>
    fields.some((field) => !semanticallyEqual(status[field], old[field]))
  const change: Change = { spec, status, old, is, was, turns, changes }
  return all(
    counts(status, ['active', 'succeeded', 'failed', 'ready', 'terminating']),
    uncounted(status.uncountedTerminatedPods),
    ends(change),
    finished(change),
    indexes(change),
    together(change),
    stays(change),
  )
}

const holds = ({ conditions = [] }: Status, wanted: Type, value = 'True'): boolean =>
  conditions.some(({ type, status }) => type === wanted && status === value)

function uncounted({ succeeded, failed }: NonNullable<Status['uncountedTerminatedPods']> = {}): readonly FieldError[] {
  const isRepeated = repeats<string>()
  const rule = (uid: string, path: string): readonly FieldError[] =>
    uid === '' ? [invalidValue(path, uid, 'must not be empty')] : isRepeated(uid) ? [duplicate(path, uid)] : valid
  const path = 'status.uncountedTerminatedPods'
  return all(each(succeeded, `${path}.succeeded`, rule), each(failed, `${path}.failed`, rule))
}

const conditionFault = (detail: string): FieldError =>
  fieldError('FieldValueInvalid', 'status.conditions', `Invalid value: ${detail}`)

/** How it ends, and when. */
function ends({ status: { completionTime, startTime }, is, turns, changes }: Change): readonly FieldError[] {
  const errors: FieldError[] = []
  if (turns('Complete', 'Failed') && is('Complete') && is('Failed'))
    errors.push(conditionFault('cannot set Complete=True and Failed=true conditions'))
  if (turns('Complete', 'FailureTarget') && is('Complete') && is('FailureTarget'))
    errors.push(conditionFault('cannot set Complete=True and FailureTarget=true conditions'))
  const path = 'status.completionTime'
  if (turns('Complete') || changes('completionTime')) {
    if (completionTime && !is('Complete'))
      errors.push(
        invalidValue(path, completionTime, 'cannot set completionTime when there is no Complete=True condition'),
      )
    if (!completionTime && is('Complete')) errors.push(required(path, 'completionTime is required for Complete jobs'))
  }
  if (
    changes('startTime', 'completionTime') &&
    startTime &&
    completionTime &&
    Date.parse(completionTime) < Date.parse(startTime)
  )
    errors.push(invalidValue(path, completionTime, 'completionTime cannot be set before startTime'))
  if (turns('Failed') && is('Failed') && !is('FailureTarget'))
    errors.push(conditionFault('cannot set Failed=True condition without the FailureTarget=true condition'))
  if (turns('Complete') && is('Complete') && !is('SuccessCriteriaMet'))
    errors.push(conditionFault('cannot set Complete=True condition without the SuccessCriteriaMet=true condition'))
  return errors
}

const shownUncounted = pointer({ Succeeded: optional, Failed: optional })

/** Of a Job that has ended no pod is left. */
function finished({ spec, status, old, is, was, changes }: Change): readonly FieldError[] {
  const isFinished = is('Complete') || is('Failed')
  if (!isFinished) return valid
  const ends = !was('Complete') && !was('Failed')
  const { active = 0, startTime, uncountedTerminatedPods: pods, terminating = 0 } = status
  const errors: FieldError[] = []
  if ((ends || active !== (old.active ?? 0)) && active > 0)
    errors.push(invalidValue('status.active', active, 'active>0 is invalid for finished job'))
  const hasNothingToDo = spec.suspend === true && spec.completions === 0
  if ((ends || changes('startTime')) && !startTime && !hasNothingToDo)
    errors.push(required('status.startTime', 'startTime is required for finished job'))
  if ((ends || changes('uncountedTerminatedPods')) && (pods?.failed?.length ?? 0) + (pods?.succeeded?.length ?? 0) > 0)
    errors.push(
      invalidValue(
        'status.uncountedTerminatedPods',
        shownUncounted(pods),
        'uncountedTerminatedPods needs to be empty for finished job',
      ),
    )
  if ((ends || changes('terminating')) && terminating > 0)
    errors.push(invalidValue('status.terminating', terminating, 'terminating>0 is invalid for finished job'))
  return errors
}

function indexes({
  spec: { completions, completionMode, backoffLimitPerIndex },
  status,
  changes,
}: Change): readonly FieldError[] {
  const { completedIndexes: completed = '', failedIndexes: failed } = status
  const errors: FieldError[] = []
  const [completedPath, failedPath] = ['status.completedIndexes', 'status.failedIndexes']
  if (changes('completedIndexes')) {
    if (completions !== undefined) errors.push(...unreadable(completedPath, completed, completions))
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
  if (changes('failedIndexes')) {
    if (backoffLimitPerIndex === undefined)
      errors.push(
        invalidValue(failedPath, failed, 'cannot set non-null failedIndexes when backoffLimitPerIndex is null'),
      )
    else if (completions !== undefined) errors.push(...unreadable(failedPath, failed, completions))
  }
  if (changes('completedIndexes', 'failedIndexes') && completions !== undefined && completed && failed) {
    const both = firstInBoth(completed, failed, completions)
    if (both !== undefined)
      errors.push(invalidValue(failedPath, failed, `failedIndexes and completedIndexes overlap at index: ${both}`))
  }
  return errors
}

function unreadable(path: string, text: string, completions: number): readonly FieldError[] {
  const read = readIndexes(text, completions)
  return typeof read === 'string'
    ? [invalidValue(path, text, `error parsing ${path.slice('status.'.length)}: ${read}`)]
    : valid
}

/** What cannot be at once. */
function together({ spec, status: { ready = 0, active = 0 }, old, is }: Change): readonly FieldError[] {
  const errors: FieldError[] = []
  const isNew = ready !== (old.ready ?? 0) || active !== (old.active ?? 0)
  if (isNew && ready > active)
    errors.push(invalidValue('status.ready', ready, 'cannot set more ready pods than active'))
  if (is('SuccessCriteriaMet')) {
    if (is('Failed')) errors.push(conditionFault('cannot set SuccessCriteriaMet=True and Failed=true conditions'))
    if (is('FailureTarget'))
      errors.push(conditionFault('cannot set SuccessCriteriaMet=True and FailureTarget=true conditions'))
  } else if (spec.successPolicy && is('Complete'))
    errors.push(conditionFault('cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True'))
  return errors
}

/** What does not go back. */
function stays({ spec, status, old, is, was, changes }: Change): readonly FieldError[] {
  const errors: FieldError[] = []
  for (const type of ['Failed', 'Complete', 'FailureTarget'] as const)
    if (was(type) && !is(type)) errors.push(conditionFault(`cannot disable the terminal ${type}=True condition`))
  const { failed = 0, succeeded = 0, completionTime } = status
  if (failed < (old.failed ?? 0))
    errors.push(invalidValue('status.failed', failed, 'cannot decrease the failed counter'))
  const maySucceedLess = spec.completionMode === 'Indexed' && spec.completions === spec.parallelism
  if (!maySucceedLess && succeeded < (old.succeeded ?? 0))
    errors.push(invalidValue('status.succeeded', succeeded, 'cannot decrease the succeeded counter'))
  if (completionTime && old.completionTime && changes('completionTime'))
    errors.push(invalidValue('status.completionTime', completionTime, 'completionTime cannot be mutated'))
  const isResumed = was('Suspended') && holds(status, 'Suspended', 'False')
  if (old.startTime && changes('startTime') && !spec.suspend && !isResumed)
    errors.push(required('status.startTime', 'startTime cannot be removed for unsuspended job'))
  if (was('SuccessCriteriaMet') && !is('SuccessCriteriaMet'))
    errors.push(conditionFault('cannot disable the SuccessCriteriaMet=True condition'))
  if (was('Complete') && !was('SuccessCriteriaMet') && is('SuccessCriteriaMet'))
    errors.push(conditionFault('cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions'))
  return errors
}
