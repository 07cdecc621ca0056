/**
 * The audit event of a request (audit.k8s.io/v1 Event), encoded in upstream's order of fields. It is joined from parts
 * that are mostly cached JSON: an event of level Metadata takes two microseconds.
 */

import { goJson } from '../../../machinery/fields/json.ts'
import type { Status } from '../../../machinery/status-error.ts'
import type { Request } from '../../http/exchange.ts'
import type { RequestAudit } from '../../request-info/request-context.ts'
import type { UserInfo } from '../../request-info/user-info.ts'
import type { AuditConfig, Stage } from '../policy/policy.ts'
import { isPlain, jsonInner, jsonText, jsonTexts, memoized } from './json-text.ts'
import { objectJson } from './logged-object.ts'
import { clockOrigin, microTime } from './micro-time.ts'
import { sourceIpsJson } from './source-ips.ts'

/** The status of the response in an event. */
export type ResponseStatus = Partial<Pick<Status, 'status' | 'message' | 'reason' | 'details'>>

const maxUserAgentLength = 1024

/** Truncates a long user agent. */
export const shortUserAgent = (text: string): string =>
  text.length > maxUserAgentLength ? `${text.slice(0, maxUserAgentLength)}...TRUNCATED` : text

const userAgentJson = memoized((text) => jsonText(shortUserAgent(text)))

const levelStart = memoized((level) => `"level":"${level}","auditID":"`)
const stageStart = memoized((stage) => `","stage":"${stage}","requestURI":"`)
const verbMember = memoized((verb) => `","verb":${jsonText(verb)}`)

/** Keys and reasons of decisions repeat often. */
const annotationJson = memoized(jsonText)
const firstAnnotation = memoized((key) => `","annotations":{${jsonText(key)}:`)
const nextAnnotation = memoized((key) => `,${jsonText(key)}:`)

/** For responses without a Status. */
const codeStatus = memoized((code) => `,"responseStatus":{"metadata":{},"code":${code}}`)

/** The JSON before the value of a field of `objectRef`: as the first field, or after another one. */
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

/** The user, address and user agent of a request. */
interface Origin {
  readonly address: string
  readonly userAgent: string | undefined
  /** The fields `user`, `sourceIPs` and `userAgent`, each after a comma. */
  readonly text: string
}

/** Most users have one origin. Requests forwarded by proxies are not cached. */
const origins = new WeakMap<UserInfo, Origin>()

function originText(request: Request, user: UserInfo | undefined): string {
  const userAgent = request.header('user-agent')
  const address = request.remoteAddress
  const isDirect = user && request.header('x-forwarded-for') === undefined && request.header('x-real-ip') === undefined
  const known = isDirect ? origins.get(user) : undefined
  if (known && known.address === address && known.userAgent === userAgent) return known.text
  // Flattened: otherwise the cached rope of strings would be joined again for every event.
  const text = Buffer.from(`,"user":${userJson(user)}${fromText(request, userAgent)}`).toString()
  if (isDirect) origins.set(user, { address, userAgent, text })
  return text
}

const fromText = (request: Request, userAgent = request.header('user-agent')): string =>
  `,"sourceIPs":${sourceIpsJson(request)}${userAgent ? `,"userAgent":${userAgentJson(userAgent)}` : ''}`

/** User objects are shared by all requests of a connection or token. */
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
  /** The authenticated user, before impersonation. */
  readonly user: UserInfo | undefined
  /** The time when the request was received, as text. */
  readonly received: string
  /** The status code of the response; 0 until it is known. */
  code = 0
  status: ResponseStatus | undefined = undefined
  responseObject = ''
  /** The JSON with the received time, up to the time of the stage. */
  readonly #times: string
  readonly #uri: string
  /** True if nothing in the URI has to be escaped. Then the values parsed from it need no escaping either. */
  readonly #isPlain: boolean
  readonly #origin: string
  #requestObject = ''
  #impersonationConstraint = ''
  /** The metadata in the request body. */
  #named:
    | {
        readonly namespace?: unknown
        readonly name?: unknown
        readonly uid?: unknown
        readonly resourceVersion?: unknown
      }
    | undefined = undefined
  /** Alternating keys and values, sorted by key. */
  #annotations: string[] | undefined = undefined
  /** The cached JSON of the request, and the values that it depends on. */
  #requestJson = ''
  #requestJsonUser: UserInfo | undefined = undefined
  #requestJsonNamed: object | undefined = undefined

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

  /** The namespace of the request's object; empty if there is none. */
  get namespace(): string {
    const { isResourceRequest, namespace } = this.request.info
    if (!isResourceRequest) return ''
    const named = this.#named?.namespace
    return namespace || (typeof named === 'string' ? named : '')
  }

  /** The first value of a key is kept. */
  annotate(key: string, value: string, level?: 'Request'): void {
    if (level && !this.config.includesRequest) return
    const all = (this.#annotations ??= [])
    let at = all.length
    while (at > 0 && all[at - 2]! > key) at -= 2
    if (at > 0 && all[at - 2] === key) return
    if (at === all.length) all.push(key, value)
    else all.splice(at, 0, key, value)
  }

  recordObject(object: object): void {
    const { metadata } = object as { readonly metadata?: Record<string, unknown> }
    // A copy: the object may change later.
    if (metadata)
      this.#named = {
        namespace: metadata.namespace,
        name: metadata.name,
        uid: metadata.uid,
        resourceVersion: metadata.resourceVersion,
      }
    if (this.config.includesRequest) this.#requestObject = objectJson(object, this.config.omitManagedFields)
  }

  recordBody(value: unknown): void {
    if (this.config.includesRequest) this.#requestObject = objectJson(value, false)
  }

  recordImpersonation(constraint: string): void {
    this.#impersonationConstraint = constraint
  }

  /**
   * The event as JSON without `kind`, `apiVersion` and the opening brace. `ms` is the time of the stage since 1970;
   * undefined means the time when the request was received. `slim` omits the request and response objects.
   */
  members(stage: Stage, ms: number | undefined, slim = false): string {
    let text =
      levelStart(this.config.level) + jsonInner(this.id) + stageStart(stage) + this.#requestText() + this.#statusText()
    if (!slim && this.#requestObject) text += `,"requestObject":${this.#requestObject}`
    if (!slim && this.responseObject) text += `,"responseObject":${this.responseObject}`
    return text + this.#times + (ms === undefined ? this.received : microTime(ms)) + this.#annotationsText(slim)
  }

  /** The JSON from the value of `requestURI` to `objectRef`. */
  #requestText(): string {
    const { request } = this
    const user = request.user
    if (this.#requestJson && this.#requestJsonUser === user && this.#requestJsonNamed === this.#named)
      return this.#requestJson
    this.#requestJsonUser = user
    this.#requestJsonNamed = this.#named
    this.#requestJson =
      this.#uri +
      verbMember(request.info.verb) +
      this.#userText() +
      (request.info.isResourceRequest ? this.#objectRef() : '')
    return this.#requestJson
  }

  #userText(): string {
    const { request, user } = this
    if (!user || !request.user || request.user === user) return this.#origin
    const constraint = this.#impersonationConstraint
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

  /** Appends a field unless its value is empty or not a string. */
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

  /** The JSON from the end of the stage time to the end of the event. */
  #annotationsText(truncated: boolean): string {
    const all = truncated ? this.#truncatedAnnotations() : this.#annotations
    if (!all) return '"}'
    let text = ''
    for (let i = 0; i < all.length; i += 2)
      text += (i === 0 ? firstAnnotation(all[i]!) : nextAnnotation(all[i]!)) + annotationJson(all[i + 1]!)
    return `${text}}}`
  }

  /** With the annotation that marks a truncated event. */
  #truncatedAnnotations(): readonly string[] {
    const before = this.#annotations
    this.#annotations = before && [...before]
    this.annotate('audit.k8s.io/truncated', 'true')
    const all = this.#annotations!
    this.#annotations = before
    return all
  }
}
