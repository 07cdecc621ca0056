/** Counts objects, as `count/widgets.example.com`, and for some core kinds also under an older name. */
import type { GroupNamed } from '../../../../machinery/status-error.ts'
import { qualifiedName } from '../../../../machinery/status-error.ts'
import type { Usage } from './usage.ts'

const olderNames = new Set(['configmaps', 'resourcequotas', 'replicationcontrollers', 'secrets'])

/** Returns for example `count/deployments.apps`. */
export const countName = (resource: GroupNamed): string => `count/${qualifiedName(resource)}`

export function objectCount(resource: GroupNamed): Usage {
  const count = countName(resource)
  const names = resource.group === '' && olderNames.has(resource.name) ? [count, resource.name] : [count]
  const usage = Object.fromEntries(names.map((name) => [name, '1']))
  return {
    matching: (wanted) => wanted.filter((name) => names.includes(name)),
    usage: () => usage,
  }
}
