/** Makes transformers of what a configuration says of providers. */
import { parseDurationMs } from '../../../lib/duration.ts'
import { type EncryptionKey, type KmsConfiguration, type ProviderConfiguration, usualKmsTimeout } from '../configuration.ts'
import { byPrefix, identity, type PrefixedTransformer, type ValueTransformer } from '../value-transformer.ts'
import { aesCbc } from './aes-cbc.ts'
import { aesGcm } from './aes-gcm.ts'
import type { KmsV2 } from './kms/kms-v2.ts'

export interface Providers {
  readonly transformer: ValueTransformer
  /** Those that somebody else has to be asked for. */
  readonly plugins: readonly KmsV2[]
}

/** Resolves when all plug-ins were asked once, whether they were well or not. */
export async function providersOf(configurations: readonly ProviderConfiguration[], log: (line: string) => void): Promise<Providers> {
  const plugins: KmsV2[] = []
  const choices = await Promise.all(
    configurations.map(async ({ aescbc, aesgcm, secretbox, kms }): Promise<PrefixedTransformer> => {
      if (aescbc) return keyed('k8s:enc:aescbc:v1:', aescbc.keys, aesCbc)
      if (aesgcm) return keyed('k8s:enc:aesgcm:v1:', aesgcm.keys, aesGcm)
      if (secretbox) return keyed('k8s:enc:secretbox:v1:', secretbox.keys, (await import('./secretbox.ts')).secretbox)
      if (!kms) return { prefix: '', transformer: identity }
      const plugin = await kmsPlugin(kms, log)
      plugins.push(plugin)
      return { prefix: `k8s:enc:kms:v2:${kms.name}:`, transformer: plugin }
    }),
  )
  return { transformer: byPrefix(choices), plugins }
}

/** The first key writes; all of them read. */
const keyed = (prefix: string, keys: readonly EncryptionKey[] = [], made: (secret: Buffer) => ValueTransformer): PrefixedTransformer => ({
  prefix,
  transformer: byPrefix(keys.map(({ name, secret }) => ({ prefix: `${name}:`, transformer: made(Buffer.from(secret, 'base64')) }))),
})

async function kmsPlugin({ name = '', endpoint = '', timeout = usualKmsTimeout }: KmsConfiguration, log: (line: string) => void): Promise<KmsV2> {
  const [{ KmsV2 }, { KmsService }] = await Promise.all([import('./kms/kms-v2.ts'), import('./kms/kms-service.ts')])
  const plugin = new KmsV2({ name, service: new KmsService(endpoint, parseDurationMs(timeout) ?? 0), log })
  await plugin.start()
  return plugin
}
