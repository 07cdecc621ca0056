/** Random patches of objects, well-formed or nearly so. */
import type { Random } from './random.ts'
import { anything, mutate, randomPath } from './values.ts'

const pointer = (path: readonly (string | number)[]): string =>
  path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')

export const jsonPatch = (r: Random, object: unknown): unknown =>
  r.some(4, () => ({
    op: r.chance(0.95) ? r.pick(['add', 'remove', 'replace', 'move', 'copy', 'test']) : anything(r, 0),
    path: r.chance(0.8)
      ? pointer(randomPath(r, object)) + (r.chance(0.2) ? '/-' : r.chance(0.1) ? '/new' : '')
      : anything(r, 0),
    ...(r.chance(0.8) && { value: anything(r, 3) }),
    ...(r.chance(0.5) && { from: r.chance(0.9) ? pointer(randomPath(r, object)) : anything(r, 0) }),
  }))

/** A mutated part of an object, with directives in it for a strategic merge. */
export function mergePatch(r: Random, object: unknown, directives: boolean): unknown {
  const patch = mutate(r, object) as Record<string, unknown> | null
  if (typeof patch !== 'object' || patch === null) return patch
  if (!Array.isArray(patch))
    for (const key of Object.keys(patch)) if (r.chance(0.4) && key !== 'metadata') delete patch[key]
  if (!directives) return patch
  for (let i = r.below(3); i > 0; i--) {
    let at: unknown = patch
    for (const key of randomPath(r, patch)) {
      const next: unknown = (at as Record<string, unknown>)[key]
      if (typeof next !== 'object' || next === null) break
      at = next
    }
    const directive = r.pick([
      '$patch',
      '$retainKeys',
      '$deleteFromPrimitiveList/finalizers',
      '$setElementOrder/containers',
      '$setElementOrder/x',
      '$patch/x',
    ])
    const value = r.chance(0.7)
      ? r.pick<unknown>(['delete', 'replace', 'merge', ['name'], [{ name: 'a' }]])
      : anything(r, 2)
    if (Array.isArray(at)) at.push({ [directive]: value })
    else (at as Record<string, unknown>)[directive] = value
  }
  return patch
}
