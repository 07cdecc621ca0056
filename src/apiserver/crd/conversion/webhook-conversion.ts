/**
 * Converts the objects of one version of a definition by a webhook. Converted objects are pruned by the schema of their
 * version.
 */
import type { KubeObject, Unstructured } from '../../../machinery/object.ts'
import type { ObjectConversion } from '../../registry/conversion/object-conversion.ts'
import type { CustomVersion } from '../stored-form.ts'
import type { WebhookConverter } from './webhook-converter.ts'

export function webhookConversion(
  webhook: WebhookConverter,
  version: CustomVersion,
  storage: CustomVersion,
): ObjectConversion {
  return {
    fromStored: (objects) => convertTo(webhook, objects, version),
    async toStorage(object) {
      const { resourceVersion: _, ...metadata } = object.metadata
      const [stored] = await convertTo(webhook, [{ ...object, metadata }], storage)
      return stored!
    },
  }
}

async function convertTo(
  webhook: WebhookConverter,
  objects: readonly KubeObject[],
  { resource, schema }: CustomVersion,
): Promise<readonly KubeObject[]> {
  const converted = await webhook.convert(objects, resource.groupVersion)
  for (const object of converted) schema.prune(object as Unstructured)
  return converted
}
