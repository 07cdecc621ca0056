/**
 * Fills Secrets of type `kubernetes.io/service-account-token` with a token of their account, deletes those without an
 * account, and removes references to deleted ones from accounts. Such tokens are valid as long as their Secret exists;
 * `kubectl create token` creates better ones.
 */
import { type Controller, type ReconcileContext, watch } from '../../client/controller/controller.ts'
import { serviceAccounts as accounts, type Secret, type ServiceAccount, secrets } from '../../client/kinds.ts'
import { isNotFoundOrConflict } from '../api-errors.ts'

const tokenType = 'kubernetes.io/service-account-token'
const nameAnnotation = 'kubernetes.io/service-account.name'
const uidAnnotation = 'kubernetes.io/service-account.uid'

export interface TokenSecretsOptions {
  /** PEM bundle. */
  readonly rootCA: string
  /** Signs the claims of a token (RFC 7519). */
  readonly sign: (claims: Readonly<Record<string, unknown>>) => Promise<string>
  readonly concurrency?: number
}

export const tokensController = (options: TokenSecretsOptions): Controller => ({
  name: 'serviceaccount-token-controller',
  concurrency: options.concurrency,
  watches: [
    watch({ resource: secrets, selection: { fieldSelector: `type=${tokenType}` } }),
    watch({
      resource: accounts,
      *keys({ metadata }, caches) {
        for (const secret of caches.all(secrets)) {
          if (
            secret.metadata.namespace === metadata.namespace &&
            secret.metadata.annotations?.[nameAnnotation] === metadata.name
          )
            yield keyOfSecret(secret)
        }
      },
    }),
  ],
  async reconcile(key, context) {
    const [namespace = '', name = ''] = key.split('/')
    const secret = context.caches.get(secrets, namespace, name)
    if (!secret) await removeReference(namespace, name, context)
    if (!secret || secret.metadata.deletionTimestamp) return
    const account = await accountOf(secret, context)
    if (account) await fill(secret, account, context, options)
    else
      await context.client
        .delete(secrets, namespace, name, {
          uid: secret.metadata.uid,
          resourceVersion: secret.metadata.resourceVersion,
        })
        .catch(ignoreNotFoundOrConflict)
  },
})

const keyOfSecret = ({ metadata }: Secret): string => `${metadata.namespace}/${metadata.name}`

/** The account of a Secret, if it exists with the right uid. Reads it from the server if the cache lacks it. */
async function accountOf(
  { metadata }: Secret,
  { caches, client }: ReconcileContext,
): Promise<ServiceAccount | undefined> {
  const { namespace = '', annotations } = metadata
  const name = annotations?.[nameAnnotation] ?? ''
  const uid = annotations?.[uidAnnotation]
  const matches = (account: ServiceAccount | undefined): boolean =>
    account !== undefined && (!uid || uid === account.metadata.uid)
  const cached = caches.get(accounts, namespace, name)
  if (matches(cached)) return cached
  const live = await client.get(accounts, namespace, name).catch(ignoreNotFoundOrConflict)
  return live && matches(live) ? live : undefined
}

/** Removes a deleted Secret from the `secrets` of its account. */
async function removeReference(namespace: string, name: string, { caches, client }: ReconcileContext): Promise<void> {
  const isListed = ({ metadata, secrets: listed }: ServiceAccount): boolean =>
    metadata.namespace === namespace && listed?.some((one) => one.name === name) === true
  for (const account of [...caches.all(accounts)].filter(isListed)) {
    // Another Secret of that name, of any type, may exist now.
    if (await client.find(secrets, namespace, name)) return
    const live = await client.find(accounts, namespace, account.metadata.name ?? '')
    if (live && isListed(live))
      await client
        .update(accounts, { ...live, secrets: live.secrets?.filter((one) => one.name !== name) })
        .catch(ignoreNotFoundOrConflict)
  }
}

/** Adds missing data; existing data stays except the CA, which is updated. */
async function fill(
  secret: Secret,
  account: ServiceAccount,
  { client }: ReconcileContext,
  { rootCA, sign }: TokenSecretsOptions,
): Promise<void> {
  const { metadata, data = {} } = secret
  const { namespace = '', name = '', uid = '' } = account.metadata
  const ca = base64(rootCA)
  if (data.token && data['ca.crt'] === ca && data.namespace && metadata.annotations?.[uidAnnotation] === uid) return
  const claims = {
    iss: 'kubernetes/serviceaccount',
    'kubernetes.io/serviceaccount/namespace': namespace,
    'kubernetes.io/serviceaccount/secret.name': metadata.name,
    'kubernetes.io/serviceaccount/service-account.name': name,
    'kubernetes.io/serviceaccount/service-account.uid': uid,
    sub: `system:serviceaccount:${namespace}:${name}`,
  }
  await client.update(secrets, {
    ...secret,
    metadata: { ...metadata, annotations: { ...metadata.annotations, [uidAnnotation]: uid } },
    data: {
      ...data,
      'ca.crt': ca,
      namespace: data.namespace || base64(namespace),
      token: data.token || base64(await sign(claims)),
    },
  })
}

const base64 = (text: string): string => Buffer.from(text).toString('base64')

function ignoreNotFoundOrConflict(error: unknown): undefined {
  if (isNotFoundOrConflict(error)) return undefined
  throw error
}
