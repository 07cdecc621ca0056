/**
 * A bound for how much validation says about one object. Rules are plain functions that return lists, many thousands of
 * them; a body of 3 MiB can hold so many faults that telling them takes minutes and gigabytes. All faults come from the
 * factories of `field-error.ts`, so they are counted there: whoever validates says `limitFaults`, and rules end early
 * when it is enough.
 */
import type { FieldError } from './field-error.ts'

/** More than anybody reads. */
export const maxFaults = 1000
/**
 * Of all messages together: some show whole values, which may be large themselves. No fault follows the one that goes
 * beyond.
 */
const maxCharacters = 256 * 1024

interface Count {
  readonly faults: FieldError[]
  characters: number
}

/** Thrown through the rules when it is enough. */
class TooManyFaults extends Error {}

/** Validation is synchronous: there is one count at a time. */
let current: Count | undefined

/** Called for every field error that is made. */
export function noteFault(fault: FieldError): void {
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

/** What the rules find; of an object with too many faults, the first of them, in the order in which they were found. */
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
