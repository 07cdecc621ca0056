/** The API of Google Compute Engine, as far as routes need it. */
import { CloudError, isBusy, retried, send } from '../cloud-calls.ts'
import type { CloudMachine } from '../cloud-machine.ts'
import { isObject } from '../json-object.ts'
import type { MetadataService } from '../metadata-service.ts'

export interface ComputeOptions {
  readonly machine: CloudMachine
  readonly metadata: MetadataService
  readonly project: string
  /** `https://compute.googleapis.com`. */
  readonly endpoint: string
  readonly signal: AbortSignal
}

type Fields = Readonly<Record<string, unknown>>

const tokenPath = '/computeMetadata/v1/instance/service-accounts/default/token'
/** A token is read again this time before it expires, in ms. */
const tokenMarginMs = 60_000
/** How often an operation is read: once each second, a hundred times. */
const operation = { everyMs: 1000, tries: 100 } as const

const remedies: Readonly<Record<number, string>> = {
  401: "the token of the instance's service account is not accepted",
  403: 'start the instance with --scopes compute-rw, and give its service account the role Compute Network Admin',
}

export class ComputeApi {
  readonly #options: ComputeOptions
  #token: { readonly text: string; readonly until: number } | undefined

  constructor(options: ComputeOptions) {
    this.#options = options
  }

  /** The URL of a resource by which others name it. */
  async selfLink(path: string): Promise<string> {
    const link = (await this.#call('GET', path))?.selfLink
    if (typeof link === 'string') return link
    throw new Error(`Google Compute Engine has no ${path} in the project ${this.#options.project}`)
  }

  /** The next hop of a route; undefined if the route does not exist. */
  async nextHop(name: string): Promise<string | undefined> {
    const route = await this.#call('GET', `global/routes/${name}`)
    const hop = route?.nextHopInstance
    return route && (typeof hop === 'string' ? hop : '')
  }

  /** Resolves when the route works. */
  async insertRoute(route: object): Promise<void> {
    await this.#finish(await this.#call('POST', 'global/routes', route))
  }

  /** Resolves when the route is gone. */
  async deleteRoute(name: string): Promise<void> {
    await this.#finish(await this.#call('DELETE', `global/routes/${name}`))
  }

  async #finish(started: Fields | undefined): Promise<void> {
    const { machine, signal } = this.#options
    let state = started
    for (let i = 0; i < operation.tries; i++) {
      if (state === undefined) return
      if (isObject(state.error)) throw new Error(`error running operation: ${failureOf(state.error)}`)
      if (state.status === 'DONE') return
      await machine.pause(operation.everyMs, signal)
      state = await this.#call('GET', `global/operations/${String(started?.name)}`)
    }
    throw new Error(`timeout waiting for operation to finish: ${String(started?.name)}`)
  }

  /** Resolves with undefined for what does not exist. */
  #call(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object): Promise<Fields | undefined> {
    const { machine, endpoint, project, signal } = this.#options
    return retried(machine, signal, async () => {
      const { status, text } = await send(
        machine,
        {
          name: `${method} ${path} of Google Compute Engine`,
          url: `${endpoint}/compute/v1/projects/${project}/${path}`,
          method,
          headers: { authorization: `Bearer ${await this.#accessToken()}`, 'content-type': 'application/json' },
          ...(body && { body: JSON.stringify(body) }),
        },
        signal,
      )
      const answer = objectOf(text)
      if (status === 404) return undefined
      if (status < 300 && answer) return answer
      if (status === 401) this.#token = undefined
      throw errorOf(`${method} ${path}`, status, answer)
    })
  }

  async #accessToken(): Promise<string> {
    const { machine, metadata } = this.#options
    if (this.#token && this.#token.until > machine.now()) return this.#token.text
    const token = objectOf((await metadata.find(tokenPath)) ?? '')
    if (typeof token?.access_token !== 'string')
      throw new Error('the instance has no service account: start it with one, and with --scopes compute-rw')
    const seconds = typeof token.expires_in === 'number' ? token.expires_in : 0
    this.#token = { text: token.access_token, until: machine.now() + seconds * 1000 - tokenMarginMs }
    return this.#token.text
  }
}

function objectOf(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** The messages of an error of an operation, or its JSON. */
function failureOf({ errors }: Fields): string {
  const list = Array.isArray(errors) ? errors.filter(isObject) : []
  return list.map(({ code, message }) => [code, message].filter(Boolean).join(': ')).join('; ')
}

function errorOf(call: string, status: number, answer: Fields | undefined): CloudError {
  const error = isObject(answer?.error) ? answer.error : {}
  const reasons = Array.isArray(error.errors) ? error.errors.filter(isObject).map(({ reason }) => String(reason)) : []
  const message = typeof error.message === 'string' ? error.message : ''
  const isLimited = reasons.some((reason) => /^(?:userR|r)ateLimitExceeded$/.test(reason))
  const remedy = isLimited ? undefined : remedies[status]
  const text = [`${status}${reasons.length > 0 ? ` ${reasons.join(', ')}` : ''}`, message.replace(/\.$/, '')]
  const reason = text.filter(Boolean).join(': ')
  return new CloudError(
    `Google Compute Engine rejects ${call} with ${reason}${remedy === undefined ? '' : `; ${remedy}`}`,
    { code: reasons[0] ?? String(status), isTemporary: isBusy(status) || isLimited || status === 401 },
  )
}
