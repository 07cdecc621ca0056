/**
 * Tokens in Secrets of type kubernetes.io/service-account-token. They do not expire, but become invalid with their
 * Secret or account.
 */
import type { V1Secret, V1ServiceAccount } from '@kubernetes/client-node'
import { after } from '../../../lib/flow/after.ts'
import type { Model } from '../../../machinery/object.ts'
import type { StoredObject } from '../../registry/stored-object.ts'
import type { TokenIdentity, TokenRefusal } from '../token-authenticator.ts'
import { accountGroups, accountOf, accountUser } from './account-name.ts'
import type { BoundObject, Lookup } from './account-objects.ts'
import { textOf } from './json-web-token.ts'

/** The `iss` of these tokens in every cluster. */
export const secretIssuer = 'kubernetes/serviceaccount'

export interface SecretClaims {
  readonly subject: string
  readonly namespace: string
  readonly account: string
  readonly accountUid: string
  readonly secret: string
}

const claim = 'kubernetes.io/serviceaccount/'

export function secretClaimsOf(claims: Readonly<Record<string, unknown>>): SecretClaims | TokenRefusal {
  const found = {
    subject: textOf(claims.sub),
    namespace: textOf(claims[`${claim}namespace`]),
    secret: textOf(claims[`${claim}secret.name`]),
    account: textOf(claims[`${claim}service-account.name`]),
    accountUid: textOf(claims[`${claim}service-account.uid`]),
  }
  const names = {
    subject: 'sub',
    namespace: 'namespace',
    secret: 'secretName',
    account: 'serviceAccountName',
    accountUid: 'serviceAccountUID',
  }
  for (const [member, name] of Object.entries(names))
    if (!found[member as keyof typeof found]) return { refused: `${name} claim is missing` }
  const subject = accountOf(found.subject)
  return subject?.namespace === found.namespace && subject.name === found.account
    ? found
    : { refused: 'sub claim is invalid' }
}

/** Labels of a Secret: the last use of its token, and since when it must not be used. */
const lastUsedLabel = 'kubernetes.io/legacy-token-last-used'
const invalidSinceLabel = 'kubernetes.io/legacy-token-invalid-since'

interface SecretFacts {
  readonly token: string
  readonly lastUsed: string | undefined
  readonly invalidSince: string | undefined
}

const generatedWarning =
  'Use tokens from the TokenRequest API or manually created secret-based tokens instead of auto-generated ' +
  'secret-based tokens.'

/** A Secret whose token was used, to be labelled. */
export interface UsedSecret {
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

/** The kind of the Secret of a used token: created by a user, or by the former token controller. */
export type SecretUse = 'legacy of a manual secret' | 'legacy of a generated secret' | 'legacy marked invalid'

export interface SecretTokenOptions {
  readonly lookup: Lookup
  /** Checks that Secret and account exist (`--service-account-lookup`). */
  readonly mustExist: boolean
  /** Called on the first use of a token on a day. `date` is the new value of the label. */
  readonly recordUse: (secret: UsedSecret, label: string, date: string) => void
  readonly countUse: (use: SecretUse) => void
}

export class SecretTokens {
  readonly #options: SecretTokenOptions
  readonly #secrets = new WeakMap<StoredObject, SecretFacts>()
  readonly #accounts = new WeakMap<StoredObject, ReadonlySet<string>>()

  constructor(options: SecretTokenOptions) {
    this.#options = options
  }

  /** The user of the token, as long as Secret and account exist and the Secret still has this token. */
  identity(
    token: string,
    claims: SecretClaims,
    nowMs: number,
  ): TokenIdentity | TokenRefusal | Promise<TokenIdentity | TokenRefusal> {
    const { namespace, account } = claims
    const user = {
      name: accountUser({ namespace, name: account }),
      uid: claims.accountUid,
      groups: accountGroups(namespace),
    }
    const annotations = { 'authentication.k8s.io/legacy-token': claims.subject }
    const { lookup, mustExist } = this.#options
    if (!mustExist) return { user, annotations }
    return after(lookup('secrets', namespace, claims.secret), (secret) =>
      after(lookup('serviceaccounts', namespace, account), (found): TokenIdentity | TokenRefusal => {
        const refused = this.#fault(token, claims, secret, found)
        if (refused || !secret || !found) return refused ?? { refused: 'Token has been invalidated' }
        this.#recordUse(secret, claims, nowMs)
        const { invalidSince } = this.#secretFacts(secret.object)
        if (invalidSince) {
          this.#options.countUse('legacy marked invalid')
          return {
            refused: markedInvalid(claims),
            annotations: { 'authentication.k8s.io/legacy-token-invalidated': `${claims.secret}/${namespace}` },
          }
        }
        const generated = this.#secretsOf(found.object).has(claims.secret)
        this.#options.countUse(generated ? 'legacy of a generated secret' : 'legacy of a manual secret')
        const origin = `authentication.k8s.io/legacy-token-${generated ? 'autogenerated' : 'manual'}-secret`
        return {
          user,
          annotations: { ...annotations, [origin]: claims.secret },
          ...(generated && { warnings: [generatedWarning] }),
        }
      }),
    )
  }

  #fault(
    token: string,
    claims: SecretClaims,
    secret: BoundObject | undefined,
    account: BoundObject | undefined,
  ): TokenRefusal | undefined {
    if (!secret || secret.deletedMs !== undefined) return { refused: 'Token has been invalidated' }
    if (this.#secretFacts(secret.object).token !== token) return { refused: "Token does not match server's copy" }
    if (!account) return { refused: `serviceaccounts ${JSON.stringify(claims.account)} not found` }
    if (account.deletedMs !== undefined)
      return { refused: `ServiceAccount ${claims.namespace}/${claims.account} has been deleted` }
    if (account.uid !== claims.accountUid)
      return { refused: `ServiceAccount UID (${account.uid}) does not match claim (${claims.accountUid})` }
    return undefined
  }

  #recordUse({ object, uid }: BoundObject, { namespace, secret: name }: SecretClaims, nowMs: number): void {
    const { lastUsed } = this.#secretFacts(object)
    const today = dateOf(nowMs)
    // The clock of another server may be ahead.
    if (lastUsed !== today && lastUsed !== dateOf(nowMs + 24 * 3600 * 1000))
      this.#options.recordUse({ namespace, name, uid }, lastUsedLabel, today)
  }

  #secretFacts(object: StoredObject): SecretFacts {
    let facts = this.#secrets.get(object)
    if (!facts) {
      const { data, metadata } = object.parse<Model<V1Secret>>()
      const token = Buffer.from(data?.token ?? '', 'base64').toString()
      facts = { token, lastUsed: metadata.labels?.[lastUsedLabel], invalidSince: metadata.labels?.[invalidSinceLabel] }
      this.#secrets.set(object, facts)
    }
    return facts
  }

  /** The Secrets that the account lists: the former token controller created those. */
  #secretsOf(object: StoredObject): ReadonlySet<string> {
    let names = this.#accounts.get(object)
    if (!names) {
      names = new Set(object.parse<Model<V1ServiceAccount>>().secrets?.flatMap(({ name }) => name ?? []))
      this.#accounts.set(object, names)
    }
    return names
  }
}

let lastDay = -1
let lastDate = ''

/** Formats the UTC date: `2026-11-21`. */
function dateOf(ms: number): string {
  const day = Math.floor(ms / 86_400_000)
  if (day !== lastDay) {
    lastDay = day
    lastDate = new Date(ms).toISOString().slice(0, 10)
  }
  return lastDate
}

const markedInvalid = ({ namespace, secret, account }: SecretClaims): string =>
  `the token in secret ${namespace}/${secret} for service account ${namespace}/${account} has been marked ` +
  'invalid. Use tokens from the TokenRequest API or manually created secret-based tokens, or remove the ' +
  `'${invalidSinceLabel}' label from the secret to temporarily allow use of this token`
