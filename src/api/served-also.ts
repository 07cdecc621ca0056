/** Other versions of a resource: the same objects under another version's name. */
import type { KubeObject } from '../machinery/object.ts'
import { type Defaults, type ResourceDefinition, resourceKey } from './resource.ts'

/** Both functions may change the object that they get. */
export interface Conversion {
  readonly toStorage: (object: KubeObject) => KubeObject
  readonly fromStorage: (object: KubeObject) => KubeObject
}

/**
 * The resource in another version, beta or alpha, stored as the given one and off unless asked for. Where the shapes
 * differ, `conversion` tells how; otherwise objects change their apiVersion only.
 */
export function servedAlso(
  storage: ResourceDefinition,
  version: string,
  model: string,
  conversion?: Conversion,
): ResourceDefinition {
  const shared = {
    ...storage,
    version,
    model,
    storedAs: { resource: resourceKey(storage), ...conversion },
    onByDefault: false,
  }
  return conversion ? { ...shared, ...inOtherShape(storage, conversion) } : shared
}

/** Defaults and rules know the stored shape only: they see a converted copy. */
function inOtherShape(
  { defaults, validate }: ResourceDefinition,
  { toStorage, fromStorage }: Conversion,
): Pick<ResourceDefinition, 'defaults' | 'validate'> {
  const stored = (object: KubeObject): KubeObject => toStorage(structuredClone(object))
  return {
    defaults: defaults?.map((some): Defaults<KubeObject> => {
      if (typeof some !== 'function') return some
      return (object) => {
        const copy = stored(object)
        some(copy)
        // biome-ignore lint/plugin: a kind's fields, no dictionary
        Object.assign(object, fromStorage(copy))
      }
    }),
    validate: {
      spec: validate?.spec && ((object) => validate.spec?.(stored(object)) ?? []),
      object: validate?.object && ((object, old) => validate.object?.(stored(object), old && stored(old)) ?? []),
      update: validate?.update && ((object, old) => validate.update?.(stored(object), stored(old)) ?? []),
      status: validate?.status && ((object, old) => validate.status?.(stored(object), stored(old)) ?? []),
    },
  }
}
