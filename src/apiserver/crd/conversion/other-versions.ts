/** Versions of a definition for field management: an object is compared in the version of each manager. */
import type { Definition } from '../../../api/apiextensions/custom-resource-definition.ts'
import type { KubeObject, Unstructured } from '../../../machinery/object.ts'
import type { OtherVersion } from '../../apply/index.ts'
import type { CustomVersion } from '../stored-form.ts'
import type { WebhookConverter } from './webhook-converter.ts'

/** Returns a lookup of versions; undefined for removed ones. Without a webhook, all versions have the same shape. */
export function otherVersions(
  { spec }: Definition,
  versions: ReadonlyMap<string, CustomVersion>,
  webhook: WebhookConverter | undefined,
): (apiVersion: string) => OtherVersion | undefined {
  const { group } = spec
  const { kind } = spec.names
  return (apiVersion) => {
    const [ofGroup, name = ''] = apiVersion.split('/')
    const version = ofGroup === group ? versions.get(name) : undefined
    if (!version) return undefined
    const { schema } = version
    const pruned = (object: KubeObject): KubeObject => {
      schema.prune(object as Unstructured)
      return object
    }
    return {
      type: schema.type({ group, version: name, kind }),
      convert(object) {
        // The old object of a creation is empty: nothing to convert.
        if (!isObject(object)) return object
        if (!webhook) return pruned({ ...structuredClone(object), apiVersion })
        return webhook.convert([object], apiVersion).then(([converted]) => pruned(structuredClone(converted!)))
      },
    }
  }
}

const isObject = (object: object): object is KubeObject => 'metadata' in object && 'kind' in object
