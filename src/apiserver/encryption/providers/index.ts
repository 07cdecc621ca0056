/** Creates the transformers of configured providers. */
import { goDurationMs } from '../../../lib/go/go-duration.ts'
import {
  defaultKmsTimeout,
  type EncryptionKey,
  type KmsConfiguration,
  type ProviderConfiguration,
} from '../configuration.ts'
import type { EncryptionMetrics } from '../metrics.ts'
import { byPrefix, identity, type PrefixedTransformer, type ValueTransformer } from '../value-transformer.ts'
import { aesCbc } from './aes-cbc.ts'
import { aesGcm } from './aes-gcm.ts'
import type { KmsV2 } from './kms/kms-v2.ts'

export interface Providers {
  /** The first one encrypts new values. */
  readonly choices: readonly PrefixedTransformer[]
  /** The KMS plug-ins among them. */
  readonly plugins: readonly KmsV2[]
}

/** Metrics and log of the providers. */
export interface ProviderContext {
  readonly metrics: EncryptionMetrics
  readonly log: (line: string) => void
}

/** Resolves when all plug-ins were called once, healthy or not. */
export async function providersOf(
  configurations: readonly ProviderConfiguration[],
  context: ProviderContext,
): Promise<Providers> {
  const plugins: KmsV2[] = []
  const choices = await Promise.all(
    configurations.map(async ({ aescbc, aesgcm, secretbox, kms }): Promise<PrefixedTransformer> => {
      if (aescbc) return keyed('k8s:enc:aescbc:v1:', aescbc.keys, aesCbc, context)
      if (aesgcm) return keyed('k8s:enc:aesgcm:v1:', aesgcm.keys, aesGcm, context)
      if (secretbox)
        return keyed('k8s:enc:secretbox:v1:', secretbox.keys, (await import('./secretbox.ts')).secretbox, context)
      if (!kms) return { prefix: '', transformer: identity }
      const plugin = await kmsPlugin(kms, context)
      plugins.push(plugin)
      return { prefix: `k8s:enc:kms:v2:${kms.name}:`, transformer: plugin }
    }),
  )
  return { choices, plugins }
}

/** The first key encrypts; all keys decrypt. */
const keyed = (
  prefix: string,
  keys: readonly EncryptionKey[] = [],
  made: (secret: Buffer) => ValueTransformer,
  { metrics }: ProviderContext,
): PrefixedTransformer => ({
  prefix,
  transformer: byPrefix(
    keys.map(({ name, secret }) => ({ prefix: `${name}:`, transformer: made(Buffer.from(secret, 'base64')) })),
    metrics.transformed,
    `no matching key was found for the provided ${prefix.includes('secretbox') ? 'Secretbox' : 'AES'} transformer`,
  ),
})

async function kmsPlugin(
  { name = '', endpoint = '', timeout = defaultKmsTimeout }: KmsConfiguration,
  { metrics, log }: ProviderContext,
): Promise<KmsV2> {
  const [{ KmsV2 }, { KmsService }] = await Promise.all([import('./kms/kms-v2.ts'), import('./kms/kms-service.ts')])
  const service = new KmsService(endpoint, goDurationMs(timeout), (method, seconds, error) =>
    metrics.called(name, method, seconds, error),
  )
  const plugin = new KmsV2({ name, service, metrics, log })
  await plugin.start()
  return plugin
}
