/** cel-go's library of sets (`ext.Sets`): compares lists without regard to order and duplicates. */
import { equals } from '../../evaluation/equality.ts'
import type { Library } from '../../library.ts'
import { declare, overload, plus, scaled, times } from '../../standard/declare.ts'
import { boolType, listType, typeParameter } from '../../types.ts'
import type { CelList, Value } from '../../values.ts'
import { listOf } from '../arguments.ts'
import { type Costs, one, sizeEstimate, sizeOf } from '../costs.ts'

/** The cost of comparing all pairs of elements, `rounds` times. */
const pairwiseCosts = (rounds: number): Costs => ({
  cost: ([a, b]) => 1 + sizeOf(a) * sizeOf(b) * rounds,
  estimate: ([a, b]) => ({ cost: plus(scaled(times(sizeEstimate(a), sizeEstimate(b)), rounds), one) }),
})

function has(list: CelList, wanted: Value): boolean {
  for (const item of list) if (equals(item, wanted)) return true
  return false
}

function contains(list: CelList, wanted: CelList): boolean {
  for (const item of wanted) if (!has(list, item)) return false
  return true
}

function intersects(a: CelList, b: CelList): boolean {
  for (const item of a) if (has(b, item)) return true
  return false
}

const lists = [listType(typeParameter('T')), listType(typeParameter('T'))]

export const setsLibrary: Library = {
  name: 'cel.lib.ext.sets',
  functions: [
    declare(
      'sets.contains',
      overload('list_sets_contains_list', lists, boolType, (a, b) => contains(listOf(a), listOf(b)), pairwiseCosts(1)),
    ),
    declare(
      'sets.intersects',
      overload(
        'list_sets_intersects_list',
        lists,
        boolType,
        (a, b) => intersects(listOf(a), listOf(b)),
        pairwiseCosts(1),
      ),
    ),
    declare(
      'sets.equivalent',
      overload(
        'list_sets_equivalent_list',
        lists,
        boolType,
        (a, b) => contains(listOf(a), listOf(b)) && contains(listOf(b), listOf(a)),
        pairwiseCosts(2),
      ),
    ),
  ],
}
