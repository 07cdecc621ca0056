/** The authorities of the `--cluster-signing-…` flags, by signer. */
import { ExplainedError } from '../../lib/explained-error.ts'
import { readKeyPair } from '../credentials/identity-files.ts'
import { certificateSigner, namedSigners } from '../pki/certificate-signer.ts'
import type { KeyPair } from '../pki/key-pair.ts'
import { type FlagContext, pathOf } from '../serving-options/flag-context.ts'
import { signerFlags } from './flags/index.ts'

/** Reads them. Throws an ExplainedError for conflicting or unreadable files. */
export function signersOf(context: FlagContext, now = new Date()) {
  const general = authorityOf(context, 'cluster-signing', now)
  const named = new Map(
    Object.entries(signerFlags).flatMap(([signer, prefix]) => {
      const authority = authorityOf(context, prefix, now)
      return authority ? [[signer, authority] as const] : []
    }),
  )
  if (general && named.size > 0) {
    throw new ExplainedError(
      'cannot specify --cluster-signing-{cert,key}-file and other --cluster-signing-*-file flags at the same ' +
        'time: give either',
    )
  }
  return general ? certificateSigner(general) : namedSigners(named)
}

function authorityOf(context: FlagContext, prefix: string, now: Date): KeyPair | undefined {
  const [cert, key] = [pathOf(context, `${prefix}-cert-file`), pathOf(context, `${prefix}-key-file`)]
  if (!cert && !key) return undefined
  if (!cert || !key)
    throw new ExplainedError(`--${prefix}-cert-file and --${prefix}-key-file go together: give both or neither`)
  return readKeyPair(cert, key, { cert: `--${prefix}-cert-file`, key: `--${prefix}-key-file` }, now)
}
