/** ClusterTrustBundles: certificates that workloads trust. Beta. */
import type { V1beta1ClusterTrustBundle } from '@kubernetes/client-node'
import type { Model } from '../../machinery/object.ts'
import { type FieldError, invalidValue, required } from '../../machinery/validation/field-error.ts'
import { immutable } from '../../machinery/validation/field-rules.ts'
import { column, name, resource } from '../resource.ts'
import { servedAlso } from '../served-also.ts'
import { signerNameRules } from './request-rules.ts'

type Bundle = Model<V1beta1ClusterTrustBundle>

export const clusterTrustBundles = resource<Bundle>({
  group: 'certificates.k8s.io',
  version: 'v1beta1',
  kind: 'ClusterTrustBundle',
  plural: 'clustertrustbundles',
  model: 'V1beta1ClusterTrustBundle',
  scope: 'Cluster',
  onByDefault: false,
  // Names of bundles with a signer hold colons: `example.com:signer:name`.
  nameRule: (text) => (/[/%]/.test(text) ? ["may not contain '/' or '%'"] : []),
  selectableFields: { 'spec.signerName': ({ spec }) => spec?.signerName },
  validate: { object: bundleRules, update: ({ spec }, { spec: old }) => immutable(spec?.signerName, 'spec.signerName', old?.signerName) },
  columns: [name, column('SignerName', ({ spec }) => spec?.signerName || '<none>', { description: 'The signer whose certificates it helps to trust.' })],
})

function bundleRules({ metadata, spec }: Bundle): readonly FieldError[] {
  const signer = spec?.signerName ?? ''
  const errors = [...(signer ? signerNameRules(signer, 'spec.signerName') : [])]
  const prefix = `${signer.replaceAll('/', ':')}:`
  if (signer && !metadata.name?.startsWith(prefix))
    errors.push(invalidValue('metadata.name', metadata.name, `ClusterTrustBundle for signerName ${signer} must be named with prefix ${prefix}`))
  if (!signer && metadata.name?.includes(':'))
    errors.push(invalidValue('metadata.name', metadata.name, 'ClusterTrustBundle without signer name must not have ":" in its name'))
  if (!spec?.trustBundle) errors.push(required('spec.trustBundle', 'at least one trust anchor must be provided'))
  return errors
}

export const alphaClusterTrustBundles = servedAlso(clusterTrustBundles, 'v1alpha1', 'V1alpha1ClusterTrustBundle')
