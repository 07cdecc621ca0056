/**
 * One request as its audit events tell it (audit.k8s.io/v1 Event), in upstream's order of members. They are told in parts, which are JSON
 * already, so that an event of level Metadata costs two microseconds and leaves next to nothing for the garbage collector.
 */

import { goJson } from '../../../machinery/fields/json.ts'
import type { Status } from '../../../machinery/status-error.ts'
import type { Request, RequestAudit, UserInfo } from '../../http/exchange.ts'
import type { AuditConfig, Stage } from '../policy/policy.ts'
import { EventString, type EventText } from './event-text.ts'
import { isPlain, jsonInner, jsonText, jsonTexts, remembered } from './json-text.ts'
import { objectJson } from './logged-object.ts'
import { clockOrigin, microTime } from './micro-time.ts'
import { sourceIpsJson } from './source-ips.ts'

/** What an event says of the answer. */
export type ResponseStatus = Partial<Pick<Status, 'status' | 'message' | 'reason' | 'details'>>

const mostUserAgent = 1024

const userAgentJson = remembered((text) => jsonText(text.length > mostUserAgent ? `${text.slice(0, mostUserAgent)}...TRUNCATED` : text))

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
  if (extra && keys.length > 0) members.push(`"extra":{${keys.map((key) => `${jsonText(key)}:${jsonTexts(extra[key] ?? [])}`).join(',')}}`)
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
  #named: { readonly namespace?: unknown; readonly name?: unknown; readonly uid?: unknown; readonly resourceVersion?: unknown } | undefined = undefined
  /** Keys and values in turn, in the order of the keys. */
  #annotations: string[] | undefined = undefined

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

  /** The first value of a key counts. */
  annotate(key: string, value: string): void {
    const all = (this.#annotations ??= [])
    let at = all.length
    while (at > 0 && all[at - 2]! > key) at -= 2
    if (at > 0 && all[at - 2] === key) return
    if (at === all.length) all.push(key, value)
    else all.splice(at, 0, key, value)
  }

  noteObject(object: object): void {
    const { metadata } = object as { readonly metadata?: Record<string, unknown> }
    // What is done with the object later is not what was sent.
    if (metadata) this.#named = { namespace: metadata.namespace, name: metadata.name, uid: metadata.uid, resourceVersion: metadata.resourceVersion }
    if (this.config.keepsRequest) this.#requestObject = objectJson(object, this.config.omitManagedFields)
  }

  noteBody(value: unknown): void {
    if (this.config.keepsRequest) this.#requestObject = objectJson(value, false)
  }

  /** The event but `kind`, `apiVersion` and the first brace, as JSON. `ms`: when, since 1970; undefined is when the request came in. */
  members(stage: Stage, ms: number | undefined, slim = false): string {
    const into = new EventString()
    this.tell(into, stage, ms, slim)
    return into.text
  }

  /** Tells what `members()` gives. `slim` leaves out the objects of request and answer. */
  tell(into: EventText, stage: Stage, ms: number | undefined, slim = false): void {
    into.add(levelStart(this.config.level))
    into.add(jsonInner(this.id))
    into.add(stageStart(stage))
    if (this.request.user === this.user && !this.#named) into.addRequest(this)
    else this.tellRequest(into)
    this.#tellStatus(into)
    if (!slim && this.#requestObject) {
      into.add(',"requestObject":')
      into.add(this.#requestObject)
    }
    if (!slim && this.responseObject) {
      into.add(',"responseObject":')
      into.add(this.responseObject)
    }
    into.add(this.#times)
    into.add(ms === undefined ? this.received : microTime(ms))
    this.#tellAnnotations(into, slim)
  }

  /** What was asked, by whom, of what: from within the quotes of `requestURI` up to `objectRef`. */
  tellRequest(into: EventText): void {
    const { request, user } = this
    into.add(this.#uri)
    into.add(verbMember(request.info.verb))
    if (user && request.user && request.user !== user) {
      const { impersonationConstraint: constraint } = request
      const by = constraint ? `,"authenticationMetadata":{"impersonationConstraint":${jsonText(constraint)}}` : ''
      into.add(`,"user":${userJson(user)},"impersonatedUser":${userJson(request.user)}${by}${fromText(request)}`)
    } else into.add(this.#origin)
    if (request.info.isResourceRequest) this.#tellObjectRef(into)
  }

  #tellObjectRef(into: EventText): void {
    const { info } = this.request
    const named = this.#named
    let first = this.#tellRef(into, ref.resource, info.resource, true)
    first = this.#tellRef(into, ref.namespace, info.namespace || named?.namespace, first)
    first = this.#tellRef(into, ref.name, info.name || named?.name, first)
    first = this.#tellRef(into, ref.uid, named?.uid, first)
    first = this.#tellRef(into, ref.apiGroup, info.group, first)
    first = this.#tellRef(into, ref.apiVersion, info.version, first)
    first = this.#tellRef(into, ref.resourceVersion, named?.resourceVersion, first)
    first = this.#tellRef(into, ref.subresource, info.subresource, first)
    into.add(first ? ',"objectRef":{}' : '"}')
  }

  /** A member, unless it is empty or no text. Says whether the next one is still the first. */
  #tellRef(into: EventText, member: { readonly first: string; readonly next: string }, value: unknown, first: boolean): boolean {
    if (typeof value !== 'string' || value === '') return first
    into.add(first ? member.first : member.next)
    into.add(this.#isPlain && !this.#named ? value : jsonInner(value))
    return false
  }

  #tellStatus(into: EventText): void {
    const { status, code } = this
    if (!status) {
      if (code) into.add(codeStatus(String(code)))
      return
    }
    const { status: outcome, message, reason, details } = status
    into.add(',"responseStatus":{"metadata":{}')
    if (outcome) into.add(`,"status":${jsonText(outcome)}`)
    if (message) into.add(`,"message":${jsonText(message)}`)
    if (reason) into.add(`,"reason":${jsonText(reason)}`)
    if (details) into.add(`,"details":${goJson(details)}`)
    into.add(code ? `,"code":${code}}` : '}')
  }

  /** From the end of the last time to that of the event. */
  #tellAnnotations(into: EventText, truncated: boolean): void {
    const all = truncated ? this.#truncatedAnnotations() : this.#annotations
    if (!all) {
      into.add('"}')
      return
    }
    for (let i = 0; i < all.length; i += 2) {
      into.add(i === 0 ? firstAnnotation(all[i]!) : nextAnnotation(all[i]!))
      into.add(annotationJson(all[i + 1]!))
    }
    into.add('}}')
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
