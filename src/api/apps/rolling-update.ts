/** Validation of maxUnavailable and maxSurge. */
import { type FieldError, invalidValue, required } from '../../machinery/validation/field-error.ts'
import { all, atMostAll, intOrPercent, percentOf, valid } from '../../machinery/validation/field-rules.ts'

type IntOrString = number | string | undefined

/** Returns the number, or the number of the percentage; 0 for other values. */
export const amountOf = (value: IntOrString): number =>
  percentOf(value) ?? (typeof value === 'number' ? value : Number.parseInt(value ?? '0', 10) || 0)

/** Validates a Deployment's rollingUpdate: not both can be 0. */
export function deploymentRollingUpdate(
  { maxUnavailable, maxSurge }: { maxUnavailable?: IntOrString; maxSurge?: IntOrString },
  path: string,
): readonly FieldError[] {
  return all(
    intOrPercent(maxUnavailable, `${path}.maxUnavailable`),
    intOrPercent(maxSurge, `${path}.maxSurge`),
    amountOf(maxUnavailable) === 0 && amountOf(maxSurge) === 0
      ? [invalidValue(`${path}.maxUnavailable`, maxUnavailable ?? 0, 'may not be 0 when `maxSurge` is 0')]
      : valid,
    atMostAll(maxUnavailable, `${path}.maxUnavailable`),
  )
}

/** Validates a DaemonSet's rollingUpdate: exactly one must be non-zero. */
export function daemonSetRollingUpdate(
  { maxUnavailable, maxSurge }: { maxUnavailable?: IntOrString; maxSurge?: IntOrString },
  path: string,
): readonly FieldError[] {
  const errors = [
    ...intOrPercent(maxUnavailable, `${path}.maxUnavailable`),
    ...intOrPercent(maxSurge, `${path}.maxSurge`),
    ...atMostAll(maxUnavailable, `${path}.maxUnavailable`),
    ...atMostAll(maxSurge, `${path}.maxSurge`),
  ]
  const hasUnavailable = amountOf(maxUnavailable) !== 0
  const hasSurge = amountOf(maxSurge) !== 0
  if (hasUnavailable && hasSurge)
    return [...errors, invalidValue(`${path}.maxSurge`, maxSurge, 'may not be set when maxUnavailable is non-zero')]
  return hasUnavailable || hasSurge
    ? errors
    : [...errors, required(`${path}.maxUnavailable`, 'cannot be 0 when maxSurge is 0')]
}
