/** Bootstrap tokens: Secrets in kube-system with which new nodes authenticate until they have certificates. */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { V1Secret } from '@kubernetes/client-node'
import { after } from '../../../lib/flow/after.ts'
import type { Model } from '../../../machinery/object.ts'
import type { Registry } from '../../registry/registry.ts'
import type { ServedResource } from '../../registry/served-resource.ts'
import type { StoredObject } from '../../registry/stored-object.ts'
import type { TokenAuthenticator, TokenIdentity } from '../token-authenticator.ts'

const form = /^([a-z0-9]{6})\.([a-z0-9]{16})$/
const groupForm = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/

/** The token of a Secret. */
interface BootstrapSecret {
  readonly secret: string
  /** Ms since 1970. */
  readonly endMs: number
  readonly identity: TokenIdentity
}

/** Tokens of another form are ignored; as upstream, invalid ones too. */
export function bootstrapTokens(registry: Registry, secrets: ServedResource): TokenAuthenticator {
  const known = new WeakMap<StoredObject, BootstrapSecret | 'unfit'>()
  const read = (object: StoredObject, id: string): BootstrapSecret | undefined => {
    let found = known.get(object)
    if (!found) known.set(object, (found = bootstrapSecret(object, id) ?? 'unfit'))
    return found === 'unfit' ? undefined : found
  }
  return {
    name: 'bootstrap tokens',
    authenticate: (token) => {
      const [, id, secret] = form.exec(token) ?? []
      if (id === undefined || secret === undefined) return undefined
      return after(registry.get(secrets, secrets.key('kube-system', `bootstrap-token-${id}`)), (object) => {
        const found = object && read(object, id)
        if (!found || !isEqual(found.secret, secret) || found.endMs <= registry.clock.now()) return undefined
        return found.identity
      })
    },
  }
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
const isEqual = (one: string, other: string): boolean => timingSafeEqual(digest(one), digest(other))

function bootstrapSecret(object: StoredObject, id: string): BootstrapSecret | undefined {
  const { metadata, type, data } = object.parse<Model<V1Secret>>()
  if (metadata.deletionTimestamp !== undefined || type !== 'bootstrap.kubernetes.io/token' || !data) return undefined
  const value = (key: string): string => Buffer.from(data[key] ?? '', 'base64').toString()
  const groups = groupsOf(value('auth-extra-groups'))
  const endMs = endOf(value('expiration'))
  if (!groups || endMs === undefined || value('token-id') !== id || value('usage-bootstrap-authentication') !== 'true')
    return undefined
  return { secret: value('token-secret'), endMs, identity: { user: { name: `system:bootstrap:${id}`, groups } } }
}

/** Returns undefined for an unreadable time: such a token counts as expired. */
function endOf(expiration: string): number | undefined {
  if (expiration === '') return Number.POSITIVE_INFINITY
  const ms = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(expiration)
    ? Date.parse(expiration)
    : Number.NaN
  return Number.isNaN(ms) ? undefined : ms
}

/** The groups in alphabetical order, with the common one. Undefined if a group is not allowed for these tokens. */
function groupsOf(extra: string): readonly string[] | undefined {
  const groups = extra === '' ? [] : extra.split(',')
  if (!groups.every((group) => groupForm.test(group))) return undefined
  return [...new Set(['system:bootstrappers', ...groups])].sort()
}
