/** Classes of which one may be marked as the default; where several are, the newest one is. */
import { FollowedObjects } from '../../registry/followed/followed-objects.ts'
import type { PluginSources } from '../plugin.ts'

/** A class that is marked as the default. */
interface MarkedClass {
  readonly name: string
  /** RFC 3339 with seconds: as text they are in order. */
  readonly created: string
}

export interface DefaultClass {
  /** The name of the default class; undefined where none is marked. */
  readonly current: string | undefined
  start(): Promise<void>
  stop(): void
}

/**
 * Follows a kind of classes by its key (`storage.k8s.io/v1/storageclasses`). `annotations`: those of which one is
 * `"true"` on a default.
 */
export function newestDefault(
  { registry, find, log }: PluginSources,
  kind: string,
  annotations: readonly string[],
): DefaultClass {
  let current: string | undefined
  const classes = new FollowedObjects<MarkedClass | undefined>({
    registry,
    resource: find(kind),
    read(object) {
      const { metadata } = object.parse()
      if (!annotations.some((annotation) => metadata.annotations?.[annotation] === 'true')) return undefined
      return { name: object.name, created: metadata.creationTimestamp ?? '' }
    },
    changed(value, before) {
      if (value || before) current = newest([...classes.all()])
    },
    log,
  })
  return {
    get current() {
      return current
    },
    start: () => classes.start(),
    stop: () => classes.stop(),
  }
}

/** Of those that are as new, the one whose name comes first. */
function newest(classes: readonly (MarkedClass | undefined)[]): string | undefined {
  let best: MarkedClass | undefined
  for (const one of classes) {
    if (one && (!best || one.created > best.created || (one.created === best.created && one.name < best.name)))
      best = one
  }
  return best?.name
}
