/** cel-go's library of lists (`ext.Lists`, version 3): slices, sorting, flattening. Kubernetes has it since 1.34. */
import { compare, equals } from '../../evaluation/equality.ts'
import { typeOf } from '../../evaluation/type-of.ts'
import type { CallEstimate, Estimate, EstimatedNode, Library, Macro } from '../../library.ts'
import { MacroError } from '../../library.ts'
import { declare, fixed, member, overload, plus, scaled, times } from '../../standard/declare.ts'
import type { AstFactory, Expr } from '../../syntax/ast.ts'
import { accumulatorVariable } from '../../syntax/ast.ts'
import { dynType, intType, listType, runtimeTypeName, typeParameter } from '../../types.ts'
import { ArrayList, CelError, CelList, type Value } from '../../values.ts'
import { intOf, listOf } from '../arguments.ts'
import { type Costs, listCost, one, sizeEstimate, sizeOf } from '../costs.ts'
import { typeNameOf } from '../strings/value-text.ts'
import { comparableTypes } from './lists.ts'

/** The cost of creating a list, with `factor` per element. */
const creationCost = (size: number, factor = 1): number => Math.floor(size * factor) + 1 + listCost
const creationEstimate = (size: Estimate, factor = 1): CallEstimate => ({
  cost: plus(plus(scaled(size, factor), one), fixed(listCost)),
  size,
})

const literalOr = (node: EstimatedNode | undefined, otherwise: number): number =>
  typeof node?.literal === 'bigint' ? Number(node.literal) : otherwise
const unknown = 2 ** 64

const resultCost: Costs['cost'] = (_, result) => creationCost(sizeOf(result))

/** `sort` and `distinct` compare all pairs of elements. */
const compareFactor = (kind: string): number => (kind === 'string' || kind === 'bytes' ? 2.1 : 2)
const squared = (size: Estimate): Estimate => times(size, size)

function comparisonCost(list: Value | undefined): number {
  const first = list instanceof CelList && list.size > 0 ? list.at(0) : null
  return creationCost(sizeOf(list) ** 2, typeof first === 'string' || first instanceof Uint8Array ? 2.1 : 2)
}

function slice(list: CelList, from: bigint, to: bigint): CelList {
  const wrong = (why: string): CelError => new CelError(`cannot slice(${from}, ${to}), ${why}`)
  if (from < 0n || to < 0n) throw wrong('negative indexes not supported')
  if (from > to) throw wrong('start index must be less than or equal to end index')
  if (to > list.size) throw wrong(`list is length ${list.size}`)
  return new ArrayList(Array.from({ length: Number(to - from) }, (_, i) => list.at(Number(from) + i)))
}

/**
 * Flattens nested lists up to `depth` levels. Not recursive, because objects from clients may be nested deeper than the
 * stack allows.
 */
function flattened(list: CelList, depth: bigint): readonly Value[] {
  if (depth < 0n) throw new CelError('level must be non-negative')
  const values: Value[] = []
  const open = [{ list, next: 0 }]
  for (let inner = open.at(-1); inner; inner = open.at(-1)) {
    if (inner.next >= inner.list.size) {
      open.pop()
      continue
    }
    const item = inner.list.at(inner.next++)
    if (item instanceof CelList && open.length <= depth) open.push({ list: item, next: 0 })
    else values.push(item)
  }
  return values
}

function distinct(list: CelList): CelList {
  const values: Value[] = []
  for (const item of list) if (!values.some((known) => equals(known, item))) values.push(item)
  return new ArrayList(values)
}

/** Sorts the elements of `list` by `keys`, which has one key per element. */
function sorted(list: CelList, keys: CelList): CelList {
  if (list.size !== keys.size) {
    throw new CelError(
      '@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but got ' +
        `${list.size} and ${keys.size} elements respectively`,
    )
  }
  const pairs = Array.from({ length: list.size }, (_, i) => ({ key: keys.at(i), value: list.at(i) }))
  const first = pairs[0]?.key
  if (first === undefined) return list
  if (!comparableTypes.some(({ kind }) => kind === typeOf(first).kind))
    throw new CelError('list elements must be comparable')
  if (pairs.some(({ key }) => typeNameOf(key) !== typeNameOf(first)))
    throw new CelError('list elements must have the same type')
  return new ArrayList(pairs.sort((a, b) => compare(a.key, b.key) || 0).map(({ value }) => value))
}

/** The numbers 0, 1, 2 …, created when they are read. */
class Range extends CelList {
  readonly size: number
  constructor(size: number) {
    super()
    this.size = size
  }
  at(index: number): Value {
    return BigInt(index)
  }
}

const maxRange = 10_000_000n

function range(size: bigint): CelList {
  if (size < 0n) throw new CelError(`lists.range: size must be non-negative, got ${size}`)
  if (size > maxRange) throw new CelError(`lists.range: size ${size} exceeds maximum allowed (${maxRange})`)
  return new Range(Number(size))
}

const sortedInput = '@__sortBy_input__'

/** `list.sortBy(x, key)`. The list is bound to a name, because it is used twice. */
const sortBy: Macro = {
  name: 'sortBy',
  member: true,
  arguments: 2,
  expand({ target, arguments: [variable, key] }, make) {
    if (target === undefined || variable === undefined || key === undefined) return undefined
    if (target.kind === 'literal' || target.kind === 'map' || target.kind === 'struct')
      throw new MacroError(
        'sortBy can only be applied to a list, identifier, comprehension, call or select expression',
        target,
      )
    if (variable.kind !== 'identifier') throw new MacroError('argument is not an identifier', variable)
    if (variable.name === accumulatorVariable)
      throw new MacroError('iteration variable overwrites accumulator variable', variable)
    return make.fold({
      variable: '#unused',
      range: make.list(),
      accumulator: sortedInput,
      initial: target,
      condition: make.literal(false),
      step: make.identifier(sortedInput),
      result: make.memberCall('@sortByAssociatedKeys', make.identifier(sortedInput), keysOf(variable.name, key, make)),
    })
  },
}

const keysOf = (variable: string, key: Expr, make: AstFactory): Expr =>
  make.fold({
    variable,
    range: make.identifier(sortedInput),
    accumulator: accumulatorVariable,
    initial: make.list(),
    condition: make.literal(true),
    step: make.call('_+_', make.identifier(accumulatorVariable), make.list(key)),
    result: make.identifier(accumulatorVariable),
  })

const list = listType(typeParameter('T'))
const reversed = (of: CelList): CelList => new ArrayList([...of].reverse())

export const listExtensionsLibrary: Library = {
  name: 'cel.lib.ext.lists',
  macros: [sortBy],
  functions: [
    declare(
      'slice',
      member(
        'list_slice',
        [list, intType, intType],
        list,
        (of, from, to) => slice(listOf(of), intOf(from), intOf(to)),
        {
          cost: resultCost,
          estimate: ([of, from, to]) => {
            const size = literalOr(to, sizeEstimate(of).max) - literalOr(from, 0)
            return creationEstimate(fixed(size < 0 ? unknown : size))
          },
        },
      ),
    ),
    declare(
      'flatten',
      member('list_flatten', [listType(list)], list, (of) => new ArrayList(flattened(listOf(of), 1n)), {
        cost: ([of]) => creationCost(sizeOf(of)),
        estimate: ([of]) => creationEstimate(sizeEstimate(of)),
      }),
      member(
        'list_flatten_int',
        [listType(dynType), intType],
        listType(dynType),
        (of, depth) => new ArrayList(flattened(listOf(of), intOf(depth))),
        {
          cost: ([of, depth]) => creationCost(sizeOf(of), Number(depth)),
          estimate: ([of, depth]) => creationEstimate(sizeEstimate(of), literalOr(depth, unknown)),
        },
      ),
    ),
    declare(
      'sort',
      ...comparableTypes.map((type) =>
        member(
          `list_${runtimeTypeName(type)}_sort`,
          [listType(type)],
          listType(type),
          (of) => sorted(listOf(of), listOf(of)),
          {
            cost: ([of]) => comparisonCost(of),
            estimate: ([of]) => creationEstimate(squared(sizeEstimate(of)), compareFactor(type.kind)),
          },
        ),
      ),
    ),
    declare(
      '@sortByAssociatedKeys',
      ...comparableTypes.map((type) =>
        member(
          `list_${runtimeTypeName(type)}_sortByAssociatedKeys`,
          [list, listType(type)],
          list,
          (of, keys) => sorted(listOf(of), listOf(keys)),
          {
            cost: ([, keys]) => comparisonCost(keys),
            estimate: ([, keys]) => creationEstimate(squared(sizeEstimate(keys)), compareFactor(type.kind)),
          },
        ),
      ),
    ),
    declare(
      'lists.range',
      overload('lists_range', [intType], listType(intType), (size) => range(intOf(size)), {
        cost: resultCost,
        estimate: ([size]) => creationEstimate(fixed(literalOr(size, unknown))),
      }),
    ),
    declare(
      'reverse',
      member('list_reverse', [list], list, (of) => reversed(listOf(of)), {
        cost: resultCost,
        estimate: ([of]) => creationEstimate(sizeEstimate(of)),
      }),
    ),
    declare(
      'distinct',
      member('list_distinct', [list], list, (of) => distinct(listOf(of)), {
        cost: ([of]) => comparisonCost(of),
        estimate: ([of]) => creationEstimate(squared(sizeEstimate(of)), 2),
      }),
    ),
  ],
}
