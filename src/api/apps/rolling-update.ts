/** Rules for numbers of pods that may be missing or too many while they are replaced. */
import { type FieldError, invalidValue, required } from '../../machinery/validation/field-error.ts'
import { all, atMostAll, intOrPercent, percentOf, valid } from '../../machinery/validation/field-rules.ts'

type IntOrString = number | string | undefined

/** The number, or the number of the percentage; 0 for what is neither. */
export const amountOf = (value: IntOrString): number =>
  percentOf(value) ?? (typeof value === 'number' ? value : Number.parseInt(value ?? '0', 10) || 0)

/** For Deployments: something has to give. */
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

/** For DaemonSets: either some are missing or some are too many, not both. */
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
  const missing = amountOf(maxUnavailable) !== 0
  const more = amountOf(maxSurge) !== 0
  if (missing && more)
    return [...errors, invalidValue(`${path}.maxSurge`, maxSurge, 'may not be set when maxUnavailable is non-zero')]
  return missing || more ? errors : [...errors, required(`${path}.maxUnavailable`, 'cannot be 0 when maxSurge is 0')]
}
