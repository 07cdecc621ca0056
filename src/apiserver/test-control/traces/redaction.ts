/** Removes secret values from what a trace shows. Equal values get the same number, so that changes are visible. */
import { createHmac, randomBytes } from 'node:crypto'
import { parseJson, writeJson } from '../../../lib/exact-json.ts'
import { setOwn } from '../../../lib/own.ts'

/** kubectl apply stores the whole object in it. */
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'
const secretName = new RegExp(
  [
    ...['passw(or)?d', 'token', 'authorization', 'bearer', 'credential', 'client[-_.]?secret', '^secret$'],
    '(api|access|private|client|signing)[-_.]?key',
  ].join('|'),
  'i',
)
const webToken = /\beyJ[\w-]{5,}\.[\w-]{5,}\.[\w-]{5,}/g
const privateKey = /-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z0-9 ]*PRIVATE KEY-----|$)/g
const bearer = /\b(Bearer|Basic) +[\w.~+/=-]{8,}/g
const maxNumbers = 10_000
/** Shorter values are words of their own in other texts. */
const minKnownLength = 6

/** One for each trace. */
export class Redaction {
  readonly #key: Buffer
  readonly #numbers = new Map<string, number>()
  readonly #known = new Set<string>()

  /** `key` hides the values from guesses. Default: random. */
  constructor(key = randomBytes(32)) {
    this.#key = key
  }

  /** Returns a copy of a JSON value. `isSecret` is true for the bodies of requests for Secrets. */
  value(value: unknown, isSecret = false): unknown {
    if (typeof value === 'string') return this.text(value)
    if (Array.isArray(value)) return value.map((item) => this.value(item, isSecret))
    return isObject(value) ? this.#object(value, isSecret || isSecretKind(value)) : value
  }

  /** Replaces web tokens, private keys and credentials of HTTP. */
  text(text: string): string {
    return text
      .replace(webToken, (found) => this.#marker(found))
      .replace(privateKey, (found) => this.#marker(found))
      .replace(bearer, (_, scheme) => `${scheme} redacted`)
  }

  /** As `text`, and replaces also all secret values of at least 6 characters that were found before. */
  freeText(text: string): string {
    let result = this.text(text)
    for (const known of [...this.#known].sort((a, b) => b.length - a.length))
      result = result.replaceAll(known, this.#marker(known))
    return result
  }

  /** Replaces the values of parameters whose names promise secrets. */
  path(path: string): string {
    return this.text(path).replace(/([?&])([^=&]*)=([^&]*)/g, (all, sign, name) =>
      secretName.test(name) ? `${sign}${name}=redacted` : all,
    )
  }

  #object(object: Readonly<Record<string, unknown>>, isSecret: boolean): Record<string, unknown> {
    const result: Record<string, unknown> = {}
    for (const [key, member] of Object.entries(object)) setOwn(result, key, this.#member(object, key, member, isSecret))
    return result
  }

  #member(object: Readonly<Record<string, unknown>>, key: string, member: unknown, isSecret: boolean): unknown {
    if (isSecret && (key === 'data' || key === 'stringData')) return this.#all(member)
    if (key === lastApplied) return isSecret ? this.#all(member) : this.#lastApplied(member)
    if (key === 'value' && (isSecret || isValueOfSecret(object))) return this.#all(member)
    if (typeof member === 'string' && member !== '' && secretName.test(key)) return this.#marker(member)
    return this.value(member, isSecret)
  }

  /** Replaces every value below. */
  #all(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((item) => this.#all(item))
    if (!isObject(value)) return value === null || value === undefined ? value : this.#marker(`${value}`)
    const result: Record<string, unknown> = {}
    for (const [key, member] of Object.entries(value)) setOwn(result, key, this.#all(member))
    return result
  }

  #lastApplied(text: unknown): unknown {
    if (typeof text !== 'string') return text
    try {
      return writeJson(this.value(parseJson(text)))
    } catch {
      return this.#marker(text)
    }
  }

  #marker(secret: string): string {
    this.#learn(secret)
    const digest = createHmac('sha256', this.#key).update(secret).digest('base64')
    const known = this.#numbers.get(digest)
    if (known === undefined && this.#numbers.size >= maxNumbers) return 'redacted'
    const number = known ?? this.#numbers.size + 1
    this.#numbers.set(digest, number)
    return `redacted ${number}`
  }

  #learn(secret: string): void {
    if (this.#known.size >= maxNumbers) return
    for (const form of [secret, decoded(secret)]) if (form && form.length >= minKnownLength) this.#known.add(form)
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null

const isSecretKind = ({ kind }: Readonly<Record<string, unknown>>): boolean =>
  kind === 'Secret' || kind === 'SecretList'

/** An environment variable or a header, or an operation of a JSON patch, with a secret's name. */
const isValueOfSecret = ({ name, op, path }: Readonly<Record<string, unknown>>): boolean =>
  (typeof name === 'string' && (secretName.test(name) || /secret/i.test(name))) ||
  (typeof op === 'string' &&
    typeof path === 'string' &&
    (secretName.test(path.split('/').at(-1) ?? '') || path.endsWith('last-applied-configuration')))

/** The text of a value in base64; undefined for other values. */
function decoded(value: string): string | undefined {
  if (!/^[\w+/]+={0,2}$/.test(value) || value.length % 4 !== 0) return undefined
  const text = Buffer.from(value, 'base64').toString()
  return /^[\x20-\x7e]+$/.test(text) ? text : undefined
}
