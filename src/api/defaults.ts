/** Compiles the defaults of a resource definition into one function: paths are parsed once, not for each object. */
import type { KubeObject } from '../machinery/object.ts'
import type { Defaults } from './resource.ts'

type Container = Record<string, unknown>
type Setter = (parent: Container) => void

/** Returns one function that applies all defaults in their order. */
export function compileDefaults(defaults: readonly Defaults<KubeObject>[]): (object: KubeObject) => void {
  const steps = defaults.flatMap((entry): Setter[] =>
    typeof entry === 'function'
      ? [(object) => entry(object as unknown as KubeObject)]
      : Object.entries(entry).map(([path, value]) => setter(path.split('.'), value)),
  )
  if (steps.length === 1) return steps[0]! as unknown as (object: KubeObject) => void
  return (object) => {
    for (const step of steps) step(object as unknown as Container)
  }
}

/** Returns a factory of the value that copies containers, so that objects never share one. */
const valueFactory = (value: unknown): (() => unknown) =>
  typeof value === 'object' && value !== null ? () => structuredClone(value) : () => value

/** `a.b` sets b only if a exists; `a!.b` creates a; `a[].b` sets b in each item of a. */
function setter([segment = '', ...rest]: readonly string[], value: unknown): Setter {
  const createsParent = segment.endsWith('!')
  const each = segment.endsWith('[]')
  const key = createsParent ? segment.slice(0, -1) : each ? segment.slice(0, -2) : segment
  if (rest.length === 0) {
    const next = valueFactory(value)
    return (parent: Container) => {
      parent[key] ??= next()
    }
  }
  const inner = setter(rest, value)
  if (each) {
    return (parent: Container) => {
      for (const item of (parent[key] as Container[] | undefined) ?? []) inner(item)
    }
  }
  return (parent: Container) => {
    if (createsParent) parent[key] ??= {}
    const child = parent[key] as Container | undefined
    if (child !== undefined) inner(child)
  }
}
