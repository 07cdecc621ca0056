/** Kubernetes' library of regular expressions: `'abc 123'.find('[0-9]+')`. */
import { type Finder, RegexpSyntaxError, regexpFinder, TooMuchWork } from '../../../lib/linear-regexp/index.ts'
import type { Library } from '../../library.ts'
import { declare, member } from '../../standard/declare.ts'
import { intType, listType, stringType } from '../../types.ts'
import { ArrayList } from '../../values.ts'
import { intOf, rethrowAsCelError, textOf } from '../arguments.ts'
import { type Costs, matchCost, matchEstimate, sizeEstimate, sizeOf } from '../costs.ts'

const finderOf = (pattern: string): Finder =>
  rethrowAsCelError(
    RegexpSyntaxError,
    () => regexpFinder(pattern),
    (message) => `Illegal regex: ${message}`,
  )

const findAll = (text: string, pattern: string, limit: number): readonly string[] =>
  rethrowAsCelError(TooMuchWork, () => finderOf(pattern).findAll(text, limit))

/** Converts the limit. One beyond any number of matches is no limit (-1). */
const countOf = (limit: bigint): number => (limit < 0n || limit > 2n ** 31n ? -1 : Number(limit))

/** In the worst case, every character is a match. */
const costs: Costs = {
  cost: ([text, pattern]) => matchCost(sizeOf(text), sizeOf(pattern)),
  estimate: ([text, pattern]) => ({
    cost: matchEstimate(sizeEstimate(text), sizeEstimate(pattern)),
    size: { min: 0, max: sizeEstimate(text).max },
  }),
}

export const regexLibrary: Library = {
  name: 'kubernetes.regex',
  functions: [
    declare(
      'find',
      member(
        'string_find_string',
        [stringType, stringType],
        stringType,
        (text, pattern) => findAll(textOf(text), textOf(pattern), 1)[0] ?? '',
        costs,
      ),
    ),
    declare(
      'findAll',
      member(
        'string_find_all_string',
        [stringType, stringType],
        listType(stringType),
        (text, pattern) => new ArrayList(findAll(textOf(text), textOf(pattern), -1)),
        costs,
      ),
      member(
        'string_find_all_string_int',
        [stringType, stringType, intType],
        listType(stringType),
        (text, pattern, limit) => new ArrayList(findAll(textOf(text), textOf(pattern), countOf(intOf(limit)))),
        costs,
      ),
    ),
  ],
}
