/** The interface of usage evaluators: which resources of a quota a kind counts for, and how much an object uses. */

import type { KubeObject } from '../../../../machinery/object.ts'
import type { ResourceList } from '../resource-list.ts'

/** An item of a quota's scopes or scope selector. */
export interface Scope {
  readonly scopeName: string
  readonly operator: string
  readonly values?: readonly string[]
}

export interface Usage {
  /** Returns those of a quota's resources that this evaluator counts. */
  matching(names: readonly string[]): string[]
  /** Returns true if an object is in a scope. Default: false. */
  readonly inScope?: (scope: Scope, object: KubeObject) => boolean
  /** Returns the usage of an object. */
  usage(object: KubeObject): ResourceList
  /** Returns an error message if an object lacks a value that these resources of a quota require. */
  readonly missing?: (names: readonly string[], object: KubeObject) => string | undefined
  /** Returns true if the usage changes over time without a write. */
  readonly changesOverTime?: (object: KubeObject) => boolean
}

/** Evaluates a scope with the operators of label selectors. `present` are the object's values, possibly none. */
export function matchesScope({ operator, values = [] }: Scope, present: readonly string[]): boolean {
  switch (operator) {
    case 'Exists':
      return present.length > 0
    case 'DoesNotExist':
      return present.length === 0
    case 'In':
      return present.some((value) => values.includes(value))
    case 'NotIn':
      return present.length === 0 || present.some((value) => !values.includes(value))
    default:
      return false
  }
}
