/** What the standard library does with strings, and `size`. */

import { type LinearRegexp, linearRegexp, RegexpSyntaxError } from '../../lib/linear-regexp/index.ts'
import { sizeOf } from '../evaluation/sizes.ts'
import type { FunctionDeclaration, Overload } from '../library.ts'
import { boolType, bytesType, intType, listType, mapType, stringType, typeParameter } from '../types.ts'
import { CelError, type Value } from '../values.ts'
import {
  declare,
  fixed,
  member,
  overload,
  perCharacter,
  perPatternCharacter,
  plus,
  scaled,
  sizeAt,
  times,
} from './declare.ts'

const characters = (value: Value | undefined, factor = perCharacter): number =>
  Math.ceil(sizeOf(value ?? null) * factor)

/** At run time the text is counted, beforehand the argument, as in cel-go. */
const ends: Pick<Overload, 'cost' | 'estimate'> = {
  cost: ([text]) => characters(text),
  estimate: (args) => ({ cost: scaled(sizeAt(args, 1), perCharacter) }),
}

const searching: Pick<Overload, 'cost' | 'estimate'> = {
  cost: ([text, part]) => characters(text) * characters(part),
  estimate: (args) => ({ cost: times(scaled(sizeAt(args, 0), perCharacter), scaled(sizeAt(args, 1), perCharacter)) }),
}

const matching: Pick<Overload, 'cost' | 'estimate'> = {
  cost: ([text, pattern]) =>
    Math.ceil((1 + sizeOf(text ?? null)) * perCharacter) * characters(pattern, perPatternCharacter),
  estimate: (args) => ({
    cost: times(scaled(plus(sizeAt(args, 0), fixed(1)), perCharacter), scaled(sizeAt(args, 1), perPatternCharacter)),
  }),
}

const remembered = new Map<string, LinearRegexp>()
/** Patterns stand in rules; more than this are made up on the way. */
const rememberedLimit = 512

/** An expression in RE2's syntax, matched in linear time. Throws CelError. */
export function regexp(pattern: string): LinearRegexp {
  const known = remembered.get(pattern)
  if (known) return known
  try {
    const made = linearRegexp(pattern)
    if (remembered.size >= rememberedLimit) remembered.clear()
    remembered.set(pattern, made)
    return made
  } catch (error) {
    if (error instanceof RegexpSyntaxError) throw new CelError(error.message)
    throw error
  }
}

const matches = (text: string, pattern: string): boolean => regexp(pattern).test(text)
const size = (value: Value): bigint => BigInt(sizeOf(value))

const sized = [
  ['bytes', bytesType],
  ['list', listType(typeParameter('A'))],
  ['map', mapType(typeParameter('A'), typeParameter('B'))],
  ['string', stringType],
] as const

export const strings: readonly FunctionDeclaration[] = [
  declare(
    'size',
    ...sized.map(([name, type]) => overload(`size_${name}`, [type], intType, size)),
    ...sized.map(([name, type]) => member(`${name}_size`, [type], intType, size)),
  ),
  declare(
    'contains',
    member(
      'contains_string',
      [stringType, stringType],
      boolType,
      (text: string, part: string) => text.includes(part),
      searching,
    ),
  ),
  declare(
    'startsWith',
    member(
      'starts_with_string',
      [stringType, stringType],
      boolType,
      (text: string, part: string) => text.startsWith(part),
      ends,
    ),
  ),
  declare(
    'endsWith',
    member(
      'ends_with_string',
      [stringType, stringType],
      boolType,
      (text: string, part: string) => text.endsWith(part),
      ends,
    ),
  ),
  declare(
    'matches',
    // Upstream's estimate knows the member only: definitions have rules of this form on strings of any length.
    overload('matches', [stringType, stringType], boolType, matches, { cost: matching.cost }),
    member('matches_string', [stringType, stringType], boolType, matches, matching),
  ),
]
