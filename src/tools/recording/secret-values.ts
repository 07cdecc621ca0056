/** Keeps the values of Secrets out of a recording. */
import type { KubeObject } from '../../machinery/object.ts'

type SecretLike = KubeObject & { readonly data?: Readonly<Record<string, string>> }

const replacement = Buffer.from('replaced').toString('base64')
/** kubectl apply stores the whole object in it. */
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'

/** A copy of a Secret with the same keys, whose values are the word `replaced`. */
export function withoutValues(secret: SecretLike): SecretLike {
  const { data, metadata } = secret
  const { [lastApplied]: _, ...annotations } = metadata.annotations ?? {}
  return {
    ...secret,
    metadata: { ...metadata, ...(metadata.annotations && { annotations }) },
    ...(data && { data: Object.fromEntries(Object.keys(data).map((key) => [key, replacement])) }),
  }
}
