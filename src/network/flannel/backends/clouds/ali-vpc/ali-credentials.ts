/** Credentials of Alibaba Cloud: the configuration, variables of the environment, or the instance's RAM role. */
import { textOf } from '../../../config/network-config.ts'
import type { BackendContext } from '../../backend.ts'
import type { CloudMachine } from '../cloud-machine.ts'
import { isObject } from '../json-object.ts'
import type { MetadataService } from '../metadata-service.ts'
import type { AliCredentials } from './vpc-api.ts'

const rolePath = '/latest/meta-data/ram/security-credentials/'
/** Credentials are read again this time before they expire, in ms. */
const marginMs = 5 * 60_000

/** Returns a function that resolves with credentials that have not expired, or rejects with a sentence. */
export function aliCredentials(
  { environment, config }: Pick<BackendContext, 'environment' | 'config'>,
  { now }: Pick<CloudMachine, 'now'>,
  metadata: Pick<MetadataService, 'find'>,
): () => Promise<AliCredentials> {
  const [id, secret] = [textOf(config.backend, 'AccessKeyID'), textOf(config.backend, 'AccessKeySecret')]
  const { ACCESS_KEY_ID, ACCESS_KEY_SECRET } = environment
  for (const [accessKeyId, accessKeySecret] of [
    [id, secret],
    [ACCESS_KEY_ID, ACCESS_KEY_SECRET],
  ])
    if (accessKeyId && accessKeySecret)
      return () => Promise.resolve({ accessKeyId, accessKeySecret, securityToken: undefined })
  let cached: { readonly credentials: AliCredentials; readonly until: number } | undefined
  return async () => {
    if (!cached || cached.until < now()) cached = await roleCredentials(metadata)
    return cached.credentials
  }
}

async function roleCredentials(
  metadata: Pick<MetadataService, 'find'>,
): Promise<{ readonly credentials: AliCredentials; readonly until: number }> {
  const role = (await metadata.find(rolePath))?.split('\n')[0]
  const text = role && (await metadata.find(`${rolePath}${role}`))
  const value: unknown = text ? JSON.parse(text) : undefined
  const { AccessKeyId, AccessKeySecret, SecurityToken, Expiration } = isObject(value) ? value : {}
  if (typeof AccessKeyId !== 'string' || typeof AccessKeySecret !== 'string')
    throw new Error(
      'ACCESS_KEY_ID and ACCESS_KEY_SECRET must be provided! They may be variables, AccessKeyID and AccessKeySecret ' +
        'of the configuration, or a RAM role of the instance',
    )
  return {
    credentials: {
      accessKeyId: AccessKeyId,
      accessKeySecret: AccessKeySecret,
      securityToken: typeof SecurityToken === 'string' ? SecurityToken : undefined,
    },
    until: (typeof Expiration === 'string' ? Date.parse(Expiration) : Number.POSITIVE_INFINITY) - marginMs,
  }
}
