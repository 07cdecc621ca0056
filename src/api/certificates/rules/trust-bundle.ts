/** Validation of a ClusterTrustBundle's certificates (KEP-3257): unique CA certificates. */
import { type FieldError, invalidValue, tooLong } from '../../../machinery/validation/field-error.ts'
import { parseCertificate } from './issued-certificates.ts'
import { type PemBlock, pemBlocks } from './pem-blocks.ts'

const maxBytes = 1024 * 1024

export function trustBundleRules(bundle: string, path: string): readonly FieldError[] {
  if (Buffer.byteLength(bundle) > maxBytes) return [tooLong(path, maxBytes)]
  const bundleError = (why: string): FieldError => invalidValue(path, '<value omitted>', why)
  const blocks = pemBlocks(bundle)
  const faults = blocks.flatMap((block, index) => anchorFault(block, index) ?? [])
  if (faults.length > 0) return faults.map(bundleError)
  if (blocks.length === 0) return [bundleError('at least one trust anchor must be provided')]
  const places = Map.groupBy(blocks.keys(), (index) => blocks[index]!.bytes.toString('base64'))
  return [...places.values()]
    .filter(({ length }) => length > 1)
    .map((indices) => bundleError(`duplicate trust anchor (indices [${indices.join(' ')}])`))
}

function anchorFault({ type, hasHeaders, bytes }: PemBlock, index: number): string | undefined {
  if (type !== 'CERTIFICATE') return `entry ${index} has bad block type: ${type}`
  if (hasHeaders) return `entry ${index} has PEM block headers`
  const certificate = parseCertificate(bytes)
  if (!certificate) return `entry ${index} does not parse as X.509`
  return certificate.ca ? undefined : `entry ${index} does not have the CA bit set`
}
