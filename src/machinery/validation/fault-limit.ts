/**
 * The limit of field errors for one object. A body of 3 MiB can have so many errors that listing them takes minutes and
 * gigabytes. Rules are thousands of plain functions that return lists, but all field errors come from the factories of
 * `field-error.ts`, which count them. Validation inside `limitFaults` stops at the limit.
 */
import type { FieldError } from './field-error.ts'

/** The limit of errors, more than anybody reads. */
export const maxFaults = 1000
/**
 * The limit for the length of all messages together: some show whole values, which may be large. The error that exceeds
 * it is the last.
 */
const maxCharacters = 256 * 1024

interface Count {
  readonly faults: FieldError[]
  characters: number
}

/** Thrown to leave the rules at the limit. */
class TooManyFaults extends Error {}

/** The count of the current validation. Validation is synchronous, so there is only one. */
let current: Count | undefined

/** Counts a field error. Called for every new one. */
export function countFault(fault: FieldError): void {
  if (!current) return
  if (current.faults.length >= maxFaults || current.characters > maxCharacters) throw new TooManyFaults()
  current.faults.push(fault)
  current.characters += fault.message.length + fault.field.length
}

const andMore = (found: number): FieldError => ({
  reason: 'FieldValueTooMany',
  field: '<nil>',
  message: `Too many: ${found} errors: correct them to have the rest of the object checked`,
})

/** Returns the errors that the rules find. Beyond the limit returns the first ones in the order of their detection. */
export function limitFaults(rules: () => readonly FieldError[]): readonly FieldError[] {
  const outer = current
  const count: Count = { faults: [], characters: 0 }
  current = count
  try {
    return rules()
  } catch (error) {
    if (!(error instanceof TooManyFaults)) throw error
    return [...count.faults, andMore(count.faults.length)]
  } finally {
    current = outer
  }
}
