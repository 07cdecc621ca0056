/** Compiles an expression to steps: read a character, fork, check an assertion, match. */
import { RegexpSyntaxError } from './parse.ts'
import type { Assertion, CharClass, Node } from './syntax-tree.ts'

export type Step =
  | { readonly kind: 'read'; readonly chars: CharClass; next: number }
  | { readonly kind: 'fork'; readonly ways: number[] }
  | { readonly kind: 'assert'; readonly assertion: Assertion; next: number }
  | { readonly kind: 'match' }

export interface Program {
  readonly steps: readonly Step[]
  readonly start: number
  /** True if a match must begin at the start of the text. */
  readonly anchored: boolean
  /** True if the previous character matters. */
  readonly looksAround: boolean
}

/** Limit of steps; repetitions are expanded. */
const maxSteps = 20_000

export function compile(node: Node, source: string): Program {
  const steps: Step[] = []
  const add = (step: Step): number => {
    if (steps.length >= maxSteps) throw new RegexpSyntaxError('expression too large', source)
    return steps.push(step) - 1
  }
  /** Returns the first step of a node followed by `next`. Built from the end, so that the next step is known. */
  const emit = (it: Node, next: number): number => {
    switch (it.kind) {
      case 'empty':
        return next
      case 'chars':
        return add({ kind: 'read', chars: it.chars, next })
      case 'assertion':
        return add({ kind: 'assert', assertion: it.assertion, next })
      case 'sequence':
        return it.nodes.reduceRight((after, part) => emit(part, after), next)
      case 'choice':
        return add({ kind: 'fork', ways: it.nodes.map((way) => emit(way, next)) })
      case 'repeat': {
        let after = next
        if (it.max === Infinity) {
          const ways: number[] = []
          const loop = add({ kind: 'fork', ways })
          const body = emit(it.node, loop)
          ways.push(...preferred(it.lazy, body, next))
          after = loop
        } else
          for (let i = it.min; i < it.max; i++)
            after = add({ kind: 'fork', ways: preferred(it.lazy, emit(it.node, after), next) })
        for (let i = 0; i < it.min; i++) after = emit(it.node, after)
        return after
      }
      default:
        return it satisfies never
    }
  }
  const start = emit(node, add({ kind: 'match' }))
  return { steps, start, anchored: beginsAtStart(node), looksAround: steps.some(({ kind }) => kind === 'assert') }
}

/** Orders the branches by preference. */
const preferred = (lazy: boolean, again: number, onwards: number): number[] =>
  lazy ? [onwards, again] : [again, onwards]

function beginsAtStart(node: Node): boolean {
  switch (node.kind) {
    case 'assertion':
      return node.assertion === 'text-start'
    case 'sequence':
      return node.nodes[0] !== undefined && beginsAtStart(node.nodes[0])
    case 'choice':
      return node.nodes.every(beginsAtStart)
    default:
      return false
  }
}
