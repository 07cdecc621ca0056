/** The certificates of ClusterTrustBundles, as one PEM file (KEP-3257). */
import type { ClusterTrustBundle } from '../../../client/kinds.ts'
import { type LabelSelector, labelSelectorOf } from '../../../machinery/selectors/label-selector.ts'

/** Distinct certificates in a stable order, without comments and headers. Empty for a missing optional bundle. */
export function anchorsByName(bundle: ClusterTrustBundle | undefined, name: string, isOptional: boolean): string {
  if (bundle) return anchorsOf([bundle])
  if (isOptional) return ''
  throw new Error(
    `while getting ClusterTrustBundle: clustertrustbundle.certificates.k8s.io ${JSON.stringify(name)} not found`,
  )
}

/** The certificates of all bundles of a signer that the selector matches. Without a selector, none match. */
export function anchorsBySigner(
  bundles: readonly ClusterTrustBundle[],
  signer: string,
  selector: LabelSelector | undefined,
  isOptional: boolean,
): string {
  const { matches } = labelSelectorOf(selector)
  const selected = bundles.filter(({ spec, metadata }) => spec.signerName === signer && matches(metadata.labels ?? {}))
  if (selected.length > 0) return anchorsOf(selected)
  if (isOptional) return ''
  throw new Error('combination of signerName and labelSelector matched zero ClusterTrustBundles')
}

const anchorsOf = (bundles: readonly ClusterTrustBundle[]): string => {
  const certificates = new Set(bundles.flatMap(({ spec }) => certificatesIn(spec.trustBundle)))
  return [...certificates].sort().map(pemCertificate).join('')
}

/** The base64 of the blocks of a PEM text, without line breaks. */
const certificatesIn = (pem: string): string[] =>
  [...pem.matchAll(/^-----BEGIN ([A-Z0-9 ]+)-----\r?\n([\s\S]*?)^-----END \1-----/gm)].map(([, , body = '']) =>
    body
      .split('\n')
      // Headers, such as `Proc-Type: 4,ENCRYPTED`.
      .filter((line) => !line.includes(':'))
      .join('')
      .replaceAll(/\s/g, ''),
  )

/** A block of PEM with lines of 64 characters. */
const pemCertificate = (base64: string): string =>
  `-----BEGIN CERTIFICATE-----\n${base64.replaceAll(/.{64}(?=.)/g, '$&\n')}\n-----END CERTIFICATE-----\n`

/** A chain of certificates in its order, without what is between the blocks. */
export const cleanChain = (pem: string): string => certificatesIn(pem).map(pemCertificate).join('')
