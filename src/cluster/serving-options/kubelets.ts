/** The kubelet flags: client certificate, authorities and preferred address types. */
import type { KubeletOptions } from '../../apiserver/proxy/streaming/index.ts'
import { ExplainedError } from '../../lib/explained-error.ts'
import { followKeyPair, readAuthorities } from '../credentials/identity-files.ts'
import { type FlagContext, pathOf } from './flag-context.ts'

const pair = { cert: '--kubelet-client-certificate', key: '--kubelet-client-key' }

/**
 * Contains only what flags set; undefined if they set nothing. Throws an ExplainedError for files that cannot be read.
 */
export function kubeletOptions(context: FlagContext): KubeletOptions | undefined {
  const [cert, key] = [pathOf(context, 'kubelet-client-certificate'), pathOf(context, 'kubelet-client-key')]
  if (!cert !== !key) throw new ExplainedError(`${pair.cert} and ${pair.key} go together: give both or neither`)
  const ca = pathOf(context, 'kubelet-certificate-authority')
  const addressTypes = context.flags.list('kubelet-preferred-address-types')
  if (!cert && !ca && !addressTypes) return undefined
  return {
    ...(cert && key && { client: followKeyPair(cert, key, pair, context.log) }),
    ...(ca && { ca: readAuthorities(ca, '--kubelet-certificate-authority') }),
    ...(addressTypes && { addressTypes }),
  }
}
