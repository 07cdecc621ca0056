/** The standard functions of strings, and `size`. */

import { linearRegexp, RegexpSyntaxError } from '../../lib/linear-regexp/index.ts'
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

/** The cost depends on the text at run time, but on the argument in estimates, as in cel-go. */
const affixCosts: Pick<Overload, 'cost' | 'estimate'> = {
  cost: ([text]) => characters(text),
  estimate: (args) => ({ cost: scaled(sizeAt(args, 1), perCharacter) }),
}

const containsCosts: Pick<Overload, 'cost' | 'estimate'> = {
  cost: ([text, part]) => characters(text) * characters(part),
  estimate: (args) => ({ cost: times(scaled(sizeAt(args, 0), perCharacter), scaled(sizeAt(args, 1), perCharacter)) }),
}

const matchCosts: Pick<Overload, 'cost' | 'estimate'> = {
  cost: ([text, pattern]) =>
    Math.ceil((1 + sizeOf(text ?? null)) * perCharacter) * characters(pattern, perPatternCharacter),
  estimate: (args) => ({
    cost: times(scaled(plus(sizeAt(args, 0), fixed(1)), perCharacter), scaled(sizeAt(args, 1), perPatternCharacter)),
  }),
}

/** Matches an expression in RE2's syntax, in linear time. Throws CelError for an invalid one. */
function matches(text: string, pattern: string): boolean {
  try {
    return linearRegexp(pattern).test(text)
  } catch (error) {
    if (error instanceof RegexpSyntaxError) throw new CelError(error.message)
    throw error
  }
}

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
      containsCosts,
    ),
  ),
  declare(
    'startsWith',
    member(
      'starts_with_string',
      [stringType, stringType],
      boolType,
      (text: string, part: string) => text.startsWith(part),
      affixCosts,
    ),
  ),
  declare(
    'endsWith',
    member(
      'ends_with_string',
      [stringType, stringType],
      boolType,
      (text: string, part: string) => text.endsWith(part),
      affixCosts,
    ),
  ),
  declare(
    'matches',
    // Upstream estimates the member only, so definitions may use this form for strings of any length.
    overload('matches', [stringType, stringType], boolType, matches, { cost: matchCosts.cost }),
    member('matches_string', [stringType, stringType], boolType, matches, matchCosts),
  ),
]
