/** Turns the defaults of a definition into one function. Paths are taken apart once, not once an object. */
import type { KubeObject } from '../machinery/object.ts'
import type { Defaults } from './resource.ts'

type Container = Record<string, unknown>
type Setter = (parent: Container) => void

/** One function that applies all defaults in their order. */
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

/** A value that may be put into many objects: containers are copied. */
const fresh = (value: unknown): (() => unknown) =>
  typeof value === 'object' && value !== null ? () => structuredClone(value) : () => value

/** `a.b` needs a; `a!.b` makes it; `a[].b` goes through all items. */
function setter([segment = '', ...rest]: readonly string[], value: unknown): Setter {
  const make = segment.endsWith('!')
  const each = segment.endsWith('[]')
  const key = make ? segment.slice(0, -1) : each ? segment.slice(0, -2) : segment
  if (rest.length === 0) {
    const next = fresh(value)
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
    if (make) parent[key] ??= {}
    const child = parent[key] as Container | undefined
    if (child !== undefined) inner(child)
  }
}
