/** Validation of annotations that a pod passes to the signer: their keys have a domain prefix (KEP-4317). */
import { domainPrefixedPathFaults } from '../../../machinery/validation/domain-prefixed-path.ts'
import { type FieldError, tooLong } from '../../../machinery/validation/field-error.ts'

/** The limit for the sum of all keys and values. */
const maxBytes = 256 * 1024

export function userAnnotations(annotations: Readonly<Record<string, string>>, path: string): readonly FieldError[] {
  const entries = Object.entries(annotations)
  const bytes = entries.reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0)
  return [
    ...entries.flatMap(([key]) => domainPrefixedPathFaults(key, path)),
    ...(bytes > maxBytes ? [tooLong(path, maxBytes)] : []),
  ]
}
