/**
 * How a kind of objects is counted for quotas: which resources of a quota it is about, and how much of them an object
 * uses.
 */

import type { KubeObject } from '../../../../machinery/object.ts'
import type { ResourceList } from '../resource-list.ts'

/** An item of a quota's scopes or scope selector. */
export interface Scope {
  readonly scopeName: string
  readonly operator: string
  readonly values?: readonly string[]
}

export interface Usage {
  /** Those of a quota's resources that this is about. */
  matching(names: readonly string[]): string[]
  /** Whether an object is in a scope; nothing is where this is missing. */
  readonly inScope?: (scope: Scope, object: KubeObject) => boolean
  /** What an object uses. */
  usage(object: KubeObject): ResourceList
  /** Why an object cannot be counted for these resources of a quota. */
  readonly missing?: (names: readonly string[], object: KubeObject) => string | undefined
  /** Whether what is used changes with time alone. */
  readonly fleeting?: (object: KubeObject) => boolean
}

/** The operators of scopes are those of label selectors. `values` are what the object has; none, one or several. */
export function scopeHolds({ operator, values = [] }: Scope, present: readonly string[]): boolean {
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
