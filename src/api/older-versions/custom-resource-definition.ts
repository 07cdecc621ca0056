/**
 * CustomResourceDefinitions of v1beta1, the version in which kube-apiserver stores them. What all versions of a
 * definition share is in its spec there, not in each version.
 */
import type { OlderObject } from './index.ts'

type Plain = Record<string, unknown>

/** Moves what versions share into each version, and renames fields. */
export function currentDefinition(object: OlderObject): void {
  const spec = object.spec as Plain | undefined
  if (!spec) return
  const { version, validation, subresources, additionalPrinterColumns, selectableFields, ...rest } = spec
  const versions = (rest.versions as Plain[] | undefined) ?? []
  const listed =
    versions.length > 0 || version === undefined ? versions : [{ name: version, served: true, storage: true }]
  object.spec = {
    scope: 'Namespaced',
    // Absent means true in v1beta1.
    preserveUnknownFields: true,
    ...rest,
    versions: listed.map((one) =>
      currentVersion({ ...one }, { validation, subresources, additionalPrinterColumns, selectableFields }),
    ),
    ...(rest.conversion !== undefined && { conversion: currentConversion(rest.conversion as Plain) }),
  }
}

function currentVersion(version: Plain, { validation, subresources, selectableFields, ...shared }: Plain): Plain {
  const columns = (version.additionalPrinterColumns ?? shared.additionalPrinterColumns) as Plain[] | undefined
  return {
    ...(validation !== undefined && { schema: validation }),
    ...(subresources !== undefined && { subresources }),
    ...(selectableFields !== undefined && { selectableFields }),
    ...version,
    ...(columns && {
      additionalPrinterColumns: columns.map(({ JSONPath, ...column }) => ({ ...column, jsonPath: JSONPath })),
    }),
  }
}

function currentConversion({ webhookClientConfig, conversionReviewVersions, ...rest }: Plain): Plain {
  if (webhookClientConfig === undefined && conversionReviewVersions === undefined) return rest
  const clientConfig = webhookClientConfig !== undefined && { clientConfig: webhookClientConfig }
  return {
    ...rest,
    webhook: { ...clientConfig, ...(conversionReviewVersions !== undefined && { conversionReviewVersions }) },
  }
}
