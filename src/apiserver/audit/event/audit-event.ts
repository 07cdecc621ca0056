/**
 * One request as its audit events tell it (audit.k8s.io/v1 Event). Text is put together from parts that are JSON already, in upstream's
 * order of members: an event of level Metadata costs a few microseconds.
 */

import { goJson } from '../../../machinery/fields/json.ts'
import type { Status } from '../../../machinery/status-error.ts'
import type { Request, RequestAudit, UserInfo } from '../../http/exchange.ts'
import type { AuditConfig, Stage } from '../policy/policy.ts'
import { jsonText, jsonTexts, remembered } from './json-text.ts'
import { objectJson } from './logged-object.ts'
import { microTime } from './micro-time.ts'
import { sourceIpsJson } from './source-ips.ts'

/** What an event says of the answer. */
export type ResponseStatus = Partial<Pick<Status, 'status' | 'message' | 'reason' | 'details'>>

const mostUserAgent = 1024

const userAgentJson = remembered((text) => jsonText(text.length > mostUserAgent ? `${text.slice(0, mostUserAgent)}...TRUNCATED` : text))

/** Keys, and the reasons of decisions, come again and again. */
const annotationJson = remembered(jsonText)

const users = new WeakMap<UserInfo, string>()

/** Who asks, from where and with what. */
interface Origin {
  readonly address: string
  readonly userAgent: string | undefined
  /** The members `user`, `sourceIPs` and `userAgent`, with commas before them. */
  readonly text: string
}

/** Users come from one place mostly. Requests that proxies have passed on are not among them. */
const origins = new WeakMap<UserInfo, Origin>()

function originText(request: Request, user: UserInfo | undefined): string {
  const userAgent = request.header('user-agent')
  const address = request.remoteAddress
  const isDirect = user && request.header('x-forwarded-for') === undefined && request.header('x-real-ip') === undefined
  const known = isDirect ? origins.get(user) : undefined
  if (known && known.address === address && known.userAgent === userAgent) return known.text
  // A text of parts would be put together anew for every event.
  const text = Buffer.from(`,"user":${userJson(user)}${fromText(request, userAgent)}`).toString()
  if (isDirect) origins.set(user, { address, userAgent, text })
  return text
}

const fromText = (request: Request, userAgent = request.header('user-agent')): string =>
  `,"sourceIPs":${sourceIpsJson(request)}${userAgent ? `,"userAgent":${userAgentJson(userAgent)}` : ''}`

/** Users come again with every request. */
function userJson(user: UserInfo | undefined): string {
  if (!user) return '{}'
  let json = users.get(user)
  if (json === undefined) {
    json = userText(user)
    users.set(user, json)
  }
  return json
}

function userText({ name, uid, groups, extra }: UserInfo): string {
  const members: string[] = []
  if (name) members.push(`"username":${jsonText(name)}`)
  if (uid) members.push(`"uid":${jsonText(uid)}`)
  if (groups.length > 0) members.push(`"groups":${jsonTexts(groups)}`)
  const keys = Object.keys(extra ?? {}).sort()
  if (extra && keys.length > 0) members.push(`"extra":{${keys.map((key) => `${jsonText(key)}:${jsonTexts(extra[key] ?? [])}`).join(',')}}`)
  return `{${members.join(',')}}`
}

/** A member with a comma before it; nothing for what is empty, or no text. */
const member = (name: string, value: unknown): string => (typeof value === 'string' && value ? `,"${name}":${jsonText(value)}` : '')

export class AuditEvent implements RequestAudit {
  readonly config: AuditConfig
  readonly id: string
  readonly request: Request
  /** Who asked; the request may become somebody else's. */
  readonly user: UserInfo | undefined
  /** Of the answer; 0 until it is known. */
  code = 0
  status: ResponseStatus | undefined
  responseObject = ''
  readonly #received: string
  readonly #about: string
  readonly #origin: string
  #requestObject = ''
  /** Made when first told; anew when the body has told more. */
  #ref: string | undefined
  /** What the body of the request says of itself. */
  #named: { readonly namespace?: unknown; readonly name?: unknown; readonly uid?: unknown; readonly resourceVersion?: unknown } | undefined
  /** In the order of their keys. */
  #annotations: [key: string, value: string][] | undefined

  constructor(request: Request, config: AuditConfig, id: string) {
    const { info, user } = request
    this.request = request
    this.config = config
    this.id = id
    this.user = user
    this.#received = microTime(performance.timeOrigin + request.received)
    const uri = request.rawQuery ? `${request.path}?${request.rawQuery}` : request.path
    this.#about = `","requestURI":${jsonText(uri)},"verb":${jsonText(info.verb)}`
    this.#origin = originText(request, user)
  }

  /** The first value of a key counts. */
  readonly annotate = (key: string, value: string): void => {
    const all = (this.#annotations ??= [])
    for (const [known] of all) if (known === key) return
    let at = all.length
    while (at > 0 && all[at - 1]![0] > key) at--
    if (at === all.length) all.push([key, value])
    else all.splice(at, 0, [key, value])
  }

  noteObject(object: object): void {
    const { metadata } = object as { readonly metadata?: Record<string, unknown> }
    // What is done with the object later is not what was sent.
    if (metadata) {
      this.#named = { namespace: metadata.namespace, name: metadata.name, uid: metadata.uid, resourceVersion: metadata.resourceVersion }
      this.#ref = undefined
    }
    if (this.config.keepsRequest) this.#requestObject = objectJson(object, this.config.omitManagedFields)
  }

  noteBody(value: unknown): void {
    if (this.config.keepsRequest) this.#requestObject = objectJson(value, false)
  }

  /** The members of the event but `kind` and `apiVersion`, as JSON without the first brace. `ms`: when, since 1970; undefined is when the request came in. */
  members(stage: Stage, ms: number | undefined, slim = false): string {
    const { request, user } = this
    const impersonated = user && request.user !== user ? request.user : undefined
    const who = impersonated ? `,"user":${userJson(user)},"impersonatedUser":${userJson(impersonated)}${fromText(request)}` : this.#origin
    const sent = slim || !this.#requestObject ? '' : `,"requestObject":${this.#requestObject}`
    const answered = slim || !this.responseObject ? '' : `,"responseObject":${this.responseObject}`
    const at = ms === undefined ? this.#received : microTime(ms)
    return `"level":"${this.config.level}","auditID":${jsonText(this.id)},"stage":"${stage}${this.#about}${who}${(this.#ref ??= this.#objectRef())}${this.#responseStatus()}${sent}${answered},"requestReceivedTimestamp":"${this.#received}","stageTimestamp":"${at}"${this.#annotationsJson(slim)}}`
  }

  /** When the request came in, as text. */
  get received(): string {
    return this.#received
  }

  #objectRef(): string {
    const { info } = this.request
    if (!info.isResourceRequest) return ''
    const named = this.#named
    const members = `${member('resource', info.resource)}${member('namespace', info.namespace || named?.namespace)}${member('name', info.name || named?.name)}${member('uid', named?.uid)}${member('apiGroup', info.group)}${member('apiVersion', info.version)}${member('resourceVersion', named?.resourceVersion)}${member('subresource', info.subresource)}`
    return `,"objectRef":{${members.slice(1)}}`
  }

  #responseStatus(): string {
    const { status, code } = this
    if (!status && code === 0) return ''
    if (!status) return `,"responseStatus":{"metadata":{},"code":${code}}`
    const { status: outcome, message, reason, details } = status
    const told = (member: string, text: string | undefined): string => (text ? `,"${member}":${jsonText(text)}` : '')
    return `,"responseStatus":{"metadata":{}${told('status', outcome)}${told('message', message)}${told('reason', reason)}${details ? `,"details":${goJson(details)}` : ''}${code ? `,"code":${code}` : ''}}`
  }

  #annotationsJson(truncated: boolean): string {
    let all = this.#annotations
    if (truncated) all = [...(all ?? []), ['audit.k8s.io/truncated', 'true'] as [string, string]].sort(([a], [b]) => (a < b ? -1 : 1))
    if (!all) return ''
    let text = ''
    for (const [key, value] of all) text += `,${annotationJson(key)}:${annotationJson(value)}`
    return `,"annotations":{${text.slice(1)}}`
  }
}
