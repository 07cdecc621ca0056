/**
 * Words of Go 1.16 and older against a signature: the memory of arguments and then of results, as it lies on the stack,
 * at most ten words.
 */
import { aligned, roomOf } from '../go/memory.ts'
import { type GoType, partsOf, type Signature } from '../go/types.ts'
import { type LaidOut, labelOf, meaningOf, type Part } from './laid-out.ts'
import type { Word } from './words.ts'

export interface FlatArguments {
  readonly values: readonly LaidOut[]
  /** How many words the signature wants; undefined where a type is not known. */
  readonly expected?: number
  /** The type behind which nothing can be told, because nobody knows its size. */
  readonly unknown?: string
}

export function flatArguments(
  { receiver, parameters, results }: Signature,
  words: readonly Word[],
  wordBytes: number,
): FlatArguments {
  const stack = new Stack(words, wordBytes)
  const values: LaidOut[] = []
  const fields = [
    ...(receiver ? [{ role: 'receiver' as const, field: receiver }] : []),
    ...parameters.map((field) => ({ role: 'argument' as const, field })),
    ...results.map((field) => ({ role: 'result' as const, field })),
  ]
  let offset = 0
  let areResults = false
  for (const { role, field } of fields) {
    const room = roomOf(field.type, wordBytes)
    if (!room) return { values, unknown: field.type.text }
    // Results begin at a word of their own.
    if (role === 'result' && !areResults) offset = aligned(offset, wordBytes)
    areResults = role === 'result'
    offset = aligned(offset, room.align)
    values.push({ role, name: field.name, type: field.type.text, parts: partsAt(stack, '', field.type, offset) })
    offset += room.size
  }
  return { values, expected: aligned(offset, wordBytes) / wordBytes }
}

/** Memory that is partly known. */
class Stack {
  readonly wordBytes: number
  readonly #words: readonly Word[]

  constructor(words: readonly Word[], wordBytes: number) {
    this.#words = words
    this.wordBytes = wordBytes
  }

  /** Values of several words are put together; little endian. */
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
  if (!parts) return [stack.at(label, type, offset, roomOf(type, stack.wordBytes)?.size ?? stack.wordBytes)]
  if (parts.length === 0) return [{ label, word: '{}', meaning: 'takes no memory' }]
  let at = offset
  return parts.flatMap((one) => {
    const { size, align } = roomOf(one.type, stack.wordBytes) ?? { size: 0, align: 1 }
    at = aligned(at, align)
    const found = partsAt(stack, labelOf(label, one), one.type, at)
    at += size
    return found
  })
}
