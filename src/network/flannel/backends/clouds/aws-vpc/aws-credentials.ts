/** Credentials of AWS: variables of the environment, else those of the IAM role of the instance, which expire. */
import type { BackendContext } from '../../backend.ts'
import type { CloudMachine } from '../cloud-machine.ts'
import type { MetadataService } from '../metadata-service.ts'
import type { AwsCredentials } from './signature-v4.ts'

const rolePath = '/latest/meta-data/iam/security-credentials/'
/** Credentials are read again this time before they expire, in ms. */
const marginMs = 5 * 60_000

interface Cached {
  readonly credentials: AwsCredentials
  /** In ms since 1970. */
  readonly until: number
}

/** Returns a function that resolves with credentials that have not expired, or rejects with a sentence. */
export function awsCredentials(
  environment: BackendContext['environment'],
  { now }: Pick<CloudMachine, 'now'>,
  metadata: Pick<MetadataService, 'find'>,
): () => Promise<AwsCredentials> {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = environment
  if (accessKeyId && secretAccessKey) {
    const sessionToken = environment.AWS_SESSION_TOKEN || environment.AWS_SECURITY_TOKEN || undefined
    return () => Promise.resolve({ accessKeyId, secretAccessKey, sessionToken })
  }
  let cached: Cached | undefined
  return async () => {
    if (!cached || cached.until < now()) cached = await roleCredentials(metadata)
    return cached.credentials
  }
}

async function roleCredentials(metadata: Pick<MetadataService, 'find'>): Promise<Cached> {
  const role = (await metadata.find(rolePath))?.split('\n')[0]
  const text = role && (await metadata.find(`${rolePath}${role}`))
  if (!text)
    throw new Error(
      'there are no credentials of AWS: give the instance an IAM role, or set AWS_ACCESS_KEY_ID and ' +
        'AWS_SECRET_ACCESS_KEY',
    )
  const value: unknown = JSON.parse(text)
  const fields: Readonly<Record<string, unknown>> = typeof value === 'object' && value !== null ? { ...value } : {}
  const { AccessKeyId, SecretAccessKey, Token, Expiration } = fields
  if (typeof AccessKeyId !== 'string' || typeof SecretAccessKey !== 'string')
    throw new Error(`the credentials of the IAM role ${role} are incomplete: wait until AWS has created them`)
  return {
    credentials: {
      accessKeyId: AccessKeyId,
      secretAccessKey: SecretAccessKey,
      sessionToken: typeof Token === 'string' ? Token : undefined,
    },
    until: (typeof Expiration === 'string' ? Date.parse(Expiration) : Number.POSITIVE_INFINITY) - marginMs,
  }
}
