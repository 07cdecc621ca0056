/** ResourceQuota's configuration: resources and scopes that may only be used if a quota covers them. */
import { decodeConfiguration, listOf, structOf, text } from '../../../machinery/decode/configuration.ts'
import type { Scope } from './usage/evaluators.ts'

export interface LimitedResource {
  readonly apiGroup?: string
  readonly resource?: string
  /** Substrings of quota resource names: `.storageclass.storage.k8s.io/requests.storage`. */
  readonly matchContains?: readonly string[]
  readonly matchScopes?: readonly Scope[]
}

const configuration = {
  versions: [
    'apiserver.config.k8s.io/v1',
    'resourcequota.admission.k8s.io/v1beta1',
    'resourcequota.admission.k8s.io/v1alpha1',
  ],
  fields: {
    limitedResources: listOf(
      structOf('LimitedResource', {
        apiGroup: text,
        resource: text,
        matchContains: listOf(text),
        matchScopes: listOf(
          structOf('ScopedResourceSelectorRequirement', { scopeName: text, operator: text, values: listOf(text) }),
        ),
      }),
    ),
  },
}

/** Throws an Error for an invalid configuration. */
export function limitedResources(given: unknown): readonly LimitedResource[] {
  if (given === undefined) return []
  // Older versions have the kind Configuration.
  const kind =
    (given as { readonly kind?: unknown }).kind === 'Configuration' ? 'Configuration' : 'ResourceQuotaConfiguration'
  const { limitedResources: limited = [] } = decodeConfiguration<{ limitedResources?: readonly LimitedResource[] }>(
    given,
    { ...configuration, kind },
  )
  const faults = limited.flatMap(({ resource }, i) =>
    resource ? [] : [`limitedResources[${i}].resource: Required value`],
  )
  if (faults.length > 0) throw new Error(faults.length === 1 ? faults[0] : `[${faults.join(', ')}]`)
  return limited
}
