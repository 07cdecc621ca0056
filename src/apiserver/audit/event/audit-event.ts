/**
 * One request as its audit events tell it (audit.k8s.io/v1 Event), in upstream's order of members. They are told in
 * parts, most of which are JSON already: an event of level Metadata costs two microseconds.
 */

import { goJson } from '../../../machinery/fields/json.ts'
import type { Status } from '../../../machinery/status-error.ts'
import type { Request, RequestAudit } from '../../http/exchange.ts'
import type { UserInfo } from '../../request-info/user-info.ts'
import type { AuditConfig, Stage } from '../policy/policy.ts'
import { isPlain, jsonInner, jsonText, jsonTexts, remembered } from './json-text.ts'
import { objectJson } from './logged-object.ts'
import { clockOrigin, microTime } from './micro-time.ts'
import { sourceIpsJson } from './source-ips.ts'

/** What an event says of the answer. */
export type ResponseStatus = Partial<Pick<Status, 'status' | 'message' | 'reason' | 'details'>>

const mostUserAgent = 1024

/** A client's name for itself, cut where it is too long. */
export const shortUserAgent = (text: string): string =>
  text.length > mostUserAgent ? `${text.slice(0, mostUserAgent)}...TRUNCATED` : text

const userAgentJson = remembered((text) => jsonText(shortUserAgent(text)))

const levelStart = remembered((level) => `"level":"${level}","auditID":"`)
const stageStart = remembered((stage) => `","stage":"${stage}","requestURI":"`)
const verbMember = remembered((verb) => `","verb":${jsonText(verb)}`)

/** Keys, and the reasons of decisions, come again and again. */
const annotationJson = remembered(jsonText)
const firstAnnotation = remembered((key) => `","annotations":{${jsonText(key)}:`)
const nextAnnotation = remembered((key) => `,${jsonText(key)}:`)

/** Of answers without a Status. */
const codeStatus = remembered((code) => `,"responseStatus":{"metadata":{},"code":${code}}`)

/** What stands before the value of a member of `objectRef`: the first, or one that follows another. */
const refMember = (name: string) => ({ first: `,"objectRef":{"${name}":"`, next: `","${name}":"` })

const ref = {
  resource: refMember('resource'),
  namespace: refMember('namespace'),
  name: refMember('name'),
  uid: refMember('uid'),
  apiGroup: refMember('apiGroup'),
  apiVersion: refMember('apiVersion'),
  resourceVersion: refMember('resourceVersion'),
  subresource: refMember('subresource'),
}

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
  if (extra && keys.length > 0)
    members.push(`"extra":{${keys.map((key) => `${jsonText(key)}:${jsonTexts(extra[key] ?? [])}`).join(',')}}`)
  return `{${members.join(',')}}`
}

export class AuditEvent implements RequestAudit {
  readonly config: AuditConfig
  readonly id: string
  readonly request: Request
  /** Who asked; the request may become somebody else's. */
  readonly user: UserInfo | undefined
  /** When the request came in, as text. */
  readonly received: string
  /** Of the answer; 0 until it is known. */
  code = 0
  status: ResponseStatus | undefined = undefined
  responseObject = ''
  /** The member that tells when it came in, and what stands before the time of a stage. */
  readonly #times: string
  readonly #uri: string
  /** Whether nothing in the URI has to be escaped: then nothing of what was read from it has to be, either. */
  readonly #isPlain: boolean
  readonly #origin: string
  #requestObject = ''
  /** What the body of the request says of itself. */
  #named:
    | {
        readonly namespace?: unknown
        readonly name?: unknown
        readonly uid?: unknown
        readonly resourceVersion?: unknown
      }
    | undefined = undefined
  /** Keys and values in turn, in the order of the keys. */
  #annotations: string[] | undefined = undefined
  /** What was told of the request last, and what of that may become another. */
  #told = ''
  #toldUser: UserInfo | undefined = undefined
  #toldNamed: object | undefined = undefined

  constructor(request: Request, config: AuditConfig, id: string) {
    this.request = request
    this.config = config
    this.id = id
    this.user = request.user
    this.received = microTime(clockOrigin + request.received)
    this.#times = `,"requestReceivedTimestamp":"${this.received}","stageTimestamp":"`
    const uri = request.rawQuery ? `${request.path}?${request.rawQuery}` : request.path
    const plain = isPlain(uri)
    this.#uri = plain ? uri : jsonInner(uri)
    this.#isPlain = plain && !uri.includes('%')
    this.#origin = originText(request, request.user)
  }

  /** Of the object that the request is about; empty where there is none. */
  get namespace(): string {
    const { isResourceRequest, namespace } = this.request.info
    if (!isResourceRequest) return ''
    const named = this.#named?.namespace
    return namespace || (typeof named === 'string' ? named : '')
  }

  /** The first value of a key counts. */
  annotate(key: string, value: string, level?: 'Request'): void {
    if (level && !this.config.keepsRequest) return
    const all = (this.#annotations ??= [])
    let at = all.length
    while (at > 0 && all[at - 2]! > key) at -= 2
    if (at > 0 && all[at - 2] === key) return
    if (at === all.length) all.push(key, value)
    else all.splice(at, 0, key, value)
  }

  recordObject(object: object): void {
    const { metadata } = object as { readonly metadata?: Record<string, unknown> }
    // What is done with the object later is not what was sent.
    if (metadata)
      this.#named = {
        namespace: metadata.namespace,
        name: metadata.name,
        uid: metadata.uid,
        resourceVersion: metadata.resourceVersion,
      }
    if (this.config.keepsRequest) this.#requestObject = objectJson(object, this.config.omitManagedFields)
  }

  recordBody(value: unknown): void {
    if (this.config.keepsRequest) this.#requestObject = objectJson(value, false)
  }

  /**
   * The event but `kind`, `apiVersion` and the first brace, as JSON. `ms`: when, since 1970; undefined is when the
   * request came in. `slim` leaves out the objects of request and answer.
   */
  members(stage: Stage, ms: number | undefined, slim = false): string {
    let text =
      levelStart(this.config.level) + jsonInner(this.id) + stageStart(stage) + this.#requestText() + this.#statusText()
    if (!slim && this.#requestObject) text += `,"requestObject":${this.#requestObject}`
    if (!slim && this.responseObject) text += `,"responseObject":${this.responseObject}`
    return text + this.#times + (ms === undefined ? this.received : microTime(ms)) + this.#annotationsText(slim)
  }

  /** What was asked, by whom, of what: from within the quotes of `requestURI` up to `objectRef`. */
  #requestText(): string {
    const { request } = this
    const asked = request.user
    if (this.#told && this.#toldUser === asked && this.#toldNamed === this.#named) return this.#told
    this.#toldUser = asked
    this.#toldNamed = this.#named
    this.#told =
      this.#uri +
      verbMember(request.info.verb) +
      this.#who() +
      (request.info.isResourceRequest ? this.#objectRef() : '')
    return this.#told
  }

  #who(): string {
    const { request, user } = this
    if (!user || !request.user || request.user === user) return this.#origin
    const { impersonationConstraint: constraint } = request
    const by = constraint ? `,"authenticationMetadata":{"impersonationConstraint":${jsonText(constraint)}}` : ''
    return `,"user":${userJson(user)},"impersonatedUser":${userJson(request.user)}${by}${fromText(request)}`
  }

  #objectRef(): string {
    const { info } = this.request
    const named = this.#named
    let text = this.#refMember('', ref.resource, info.resource)
    text = this.#refMember(text, ref.namespace, this.namespace)
    text = this.#refMember(text, ref.name, info.name || named?.name)
    text = this.#refMember(text, ref.uid, named?.uid)
    text = this.#refMember(text, ref.apiGroup, info.group)
    text = this.#refMember(text, ref.apiVersion, info.version)
    text = this.#refMember(text, ref.resourceVersion, named?.resourceVersion)
    text = this.#refMember(text, ref.subresource, info.subresource)
    return text ? `${text}"}` : ',"objectRef":{}'
  }

  /** Adds a member to what is there, unless it is empty or no text. */
  #refMember(text: string, member: { readonly first: string; readonly next: string }, value: unknown): string {
    if (typeof value !== 'string' || value === '') return text
    return text + (text ? member.next : member.first) + (this.#isPlain && !this.#named ? value : jsonInner(value))
  }

  #statusText(): string {
    const { status, code } = this
    if (!status) return code ? codeStatus(String(code)) : ''
    const { status: outcome, message, reason, details } = status
    let text = ',"responseStatus":{"metadata":{}'
    if (outcome) text += `,"status":${jsonText(outcome)}`
    if (message) text += `,"message":${jsonText(message)}`
    if (reason) text += `,"reason":${jsonText(reason)}`
    if (details) text += `,"details":${goJson(details)}`
    return code ? `${text},"code":${code}}` : `${text}}`
  }

  /** From the end of the last time to that of the event. */
  #annotationsText(truncated: boolean): string {
    const all = truncated ? this.#truncatedAnnotations() : this.#annotations
    if (!all) return '"}'
    let text = ''
    for (let i = 0; i < all.length; i += 2)
      text += (i === 0 ? firstAnnotation(all[i]!) : nextAnnotation(all[i]!)) + annotationJson(all[i + 1]!)
    return `${text}}}`
  }

  /** With the one that says that something was left out. */
  #truncatedAnnotations(): readonly string[] {
    const before = this.#annotations
    this.#annotations = before && [...before]
    this.annotate('audit.k8s.io/truncated', 'true')
    const all = this.#annotations!
    this.#annotations = before
    return all
  }
}
