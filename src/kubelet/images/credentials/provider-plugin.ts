/** Credential providers: programs that are run for an image and print credentials, which are cached. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { goDurationMs } from '../../../lib/go/go-duration.ts'
import type { DockerConfig } from '../../../node/images/docker-config.ts'
import type { ProviderSettings } from './provider-config.ts'
import { matchesRegistry } from './registry-pattern.ts'

/** Runs a program with a request as its input, and resolves with its output. */
export type RunProvider = (settings: ProviderSettings, request: string) => Promise<string>

export interface ProviderOptions {
  readonly run: RunProvider
  readonly log: (line: string) => void
  readonly now: () => number
}

interface Cached {
  readonly config: DockerConfig
  readonly expires: number
}

interface Response {
  readonly cacheKeyType: string
  /** Undefined: the provider's default. */
  readonly cacheMs: number | undefined
  readonly config: DockerConfig
}

const globalKey = 'global'
const maxCached = 1_000

export class CredentialProvider {
  readonly #settings: ProviderSettings
  readonly #options: ProviderOptions
  readonly #cache = new Map<string, Cached>()
  /** Requests that run, by image: images of many pods are asked for once. */
  readonly #running = new Map<string, Promise<DockerConfig>>()

  constructor(settings: ProviderSettings, options: ProviderOptions) {
    this.#settings = settings
    this.#options = options
  }

  /** Resolves with the credentials for an image (registry and repository). Errors are logged: then there are none. */
  async provide(image: string): Promise<DockerConfig> {
    if (!this.#settings.matchImages.some((pattern) => matchesRegistry(pattern, image))) return new Map()
    const cached = this.#find(image)
    if (cached) return cached
    let running = this.#running.get(image)
    if (!running) {
      running = this.#request(image).finally(() => this.#running.delete(image))
      this.#running.set(image, running)
    }
    try {
      return await running
    } catch (error) {
      const { name } = this.#settings
      this.#options.log(`cannot get credentials for ${image} from ${name}: ${(error as Error).message}`)
      return new Map()
    }
  }

  #find(image: string): DockerConfig | undefined {
    for (const key of [`image ${image}`, `registry ${registryOf(image)}`, globalKey]) {
      const cached = this.#cache.get(key)
      if (cached && cached.expires >= this.#options.now()) return cached.config
      if (cached) this.#cache.delete(key)
    }
    return undefined
  }

  async #request(image: string): Promise<DockerConfig> {
    const { apiVersion, defaultCacheMs } = this.#settings
    const request = JSON.stringify({ kind: 'CredentialProviderRequest', apiVersion, image })
    const response = parseResponse(await this.#options.run(this.#settings, request), apiVersion)
    const key = cacheKeyOf(response.cacheKeyType, image)
    const cacheMs = response.cacheMs ?? defaultCacheMs
    if (cacheMs > 0) {
      if (this.#cache.size >= maxCached) this.#cache.clear()
      this.#cache.set(key, { config: response.config, expires: this.#options.now() + cacheMs })
    }
    return response.config
  }
}

const registryOf = (image: string): string => image.split('/', 1)[0] ?? ''

function cacheKeyOf(cacheKeyType: string, image: string): string {
  switch (cacheKeyType) {
    case 'Image':
      return `image ${image}`
    case 'Registry':
      return `registry ${registryOf(image)}`
    case 'Global':
      return globalKey
    default:
      throw new Error(`credential provider plugin did not return a valid cacheKeyType: ${JSON.stringify(cacheKeyType)}`)
  }
}

const versionMismatch = 'apiVersion from credential plugin response did not match'

/** Messages of errors show no part of an answer, because it contains credentials. */
function parseResponse(text: string, apiVersion: string): Response {
  const unreadable = new Error('error decoding credential provider plugin response from stdout')
  let response: Record<string, unknown>
  try {
    response = JSON.parse(text) as Record<string, unknown>
  } catch {
    throw unreadable
  }
  if (typeof response !== 'object' || response === null) throw unreadable
  const { kind, cacheKeyType, cacheDuration, auth } = response
  if (response.apiVersion !== apiVersion)
    throw new Error(`${versionMismatch} expected apiVersion:${apiVersion}, actual apiVersion:${response.apiVersion}`)
  if (kind !== 'CredentialProviderResponse' || (auth !== undefined && typeof auth !== 'object')) throw unreadable
  const logins = Object.entries((auth ?? {}) as Record<string, { username?: unknown; password?: unknown }>)
  return {
    cacheKeyType: String(cacheKeyType ?? ''),
    cacheMs: typeof cacheDuration === 'string' ? goDurationMs(cacheDuration) : undefined,
    config: new Map(
      logins.map(([pattern, login]) => [
        pattern,
        { username: String(login.username ?? ''), password: String(login.password ?? '') },
      ]),
    ),
  }
}

/** A program that takes longer is killed. In ms. */
const runLimitMs = 60_000
const maxOutputBytes = 1 << 20

/** Runs programs of a folder, with the kubelet's environment and the provider's own. */
export const providerRunner =
  (folder: string, environment: NodeJS.ProcessEnv): RunProvider =>
  ({ name, args, env }, request) =>
    new Promise((resolve, reject) => {
      const child = spawn(join(folder, name), args, {
        env: { ...environment, ...env },
        timeout: runLimitMs,
        killSignal: 'SIGKILL',
      })
      const output: string[] = []
      const errors: string[] = []
      let length = 0
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        length += text.length
        if (length > maxOutputBytes) child.kill('SIGKILL')
        else output.push(text)
      })
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        if (errors.length < 100) errors.push(text)
      })
      child.on('error', (error) =>
        reject(new Error(`error execing credential provider plugin ${name}: ${error.message}`)),
      )
      child.on('close', (code, signal) => {
        if (code === 0) resolve(output.join(''))
        else {
          const end = signal ? `signal: ${signal}` : `exit status ${code}`
          reject(new Error(`error execing credential provider plugin ${name}: ${end}: ${errors.join('')}`))
        }
      })
      // It may end without reading the request.
      child.stdin.on('error', () => {})
      child.stdin.end(request)
    })
