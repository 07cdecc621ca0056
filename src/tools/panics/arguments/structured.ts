/**
 * Assigns the words of Go 1.17 and newer to a signature: each value has its own words, several of one value are in
 * braces. Results are not printed.
 */
import { type GoType, partsOf, type Signature } from '../go/types.ts'
import { type ArgumentValue, labelOf, type Part, part } from './argument-value.ts'
import { type Word, wordText } from './words.ts'

export function structuredArguments(
  { receiver, parameters }: Signature,
  words: readonly Word[],
  wordBytes: number,
): readonly ArgumentValue[] {
  const values = [
    ...(receiver ? [{ role: 'receiver' as const, ...receiver }] : []),
    ...parameters.map((field) => ({ role: 'argument' as const, ...field })),
  ]
  const rest = words.at(-1)?.kind === 'more' ? '...' : '?'
  return values.map(({ role, name, type }, index) => {
    const word = words[index]
    return {
      role,
      name,
      type: type.text,
      parts: partsOfValue('', type, word?.kind === 'more' ? undefined : word, rest, wordBytes),
    }
  })
}

/** `rest` is shown for missing words. */
function partsOfValue(
  label: string,
  type: GoType,
  word: Word | undefined,
  rest: string,
  wordBytes: number,
): readonly Part[] {
  const parts = partsOf(type)
  if (word === undefined)
    return parts?.length
      ? parts.flatMap((one) => partsOfValue(labelOf(label, one), one.type, undefined, rest, wordBytes))
      : [{ label, word: rest }]
  if (word.kind !== 'group') return [part(label, type, word, word.kind === 'more' ? '...' : wordText(word), wordBytes)]
  if (word.words.length === 0) return [{ label, word: '{}', meaning: 'takes no memory' }]
  const inner = word.words.at(-1)?.kind === 'more' ? '...' : rest
  if (!parts) return unknownParts(label, word.words)
  return parts.flatMap((one, index) => {
    const given = word.words[index]
    return partsOfValue(labelOf(label, one), one.type, given?.kind === 'more' ? undefined : given, inner, wordBytes)
  })
}

/** Lists the words of a value of unknown type. */
function unknownParts(label: string, words: readonly Word[]): readonly Part[] {
  const guess = words.every(({ kind }) => kind === 'word')
    ? { 2: 'a string, an interface or a struct of two', 3: 'a slice or a struct of three' }[words.length]
    : undefined
  return words.map((word, index) => ({
    label: labelOf(label, { name: `word ${index + 1}` }),
    word: wordText(word),
    ...(guess && index === 0 && { meaning: guess }),
  }))
}
