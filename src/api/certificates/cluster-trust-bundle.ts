/** ClusterTrustBundles: certificates that workloads trust. Beta. */
import type { V1beta1ClusterTrustBundle } from '@kubernetes/client-node'
import type { Model } from '../../machinery/object.ts'
import { type FieldError, invalidValue } from '../../machinery/validation/field-error.ts'
import { all, immutable } from '../../machinery/validation/field-rules.ts'
import { dnsSubdomain } from '../../machinery/validation/names.ts'
import { additionalVersion } from '../additional-version.ts'
import { column, name, resource } from '../resource.ts'
import { signerNameRules } from './rules/signer-name.ts'
import { trustBundleRules } from './rules/trust-bundle.ts'

type Bundle = Model<V1beta1ClusterTrustBundle>

export const clusterTrustBundles = resource<Bundle>({
  group: 'certificates.k8s.io',
  version: 'v1beta1',
  kind: 'ClusterTrustBundle',
  plural: 'clustertrustbundles',
  model: 'V1beta1ClusterTrustBundle',
  scope: 'Cluster',
  requiresVersionOnUpdate: true,
  enabledByDefault: false,
  // Names of bundles with a signer hold colons: `example.com:signer:name`.
  nameRule: (text) => (/[/%]/.test(text) ? ["may not contain '/' or '%'"] : []),
  selectableFields: { 'spec.signerName': ({ spec }) => spec?.signerName },
  validate: {
    object: bundleRules,
    create: ({ spec }) => trustBundleRules(spec?.trustBundle ?? '', 'spec.trustBundle'),
    update: ({ spec }, { spec: old }) =>
      all(
        // An unchanged bundle stays valid, even if a newer parser is stricter.
        spec?.trustBundle === old?.trustBundle ? [] : trustBundleRules(spec?.trustBundle ?? '', 'spec.trustBundle'),
        immutable(spec?.signerName ?? '', 'spec.signerName', old?.signerName ?? ''),
      ),
  },
  columns: [
    name,
    column('SignerName', ({ spec }) => spec?.signerName || '<none>', {
      description: 'The signer of the certificates that it verifies.',
    }),
  ],
})

function bundleRules({ metadata, spec }: Bundle): readonly FieldError[] {
  const signer = spec?.signerName ?? ''
  const own = nameFaults(metadata.name ?? '', signer).map((message) =>
    invalidValue('metadata.name', metadata.name, message),
  )
  return [...own, ...(signer ? signerNameRules(signer, 'spec.signerName') : [])]
}

function nameFaults(text: string, signer: string): readonly string[] {
  if (!signer)
    return text.includes(':')
      ? ['ClusterTrustBundle without signer name must not have ":" in its name']
      : dnsSubdomain(text)
  const prefix = `${signer.replaceAll('/', ':')}:`
  if (!text.startsWith(prefix))
    return [`ClusterTrustBundle for signerName ${signer} must be named with prefix ${prefix}`]
  return dnsSubdomain(text.slice(prefix.length))
}

export const alphaClusterTrustBundles = additionalVersion(clusterTrustBundles, 'v1alpha1', 'V1alpha1ClusterTrustBundle')
