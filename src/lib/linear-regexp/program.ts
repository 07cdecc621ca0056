/** An expression as steps of a machine: what to read next, where the way forks, what has to hold between characters. */
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
  /** Nothing can match that does not begin where the text begins. */
  readonly anchored: boolean
  /** Whether it matters which character stood before. */
  readonly looksAround: boolean
}

/** Repetitions are written out: the most steps that an expression may have. */
const mostSteps = 20_000

export function compile(node: Node, source: string): Program {
  const steps: Step[] = []
  const add = (step: Step): number => {
    if (steps.length >= mostSteps) throw new RegexpSyntaxError('expression too large', source)
    return steps.push(step) - 1
  }
  /**
   * The first step of a node that goes on with `next`. Made from the end to the beginning, so that every step knows
   * what follows.
   */
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

/** The way that is rather gone stands first. */
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
