/** Kubernetes' library of regular expressions: `'abc 123'.find('[0-9]+')`. */
import { RegexpSyntaxError, regexpFinder, TooMuchWork } from '../../../lib/linear-regexp/index.ts'
import type { Library } from '../../library.ts'
import { declare, member } from '../../standard/declare.ts'
import { intType, listType, stringType } from '../../types.ts'
import { ArrayList } from '../../values.ts'
import { intOf, readAs, textOf } from '../arguments.ts'
import { type Costs, matching, matchingEstimate, sizeEstimate, sizeOf } from '../costs.ts'

type Finder = ReturnType<typeof regexpFinder>

/** Patterns come from rules, of which there are few, and are used again and again. */
const remembered = new Map<string, Finder>()
const rememberedLimit = 256

function finderOf(pattern: string): Finder {
  const known = remembered.get(pattern)
  if (known) return known
  const finder = readAs(
    RegexpSyntaxError,
    () => regexpFinder(pattern),
    (message) => `Illegal regex: ${message}`,
  )
  if (remembered.size >= rememberedLimit) remembered.clear()
  remembered.set(pattern, finder)
  return finder
}

const findAll = (text: string, pattern: string, limit: number): readonly string[] =>
  readAs(TooMuchWork, () => finderOf(pattern).findAll(text, limit))

/** A limit beyond all numbers of matches is none. */
const countOf = (limit: bigint): number => (limit < 0n || limit > 2n ** 31n ? -1 : Number(limit))

/** At worst every character is found by itself. */
const costs: Costs = {
  cost: ([text, pattern]) => matching(sizeOf(text), sizeOf(pattern)),
  estimate: ([text, pattern]) => ({
    cost: matchingEstimate(sizeEstimate(text), sizeEstimate(pattern)),
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
