/** The metadata server of a cloud's instances: what the instance is, and the credentials of its role. */
import { CloudError, isBusy, retried, send } from './cloud-calls.ts'
import type { CloudMachine } from './cloud-machine.ts'

export interface MetadataOptions {
  readonly machine: CloudMachine
  /** `AWS`. */
  readonly cloud: string
  /** `http://169.254.169.254`. */
  readonly address: string
  /** Headers of each request. */
  readonly headers?: Readonly<Record<string, string>>
  /** For servers that want a session: the names of two headers. */
  readonly session?: { readonly lifetime: string; readonly token: string }
  readonly signal: AbortSignal
}

const sessionSeconds = '21600'
const sessionPath = '/latest/api/token'
/** Servers without sessions answer so. */
const withoutSessions: readonly number[] = [403, 404, 405]

export class MetadataService {
  readonly #options: MetadataOptions
  #session: Promise<Readonly<Record<string, string>>> | undefined

  constructor(options: MetadataOptions) {
    this.#options = options
  }

  /** Resolves with the text at a path. Rejects with a CloudError. */
  async get(path: string): Promise<string> {
    const found = await this.find(path)
    if (found !== undefined) return found
    const { cloud, address } = this.#options
    throw new CloudError(`the metadata server of ${cloud} at ${address} has no ${path}: is this an instance of it?`, {
      code: 'NotFound',
      isTemporary: false,
    })
  }

  /** As `get`, and undefined for a path that does not exist. */
  async find(path: string): Promise<string | undefined> {
    this.#session ??= this.#open()
    const session = await this.#session
    const { status, text } = await this.#request('GET', path, session)
    if (status === 404) return undefined
    if (status === 200) return text.trim()
    throw this.#refused(path, status)
  }

  async #open(): Promise<Readonly<Record<string, string>>> {
    const { session } = this.#options
    if (!session) return {}
    const { status, text } = await this.#request('PUT', sessionPath, { [session.lifetime]: sessionSeconds })
    if (status === 200) return { [session.token]: text.trim() }
    if (withoutSessions.includes(status)) return {}
    throw this.#refused(sessionPath, status)
  }

  #request(method: 'GET' | 'PUT', path: string, more: Readonly<Record<string, string>>) {
    const { machine, address, headers = {}, signal, cloud } = this.#options
    const name = `the metadata of ${cloud}`
    return retried(machine, signal, async () => {
      const request = { name, url: `${address}${path}`, method, headers: { ...headers, ...more } }
      const answer = await send(machine, request, signal)
      if (isBusy(answer.status)) throw this.#refused(path, answer.status)
      return answer
    })
  }

  #refused(path: string, status: number): CloudError {
    const { cloud, address } = this.#options
    return new CloudError(
      `the metadata server of ${cloud} at ${address} answered ${status} for ${path}: allow the instance its metadata`,
      { code: String(status), isTemporary: isBusy(status) },
    )
  }
}
