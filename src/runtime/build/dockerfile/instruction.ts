/** Instructions of a Dockerfile, and the forms of their arguments. */
import { buildError, type Place } from './build-error.ts'
import { expandWord, splitWords, type Variables, WordError } from './expand-words.ts'
import type { HereDocument } from './logical-lines.ts'

export interface Instruction {
  readonly place: Place
  /** In capitals: `COPY`. */
  readonly keyword: string
  /** Values of flags such as `--chown`, with variables; empty for those without a value. */
  readonly flags: ReadonlyMap<string, string>
  /** The text after the flags. */
  readonly rest: string
  readonly documents: readonly HereDocument[]
  readonly escapeCharacter: string
}

/** The instruction in one line, as steps show it. */
export function textOf({ keyword, flags, rest }: Instruction): string {
  const words = [...flags].map(([name, value]) => `--${name}${value && `=${value}`}`)
  return [keyword, ...words, rest.replace(/\s+/g, ' ')].join(' ')
}

/** A JSON list of strings; undefined for another form. */
export function jsonWords(rest: string): string[] | undefined {
  if (!rest.startsWith('[')) return undefined
  try {
    const value: unknown = JSON.parse(rest)
    return Array.isArray(value) && value.every((word) => typeof word === 'string') ? value : undefined
  } catch {
    return undefined
  }
}

/** The expanded words of a list, in either form. Throws an ImageError. */
export function expandedWords(instruction: Instruction, variables: Variables): string[] {
  const words = jsonWords(instruction.rest) ?? splitWords(instruction.rest, instruction.escapeCharacter)
  return words.map((word) => expanded(instruction, word, variables))
}

/** Throws an ImageError with the place. */
export function expanded({ place, escapeCharacter }: Instruction, word: string, variables: Variables): string {
  try {
    return expandWord(word, variables, escapeCharacter)
  } catch (error) {
    if (error instanceof WordError) throw buildError(place, error.message, error)
    throw error
  }
}

/** An expanded flag; undefined without it. */
export function flagOf(instruction: Instruction, name: string, variables: Variables): string | undefined {
  const value = instruction.flags.get(name)
  return value === undefined ? undefined : expanded(instruction, value, variables)
}

/** The pairs of `KEY=VALUE …`, or of `KEY VALUE` with blanks. Variables have the values before the instruction. */
export function assignments(instruction: Instruction, variables: Variables): [key: string, value: string][] {
  const { rest, escapeCharacter, place, keyword } = instruction
  const words = splitWords(rest, escapeCharacter)
  const [first = ''] = words
  if (!first.includes('=')) {
    const value = rest.slice(first.length).trim()
    if (value === '') throw buildError(place, `${keyword} needs a value: ${keyword} ${first}=VALUE`)
    return [[expanded(instruction, first, variables), expanded(instruction, value, variables)]]
  }
  return words.map((word) => {
    const equals = word.indexOf('=')
    const key = equals < 1 ? '' : expanded(instruction, word.slice(0, equals), variables)
    if (key === '') throw buildError(place, `${JSON.stringify(word)} is no assignment: write KEY=VALUE`)
    return [key, expanded(instruction, word.slice(equals + 1), variables)]
  })
}
