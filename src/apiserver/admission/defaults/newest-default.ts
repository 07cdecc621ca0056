/** The default class of a kind. If several are marked as the default, the newest one is used. */
import { Informer } from '../../registry/informer.ts'
import type { PluginSources } from '../plugin.ts'

/** A class marked as the default. */
interface MarkedClass {
  readonly name: string
  /** RFC 3339 with seconds, so that it sorts as text. */
  readonly created: string
}

export interface DefaultClass {
  /** The name of the default class; undefined if none is marked. */
  readonly current: string | undefined
  start(): Promise<void>
  stop(): void
}

/**
 * Watches all classes of a kind, given by its key (`storage.k8s.io/v1/storageclasses`). A class is a default if one of
 * `annotations` is `"true"`.
 */
export function newestDefault(
  { registry, find, log }: PluginSources,
  kind: string,
  annotations: readonly string[],
): DefaultClass {
  let current: string | undefined
  const classes = new Informer<MarkedClass | undefined>({
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

/** Of equally new classes, the first by name. */
function newest(classes: readonly (MarkedClass | undefined)[]): string | undefined {
  let best: MarkedClass | undefined
  for (const one of classes) {
    if (one && (!best || one.created > best.created || (one.created === best.created && one.name < best.name)))
      best = one
  }
  return best?.name
}
