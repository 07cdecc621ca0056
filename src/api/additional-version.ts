/** Additional versions of a resource: the same stored objects, served in another version. */
import type { KubeObject } from '../machinery/object.ts'
import { type Defaults, type ResourceDefinition, resourceKey } from './resource.ts'

/** Converts between two versions. Both functions may change the object that they get. */
export interface Conversion {
  readonly toStorage: (object: KubeObject) => KubeObject
  readonly fromStorage: (object: KubeObject) => KubeObject
}

/**
 * Returns the resource in another version, beta or alpha, that is stored as the given one and not served by default.
 * Needs a `conversion` if the shapes differ; otherwise only the apiVersion changes.
 */
export function additionalVersion(
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
    enabledByDefault: false,
  }
  return conversion ? { ...shared, ...convertedHooks(storage, conversion) } : shared
}

/** Runs defaults and validation, which know the stored version only, on a converted copy. */
function convertedHooks(
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
