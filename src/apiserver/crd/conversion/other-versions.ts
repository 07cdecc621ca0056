/** Versions of a definition as field managers have written in them: an object is compared in the version of each. */
import type { Definition } from '../../../api/apiextensions/custom-resource-definition.ts'
import type { KubeObject, Unstructured } from '../../../machinery/object.ts'
import type { OtherVersion } from '../../apply/index.ts'
import type { CustomVersion } from '../stored-form.ts'
import type { WebhookConverter } from './webhook-converter.ts'

/** Undefined for versions that are no more. Without a webhook, versions have the same shape. */
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
        // Where nothing was before, there is nothing to convert.
        if (!isObject(object)) return object
        if (!webhook) return pruned({ ...structuredClone(object), apiVersion })
        return webhook.convert([object], apiVersion).then(([converted]) => pruned(structuredClone(converted!)))
      },
    }
  }
}

const isObject = (object: object): object is KubeObject => 'metadata' in object && 'kind' in object
