/** A value of a call with its words, as shown by `t8s explain-panic`. */
import type { Field, GoType } from '../go/types.ts'
import type { Word } from './words.ts'

export interface Part {
  /** `pointer`, `length`, `[0]`, `.name.length`; empty for values of one word. */
  readonly label: string
  /** As printed: `0x7`, `0x7?`; `?` if it was not printed, `...` if Go truncated the list. */
  readonly word: string
  /** Its value according to the type: `7`, `nil`, `true`. */
  readonly meaning?: string
}

export interface ArgumentValue {
  readonly role: 'receiver' | 'argument' | 'result'
  /** Empty for parameters without a name. */
  readonly name: string
  readonly type: string
  readonly parts: readonly Part[]
}

/** Returns the meaning of a word of this type. */
export function meaningOf(type: GoType, word: bigint, wordBytes: number): string | undefined {
  switch (type.kind) {
    case 'pointer':
      if (word === 0n) return 'nil'
      return word < 4096n ? 'not an address' : undefined
    case 'basic':
      return basicMeaning(type.form, type.text, word, type.bytes ?? wordBytes)
    default:
      return undefined
  }
}

/** Larger lengths are stale words. */
const maxLength = 1n << 40n

function basicMeaning(
  form: 'signed' | 'unsigned' | 'float' | 'bool',
  text: string,
  word: bigint,
  bytes: number,
): string {
  const value = BigInt.asUintN(bytes * 8, word)
  switch (form) {
    case 'bool':
      return value === 0n ? 'false' : value === 1n ? 'true' : 'neither true nor false: stale'
    case 'unsigned':
      return `${value}`
    case 'signed': {
      const signed = BigInt.asIntN(bytes * 8, value)
      if ((text === 'length' || text === 'capacity') && (signed < 0n || signed > maxLength))
        return 'too large: stale, or overwritten'
      return `${signed}`
    }
    case 'float': {
      const view = new DataView(new ArrayBuffer(8))
      if (bytes === 4) view.setUint32(0, Number(value))
      else view.setBigUint64(0, value)
      return `${bytes === 4 ? view.getFloat32(0) : view.getFloat64(0)}`
    }
  }
}

/** Creates a part of one word, or of a missing word. */
export function part(label: string, type: GoType, word: Word | undefined, text: string, wordBytes: number): Part {
  const meaning = word?.kind === 'word' ? meaningOf(type, word.value, wordBytes) : undefined
  return { label, word: text, ...(meaning !== undefined && { meaning }) }
}

/** Returns the label of a nested part: `.name`, `in.name length`, `[0].x`. */
export const labelOf = (whole: string, { name }: Pick<Field, 'name'>): string => {
  if (whole === '') return name.replace(/^\./, '')
  return /^[.[]/.test(name) ? `${whole}${name}` : `${whole} ${name}`
}
