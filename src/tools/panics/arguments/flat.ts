/**
 * Assigns the words of Go 1.16 and older to a signature: the memory of arguments and results on the stack, at most ten
 * words.
 */
import { aligned, typeSizeOf } from '../go/memory.ts'
import { type GoType, partsOf, type Signature } from '../go/types.ts'
import { type ArgumentValue, labelOf, meaningOf, type Part } from './argument-value.ts'
import type { Word } from './words.ts'

export interface FlatArguments {
  readonly values: readonly ArgumentValue[]
  /** Number of words of the signature; undefined if a type is unknown. */
  readonly expected?: number
  /** The first type of unknown size: the values from there on cannot be read. */
  readonly unknown?: string
}

export function flatArguments(
  { receiver, parameters, results }: Signature,
  words: readonly Word[],
  wordBytes: number,
): FlatArguments {
  const stack = new Stack(words, wordBytes)
  const values: ArgumentValue[] = []
  const fields = [
    ...(receiver ? [{ role: 'receiver' as const, field: receiver }] : []),
    ...parameters.map((field) => ({ role: 'argument' as const, field })),
    ...results.map((field) => ({ role: 'result' as const, field })),
  ]
  let offset = 0
  let areResults = false
  for (const { role, field } of fields) {
    const room = typeSizeOf(field.type, wordBytes)
    if (!room) return { values, unknown: field.type.text }
    // Results begin at a word boundary.
    if (role === 'result' && !areResults) offset = aligned(offset, wordBytes)
    areResults = role === 'result'
    offset = aligned(offset, room.align)
    values.push({ role, name: field.name, type: field.type.text, parts: partsAt(stack, '', field.type, offset) })
    offset += room.size
  }
  return { values, expected: aligned(offset, wordBytes) / wordBytes }
}

/** Memory of which only some words are known. */
class Stack {
  readonly wordBytes: number
  readonly #words: readonly Word[]

  constructor(words: readonly Word[], wordBytes: number) {
    this.#words = words
    this.wordBytes = wordBytes
  }

  /** Reads a value, which may span several words. Little endian. */
  at(label: string, type: GoType, offset: number, size: number): Part {
    let value = 0n
    for (let byte = 0; byte < size; byte += this.wordBytes) {
      const index = Math.floor((offset + byte) / this.wordBytes)
      const word = this.#words[index]
      if (word?.kind !== 'word')
        return { label, word: this.#words.at(-1)?.kind === 'more' && index >= this.#words.length - 1 ? '...' : '?' }
      value |= word.value << BigInt(byte * 8)
    }
    value = BigInt.asUintN(size * 8, value >> BigInt((offset % this.wordBytes) * 8))
    const meaning = meaningOf(type, value, this.wordBytes)
    return { label, word: `0x${value.toString(16)}`, ...(meaning !== undefined && { meaning }) }
  }
}

function partsAt(stack: Stack, label: string, type: GoType, offset: number): readonly Part[] {
  const parts = partsOf(type)
  if (!parts) return [stack.at(label, type, offset, typeSizeOf(type, stack.wordBytes)?.size ?? stack.wordBytes)]
  if (parts.length === 0) return [{ label, word: '{}', meaning: 'takes no memory' }]
  let at = offset
  return parts.flatMap((one) => {
    const { size, align } = typeSizeOf(one.type, stack.wordBytes) ?? { size: 0, align: 1 }
    at = aligned(at, align)
    const found = partsAt(stack, labelOf(label, one), one.type, at)
    at += size
    return found
  })
}
