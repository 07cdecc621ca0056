/** The state of one decoding, and the errors at its current path. */
import type { FieldType, StructType } from '../../schema.ts'
import { conversionFault, type GoKind } from '../conversion.ts'
import { DecodeError } from '../decode-error.ts'
import type { KeyPath, PathElement } from '../duplicate-keys.ts'
import { goValue } from '../go-type.ts'
import { maxValues, tooManyValues } from '../limits/value-limit.ts'

/** The state of one decoding. */
export interface Run {
  readonly root: StructType
  /** The current path, from which error messages are created. */
  readonly path: PathElement[]
  readonly unknown: string[]
  /** True if keys are counted, which detects duplicate keys cheaply. */
  readonly counting: boolean
  /** True if the input may be changed and become the result. Otherwise all parts that may change later are copied. */
  readonly owned: boolean
  keys: number
  items: number
}

/** Returns the decoded value, or undefined if it is omitted. Throws DecodeError. */
export type Decoder = (value: unknown, run: Run) => unknown

/** The place of a value in a type, for errors. */
export interface Place {
  /** Go's name of the innermost struct. */
  readonly struct: string
  /** Go's name of the value's type, if the schema does not have it. */
  readonly named?: string
}

/** An object of JSON. */
export type Plain = Record<string, unknown>

/** Throws the error for a wrong type. `kind` is undefined if Go's type decodes its own JSON. */
export function mismatch(
  value: unknown,
  type: string,
  kind: GoKind | undefined,
  { struct }: Place,
  run: Run,
  shown = goValue(value),
): never {
  const names = goPath(run.root, run.path)
  const message =
    `json: cannot unmarshal ${shown} into Go ` +
    `${names.length ? `struct field ${struct}.${names.join('.')}` : 'value'} of type ${type}`
  throw new DecodeError(message, { conversion: conversionFault(value, kind, type) })
}

/** Returns the path of a value as Go names it, with the names of embedded structs (`volumes.VolumeSource.fc`). */
function goPath(root: StructType, path: KeyPath): string[] {
  let type: FieldType | undefined = root
  return path.flatMap((element): string[] => {
    if (typeof element !== 'string') return []
    while (type?.kind === 'array') type = type.items
    if (type?.kind === 'map') type = type.values
    const struct: StructType | undefined = type?.kind === 'struct' ? type : undefined
    type = struct?.fields.get(element)?.type
    return [...(struct?.embeddedIn?.(element) ?? []), element]
  })
}

/** Throws 413 for too many values: the result of a patch may be larger than any body. */
export function checkSize({ keys, items }: Run): void {
  if (keys + items > maxValues) throw tooManyValues()
}
