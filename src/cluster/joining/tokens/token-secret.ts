/** The Secret of a bootstrap token: kubernetes.io/docs/reference/access-authn-authz/bootstrap-tokens */
import type { Secret } from '../../../client/kinds.ts'
import { ExplainedError } from '../../../lib/explained-error.ts'
import type { BootstrapToken } from './token-form.ts'

export const tokenNamespace = 'kube-system'
export const tokenType = 'bootstrap.kubernetes.io/token'
const usageKey = 'usage-bootstrap-'
const knownUsages = ['signing', 'authentication']
const groupPattern = '\\Asystem:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]\\z'
const groupForm = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/

/** A token with its settings. */
export interface TokenSettings {
  readonly token: BootstrapToken
  readonly description?: string | undefined
  /** Undefined for a token that never expires. */
  readonly expires?: Date | undefined
  readonly usages: readonly string[]
  readonly groups: readonly string[]
}

export const tokenSecretName = (id: string): string => `bootstrap-token-${id}`

/** Throws an ExplainedError for unknown usages and groups, in kubeadm's words. */
export function checkTokenSettings({ usages, groups }: Pick<TokenSettings, 'usages' | 'groups'>): void {
  const unknown = usages.find((usage) => !knownUsages.includes(usage))
  if (unknown !== undefined)
    throw new ExplainedError(
      `invalid bootstrap token usage string: ${unknown}, valid usage options: ${knownUsages.join(',')} (--usages)`,
    )
  const wrong = groups.find((group) => !groupForm.test(group))
  if (wrong !== undefined)
    throw new ExplainedError(`bootstrap group ${JSON.stringify(wrong)} is invalid (must match ${groupPattern})`)
  if (groups.length > 0 && !usages.includes('authentication'))
    throw new ExplainedError(
      'token groups can only be set for a token with the usage authentication: add it to --usages',
    )
}

export function tokenSecret({ token, description, expires, usages, groups }: TokenSettings): Secret {
  const stringData = {
    'token-id': token.id,
    'token-secret': token.secret,
    ...(description && { description }),
    ...(expires && { expiration: rfc3339(expires) }),
    ...Object.fromEntries(usages.map((usage) => [`${usageKey}${usage}`, 'true'])),
    ...(groups.length > 0 && { 'auth-extra-groups': groups.join(',') }),
  }
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: tokenNamespace, name: tokenSecretName(token.id) },
    type: tokenType,
    data: Object.fromEntries(
      Object.entries(stringData).map(([key, text]) => [key, Buffer.from(text).toString('base64')]),
    ),
  }
}

/** A token as `t8s token list` shows it. `expires` is `invalid` for a time that cannot be read. */
export interface ListedToken extends Omit<TokenSettings, 'expires'> {
  readonly expires: Date | 'invalid' | undefined
}

/** Undefined for a Secret without a token. */
export function listedToken({ metadata, data = {} }: Secret): ListedToken | undefined {
  const field = (key: string): string => Buffer.from(data[key] ?? '', 'base64').toString()
  const [id, secret, expiration] = [field('token-id'), field('token-secret'), field('expiration')]
  if (id === '' || secret === '' || metadata.name !== tokenSecretName(id)) return undefined
  const expires = new Date(expiration)
  const groups = field('auth-extra-groups')
  return {
    token: { id, secret },
    description: field('description') || undefined,
    expires: expiration === '' ? undefined : Number.isNaN(expires.getTime()) ? 'invalid' : expires,
    usages: Object.keys(data)
      .filter((key) => key.startsWith(usageKey) && field(key) === 'true')
      .map((key) => key.slice(usageKey.length))
      .sort(),
    groups: groups === '' ? [] : groups.split(','),
  }
}

/** Without fractions of a second, as kubeadm writes it. */
export const rfc3339 = (time: Date): string => time.toISOString().replace(/\.\d+Z$/, 'Z')
